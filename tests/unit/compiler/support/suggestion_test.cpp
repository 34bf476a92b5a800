#include "compiler/support/suggestion.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Names = std::vector<std::string>;

TEST(Suggestion, IsTheClosestName) {
  const Names commands = {"compile", "check", "run", "inspect"};
  EXPECT_EQ(closest("complie", commands), "compile");
  EXPECT_EQ(closest("chek", commands), "check");
  EXPECT_EQ(closest("rnu", {"rna", "run"}), "rna"); // the first of equals
  EXPECT_EQ(closest("c6b23", {"c2b8", "c6b32-deep", "c6b32"}), "c6b32");
}

TEST(Suggestion, IgnoresCase) {
  EXPECT_EQ(closest("X", {"y", "x"}), "x");
  EXPECT_EQ(closest("PIXELS", {"pixels"}), "pixels");
}

TEST(Suggestion, CompletesABeginning) {
  EXPECT_EQ(closest("prof", {"run", "profile"}), "profile");
  EXPECT_EQ(closest("pr", {"run", "profile"}), "");
}

TEST(Suggestion, IsNotFarFetched) {
  EXPECT_EQ(closest("q", {"x", "y"}), "");
  EXPECT_EQ(closest("c9b9", {"c2b8", "c3b64"}), "");
  EXPECT_EQ(closest("frobnicate", {"compile", "check", "run", "inspect"}), "");
  EXPECT_EQ(closest("x", {}), "");
}

TEST(Suggestion, IsAFix) {
  const std::vector<Fix> fixes = suggestion("chek", {"check"});
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].text, "did you mean 'check'");
  EXPECT_FALSE(fixes[0].verified);
  EXPECT_TRUE(suggestion("frobnicate", {"check"}).empty());
  EXPECT_TRUE(suggestion("", {"check"}).empty());
}

} // namespace
} // namespace sluice
