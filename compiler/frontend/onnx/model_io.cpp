#include "compiler/frontend/onnx/model_io.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/bound_tensor.h"
#include "compiler/frontend/onnx/integer_range.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/support/suggestion.h"

namespace sluice::frontend {
namespace {

/// An output is not what the model declares.
constexpr ErrorCode kOutput{"E0115", ErrorCode::Kind::WrongShapes};

/// One dimension as declared; free ones may have a name.
struct Dimension {
  static constexpr int64_t kFree = -1;
  int64_t extent = kFree; ///< or what is written there, which may be no extent: 0, -5
  std::string name;

  bool isFree() const { return extent == kFree; }
  bool isFixed() const { return extent > 0; }
  std::string text() const {
    return !isFree() ? std::to_string(extent) : name.empty() ? "?" : name;
  }
};

/// A declared shape; nothing if the rank is left open.
std::optional<std::vector<Dimension>> declaredShape(const onnx::TypeProto::Tensor &type) {
  if (!type.has_shape())
    return std::nullopt;
  std::vector<Dimension> out;
  for (const onnx::TensorShapeProto::Dimension &dim : type.shape().dim()) {
    // Exporters write -1 for what they do not know.
    if (dim.has_dim_value())
      out.push_back({dim.dim_value(), ""});
    else if (dim.dim_param() == "None" || dim.dim_param() == "?") // not names either
      out.push_back({});
    else
      out.push_back({Dimension::kFree, dim.dim_param()});
  }
  return out;
}

std::string text(const std::vector<Dimension> &shape) {
  std::vector<std::string> words;
  for (const Dimension &dim : shape)
    words.push_back(dim.text());
  return fmt::format("[{}]", fmt::join(words, " "));
}

const char *kindOf(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kSequenceType:
    return "a sequence";
  case onnx::TypeProto::kMapType:
    return "a map";
  case onnx::TypeProto::kOptionalType:
    return "an optional";
  case onnx::TypeProto::kSparseTensorType:
    return "a sparse tensor";
  default:
    return "a value without a type";
  }
}

/// "axis 0 of input 'x'".
std::string axisText(size_t axis, const std::string &input) {
  return fmt::format("axis {} of input {}", axis, inQuotes(input));
}

class InputResolver {
public:
  InputResolver(const ImportOptions &options, const std::set<std::string> &initializers,
                Report &report)
      : options(options), initializers(initializers), report(report) {}

  void declare(const onnx::ValueInfoProto &input) {
    std::string name = inQuotes(input.name());
    if (input.name().empty()) {
      report.add("E0110", "a graph input has no name");
      return;
    }
    names.push_back(input.name());
    if (!input.type().has_tensor_type()) {
      report.add("E0110",
                 fmt::format("input {} is {}; expected a tensor", name, kindOf(input.type())));
      return;
    }
    auto shape = declaredShape(input.type().tensor_type());
    for (const Dimension &dim : shape.value_or(std::vector<Dimension>{}))
      if (!dim.name.empty())
        dimensions.insert(dim.name);
    DataType type = input.type().tensor_type().elem_type();
    const auto value = options.bindings.find(input.name());
    const BoundValue *bound = value == options.bindings.end() ? nullptr : &value->second;
    if (!hostType(type)) {
      refuseType(input.name(), type);
      return;
    }
    if (const Shape *given = givenShape(input.name(), bound);
        given && !apply(input.name(), *given, shape))
      return;
    inputs.push_back({input.name(), type, std::move(shape), bound});
  }

  ResolvedInputs finish() {
    for (const auto &[name, shape] : options.inputShapes)
      if (initializers.count(name))
        report.add(kWrongShape,
                   fmt::format("cannot give a shape for {}: it is an initializer", inQuotes(name)));
      else if (std::find(names.begin(), names.end(), name) == names.end())
        applyToDimension(name, shape);
    for (const auto &[name, value] : options.bindings)
      if (initializers.count(name))
        report.add(kWrongBinding,
                   fmt::format("cannot give a value for {}: it is an initializer", inQuotes(name)));
      else if (std::find(names.begin(), names.end(), name) == names.end())
        refuseName(kWrongBinding, name);
    for (Input &input : inputs)
      if (auto shape = extents(input))
        add(input, std::move(*shape));
    return std::move(resolved);
  }

private:
  struct Input {
    std::string name;
    DataType type;
    std::optional<std::vector<Dimension>> shape;
    const BoundValue *value; ///< null: known at run time
  };

