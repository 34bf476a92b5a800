#include "compiler/pipeline/stored_constants.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/conversion/plan/order/pins.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "hw/numerics/numerics.h"

namespace sluice::pipeline {
namespace {

/// Constants named in one problem.
constexpr size_t kNamed = 3;

/// The number of different rows of a constant.
uint64_t differentRows(const reference::Tensor &tensor, const rows::RowLayout &layout,
                       int64_t lanes) {
  std::set<std::vector<uint16_t>> different;
  for (int64_t row = 0; row < layout.rows(); ++row) {
    std::vector<uint16_t> bits(static_cast<size_t>(lanes));
    for (int64_t lane = 0; lane < layout.used(row); ++lane)
      bits[lane] = numerics::roundToBf16(rows::withinBf16(tensor.values[layout.flat(row, lane)]));
    different.insert(std::move(bits));
  }
  return different.size();
}

} // namespace

std::vector<StoredConstant> storedConstants(mlir::func::FuncOp main,
                                            const format::Geometry &geometry) {
  std::vector<StoredConstant> constants;
  for (auto map : main.front().getOps<ir::MapOp>()) {
    const auto dim = ir::dataDim(map.getResult());
    for (const mlir::Value operand : map.getInputs()) {
      auto constant = operand.getDefiningOp<ir::ConstantOp>();
      if (!constant || !dim)
        continue;
      const auto shape = ir::carriedShape(map.getResult());
      const rows::RowLayout layout({shape.begin(), shape.end()}, *dim, geometry.lanes);
      const auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
      if (layout.rows() * 8 < geometry.localRows || (elements && elements.isSplat()))
        continue;
      StoredConstant &one = constants.emplace_back();
      one.name = ir::tensorName(constant.getLoc());
      one.shape.assign(shape.begin(), shape.end());
      one.rows = differentRows(ir::toTensor(constant.getValue()), layout, geometry.lanes);
      const NodeRef node = ir::nodeOf(map.getLoc());
      one.node = {node.index, node.name, node.op};
    }
  }
  llvm::sort(constants, [](const auto &a, const auto &b) {
    return std::tie(b.rows, a.node.index, a.name) < std::tie(a.rows, b.node.index, b.name);
  });
  return constants;
}

void nameConstants(const std::vector<StoredConstant> &constants, Problems &problems) {
  for (Problem &problem : problems) {
    const auto *lacks = std::get_if<LacksMemory>(&problem.reason);
    if (!lacks || lacks->memory != "local rows")
      continue;
    for (const StoredConstant &one : llvm::ArrayRef(constants).take_front(kNamed))
      problem.notes.push_back(
          fmt::format("{} reads {} [{}], {} different row{}", plan::nodeName(one.node),
                      one.name.empty() ? "a constant" : fmt::format("the constant '{}'", one.name),
                      fmt::join(one.shape, " "), one.rows, one.rows == 1 ? "" : "s"));
  }
}

} // namespace sluice::pipeline
