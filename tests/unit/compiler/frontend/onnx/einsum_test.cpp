#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

Model einsum(const std::string &equation, const std::vector<Ints> &shapes) {
  Model model(13);
  Names names;
  for (size_t i = 0; i < shapes.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    model.input(names.back(), shapes[i]);
  }
  model.output("y");
  model.node("Einsum", names, {"y"}).attribute("equation", equation);
  return model;
}

TEST(Einsum, OfTwoOperandsIsAMatmul) {
  Model model = einsum("ij, jk -> ik", {{2, 3}, {3, 1}});
  EXPECT_EQ(evaluateModel(model, {counting({2, 3}), counting({3, 1})}).values, (Doubles{5, 14}));
  EXPECT_THAT(import(model).text(), HasSubstr("sluice.matmul"));
}

TEST(Einsum, WithoutASharedSumIsAProduct) {
  const Model model = einsum("i,j->ji", {{2}, {3}});
  const auto y = evaluateModel(model, {counting({2}), counting({3})});
  EXPECT_EQ(y.values, (Doubles{0, 0, 0, 1, 0, 2}));
  EXPECT_EQ(y.shape, (Ints{3, 2}));
}

TEST(Einsum, ImpliesTheLettersThatOccurOnceInAlphabeticalOrder) {
  EXPECT_EQ(evaluateModel(einsum("ba", {{2, 2}}), {counting({2, 2})}).values,
            (Doubles{0, 2, 1, 3}));
}

TEST(Einsum, AddsNothingToAnOrderThatIsThere) {
  EXPECT_THAT(import(einsum("...i->...i", {{2, 3}})).text(),
              testing::Not(HasSubstr("sluice.transpose")));
}

const char *const kEquation = "E0206 node 0 (Einsum): Einsum: 'equation' must have a term per "
                              "operand, a letter per axis, and a result of these letters; found ";

TEST(Einsum, RefusesEquationsThatDoNotFit) {
  EXPECT_EQ(import(einsum("ij,jk->ik", {{2, 3}})).messages(), std::string(kEquation) + "2 terms");
  EXPECT_EQ(import(einsum("ijk->i", {{2, 3}})).messages(),
            std::string(kEquation) + "'ijk' for [2 3]");
  EXPECT_EQ(import(einsum("i..j->i", {{2, 3}})).messages(),
            std::string(kEquation) + "'i..j' for [2 3]");
  EXPECT_EQ(import(einsum("ij->ik", {{2, 3}})).messages(),
            std::string(kEquation) + "the result 'ik'");
  EXPECT_EQ(import(einsum("", {{2, 3}})).messages(), std::string(kEquation) + "'' for [2 3]");
}

TEST(Einsum, TakesDiagonalsAndAnyNumberOfOperands) {
  EXPECT_EQ(evaluateModel(einsum("ii->i", {{2, 2}}), {{{2, 2}, {1, 2, 3, 4}}}).values,
            (Doubles{1, 4}));
  EXPECT_EQ(evaluateModel(einsum("ijij->j", {{1, 2, 1, 2}}), {{{1, 2, 1, 2}, {1, 2, 3, 4}}}).values,
            (Doubles{1, 4}));
  EXPECT_EQ(
      evaluateModel(einsum("iii", {{2, 2, 2}}), {{{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}}).values,
      (Doubles{9}));
  EXPECT_EQ(evaluateModel(einsum("i,i,i->i", {{2}, {2}, {2}}),
                          {{{2}, {1, 2}}, {{2}, {3, 4}}, {{2}, {5, 6}}})
                .values,
            (Doubles{15, 48}));
  EXPECT_EQ(evaluateModel(einsum("a,b,c,d->", {{1}, {2}, {1}, {2}}),
                          {{{1}, {2}}, {{2}, {1, 2}}, {{1}, {3}}, {{2}, {4, 1}}})
                .values,
            (Doubles{90}));
  EXPECT_EQ(import(einsum("i->ii", {{3}})).messages(),
            "E0206 node 0 (Einsum): Einsum: the result of 'equation' must not repeat a letter; "
            "found 'i' twice");
}

TEST(Einsum, RefusesUnequalExtents) {
  EXPECT_EQ(import(einsum("ij,jk->ik", {{2, 3}, {4, 5}})).messages(),
            "E0206 node 0 (Einsum): Einsum: axes with the same letter must have the same extent; "
            "found [2 3] and [4 5]");
}

} // namespace
} // namespace sluice::frontend::test