  void refuseType(const std::string &name, DataType type) {
    report.add("E0114", fmt::format("input {} has type {}; sluice supports float, float16, "
                                    "bfloat16, double, bool and 8- to 64-bit integers",
                                    inQuotes(name), dataTypeName(type)));
  }

  void refuseName(ErrorCode code, const std::string &name) {
    report
        .add(code, fmt::format("the model has no input {}; its inputs are {}", inQuotes(name),
                               listText(names)))
        .fixes = suggestion(name, names);
  }

  /// The shape that the user gives, itself or with a value; null if none.
  const Shape *givenShape(const std::string &name, const BoundValue *value) {
    const auto user = options.inputShapes.find(name);
    const Shape *shape = user == options.inputShapes.end() ? nullptr : &user->second;
    if (!value || !value->shape)
      return shape;
    if (shape && *shape != *value->shape)
      report.add(kWrongBinding,
                 fmt::format("input {} is given shape {}, but its value has shape {}",
                             inQuotes(name), shapeText(*shape), shapeText(*value->shape)));
    return &*value->shape;
  }

  void add(const Input &input, Shape shape) {
    ModelInput out{input.name, input.type, std::move(shape), nullptr};
    if (input.value) {
      auto made = boundTensor(input.name, *input.value, input.type, out.shape);
      if (const auto *wrong = std::get_if<std::string>(&made)) {
        report.add(kWrongBinding, *wrong);
        return;
      }
      out.value = std::make_shared<const HostTensor>(std::move(std::get<HostTensor>(made)));
    } else if (elementCount(out.shape, kMaxElements) == 0) {
      out.value = std::make_shared<const HostTensor>(HostTensor{input.type, out.shape, {}, {}});
      resolved.empty.push_back({input.name, out.shape, shapeFlag(input, "...")});
    }
    resolved.inputs.push_back(std::move(out));
  }

  /// Fills in what the user gives for an input.
  bool apply(const std::string &name, const Shape &user,
             std::optional<std::vector<Dimension>> &shape) {
    size_t before = report.count();
    if (!shape)
      shape.emplace(user.size());
    if (shape->size() != user.size()) {
      report.add(kWrongShape,
                 fmt::format("input {} has shape {} of rank {}, but the given shape {} has rank {}",
                             inQuotes(name), text(*shape), shape->size(), shapeText(user),
                             user.size()));
      return false;
    }
    for (size_t axis = 0; axis < user.size(); ++axis) {
      Dimension &dim = (*shape)[axis];
      const Replaced replaced{name, axis, dim.extent, user[axis]};
      if (user[axis] < 0) {
        report.add(kWrongShape, fmt::format("{} is given as {}; it must not be negative",
                                            axisText(axis, name), user[axis]));
      } else if (dim.isFixed() && dim.extent != user[axis] && axis != 0) {
        report.add(kWrongShape, replaced.text());
      } else {
        if (dim.isFixed() && dim.extent != user[axis])
          resolved.replaced.push_back(replaced);
        if (!dim.name.empty())
          bind(dim.name, user[axis], fmt::format("in input {}", inQuotes(name)));
        dim.extent = user[axis];
      }
    }
    return report.count() == before;
  }

  /// What is given for a name that no input has: the extent of a dimension.
  void applyToDimension(const std::string &name, const Shape &user) {
    if (dimensions.empty()) {
      refuseName(kWrongShape, name);
    } else if (!dimensions.contains(name)) {
      const std::vector<std::string> known(dimensions.begin(), dimensions.end());
      std::vector<std::string> all = names;
      all.insert(all.end(), known.begin(), known.end());
      report
          .add(kWrongShape,
               fmt::format(
                   "the model has no input or dimension {}; its inputs are {}, its dimensions {}",
                   inQuotes(name), listText(names), listText(known)))
          .fixes = suggestion(name, all);
    } else if (user.size() != 1) {
      report.add(kWrongShape, fmt::format("dimension {} is given {} extents; it needs 1",
                                          inQuotes(name), user.size()));
    } else if (user.front() < 0) {
      report.add(kWrongShape, fmt::format("dimension {} is given as {}; it must not be negative",
                                          inQuotes(name), user.front()));
    } else {
      bind(name, user.front(), "by its name");
    }
  }

  /// A named dimension has one extent in the whole model.
  void bind(const std::string &dimension, int64_t extent, const std::string &where) {
    auto [entry, isNew] = bound.emplace(dimension, std::make_pair(extent, where));
    if (!isNew && entry->second.first != extent)
      report.add(kWrongShape,
                 fmt::format("dimension {} has two extents, {} {} and {} {}", inQuotes(dimension),
                             entry->second.first, entry->second.second, extent, where));
  }

