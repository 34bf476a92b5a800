// Einsum: diagonals, transposes, reduce sum, matmul or a product, of one operand after another.
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
    out.problem = fmt::format("{} terms", terms.size());
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

/// The first label that `labels` has twice, or nothing.
std::optional<char> repeated(const Labels &labels) {
  for (const char label : labels)
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

  /// Takes the diagonal of the axes that share a label.
  void dropRepeated(Emitter &emit) {
    while (const std::optional<char> label = repeated(labels)) {
      const size_t first = labels.find(*label), second = labels.find(*label, first + 1);
      const int64_t extent = tensor.shape[first];
      Shape permutation, flat;
      Labels left;
      for (size_t axis = 0; axis < labels.size(); ++axis)
        if (axis != first && axis != second) {
          permutation.push_back(static_cast<int64_t>(axis));
          flat.push_back(tensor.shape[axis]);
          left += labels[axis];
        }
      permutation.push_back(static_cast<int64_t>(first));
      permutation.push_back(static_cast<int64_t>(second));
      flat.push_back(extent * extent);
      tensor = emit.reshape(emit.transpose(tensor, permutation), flat);
      tensor = sliceAlong(emit, tensor, tensor.rank() - 1, 0, extent, extent > 1 ? extent + 1 : 1);
      labels = left + *label;
    }
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

/// The product of two, summed over what neither the result nor a later operand has.
Labelled merged(Emitter &emit, Labelled l, Labelled r, const Labels &needed) {
  const Labels contracted =
      where(l.labels, [&](char c) { return contains(r.labels, c) && !contains(needed, c); });
  l.sumOut(emit, needed + contracted);
  r.sumOut(emit, needed + contracted);
  Labels labels = where(l.labels, [&](char c) { return contains(needed, c); });
  labels += where(r.labels, [&](char c) { return contains(needed, c) && !contains(labels, c); });
  // What is the result has its order.
  if (needed.size() == labels.size())
    labels = needed;
  return {contracted.empty() ? productOf(emit, std::move(l), std::move(r), labels)
                             : contraction(emit, std::move(l), std::move(r), contracted, labels),
          labels};
}

void buildEinsum(NodeBuilder &node) {
  const Equation equation = readEquation(node);
  const Labels &result = equation.result;
  const size_t count = equation.operands.size();
  std::vector<Labels> needed(count, result); ///< of the result and the operands behind
  for (size_t i = count - 1; i-- > 0;) {
    needed[i] = needed[i + 1];
    for (const char label : equation.operands[i + 1])
      if (!contains(needed[i], label))
        needed[i] += label;
  }
  const auto operand = [&](size_t i) {
    Labelled out{node.in(i), equation.operands[i]};
    out.dropRepeated(node.emit);
    return out;
  };
  Labelled all = operand(0);
  for (size_t i = 1; i < count; ++i)
    all = merged(node.emit, std::move(all), operand(i), needed[i]);
  all.sumOut(node.emit, result);
  all.arrange(node.emit, result);
  node.result(all.tensor);
}

/// Of integers that are known: sums of products, in their type.
void evaluateIntegers(NodeBuilder &node) {
  const Equation equation = readEquation(node);
  Labels labels = equation.result; // those of the result first, those that are summed over last
  Shape extents(labels.size(), 0);
  for (size_t i = 0; i < equation.operands.size(); ++i)
    for (size_t axis = 0; axis < equation.operands[i].size(); ++axis) {
      const char label = equation.operands[i][axis];
      if (!contains(labels, label)) {
        labels += label;
        extents.push_back(0);
      }
      extents[labels.find(label)] = node.in(i).shape[axis];
    }
  const int64_t count = elementCount(extents, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kNotSupported,
                    fmt::format("the product of the integers {} has more than {} terms",
                                inputShapes(node), kMostFoldedElements)};
  std::vector<Shape> strides; // of every operand, by label
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    const Shape own = stridesOf(node.in(i).shape);
    Shape &by = strides.emplace_back(labels.size(), 0);
    for (size_t axis = 0; axis < own.size(); ++axis)
      by[labels.find(equation.operands[i][axis])] += own[axis]; // twice along a diagonal
  }
  HostTensor out{node.in(0).type, {}, {}, {}};
  out.shape.assign(extents.begin(), extents.begin() + static_cast<int64_t>(equation.result.size()));
  const int64_t results = elementCount(out.shape, kMostFoldedElements);
  for (int64_t result = 0; result < results; ++result) {
    uint64_t sum = 0;
    for (int64_t term = 0; term < count / results; ++term) {
      uint64_t product = 1;
      for (size_t i = 0; i < strides.size(); ++i) {
        int64_t rest = result * (count / results) + term, at = 0;
        for (size_t label = labels.size(); label-- > 0; rest /= extents[label])
          at += rest % extents[label] * strides[i][label];
        product *= static_cast<uint64_t>(node.knownInts(i)[at]);
      }
      sum += product;
    }
    out.ints.push_back(wrapToType(static_cast<int64_t>(sum), out.type));
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

} // namespace

void addEinsum(OperatorTable &table) {
  Operator entry;
  entry.name = "Einsum";
  entry.form =
      "diagonals and transposes, then matmul, product or reduce sum, one operand after another";
  entry.inputs = {{"Inputs", Types::Numeric, Presence::Variadic}};
  entry.outputs = {{"Output"}};
  entry.attributes = {{"equation", AttributeKind::String, std::nullopt, true}};
  entry.requirements = {
      sameTypes(),
      {"'equation' must have a term per operand, a letter per axis, and a result of these letters",
       [](const NodeView &node) { return readEquation(node).problem; }, kShapes},
      {"the result of 'equation' must not repeat a letter",
       [](const NodeView &node) -> std::string {
         const std::optional<char> label = repeated(readEquation(node).result);
         return label ? fmt::format("'{}' twice", *label) : "";
       },
       kShapes},
      {"axes with the same letter must have the same extent", extentProblem, kShapes},
      knownIntegers()};
  entry.build = buildEinsum;
  entry.evaluate = [](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      buildEinsum(node);
    else
      evaluateIntegers(node);
  };
  table.add({12}, entry);
}

} // namespace sluice::frontend::ops
