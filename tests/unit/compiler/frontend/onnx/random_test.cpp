// Operators with random numbers: which field they take, what they make of it, what they refuse.
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "one_node.h"
#include "runtime/random/random_field.h"
#include "llvm/Support/xxhash.h"

namespace sluice::frontend::test {
namespace {

using Doubles = std::vector<double>;
using random::RandomField;
using Proto = onnx::TensorProto;

constexpr auto kOneHalf = 0x3FE0000000000000; // 0.5 as a double

ImportOptions fixed() {
  ImportOptions options;
  options.fixedRandom = true;
  return options;
}

/// x + y, where y is of the node; x is 0.
Doubles numbers(OneNodeModel node, const Ints &shape, const ImportOptions &options = {}) {
  node.model.graph().mutable_node(0)->set_output(0, "r");
  node.model.input("x", shape);
  node.model.node("Add", {"x", "r"}, {"y"});
  const Imported imported = import(node.model, options);
  EXPECT_EQ(imported.messages(), "");
  reference::Tensors zeros;
  for (const ImportedTensor &input : imported.info.inputs)
    zeros.emplace_back(input.shape);
  return imported.module ? evaluate(imported, zeros)[0].values : Doubles{};
}

OneNodeModel normal(int64_t opset = 13) {
  return std::move(OneNodeModel("RandomNormal", opset).with("shape", Ints{2, 3}));
}

TEST(RandomNormal, IsTheFieldOfItsSeed) {
  const RandomField field({kOneHalf, 0});
  for (const int64_t opset : {1, 7, 22}) {
    const Doubles values = numbers(
        normal(opset < 7 ? 7 : opset).with("seed", 0.5F).with("mean", 3.0F).with("scale", 2.0F),
        {2, 3});
    ASSERT_EQ(values.size(), 6U);
    for (size_t i = 0; i < 6; ++i)
      EXPECT_EQ(values[i], static_cast<float>(3 + 2 * field.normal(i)));
  }
}

TEST(RandomUniform, LiesBetweenItsBounds) {
  const RandomField field({kOneHalf, 0});
  const Doubles values = numbers(std::move(OneNodeModel("RandomUniform")
                                               .with("shape", Ints{50})
                                               .with("seed", 0.5F)
                                               .with("low", -4.0F)
                                               .with("high", -2.0F)),
                                 {50});
  for (size_t i = 0; i < 50; ++i)
    EXPECT_EQ(values[i], static_cast<float>(-4 + 2 * field.uniform(i)));
}

TEST(RandomLike, HasTheShapeAndTypeOfItsInput) {
  const RandomField field({kOneHalf, 0});
  for (const char *op : {"RandomNormalLike", "RandomUniformLike"}) {
    const bool isNormal = std::string(op) == "RandomNormalLike";
    const Doubles values =
        numbers(std::move(OneNodeModel(op).input({2, 2}).with("seed", 0.5F)), {2, 2});
    ASSERT_EQ(values.size(), 4U);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(values[i], static_cast<float>(isNormal ? field.normal(i) : field.uniform(i)));
  }
  OneNodeModel half("RandomNormalLike");
  half.input({2}).with("dtype", int64_t{Proto::FLOAT16}).with("seed", 0.5F);
  const Imported imported = import(half.model);
  ASSERT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.info.outputs[0].type, format::HostType::Float16);
}

/// The arrays of the host that are random numbers.
std::vector<ImportedTensor> drawnOf(const Imported &imported) {
  std::vector<ImportedTensor> drawn;
  for (const ImportedTensor &array : imported.info.arrays)
    if (array.random)
      drawn.push_back(array);
  return drawn;
}

TEST(Random, WithoutASeedIsDrawnByTheHost) {
  const OneNodeModel node = normal();
  const Imported imported = import(node.model);
  ASSERT_EQ(imported.messages(), "");
  const auto drawn = drawnOf(imported);
  ASSERT_EQ(drawn.size(), 1U);
  EXPECT_EQ(drawn[0].name, "random for y");
  EXPECT_THAT(drawn[0].shape, testing::ElementsAre(2, 3));
  EXPECT_EQ(drawn[0].random->distribution, random::Distribution::Normal);
  EXPECT_EQ(drawn[0].random->first, 0);
  EXPECT_EQ(drawn[0].random->second, 1);
  EXPECT_EQ(drawn[0].random->stream, llvm::xxh3_64bits(llvm::StringRef("y")));
  EXPECT_THAT(
      imported.info.notes,
      testing::ElementsAre("every inference draws new random numbers: node 0 (RandomNormal)"));
  EXPECT_TRUE(drawnOf(import(node.model, fixed())).empty());
}

TEST(Random, StreamedNeedsASeed) {
  ImportOptions options;
  options.isStreamed = true;
  const OneNodeModel node = normal();
  const Imported imported = import(node.model, options);
  EXPECT_EQ(imported.messages(),
            "E0208 node 0 (RandomNormal): RandomNormal: random numbers without a seed cannot be "
            "drawn for a streamed sequence");
  EXPECT_EQ(imported.problems[0].fixes[0].text,
            "make the numbers an input of the model and stream it, or accept the same ones in "
            "every inference");
  EXPECT_EQ(imported.problems[0].fixes[0].flag, "--fixed-random");
  options.fixedRandom = true;
  EXPECT_EQ(import(node.model, options).messages(), "");
}

TEST(Random, DrawnArraysFollowThoseOfTheUser) {
  Model model(15);
  model.input("x", {64}).output("y");
  model.node("RandomUniform", {}, {"unread"}).attribute("shape", Ints{64});
  model.node("RandomUniform", {}, {"a"}).attribute("shape", Ints{64}).attribute("low", -1.0F);
  model.node("Bernoulli", {"x"}, {"b"});
  model.floats("p", {64}, Floats(64, 0.25F));
  model.node("Bernoulli", {"p"}, {"c"}).attribute("dtype", int64_t{Proto::INT32});
  model.node("Cast", {"c"}, {"f"}).attribute("to", int64_t{Proto::FLOAT});
  model.node("Sum", {"a", "b", "f"}, {"y"});
  const Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  std::vector<std::string> names;
  for (const ImportedTensor &array : imported.info.arrays)
    names.push_back(array.name);
  EXPECT_THAT(names, testing::ElementsAre("x", "random for a", "random for b", "random for c"));
  const auto drawn = drawnOf(imported);
  EXPECT_EQ(random::textOf(*drawn[0].random), "uniform from -1 to 1");
  EXPECT_EQ(random::textOf(*drawn[1].random), "uniform from 0 to 1, rounded down to bf16");
  EXPECT_EQ(random::textOf(*drawn[2].random), "1 with probability 0.25, else 0");
  // The function reads the drawn numbers as they are.
  reference::Tensors inputs(4, reference::Tensor({64}));
  for (size_t i = 0; i < 64; ++i) {
    inputs[0].values[i] = 0.5;
    inputs[1].values[i] = static_cast<double>(i);
    inputs[2].values[i] = static_cast<double>(i % 2);
    inputs[3].values[i] = static_cast<double>(i % 3 == 0);
  }
  const Doubles y = evaluate(imported, inputs)[0].values;
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], static_cast<double>(i + (1 - i % 2) + (i % 3 == 0 ? 1 : 0))) << i;
}

