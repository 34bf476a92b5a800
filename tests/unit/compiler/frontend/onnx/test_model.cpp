#include "test_model.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/dialect/sluice/interpret.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "hw/numerics/numerics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

namespace sluice::frontend::test {

Node &Node::name(const std::string &name) {
  proto->set_name(name);
  return *this;
}

onnx::AttributeProto &Node::attribute(const std::string &name) {
  onnx::AttributeProto *attribute = proto->add_attribute();
  attribute->set_name(name);
  return *attribute;
}

Node &Node::attribute(const std::string &name, int64_t value) {
  onnx::AttributeProto &out = attribute(name);
  out.set_type(onnx::AttributeProto::INT);
  out.set_i(value);
  return *this;
}

Node &Node::attribute(const std::string &name, float value) {
  onnx::AttributeProto &out = attribute(name);
  out.set_type(onnx::AttributeProto::FLOAT);
  out.set_f(value);
  return *this;
}

Node &Node::attribute(const std::string &name, const Ints &values) {
  onnx::AttributeProto &out = attribute(name);
  out.set_type(onnx::AttributeProto::INTS);
  out.mutable_ints()->Add(values.begin(), values.end());
  return *this;
}

Node &Node::attribute(const std::string &name, const Floats &values) {
  onnx::AttributeProto &out = attribute(name);
  out.set_type(onnx::AttributeProto::FLOATS);
  out.mutable_floats()->Add(values.begin(), values.end());
  return *this;
}

Node &Node::attribute(const std::string &name, const std::string &value) {
  onnx::AttributeProto &out = attribute(name);
  out.set_type(onnx::AttributeProto::STRING);
  out.set_s(value);
  return *this;
}

Node &Node::attribute(const std::string &name, const std::vector<std::string> &values) {
  onnx::AttributeProto &out = attribute(name);
  out.set_type(onnx::AttributeProto::STRINGS);
  out.mutable_strings()->Add(values.begin(), values.end());
  return *this;
}

Model::Model(int64_t opset, int64_t irVersion) {
  proto.set_ir_version(irVersion);
  onnx::OperatorSetIdProto *import = proto.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  graph().set_name("test");
}

namespace {
void setType(onnx::ValueInfoProto &value, const Ints &shape, int type) {
  auto *tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (int64_t extent : shape)
    tensor->mutable_shape()->add_dim()->set_dim_value(extent);
}
} // namespace

Model &Model::input(const std::string &name, const Ints &shape, int type) {
  onnx::ValueInfoProto *value = graph().add_input();
  value->set_name(name);
  setType(*value, shape, type);
  return *this;
}

Model &Model::output(const std::string &name) {
  graph().add_output()->set_name(name);
  return *this;
}

Model &Model::output(const std::string &name, const Ints &shape, int type) {
  onnx::ValueInfoProto *value = graph().add_output();
  value->set_name(name);
  setType(*value, shape, type);
  return *this;
}

Model &Model::floats(const std::string &name, const Ints &shape, const Floats &values) {
  onnx::TensorProto *tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  tensor->mutable_dims()->Add(shape.begin(), shape.end());
  tensor->mutable_float_data()->Add(values.begin(), values.end());
  return *this;
}

Model &Model::ints(const std::string &name, const Ints &shape, const Ints &values) {
  onnx::TensorProto *tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  tensor->mutable_dims()->Add(shape.begin(), shape.end());
  tensor->mutable_int64_data()->Add(values.begin(), values.end());
  return *this;
}

std::string Imported::text() const {
  std::string out;
  llvm::raw_string_ostream stream(out);
  (*module)->print(stream);
  return out;
}

void setFiveAtOne(onnx::SparseTensorProto &sparse, int64_t extent) {
  sparse.add_dims(extent);
  onnx::TensorProto &values = *sparse.mutable_values(), &indices = *sparse.mutable_indices();
  values.set_data_type(onnx::TensorProto::FLOAT);
  values.add_dims(1);
  values.add_float_data(5);
  indices.set_data_type(onnx::TensorProto::INT64);
  indices.add_dims(1);
  indices.add_int64_data(1);
}

std::string lineOf(const Problem &problem) {
  return problem.code + (problem.node ? " " + nodeText(*problem.node) : "") + ": " +
         problem.message;
}

std::string linesOf(const Problems &problems) {
  std::string out;
  for (const Problem &problem : problems)
    out += (out.empty() ? "" : "\n") + lineOf(problem);
  return out;
}

std::string Imported::messages() const { return linesOf(problems); }

namespace {
/// Appends the conditions of the support table that the problems name to the file
/// $SLUICE_CONDITIONS, each once: which of them no test provokes is a test of its own.
void recordConditions(const Problems &problems) {
  static const char *const path = std::getenv("SLUICE_CONDITIONS");
  if (path == nullptr)
    return;
  static std::ofstream file(path);
  static std::set<std::string> seen;
  for (const Problem &problem : problems) {
    const std::string start = problem.node ? problem.node->op + ": " : "";
    const size_t end = problem.message.rfind("; found ");
    if (start.empty() || !problem.message.starts_with(start) || end == std::string::npos)
      continue;
    const std::string line = fmt::format("{}\t{}", problem.node->op,
                                         problem.message.substr(start.size(), end - start.size()));
    if (seen.insert(line).second)
      file << line << std::endl;
  }
}
} // namespace

Imported import(const Model &model, const ImportOptions &options) {
  Imported out;
  static_cast<Import &>(out) = importProto(*out.context, model.proto, options);
  EXPECT_EQ(static_cast<bool>(out.module), out.problems.empty());
  recordConditions(out.problems);
  return out;
}

Imported importFile(const std::string &path, const ImportOptions &options) {
  Imported out;
  ImportOptions all = options;
  all.path = path;
  static_cast<Import &>(out) = importModel(*out.context, all);
  EXPECT_EQ(static_cast<bool>(out.module), out.problems.empty());
  return out;
}

namespace {

std::vector<reference::Tensor> outputsOf(const Imported &imported,
                                         std::vector<reference::Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = frontend::outputOf(imported.info.outputs[i], std::move(results[i]));
  return results;
}

} // namespace

std::vector<reference::Tensor> evaluate(const Imported &imported,
                                        const std::vector<reference::Tensor> &inputs) {
  mlir::ModuleOp module = *imported.module;
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  return outputsOf(imported, ir::interpret(function, frontend::argumentsOf(imported.info, inputs)));
}

std::vector<reference::Tensor> evaluateRounded(const Imported &imported,
                                               std::vector<reference::Tensor> inputs,
                                               const std::function<double(double)> &round) {
  const auto roundAll = [&](reference::Tensor &tensor) {
    std::ranges::transform(tensor.values, tensor.values.begin(), round);
  };
  inputs = frontend::argumentsOf(imported.info, inputs);
  for (reference::Tensor &tensor : inputs)
    for (double &value : tensor.values)
      value = numerics::bf16ToDouble(
          numerics::roundToBf16(numerics::toBits(static_cast<float>(value))));
  mlir::ModuleOp module = *imported.module;
  return outputsOf(imported,
                   ir::interpret(*module.getOps<mlir::func::FuncOp>().begin(), inputs, roundAll));
}

reference::Tensor evaluateModel(const Model &model, const std::vector<reference::Tensor> &inputs) {
  Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  if (!imported.module)
    return {};
  return evaluate(imported, inputs).front();
}

reference::Tensor counting(const Ints &shape) {
  reference::Tensor out(shape);
  std::iota(out.values.begin(), out.values.end(), 0);
  return out;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sluice-onnx-XXXXXX").string();
  path = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path); }

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string readFile(const std::string &path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

} // namespace sluice::frontend::test
