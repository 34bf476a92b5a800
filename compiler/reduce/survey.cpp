#include "compiler/reduce/survey.h"

#include <algorithm>
#include <functional>

#include <nlohmann/json.hpp>

#include "compiler/check/evaluate.h"
#include "compiler/check/oracle.h"
#include "compiler/check/rounding.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/frontend/onnx/host_tensor.h"
#include "compiler/frontend/onnx/import_proto.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/reduce/graph_parts.h"
#include "compiler/reduce/inferred_types.h"
#include "compiler/reduce/sample_json.h"
#include "compiler/support/child_process.h"

namespace sluice::reduce {
namespace {

using Json = nlohmann::json;

/// Adds what the model itself says of tensors that are not known.
void addDeclared(const onnx::GraphProto &graph, Facts &facts) {
  for (const auto *list : {&graph.value_info(), &graph.input(), &graph.output()})
    for (const onnx::ValueInfoProto &info : *list) {
      const onnx::TypeProto::Tensor &tensor = info.type().tensor_type();
      if (!info.type().has_tensor_type() || !tensor.has_shape() ||
          !std::ranges::all_of(tensor.shape().dim(), [](const auto &dim) {
            return dim.has_dim_value() && dim.dim_value() >= 0;
          }))
        continue;
      const auto [fact, isNew] = facts.try_emplace(info.name());
      if (!isNew)
        continue;
      fact->second.type = tensor.elem_type();
      for (const auto &dim : tensor.shape().dim())
        fact->second.shape.push_back(dim.dim_value());
    }
}

Json constantOf(const frontend::GraphTensor &tensor) {
  const frontend::HostTensor &known = *tensor.known;
  if (tensor.type == onnx::TensorProto::FLOAT)
    return known.floats;
  return tensor.type == onnx::TensorProto::INT64 ? Json(known.ints) : Json(nullptr);
}

std::optional<onnx::TensorProto> protoOf(const Json &constant, const TensorFacts &fact) {
  if (constant.is_null())
    return std::nullopt;
  onnx::TensorProto proto;
  proto.set_data_type(fact.type);
  for (const int64_t extent : fact.shape)
    proto.add_dims(extent);
  for (const Json &one : constant)
    if (fact.type == onnx::TensorProto::FLOAT)
      proto.add_float_data(one.get<float>());
    else
      proto.add_int64_data(one.get<int64_t>());
  return proto;
}

/// The tensors that a model computes from a sample.
Sample evaluate(const check::Oracle &oracle, const reference::Tensors &arrays) {
  Sample values;
  for (size_t i = 0; i < oracle.arrays().size(); ++i)
    values[oracle.arrays()[i].name] = arrays[i];
  check::Evaluator evaluator(oracle.function(), {}, {}); // exact alone
  evaluator.tap = [&](mlir::Value value, const check::Spread &spread) {
    for (const frontend::GraphTensor &tensor : oracle.tensors())
      if (tensor.value == value && tensor.shape == spread.exact().shape) {
        reference::Tensor &rounded = values[tensor.name] = spread.exact();
        for (double &one : rounded.values)
          one = check::nearestBf16(one);
      }
  };
  const reference::Tensors arguments = frontend::argumentsOf(oracle.inputs(), arrays);
  for (const frontend::GraphTensor &tensor : oracle.tensors())
    if (const auto argument = llvm::dyn_cast_if_present<mlir::BlockArgument>(tensor.value);
        argument && oracle.inputs()[argument.getArgNumber()].random)
      values[tensor.name] = arguments[argument.getArgNumber()];
  evaluator.run(arguments);
  return values;
}

Json surveyed(const onnx::ModelProto &model, const std::vector<Sample> &samples,
              const TrialSetup &setup) {
  const auto context = std::make_shared<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  const frontend::Import import = frontend::importProto(
      *context, model, pipeline::importOptions(optionsFor(setup.compile, model)));
  Json json = {{"tensors", Json::array()}, {"values", Json::array()}};
  for (const frontend::GraphTensor &tensor : import.info.tensors)
    json["tensors"].push_back({{"name", tensor.name},
                               {"type", tensor.type},
                               {"shape", tensor.shape},
                               {"constant", tensor.known ? constantOf(tensor) : Json(nullptr)}});
  if (!import.module || samples.empty())
    return json;
  const check::Oracle oracle(context, *import.module, import.info);
  if (oracle.hasState())
    return json;
  for (size_t i = 0; i < samples.size(); ++i)
    if (const auto arrays = argumentsOf(samples[i], oracle.arrays(), i))
      json["values"].push_back(jsonOf(evaluate(oracle, *arrays)));
  return json;
}

/// What some work returns in a process of its own; nothing if that crashes or takes too long.
std::optional<Json> inChild(const TrialSetup &setup, const std::function<Json()> &work) {
  const ChildResult result = tryInChild(
      [&] {
        const std::vector<uint8_t> bytes = Json::to_cbor(work());
        return std::string(bytes.begin(), bytes.end());
      },
      Clock::now() + setup.timeout, setup.stop);
  return result.ending == Ending::Returned ? std::optional(Json::from_cbor(result.text))
                                           : std::nullopt;
}

std::optional<Json> surveyInChild(const onnx::ModelProto &model, const std::vector<Sample> &samples,
                                  const TrialSetup &setup) {
  return inChild(setup, [&] { return surveyed(model, samples, setup); });
}

/// The model with the types and shapes that libonnx infers, which may crash.
std::optional<onnx::ModelProto> inferred(const onnx::ModelProto &model, const TrialSetup &setup) {
  const auto json = inChild(setup, [&] {
    onnx::ModelProto copy = model;
    inferTypes(copy);
    const std::string bytes = copy.SerializeAsString();
    return Json::binary({bytes.begin(), bytes.end()});
  });
  onnx::ModelProto found;
  if (!json ||
      !found.ParseFromArray(json->get_binary().data(), static_cast<int>(json->get_binary().size())))
    return std::nullopt;
  return found;
}

/// Whether the type and shape of a result are unknown.
bool lacksResults(const onnx::GraphProto &graph, const Facts &facts) {
  return std::ranges::any_of(graph.node(), [&](const onnx::NodeProto &node) {
    return std::ranges::any_of(node.output(), [&](const std::string &name) {
      return !name.empty() && !facts.contains(name);
    });
  });
}

/// The user's inputs.
Json namedInputs(const onnx::ModelProto &model, const TrialSetup &setup) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto [module, info, problems] = frontend::importProto(
      context, model, pipeline::importOptions(optionsFor(setup.compile, model)));
  Json inputs = Json::array();
  if (module)
    for (const frontend::ImportedTensor &input : info.arrays.empty() ? info.inputs : info.arrays) {
      if (input.random)
        continue;
      Json &one = inputs.emplace_back(Json{
          {"name", input.name}, {"shape", input.shape}, {"type", static_cast<int>(input.type)}});
      if (input.limits)
        one["limits"] = {input.limits->low, input.limits->high};
    }
  return inputs;
}

} // namespace