TEST(Random, ProbabilitiesThatDifferAreComparedWith) {
  OneNodeModel node("Bernoulli");
  node.floats({4}, {0, 0.5F, 0.5F, 1});
  const Imported imported = import(node.model);
  ASSERT_EQ(imported.messages(), "");
  ASSERT_EQ(drawnOf(imported).size(), 1U);
  const reference::Tensor thresholds({4}, {0, 0.25, 0.5, 0.75});
  EXPECT_THAT(evaluate(imported, {thresholds})[0].values, testing::ElementsAre(0, 1, 0, 1));
}

TEST(Random, WithoutASeedDiffersByName) {
  Model model;
  model.input("x", {64}).output("y");
  for (const char *name : {"a", "b"})
    model.node("RandomUniform", {}, {name}).attribute("shape", Ints{64});
  for (const char *name : {"c", "d"})
    model.node("RandomUniform", {}, {name}).attribute("shape", Ints{64}).attribute("seed", 1.0F);
  model.node("Sub", {"a", "b"}, {"e"});
  model.node("Sub", {"c", "d"}, {"f"});
  model.node("Add", {"x", "e"}, {"y"});
  model.node("Add", {"x", "f"}, {"z"});
  model.output("z");
  const Imported imported = import(model, fixed());
  ASSERT_EQ(imported.messages(), "");
  const auto results = evaluate(imported, {reference::Tensor({64})});
  EXPECT_THAT(results[0].values, testing::Each(testing::Ne(0)));
  EXPECT_THAT(results[1].values, testing::Each(0)) << "one seed is one field";
  EXPECT_THAT(
      imported.info.notes,
      testing::ElementsAre("every inference uses the same random numbers: node 0 (RandomUniform), "
                           "node 1 (RandomUniform), node 2 (RandomUniform) and 1 more"));
}

