#include "compiler/frontend/onnx/ops/index_codes.h"

#include <bit>

#include <fmt/format.h>

#include "compiler/frontend/onnx/integer_range.h"
#include "runtime/format/index_code.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

float codeAsFloat(int64_t index) {
  return std::bit_cast<float>(static_cast<uint32_t>(format::codeOf(index)) << 16);
}

/// Stands for an element that is not the greatest: above all other codes.
float codeOfNone() { return codeAsFloat(format::kMostCodes - 1); }

} // namespace

bool needsCode(int64_t extent) { return static_cast<double>(extent) > kMostExact; }

Requirement fewEnough(std::string_view axis, std::function<int64_t(const NodeView &)> extent) {
  return {fmt::format("at run time {} must have at most {} elements", axis, format::kMostCodes),
          [extent = std::move(extent)](const NodeView &node) -> std::string {
            const int64_t found = extent(node);
            return found <= format::kMostCodes || node.in(0).known ? "" : fmt::format("{}", found);
          }};
}

Tensor codesAlong(int64_t axis, int64_t rank, int64_t extent) {
  Shape shape(rank, 1);
  shape[axis] = extent;
  std::vector<float> codes(extent);
  for (int64_t index = 0; index < extent; ++index)
    codes[index] = codeAsFloat(index);
  return Tensor::ofKnown(HostTensor::ofFloats(shape, std::move(codes)));
}

Tensor codeOf(Emitter &emit, const Tensor &x, const Tensor &greatest, const Tensor &codes,
              int64_t axis, bool last) {
  const Tensor found =
      emit.pointwise({x, greatest, codes}, [last](const Scalars &s, mlir::ValueRange v) {
        const mlir::Value isLess = s.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, v[0], v[1]);
        return s.make<arith::SelectOp>(isLess, s.constant(last ? 0 : codeOfNone()), v[2]);
      });
  return emit.reduce(last ? ir::Monoid::Max : ir::Monoid::Min, found, {axis}, true);
}

Tensor asIndices(Tensor codes, int64_t extent) {
  codes.type = onnx::TensorProto::INT64;
  codes.range = IntegerRange{0, static_cast<double>(extent - 1)};
  codes.codes = true;
  return codes;
}

} // namespace sluice::frontend::ops
