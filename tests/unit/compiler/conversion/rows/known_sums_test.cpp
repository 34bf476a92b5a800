#include "compiler/conversion/rows/known_sums.h"

#include <gtest/gtest.h>

namespace sluice::rows {
namespace {

/// A table of sums, and how many were made.
class KnownSumsTest : public testing::Test {
protected:
  KnownSums sums;
  int made = 0;

  /// The sum of elements: its sources are their rows, each once, the last first.
  LinearSum::Rounded sumOf(const KnownSums::Factors &factors, bool isLast = false,
                           const KnownSums::Place &place = {0, 0}) {
    return sums.sumOf(place, factors, isLast, [&] {
      ++made;
      LinearSum::Rounded sum;
      for (const Element &element : factors.elements)
        sum.sources.insert(sum.sources.begin(), element.row);
      return sum;
    });
  }
};

KnownSums::Factors elementsOf(RowId first, RowId second) {
  KnownSums::Factors factors;
  factors.elements = {{.row = first, .lane = 0}, {.row = second, .lane = 1}};
  return factors;
}

TEST_F(KnownSumsTest, OtherRowsInTheSamePlacesAreTheSameSum) {
  EXPECT_EQ(sumOf(elementsOf(4, 7)).sources, (std::vector<RowId>{7, 4}));
  EXPECT_EQ(sumOf(elementsOf(9, 2)).sources, (std::vector<RowId>{2, 9}));
  EXPECT_EQ(made, 1);
}

TEST_F(KnownSumsTest, WhatDiffersIsAnotherSum) {
  sumOf(elementsOf(4, 7));
  KnownSums::Factors other = elementsOf(4, 7);
  other.elements[1].lane = 2;
  sumOf(other);
  other = elementsOf(4, 7);
  other.elements[0].scale = 2;
  sumOf(other);
  other = elementsOf(4, 7);
  other.scale = {2};
  sumOf(other);
  other = elementsOf(4, 7);
  other.means = {0.5, 0};
  sumOf(other);
  EXPECT_EQ(made, 5);
  sumOf(elementsOf(4, 7), false, {1, 0});
  sumOf(elementsOf(4, 7), false, {0, 8});
  EXPECT_EQ(made, 7);
}

TEST_F(KnownSumsTest, ASumThatNobodyAsksForAgainIsNotKept) {
  sumOf(elementsOf(4, 7), true);
  sumOf(elementsOf(4, 7), false);
  EXPECT_EQ(made, 2);
  sumOf(elementsOf(3, 5), true);
  EXPECT_EQ(made, 2);
}

TEST_F(KnownSumsTest, ManySumsOfAPlaceAreNotAllKept) {
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 100; ++i) {
      KnownSums::Factors factors = elementsOf(1, 2);
      factors.means = {static_cast<double>(i), 0};
      sumOf(factors);
    }
  EXPECT_EQ(made, 200 - 64);
}

} // namespace
} // namespace sluice::rows