  std::optional<Shape> extents(Input &input) {
    std::string name = inQuotes(input.name);
    if (!input.shape) {
      Problem &problem =
          report.add(kNeedsShape, fmt::format("input {} has no shape in the model", name));
      problem.fixes.push_back(
          fix("give its shape", fmt::format("--input-shape {}=...", input.name)));
      return std::nullopt;
    }
    std::string declared = text(*input.shape);
    Shape out;
    for (Dimension &dim : *input.shape) {
      auto other = bound.find(dim.name);
      if (dim.isFree() && !dim.name.empty() && other != bound.end())
        dim.extent = other->second.first;
      out.push_back(dim.extent);
    }
    if (!areExtents(input))
      return std::nullopt;
    const bool free = std::any_of(input.shape->begin(), input.shape->end(),
                                  [](const Dimension &dim) { return dim.isFree(); });
    if (free && isAsked(*input.shape))
      return std::nullopt;
    if (free) {
      Problem &problem =
          report.add(kNeedsShape, fmt::format("input {} has dynamic dimensions in its shape {}",
                                              name, declared));
      const std::string flag = shapeFlag(input, "1");
      problem.fixes.push_back(fix("give every extent, for example with " + flag, flag));
      return std::nullopt;
    }
    if (elementCount(out, kMaxElements) < 0) {
      report.add("E0110", fmt::format("input {} has shape {}, more than {} elements", name,
                                      shapeText(out), kMaxElements));
      return std::nullopt;
    }
    return out;
  }

  /// Reports what the model writes for an extent and is none.
  bool areExtents(const Input &input) {
    bool all = true;
    for (size_t axis = 0; axis < input.shape->size(); ++axis) {
      const Dimension &dim = (*input.shape)[axis];
      if (dim.isFree() || dim.extent >= 0)
        continue;
      report
          .add("E0110", fmt::format("{} is {} in the model; it must not be negative",
                                    axisText(axis, input.name), dim.extent))
          .fixes.push_back(fix("give the intended extent", shapeFlag(input, "...")));
      all = false;
    }
    return all;
  }

  /// The flag that gives the input's shape, with `open` for what the model does not fix.
  static std::string shapeFlag(const Input &input, const std::string &open) {
    std::vector<std::string> words;
    for (const Dimension &dim : *input.shape)
      words.push_back(dim.isFixed() ? std::to_string(dim.extent) : open);
    return fmt::format("--input-shape {}={}", input.name, fmt::join(words, ","));
  }

  /// Whether problems of other inputs already ask for all free dimensions of this
  /// one; remembers them as asked for.
  bool isAsked(const std::vector<Dimension> &shape) {
    bool all = true;
    for (const Dimension &dim : shape)
      if (dim.isFree() && (dim.name.empty() || asked.insert(dim.name).second))
        all = false;
    return all;
  }

  const ImportOptions &options;
  const std::set<std::string> &initializers;
  Report &report;
  ResolvedInputs resolved;
  std::vector<Input> inputs;
  std::vector<std::string> names;   ///< of inputs, in their order
  std::set<std::string> dimensions; ///< names
  std::set<std::string> asked;      ///< free dimensions that have a problem
  std::map<std::string, std::pair<int64_t, std::string>> bound; ///< extent, "in input 'x'"
};

/// Whether a computed shape is the declared one but for extents that the user replaced.
bool fits(const std::vector<Dimension> &declared, const Shape &computed,
          const std::vector<Replaced> &replaced) {
  bool same = declared.size() == computed.size();
  for (size_t i = 0; same && i < declared.size(); ++i)
    same = !declared[i].isFixed() || declared[i].extent == computed[i] ||
           std::any_of(replaced.begin(), replaced.end(), [&](const Replaced &one) {
             return one.declared == declared[i].extent && one.given == computed[i];
           });
  return same;
}

/// A pooling with `ceil_mode` and padding, whose last windows would begin in the padding; nothing
/// if the graph has none. PyTorch has no such windows, but its exporter counts them in the shapes
/// that it declares.
std::optional<std::string> roundedPooling(const onnx::GraphProto &graph) {
  const auto attribute = [](const onnx::NodeProto &node, const char *name, const auto &wanted) {
    return std::ranges::any_of(node.attribute(), [&](const onnx::AttributeProto &one) {
      return one.name() == name && wanted(one);
    });
  };
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    if (attribute(node, "ceil_mode", [](const auto &one) { return one.i() != 0; }) &&
        attribute(node, "pads", [](const auto &one) {
          return std::ranges::any_of(one.ints(), [](int64_t pad) { return pad != 0; });
        })) {
      NodeRef ref;
      ref.index = i;
      ref.name = node.name();
      ref.op = node.op_type();
      return nodeText(ref);
    }
  }
  return std::nullopt;
}