std::vector<frontend::ImportedTensor> inputsOf(const onnx::ModelProto &model,
                                               const TrialSetup &setup) {
  const auto json = inChild(setup, [&] { return namedInputs(model, setup); });
  std::vector<frontend::ImportedTensor> inputs;
  for (const Json &one : json.value_or(Json::array())) {
    frontend::ImportedTensor &input = inputs.emplace_back();
    input.name = one.at("name");
    input.shape = one.at("shape").get<std::vector<int64_t>>();
    input.type = static_cast<format::HostType>(one.at("type").get<int>());
    if (one.contains("limits"))
      input.limits = {one["limits"][0].get<int64_t>(), one["limits"][1].get<int64_t>()};
  }
  return inputs;
}

Survey survey(const onnx::ModelProto &model, const std::vector<Sample> &samples,
              const TrialSetup &setup) {
  Survey found;
  std::optional<Json> json = surveyInChild(model, samples, setup);
  const auto count = static_cast<size_t>(model.graph().node_size());
  for (size_t missing = 1; !json && missing < count; missing *= 2) {
    std::vector<bool> kept(count, true);
    std::fill(kept.end() - static_cast<std::ptrdiff_t>(missing), kept.end(), false);
    if (const auto part = partOf(model, kept, found.facts))
      json = surveyInChild(*part, samples, setup);
  }
  for (const Json &one : json ? json->at("tensors") : Json::array()) {
    TensorFacts &fact = found.facts[one.at("name")];
    fact.type = one.at("type");
    fact.shape = one.at("shape").get<std::vector<int64_t>>();
    fact.constant = protoOf(one.at("constant"), fact);
  }
  for (const Json &one : json ? json->at("values") : Json::array())
    found.values.push_back(sampleOf(one));
  addDeclared(model.graph(), found.facts);
  if (lacksResults(model.graph(), found.facts))
    if (const auto known = inferred(model, setup))
      addDeclared(known->graph(), found.facts);
  return found;
}

} // namespace sluice::reduce
