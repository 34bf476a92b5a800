// Transpose and Expand.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

Shape permutation(const NodeView &node) {
  if (node.given("perm"))
    return node.integers("perm");
  Shape reversed(node.in(0).rank());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

Operator transpose() {
  Operator entry;
  entry.name = "Transpose";
  entry.form = "transpose";
  entry.inputs = {{"data", Types::Any}};
  entry.outputs = {{"transposed"}};
  entry.attributes = {{"perm", AttributeKind::Ints}};
  entry.requirements = {{"attribute 'perm' names every axis of 'data' once",
                         [](const NodeView &node) -> std::string {
                           Shape order = permutation(node), all(node.in(0).rank());
                           std::iota(all.begin(), all.end(), 0);
                           return std::is_permutation(order.begin(), order.end(), all.begin(),
                                                      all.end())
                                      ? ""
                                      : shapeText(order);
                         },
                         "E0206"}};
  entry.build = [](NodeBuilder &node) {
    node.result(node.emit.transpose(node.in(0), permutation(node)));
  };
  return entry;
}

Operator expand() {
  Operator entry;
  entry.name = "Expand";
  entry.form = "broadcast";
  entry.inputs = {{"input"}, {"shape", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.requirements = {
      {"input 'shape' has rank 1, its extents are at least 1, and 'input' broadcasts with it",
       [](const NodeView &node) -> std::string {
         const Shape &wanted = node.knownInts(1);
         bool positive =
             std::all_of(wanted.begin(), wanted.end(), [](int64_t extent) { return extent > 0; });
         return node.in(1).rank() == 1 && positive && broadcastShape({node.in(0).shape, wanted})
                    ? ""
                    : fmt::format("{} for {}", shapeText(wanted), shapeText(node.in(0).shape));
       },
       "E0206"}};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    node.result(node.emit.broadcast(x, *broadcastShape({x.shape, node.knownInts(1)})));
  };
  return entry;
}

} // namespace

void addViews(OperatorTable &table) {
  table.add({1, 13, 21, 23}, transpose());
  table.add({8, 13}, expand());
}

} // namespace sluice::frontend::ops
