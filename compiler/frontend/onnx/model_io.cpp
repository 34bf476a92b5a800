#include "compiler/frontend/onnx/model_io.h"

#include <fmt/format.h>

namespace sluice::frontend {
namespace {

/// One dimension as declared; free ones may have a name.
struct Dimension {
  int64_t extent = -1; ///< -1: free
  std::string name;

  std::string text() const {
    return extent >= 0 ? std::to_string(extent) : name.empty() ? "?" : name;
  }
};

/// A declared shape; nothing if the rank is left open.
std::optional<std::vector<Dimension>> declaredShape(const onnx::TypeProto::Tensor &type) {
  if (!type.has_shape())
    return std::nullopt;
  std::vector<Dimension> out;
  for (const onnx::TensorShapeProto::Dimension &dim : type.shape().dim()) {
    // Exporters write 0 and -1 for what they do not know.
    if (dim.has_dim_value() && dim.dim_value() > 0)
      out.push_back({dim.dim_value(), ""});
    else if (dim.dim_param() == "None" || dim.dim_param() == "?") // not names either
      out.push_back({-1, ""});
    else
      out.push_back({-1, dim.dim_param()});
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
    return "without a type";
  }
}

class InputResolver {
public:
  InputResolver(const std::map<std::string, Shape> &given, Report &report)
      : given(given), report(report) {}

  void declare(const onnx::ValueInfoProto &input) {
    std::string name = inQuotes(input.name());
    if (input.name().empty()) {
      report.add("E0110", "a graph input has no name");
      return;
    }
    names.insert(input.name());
    if (!input.type().has_tensor_type()) {
      report.add("E0110",
                 fmt::format("input {} is {}, a tensor is needed", name, kindOf(input.type())));
      return;
    }
    DataType type = input.type().tensor_type().elem_type();
    if (!isFloatType(type)) {
      Problem &problem = report.add(
          "E0114", fmt::format("input {} has elements of type {}, allowed are float, float16, "
                               "bfloat16 and double",
                               name, dataTypeName(type)));
      if (isIntegerType(type))
        problem.fixes.push_back(
            fix("make it a float in the model: for an index a one-hot vector and a MatMul in place "
                "of the Gather, for a bool 0 or 1 and a comparison"));
      return;
    }
    auto shape = declaredShape(input.type().tensor_type());
    auto user = given.find(input.name());
    if (user != given.end() && !apply(name, user->second, shape))
      return;
    inputs.push_back({input.name(), type, std::move(shape)});
  }

  std::vector<ModelInput> finish(const std::set<std::string> &initializers) {
    for (const auto &[name, shape] : given)
      if (initializers.count(name))
        report.add("E0112", fmt::format("the shape of {} cannot be given, it is an initializer",
                                        inQuotes(name)));
      else if (!names.count(name))
        report.add("E0112", fmt::format("the model has no input {}, its inputs are {}",
                                        inQuotes(name), allNames()));
    std::vector<ModelInput> out;
    for (Input &input : inputs)
      if (auto shape = extents(input))
        out.push_back({input.name, input.type, std::move(*shape)});
    return out;
  }

private:
  struct Input {
    std::string name;
    DataType type;
    std::optional<std::vector<Dimension>> shape;
  };

  /// Fills in what the user gives for an input.
  bool apply(const std::string &name, const Shape &user,
             std::optional<std::vector<Dimension>> &shape) {
    size_t before = report.count();
    if (!shape)
      shape.emplace(user.size());
    if (shape->size() != user.size()) {
      report.add("E0112",
                 fmt::format("input {} has the shape {} of rank {}, the given {} has rank {}", name,
                             text(*shape), shape->size(), shapeText(user), user.size()));
      return false;
    }
    for (size_t axis = 0; axis < user.size(); ++axis) {
      Dimension &dim = (*shape)[axis];
      if (user[axis] < 1) {
        report.add("E0112", fmt::format("axis {} of input {} is given as {}, at least 1 is needed",
                                        axis, name, user[axis]));
      } else if (dim.extent >= 0 && dim.extent != user[axis]) {
        report.add("E0112", fmt::format("axis {} of input {} is {} in the model and given as {}",
                                        axis, name, dim.extent, user[axis]));
      } else {
        if (!dim.name.empty())
          bind(dim.name, user[axis], name);
        dim.extent = user[axis];
      }
    }
    return report.count() == before;
  }

