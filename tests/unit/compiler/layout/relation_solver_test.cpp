// The solver against enumeration of all assignments of small random systems.
#include "compiler/layout/relation_solver.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::layout {
namespace {

using Status = RelationSystem::Status;
using testing::ElementsAre;

constexpr uint64_t kBudget = 1u << 24;

/// A system with a copy of its relations, to enumerate.
struct Model {
  struct Relation {
    std::vector<VariableId> variables;
    std::vector<Choice> choices;
  };
  RelationSystem system;
  std::vector<int> sizes;
  std::vector<Relation> relations;

  VariableId variable(int size) {
    sizes.push_back(size);
    return system.addVariable(size);
  }
  void relation(std::vector<VariableId> variables, std::vector<Choice> choices) {
    system.addRelation(variables, choices);
    relations.push_back({std::move(variables), std::move(choices)});
  }
  std::vector<RelationId> all() const {
    std::vector<RelationId> ids(relations.size());
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }

  /// Least cost of an assignment that satisfies `active`, and the first such
  /// assignment when greater values come first; nothing if there is none.
  std::optional<std::pair<int64_t, std::vector<int8_t>>>
  enumerate(const std::vector<RelationId> &active) const {
    std::optional<std::pair<int64_t, std::vector<int8_t>>> best;
    std::vector<int8_t> values;
    for (int size : sizes)
      values.push_back(static_cast<int8_t>(size - 1));
    while (true) {
      if (auto cost = costOf(values, active); cost && (!best || *cost < best->first))
        best = {*cost, values};
      size_t i = values.size();
      while (i > 0 && values[i - 1] == 0) {
        values[i - 1] = static_cast<int8_t>(sizes[i - 1] - 1);
        --i;
      }
      if (i == 0)
        return best;
      --values[i - 1];
    }
  }

private:
  std::optional<int64_t> costOf(const std::vector<int8_t> &values,
                                const std::vector<RelationId> &active) const {
    int64_t total = 0;
    for (RelationId id : active) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (const Choice &choice : relations[id].choices) {
        bool fits = true;
        for (size_t i = 0; i < choice.values.size(); ++i)
          fits &= values[relations[id].variables[i]] == choice.values[i];
        if (fits)
          least = std::min(least, choice.cost);
      }
      if (least == std::numeric_limits<int64_t>::max())
        return std::nullopt;
      total += least;
    }
    return total;
  }
};

Model randomModel(std::mt19937 &random) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Model model;
  const int variables = pick(1, 6);
  for (int i = 0; i < variables; ++i)
    model.variable(pick(1, 3));
  const int relations = pick(0, 8);
  for (int i = 0; i < relations; ++i) {
    std::vector<VariableId> scope(pick(1, 3));
    for (VariableId &variable : scope)
      variable = pick(0, variables - 1);
    std::vector<Choice> choices(pick(0, 20) == 0 ? 0 : pick(1, 7));
    for (Choice &choice : choices) {
      for (VariableId variable : scope)
        choice.values.push_back(static_cast<int8_t>(pick(0, model.sizes[variable] - 1)));
      choice.cost = pick(0, 5);
    }
    model.relation(scope, choices);
  }
  return model;
}

TEST(RelationSolver, AgreesWithEnumeration) {
  std::mt19937 random(42);
  int solved = 0, refused = 0;
  for (int round = 0; round < 5000; ++round) {
    const Model model = randomModel(random);
    const auto expected = model.enumerate(model.all());
    const auto found = model.system.solve(model.all(), kBudget);
    if (expected) {
      ++solved;
      ASSERT_EQ(found.status, Status::Solved) << "round " << round;
      EXPECT_EQ(found.cost, expected->first) << "round " << round;
      EXPECT_EQ(found.values, expected->second) << "round " << round;
      EXPECT_TRUE(found.optimal);
      continue;
    }
    ++refused;
    ASSERT_EQ(found.status, Status::Unsatisfiable) << "round " << round;
    EXPECT_FALSE(model.enumerate(found.reason)) << "round " << round;
    const auto minimal = model.system.minimise(found.reason, kBudget);
    EXPECT_FALSE(model.enumerate(minimal)) << "round " << round;
    for (RelationId dropped : minimal) {
      std::vector<RelationId> rest = minimal;
      std::erase(rest, dropped);
      EXPECT_TRUE(model.enumerate(rest)) << "round " << round << ": " << dropped << " not needed";
    }
  }
  // The generator must exercise both.
  EXPECT_GT(solved, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(RelationSolver, UnconstrainedVariablesTakeTheGreatestValue) {
  RelationSystem system;
  system.addVariable(4);
  system.addVariable(64);
  EXPECT_THAT(system.solve({}, kBudget).values, ElementsAre(3, 63));
}

TEST(RelationSolver, VariableTwiceInARelation) {
  RelationSystem system;
  const VariableId v = system.addVariable(2);
  const RelationId id = system.addRelation({v, v}, {Choice{{0, 1}, 0}, Choice{{1, 0}, 0}});
  EXPECT_EQ(system.solve(id, kBudget).status, Status::Unsatisfiable);
  system.replaceChoices(id, {Choice{{0, 1}, 0}, Choice{{0, 0}, 0}});
  EXPECT_THAT(system.solve(id, kBudget).values, ElementsAre(0));
}

/// A cycle of odd length of "differs from": only search finds that it has no
/// solution.
TEST(RelationSolver, ConflictThatPropagationDoesNotSee) {
  Model model;
  std::vector<VariableId> ring;
  for (int i = 0; i < 5; ++i)
    ring.push_back(model.variable(2));
  const VariableId aside = model.variable(2);
  model.relation({ring[0], aside}, {Choice{{0, 0}, 0}, Choice{{1, 1}, 0}});
  for (int i = 0; i < 5; ++i)
    model.relation({ring[i], ring[(i + 1) % 5]}, {Choice{{0, 1}, 0}, Choice{{1, 0}, 0}});
  EXPECT_TRUE(model.system.propagate(model.all()));
  const auto found = model.system.solve(model.all(), kBudget);
  EXPECT_EQ(found.status, Status::Unsatisfiable);
  EXPECT_THAT(model.system.minimise(found.reason, kBudget), ElementsAre(1, 2, 3, 4, 5));
}

TEST(RelationSolver, BudgetEndsInTheBestFoundOrInGivingUp) {
  // 20 free variables in one component through a relation that allows all sums.
  RelationSystem system;
  std::vector<VariableId> variables;
  for (int i = 0; i < 20; ++i)
    variables.push_back(system.addVariable(2));
  std::vector<RelationId> all;
  for (int i = 0; i + 1 < 20; ++i)
    all.push_back(system.addRelation(
        {variables[i], variables[i + 1]},
        {Choice{{0, 0}, 1}, Choice{{0, 1}, 1}, Choice{{1, 0}, 1}, Choice{{1, 1}, 2}}));
  const auto exact = system.solve(all, kBudget);
  EXPECT_TRUE(exact.optimal);
  EXPECT_EQ(exact.cost, 19);
  const auto bounded = system.solve(all, 50);
  ASSERT_EQ(bounded.status, Status::Solved);
  EXPECT_FALSE(bounded.optimal);
  EXPECT_GE(bounded.cost, 19);
  EXPECT_EQ(system.solve(all, 3).status, Status::GaveUp);
}

} // namespace
} // namespace sluice::layout