TEST(Random, InALoopNeedsASeed) {
  Model model;
  model.input("x", {3, 4}).output("y");
  Node scan = model.node("Scan", {"x"}, {"y"}).attribute("num_scan_inputs", int64_t{1});
  onnx::AttributeProto &attribute = scan.attribute("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto &body = *attribute.mutable_g();
  body.add_input()->set_name("e");
  body.add_output()->set_name("n");
  onnx::NodeProto *random = addNode(body, "RandomNormalLike", {"e"}, {"r"}).proto;
  addNode(body, "Add", {"e", "r"}, {"n"});
  for (const ImportOptions &options : {ImportOptions(), fixed()})
    EXPECT_THAT(import(model, options).messages(),
                testing::HasSubstr("random numbers without a seed differ in every iteration, but a "
                                   "loop body always has the same ones"));
  Node(random).attribute("seed", 1.0F);
  const Imported imported = import(model);
  ASSERT_EQ(imported.messages(), "");
  const Doubles values = evaluate(imported, {reference::Tensor({3, 4})})[0].values;
  EXPECT_TRUE(std::equal(values.begin(), values.begin() + 4, values.begin() + 8));
  EXPECT_EQ(imported.info.notes.size(), 1U);
}

TEST(Random, RefusesWhatItCannotMake) {
  const auto problem = [](OneNodeModel &&node) { return node.problem(); };
  EXPECT_EQ(problem(std::move(OneNodeModel("RandomNormal").with("shape", Ints{4097, 4096}))),
            "E0205 there must be at most 16777216 random numbers; found [4097 4096]");
  EXPECT_EQ(problem(std::move(OneNodeModel("RandomUniform").with("shape", Ints{2, -1}))),
            "E0206 attribute 'shape' must have no negative extent; found [2 -1]");
  EXPECT_EQ(problem(std::move(normal().with("dtype", int64_t{Proto::INT32}))),
            "E0205 attribute 'dtype' must be a floating-point type; found 6 (int32)");
  EXPECT_EQ(
      problem(std::move(OneNodeModel("RandomNormalLike").ints({1}, {1}))),
      "E0205 attribute 'dtype' or input 'input' must be of a floating-point type; found int64");
  EXPECT_EQ(problem(std::move(OneNodeModel("RandomUniformLike").input({8192, 4096}))),
            "E0205 there must be at most 16777216 random numbers; found [8192 4096]");
  EXPECT_EQ(problem(std::move(OneNodeModel("Bernoulli").input({8192, 4096}))),
            "E0205 there must be at most 16777216 random numbers; found [8192 4096]");
  EXPECT_EQ(problem(std::move(OneNodeModel("Bernoulli").floats({2}, {0.5F, 1.5F}))),
            "E0206 probabilities known at compile time must be in [0, 1]; found 1.5");
  EXPECT_EQ(problem(std::move(OneNodeModel("Bernoulli").input({2}).with("dtype", int64_t{8}))),
            "E0205 attribute 'dtype' must be a float, integer or bool type; found 8 (string)");
  EXPECT_EQ(problem(std::move(OneNodeModel("Multinomial").input({2}))),
            "E0206 input 'input' must have rank 2; found [2]");
  EXPECT_EQ(
      problem(std::move(OneNodeModel("Multinomial").input({2, 3}).with("sample_size", int64_t{0}))),
      "E0206 attribute 'sample_size' must be at least 1; found 0");
  EXPECT_EQ(problem(std::move(
                OneNodeModel("Multinomial").input({2, 8192}).with("sample_size", int64_t{8192}))),
            "E0205 there must be at most 16777216 random numbers; found [2 8192 8192]");
}

TEST(Bernoulli, HappensWithItsProbability) {
  const RandomField field({kOneHalf, 0});
  reference::Tensor p({4, 500});
  for (size_t i = 0; i < 2000; ++i)
    p.values[i] = std::vector<double>{0, 0.25, 0.75, 1}[i / 500];
  OneNodeModel atRunTime("Bernoulli"), known("Bernoulli");
  atRunTime.input({4, 500}).with("seed", 0.5F);
  known.floats({4, 500}, Floats(p.values.begin(), p.values.end())).with("seed", 0.5F);
  const Doubles events = evaluateModel(atRunTime.model, {p}).values;
  EXPECT_EQ(numbers(std::move(known), {4, 500}), events);
  for (size_t i = 0; i < 2000; ++i)
    EXPECT_EQ(events[i], field.uniform(i) < p.values[i] ? 1 : 0);
  for (const auto &[row, low, high] :
       {std::tuple{0, 0, 0}, {1, 95, 155}, {2, 345, 405}, {3, 500, 500}}) {
    const double sum =
        std::accumulate(events.begin() + row * 500, events.begin() + row * 500 + 500, 0.0);
    EXPECT_GE(sum, low);
    EXPECT_LE(sum, high);
  }
}

TEST(Multinomial, DrawsByTheExponentials) {
  // Probabilities 1/8, 5/8, 2/8, from logarithms that are not normalised.
  const reference::Tensor x({1, 3}, {1, 1 + std::log(5), 1 + std::log(2)});
  OneNodeModel node("Multinomial");
  node.input({1, 3}).with("sample_size", int64_t{4000}).with("seed", 2.0F);
  const reference::Tensor drawn = evaluateModel(node.model, {x});
  EXPECT_THAT(drawn.shape, testing::ElementsAre(1, 4000));
  std::vector<int> counts(3);
  for (const double index : drawn.values)
    ++counts.at(static_cast<size_t>(index));
  EXPECT_NEAR(counts[0], 500, 85);
  EXPECT_NEAR(counts[1], 2500, 125);
  EXPECT_NEAR(counts[2], 1000, 110);
}

Model dropout(float ratio, int64_t training, int64_t opset = 13) {
  Model model(opset);
  model.input("x", {40, 50}).output("y").output("m").floats("r", {}, {ratio});
  model.node("Constant", {}, {"mode_int"}).attribute("value_int", training);
  model.node("Cast", {"mode_int"}, {"mode"}).attribute("to", int64_t{Proto::BOOL});
  model.node("Dropout", {"x", "r", "mode"}, {"y", "m"}).attribute("seed", int64_t{1});
  return model;
}

TEST(Dropout, InTrainingScalesWhatItKeeps) {
  const reference::Tensor ones({40, 50}, Doubles(2000, 3));
  for (const int64_t opset : {12, 13, 22}) {
    const auto results = evaluate(import(dropout(0.25F, 1, opset)), {ones});
    const Doubles &y = results[0].values, &mask = results[1].values;
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], mask[i] == 1 ? 3.0 * static_cast<float>(1 / 0.75) : 0);
    EXPECT_NEAR(std::accumulate(mask.begin(), mask.end(), 0.0), 1500, 80);
  }
  for (const auto &[ratio, training] : {std::pair{0.0F, 1}, {0.25F, 0}}) {
    const auto results = evaluate(import(dropout(ratio, training)), {ones});
    EXPECT_EQ(results[0], ones);
    EXPECT_THAT(results[1].values, testing::Each(1));
  }
}

TEST(Dropout, InTrainingRefusesWhatItCannotMake) {
  EXPECT_EQ(
      import(dropout(1.0F, 1)).messages(),
      "E0206 node 2 (Dropout): Dropout: input 'ratio' must be in [0, 1) in training mode; found 1");
  EXPECT_EQ(import(dropout(1.0F, 0)).messages(), "");
  Model unseeded = dropout(0.5F, 1), atRunTime = dropout(0.5F, 1);
  unseeded.graph().mutable_node(2)->clear_attribute();
  const Imported drawn = import(unseeded);
  ASSERT_EQ(drawn.messages(), "");
  ASSERT_EQ(drawnOf(drawn).size(), 1U);
  EXPECT_EQ(random::textOf(*drawnOf(drawn)[0].random), "1 with probability 0.5, else 0");
  EXPECT_EQ(import(unseeded, fixed()).messages(), "");
  atRunTime.input("q", {});
  atRunTime.graph().mutable_node(2)->set_input(1, "q");
  EXPECT_EQ(import(atRunTime).messages(),
            "E0205 node 2 (Dropout): Dropout: input 'ratio' must be known at compile time in "
            "training mode; found a run-time tensor");
}

} // namespace
} // namespace sluice::frontend::test