  /// A named dimension has one extent in the whole model.
  void bind(const std::string &dimension, int64_t extent, const std::string &input) {
    auto [entry, isNew] = bound.emplace(dimension, std::make_pair(extent, input));
    if (!isNew && entry->second.first != extent)
      report.add("E0112",
                 fmt::format("dimension {} is given as {} in input {} and as {} in input {}",
                             inQuotes(dimension), entry->second.first, entry->second.second, extent,
                             input));
  }

  std::optional<Shape> extents(Input &input) {
    std::string name = inQuotes(input.name);
    if (!input.shape) {
      Problem &problem =
          report.add("E0111", fmt::format("input {} has no shape in the model", name));
      problem.fixes.push_back(
          fix("give its extents", fmt::format("--input-shape {}=...", input.name)));
      return std::nullopt;
    }
    std::string declared = text(*input.shape);
    Shape out;
    std::vector<std::string> suggestion;
    bool free = false;
    for (Dimension &dim : *input.shape) {
      auto other = bound.find(dim.name);
      if (dim.extent < 0 && !dim.name.empty() && other != bound.end())
        dim.extent = other->second.first;
      free |= dim.extent < 0;
      out.push_back(dim.extent);
      suggestion.push_back(std::to_string(dim.extent < 0 ? 1 : dim.extent));
    }
    if (free && isAsked(*input.shape))
      return std::nullopt;
    if (free) {
      Problem &problem = report.add(
          "E0111", fmt::format("input {} has free dimensions in its shape {}", name, declared));
      problem.fixes.push_back(
          fix("give every extent, for example like this",
              fmt::format("--input-shape {}={}", input.name, fmt::join(suggestion, ","))));
      return std::nullopt;
    }
    if (elementCount(out, kMaxElements) < 0) {
      report.add("E0110", fmt::format("input {} has the shape {}, more than {} elements", name,
                                      shapeText(out), kMaxElements));
      return std::nullopt;
    }
    return out;
  }

  /// Whether problems of other inputs already ask for all free dimensions of this
  /// one; remembers them as asked for.
  bool isAsked(const std::vector<Dimension> &shape) {
    bool all = true;
    for (const Dimension &dim : shape)
      if (dim.extent < 0 && (dim.name.empty() || asked.insert(dim.name).second))
        all = false;
    return all;
  }

  std::string allNames() const {
    std::vector<std::string> words;
    for (const std::string &name : names)
      words.push_back(inQuotes(name));
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
  }

  const std::map<std::string, Shape> &given;
  Report &report;
  std::vector<Input> inputs;
  std::set<std::string> names;
  std::set<std::string> asked; ///< free dimensions that have a problem
  std::map<std::string, std::pair<int64_t, std::string>> bound; ///< extent, input
};

} // namespace

std::vector<ModelInput> resolveInputs(const onnx::GraphProto &proto,
                                      const std::set<std::string> &initializers,
                                      const std::map<std::string, Shape> &shapes, Report &report) {
  InputResolver resolver(shapes, report);
  bool any = false;
  for (const onnx::ValueInfoProto &input : proto.input())
    if (!initializers.count(input.name())) {
      resolver.declare(input);
      any = true;
    }
  if (!any)
    report.add("E0110", "the graph has no inputs apart from initializers");
  return resolver.finish(initializers);
}

void checkOutput(const onnx::ValueInfoProto &declared, const Tensor &computed, Report &report) {
  std::string name = inQuotes(declared.name());
  if (computed.known && !isFloatType(computed.type)) {
    report.add("E0114", fmt::format("output {} is a constant of type {}, allowed are float, "
                                    "float16, bfloat16 and double",
                                    name, dataTypeName(computed.type)));
    return;
  }
  if (!declared.has_type())
    return;
  if (!declared.type().has_tensor_type()) {
    report.add("E0110",
               fmt::format("output {} is {}, a tensor is needed", name, kindOf(declared.type())));
    return;
  }
  const onnx::TypeProto::Tensor &type = declared.type().tensor_type();
  if (type.elem_type() != onnx::TensorProto::UNDEFINED && type.elem_type() != computed.type)
    report.add("E0115", fmt::format("output {} is declared as {}, but computed as {}", name,
                                    dataTypeName(type.elem_type()), dataTypeName(computed.type)));
  auto shape = declaredShape(type);
  if (!shape)
    return;
  bool fits = shape->size() == computed.shape.size();
  for (size_t i = 0; fits && i < shape->size(); ++i)
    fits = (*shape)[i].extent < 0 || (*shape)[i].extent == computed.shape[i];
  if (!fits)
    report.add("E0115", fmt::format("output {} is declared with the shape {}, but computed with {}",
                                    name, text(*shape), shapeText(computed.shape)));
}

} // namespace sluice::frontend
