// Einsum of one or two operands: transposes, reduce sum, matmul or a product.
#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// One label per axis; the axes of an ellipsis are labelled '0', '1', ... from the last one on.
using Labels = std::string;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
  std::string problem; ///< why it cannot be read, or empty
};

bool contains(const Labels &labels, char label) { return labels.find(label) != Labels::npos; }

/// The labels of `text`, whose ellipsis stands for `hidden` axes.
std::optional<Labels> readTerm(const std::string &text, size_t hidden) {
  Labels out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      out += text[i];
    } else if (text.compare(i, 3, "...") == 0 && hidden < 10) {
      for (size_t axis = hidden; axis-- > 0;)
        out += static_cast<char>('0' + axis);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

/// Without "->": what occurs once, in alphabetical order, after the axes of an ellipsis.
Labels impliedResult(const std::vector<Labels> &operands) {
  std::map<char, int> counts;
  for (const Labels &labels : operands)
    for (char label : labels)
      ++counts[label];
  Labels hidden, named;
  for (auto [label, count] : counts)
    if (std::isdigit(static_cast<unsigned char>(label)))
      hidden.insert(hidden.begin(), label);
    else if (count == 1)
      named += label;
  return hidden + named;
}

Equation readEquation(const NodeView &node) {
  std::string text = node.attribute<std::string>("equation");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation out;
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (char c : left)
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  if (terms.size() != node.inputCount()) {
    out.problem = fmt::format("{} operands", terms.size());
    return out;
  }
  size_t hidden = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t rank = node.in(i).shape.size();
    const bool open = terms[i].find("...") != std::string::npos;
    const size_t named = terms[i].size() - (open ? 3 : 0);
    const size_t axes = open && rank >= named ? rank - named : 0;
    const std::optional<Labels> labels = readTerm(terms[i], axes);
    if (!labels || labels->size() != rank) {
      out.problem = fmt::format("'{}' for {}", terms[i], shapeText(node.in(i).shape));
      return out;
    }
    hidden = std::max(hidden, axes);
    out.operands.push_back(*labels);
  }
  if (arrow == std::string::npos) {
    out.result = impliedResult(out.operands);
    return out;
  }
  const std::optional<Labels> result = readTerm(text.substr(arrow + 2), hidden);
  const auto known = [&](char label) {
    return std::any_of(out.operands.begin(), out.operands.end(),
                       [&](const Labels &labels) { return contains(labels, label); });
  };
  if (!result || !std::all_of(result->begin(), result->end(), known))
    out.problem = fmt::format("the result '{}'", text.substr(arrow + 2));
  else
    out.result = *result;
  return out;
}

/// The first label that a term has twice, or nothing.
std::optional<char> repeated(const Equation &equation) {
  std::vector<Labels> terms = equation.operands;
  terms.push_back(equation.result);
  for (const Labels &labels : terms)
    for (char label : labels)
      if (std::count(labels.begin(), labels.end(), label) > 1)
        return label;
  return std::nullopt;
}

std::string extentProblem(const NodeView &node) {
  const Equation equation = readEquation(node);
  std::map<char, int64_t> extents;
  for (size_t i = 0; i < equation.operands.size(); ++i)
    for (size_t axis = 0; axis < equation.operands[i].size(); ++axis) {
      const int64_t extent = node.in(i).shape[axis];
      if (extents.emplace(equation.operands[i][axis], extent).first->second != extent)
        return inputShapes(node);
    }
  return "";
}

/// A tensor and the labels of its axes.
struct Labelled {
  Tensor tensor;
  Labels labels;

  /// The axes in the order of `order`, which has the same labels.
  void arrange(Emitter &emit, const Labels &order) {
    if (order == labels)
      return;
    Shape permutation;
    for (char label : order)
      permutation.push_back(static_cast<int64_t>(labels.find(label)));
    tensor = emit.transpose(tensor, permutation);
    labels = order;
  }

  /// Sums over the axes whose labels are not in `kept`.
  void sumOut(Emitter &emit, const Labels &kept) {
    Shape axes;
    Labels left;
    for (size_t axis = 0; axis < labels.size(); ++axis)
      if (contains(kept, labels[axis]))
        left += labels[axis];
      else
        axes.push_back(static_cast<int64_t>(axis));
    if (!axes.empty())
      tensor = emit.reduce(ir::Monoid::Sum, tensor, axes, false);
    labels = left;
  }

