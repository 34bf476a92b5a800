// One node of a valid model changed in one way that may make it invalid.
#pragma once

#include <functional>
#include <string>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::test {

/// Whether a change leaves something that an importer may take.
enum class Outcome : uint8_t { Either, Refused };

using VariantVisitor =
    std::function<void(const std::string &what, Outcome outcome, const onnx::ModelProto &model)>;

/// Operands left out, in excess, exchanged, of other shapes and types, with and without values;
/// attributes left out, given twice, unknown and of odd values; outputs left out and in excess; of
/// node `node` of the graph, whose entry is `entry`. Each once, in an order that is always the
/// same.
void forEachVariant(const onnx::ModelProto &model, int node, const Operator &entry,
                    const VariantVisitor &visit);

} // namespace sluice::frontend::test
