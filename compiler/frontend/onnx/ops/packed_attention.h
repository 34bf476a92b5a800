// Attention whose weights of queries, keys and values are one matrix.
#pragma once

#include <functional>
#include <vector>

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

/// The places of operands among the inputs. Input 0 is x, 1 the weights, 2 the bias; 0 stands for
/// an operand that the operator does not have.
struct AttentionInputs {
  size_t mask, added, past;
};

/// The attributes num_heads, mask_filter_value, scale, unidirectional, and those that must be 0.
std::vector<AttributeSpec> packedAttributes();

/// What holds of shapes and attributes. `shapes` is the sentence about input, weights and bias.
std::vector<Requirement> packedRequirements(const AttentionInputs &at, const char *shapes);

/// Writes the attention. `projected` returns `count` columns of the projections from `from` on,
/// [batch, positions, count].
void buildPacked(NodeBuilder &node, const AttentionInputs &at,
                 const std::function<Tensor(int64_t from, int64_t count)> &projected);

} // namespace sluice::frontend::ops
