// Indices of more elements than bf16 has whole numbers for, as codes (runtime/format/index_code.h).
#pragma once

#include <functional>
#include <string_view>

#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

/// Whether the index of one of `extent` elements needs a code.
bool needsCode(int64_t extent);

/// At run time an axis must have at most as many elements as there are codes.
Requirement fewEnough(std::string_view axis, std::function<int64_t(const NodeView &)> extent);

/// The codes of the indices along `axis` of a tensor of `rank`, whose other axes have extent 1.
Tensor codesAlong(int64_t axis, int64_t rank, int64_t extent);

/// The code of the first (or last) element along `axis` that is equal to `greatest`, the maximum
/// along it. The axis stays, with extent 1.
Tensor codeOf(Emitter &emit, const Tensor &x, const Tensor &greatest, const Tensor &codes,
              int64_t axis, bool last = false);

/// Marks a tensor that holds codes of indices below `extent`.
Tensor asIndices(Tensor codes, int64_t extent);

} // namespace sluice::frontend::ops