/// Whether a computed shape has fewer elements along some axes than the declared one, and nowhere
/// more.
bool isPartOf(const Shape &computed, const std::vector<Dimension> &declared) {
  bool less = computed.size() == declared.size();
  for (size_t i = 0; less && i < declared.size(); ++i)
    less = !declared[i].isFixed() || computed[i] <= declared[i].extent;
  return less;
}

/// Whether the shapes are [1] and [], which exporters take for each other.
bool areScalars(const std::vector<Dimension> &declared, const Shape &computed) {
  const Shape one{1};
  return (declared.empty() && computed == one) ||
         (computed.empty() && declared.size() == 1 && declared[0].extent == 1);
}

} // namespace

std::string Replaced::text() const {
  return fmt::format("{} is {} in the model, but given as {}", axisText(axis, input), declared,
                     given);
}

ResolvedInputs resolveInputs(const onnx::GraphProto &proto,
                             const std::set<std::string> &initializers,
                             const ImportOptions &options, Report &report) {
  InputResolver resolver(options, initializers, report);
  for (const onnx::ValueInfoProto &input : proto.input())
    if (!initializers.count(input.name()))
      resolver.declare(input);
  return resolver.finish();
}

void checkOutput(const onnx::GraphProto &graph, const onnx::ValueInfoProto &declared,
                 const Tensor &computed, const std::vector<Replaced> &replaced, Report &report,
                 std::vector<std::string> &notes) {
  std::string name = inQuotes(declared.name());
  if (!computed.isTensor()) {
    report.add("E0110", fmt::format("output {} is {}; expected a tensor", name, kindText(computed)))
        .fixes.push_back(fix("output the elements of a sequence (SequenceAt) or the value of an "
                             "optional (OptionalGetElement)"));
    return;
  }
  if (!hostType(computed.type)) {
    report.add("E0114", fmt::format("output {} has type {}; sluice supports float, float16, "
                                    "bfloat16, double, bool and 8- to 64-bit integers",
                                    name, dataTypeName(computed.type)));
    return;
  }
  if (computed.known && !computed.known->isFloat())
    for (const int64_t value : computed.known->ints)
      if (!isExact(value)) {
        report.add(
            "E0114",
            fmt::format(
                "output {} is a constant of type {} with element {}, which is not exact in bf16",
                name, dataTypeName(computed.type), value));
        return;
      }
  if (elementCount(computed.shape, kMaxElements) == 0) {
    report.add("E0114",
               fmt::format("output {} has shape {}, which has no elements; at least 1 is needed",
                           name, shapeText(computed.shape)));
    return;
  }
  if (!declared.has_type())
    return;
  if (!declared.type().has_tensor_type()) {
    report.add("E0110",
               fmt::format("output {} is {}; expected a tensor", name, kindOf(declared.type())));
    return;
  }
  const onnx::TypeProto::Tensor &type = declared.type().tensor_type();
  if (type.elem_type() != onnx::TensorProto::UNDEFINED && type.elem_type() != computed.type)
    report.add(kOutput,
               fmt::format("output {} is declared as {}, but its computed type is {}", name,
                           dataTypeName(type.elem_type()), dataTypeName(computed.type)));
  auto shape = declaredShape(type);
  if (!shape)
    return;
  if (fits(*shape, computed.shape, replaced))
    return;
  if (areScalars(*shape, computed.shape))
    notes.push_back(
        fmt::format("output {} is declared with shape {}; the program uses the computed shape {}",
                    name, text(*shape), shapeText(computed.shape)));
  else if (const auto pooling = roundedPooling(graph); pooling && isPartOf(computed.shape, *shape))
    notes.push_back(fmt::format("output {} is declared with shape {}; the program uses {}, as {} "
                                "has no windows in the padding (ceil_mode)",
                                name, text(*shape), shapeText(computed.shape), *pooling));
  else
    report.add(kOutput,
               fmt::format("output {} is declared with shape {}, but its computed shape is {}",
                           name, text(*shape), shapeText(computed.shape)));
}

} // namespace sluice::frontend
