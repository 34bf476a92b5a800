// BitCast: the bits of known elements as those of another type of the same width.
#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

/// Of the types whose bits are all known; 0 of others. Known doubles are rounded.
int64_t widthOf(int64_t type) {
  switch (type) {
  case Proto::INT8:
  case Proto::UINT8:
    return 8;
  case Proto::INT16:
  case Proto::UINT16:
  case Proto::FLOAT16:
  case Proto::BFLOAT16:
    return 16;
  case Proto::INT32:
  case Proto::UINT32:
  case Proto::FLOAT:
    return 32;
  case Proto::INT64:
  case Proto::UINT64:
    return 64;
  default:
    return 0;
  }
}

const llvm::fltSemantics &formatOf(DataType type) {
  return type == Proto::FLOAT16    ? llvm::APFloat::IEEEhalf()
         : type == Proto::BFLOAT16 ? llvm::APFloat::BFloat()
                                   : llvm::APFloat::IEEEsingle();
}

llvm::APInt bitsOf(const HostTensor &from, size_t i) {
  if (!from.isFloat())
    return {64, static_cast<uint64_t>(from.ints[i])};
  llvm::APFloat number(from.floats[i]);
  bool inexact = false;
  number.convert(formatOf(from.type), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt();
}

void build(NodeBuilder &node) {
  const HostTensor &from = *node.in(0).known;
  HostTensor out{static_cast<DataType>(node.integer("to")), from.shape, {}, {}};
  const auto width = static_cast<unsigned>(widthOf(out.type));
  for (int64_t i = 0; i < from.size(); ++i) {
    const llvm::APInt bits = bitsOf(from, i).zextOrTrunc(width);
    if (out.isFloat()) {
      llvm::APFloat number(formatOf(out.type), bits);
      bool inexact = false;
      number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      out.floats.push_back(number.convertToFloat());
    } else {
      out.ints.push_back(wrapToType(static_cast<int64_t>(bits.getZExtValue()), out.type));
    }
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

} // namespace

void addBitCast(OperatorTable &table) {
  Operator entry;
  entry.name = "BitCast";
  entry.form = "known at compile time";
  entry.inputs = {{"input", Types::Any, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"to", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {
      {"input type and attribute 'to' must be integer, float, float16 or bfloat16 types",
       [](const NodeView &node) -> std::string {
         const int64_t to = node.integer("to");
         if (widthOf(node.in(0).type) == 0)
           return dataTypeName(node.in(0).type);
         return widthOf(to) != 0 ? "" : fmt::format("'to' {}", to);
       }},
      {"both types must have the same number of bits",
       [](const NodeView &node) -> std::string {
         const auto to = static_cast<DataType>(node.integer("to"));
         return widthOf(node.in(0).type) == widthOf(to)
                    ? ""
                    : fmt::format("{} and {}", dataTypeName(node.in(0).type), dataTypeName(to));
       },
       kShapes}};
  entry.build = build;
  table.add({26}, std::move(entry));
}

} // namespace sluice::frontend::ops