  int64_t extent(const Labels &group) const {
    int64_t product = 1;
    for (char label : group)
      product *= tensor.shape[labels.find(label)];
    return product;
  }
  Shape extents(const Labels &group) const {
    Shape out;
    for (char label : group)
      out.push_back(tensor.shape[labels.find(label)]);
    return out;
  }
};

Shape joined(Shape left, const Shape &right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The labels of `from` that `test` wants.
template <typename Test> Labels where(const Labels &from, Test test) {
  Labels out;
  std::copy_if(from.begin(), from.end(), std::back_inserter(out), test);
  return out;
}

/// Without a contracted label: a product of the operands, spread to the result's axes.
Tensor productOf(Emitter &emit, Labelled l, Labelled r, const Labels &result) {
  const auto spread = [&](Labelled &operand) {
    operand.arrange(emit, where(result, [&](char c) { return contains(operand.labels, c); }));
    Shape shape;
    for (char label : result)
      shape.push_back(contains(operand.labels, label) ? operand.extent({label}) : 1);
    return emit.reshape(operand.tensor, shape);
  };
  const Tensor left = spread(l), right = spread(r);
  return emit.pointwise({left, right},
                        [](const Scalars &s, mlir::ValueRange x) { return s.mul(x[0], x[1]); });
}

/// [batch rows contracted] x [batch contracted columns], each group as one axis
/// but the batch; without a batch the rows too keep their axes.
Tensor contraction(Emitter &emit, Labelled l, Labelled r, const Labels &contracted,
                   const Labels &result) {
  const auto inLeft = [&](char c) { return contains(l.labels, c); };
  const auto inRight = [&](char c) { return contains(r.labels, c); };
  const Labels batch = where(result, [&](char c) { return inLeft(c) && inRight(c); });
  const Labels rows = where(result, [&](char c) { return !inRight(c); });
  const Labels columns = where(result, [&](char c) { return !inLeft(c); });
  l.arrange(emit, batch + rows + contracted);
  r.arrange(emit, batch + contracted + columns);
  const Shape rowShape = batch.empty() && !rows.empty() ? l.extents(rows) : Shape{l.extent(rows)};
  const Tensor left =
      emit.reshape(l.tensor, joined(joined(l.extents(batch), rowShape), {l.extent(contracted)}));
  const Tensor right =
      emit.reshape(r.tensor, joined(l.extents(batch), {l.extent(contracted), r.extent(columns)}));
  Labelled product{emit.matmul(left, right), batch + rows + columns};
  product.tensor = emit.reshape(
      product.tensor, joined(joined(l.extents(batch), l.extents(rows)), r.extents(columns)));
  product.arrange(emit, result);
  return product.tensor;
}

void buildEinsum(NodeBuilder &node) {
  const Equation equation = readEquation(node);
  const Labels &result = equation.result;
  Labelled l{node.in(0), equation.operands[0]};
  if (equation.operands.size() == 1) {
    l.sumOut(node.emit, result);
    l.arrange(node.emit, result);
    node.result(l.tensor);
    return;
  }
  Labelled r{node.in(1), equation.operands[1]};
  const Labels contracted =
      where(l.labels, [&](char c) { return contains(r.labels, c) && !contains(result, c); });
  l.sumOut(node.emit, result + contracted);
  r.sumOut(node.emit, result + contracted);
  node.result(contracted.empty() ? productOf(node.emit, l, r, result)
                                 : contraction(node.emit, l, r, contracted, result));
}

} // namespace

void addEinsum(OperatorTable &table) {
  Operator entry;
  entry.name = "Einsum";
  entry.form = "transposes, then matmul, product or reduce sum";
  entry.inputs = {{"Inputs", Types::Float, Presence::Variadic}};
  entry.outputs = {{"Output"}};
  entry.attributes = {{"equation", AttributeKind::String, std::nullopt, true}};
  entry.requirements = {
      sameTypes(),
      {"there are one or two operands",
       [](const NodeView &node) -> std::string {
         return node.inputCount() <= 2 ? "" : fmt::format("{}", node.inputCount());
       }},
      {"attribute 'equation' has a term per operand with a letter per axis, and a result of their "
       "letters",
       [](const NodeView &node) { return readEquation(node).problem; }, "E0206"},
      {"no term of 'equation' has a letter twice",
       [](const NodeView &node) -> std::string {
         const std::optional<char> label = repeated(readEquation(node));
         return label ? fmt::format("'{}' twice", *label) : "";
       }},
      {"axes with the same letter have the same extent", extentProblem, "E0206"}};
  entry.build = buildEinsum;
  table.add({12}, entry);
}

} // namespace sluice::frontend::ops
