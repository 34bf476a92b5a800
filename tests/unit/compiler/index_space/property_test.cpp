// Random index spaces against enumeration of every point and element.
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "compiler/index_space/index_space.h"
#include "mlir/IR/MLIRContext.h"
#include "random_space.h"

namespace sluice::space {
namespace {

using fixtures::Rng;

#if __has_feature(address_sanitizer)
constexpr unsigned kSpaces = 1000;
#else
constexpr unsigned kSpaces = 20'000;
#endif

using Element = std::vector<int64_t>;
using Elements = std::set<Element>;

/// Calls for every index of a box.
void forEach(const Region &box, const std::function<void(const Element &)> &visit) {
  if (box.empty())
    return;
  Element index(box.start.begin(), box.start.end());
  while (true) {
    visit(index);
    size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == box.end(axis - 1)) {
      index[axis - 1] = box.start[axis - 1];
      --axis;
    }
    if (axis == 0)
      return;
  }
}

int64_t valueAt(mlir::AffineExpr expr, const Element &point) {
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant.getValue();
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return point[dim.getPosition()];
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const int64_t left = valueAt(binary.getLHS(), point), right = valueAt(binary.getRHS(), point);
  return expr.getKind() == mlir::AffineExprKind::Add ? left + right : left * right;
}

Element startAt(const Projection &projection, const Element &point) {
  Element start;
  for (const mlir::AffineExpr expr : projection.map.getResults())
    start.push_back(valueAt(expr, point));
  return start;
}

/// Calls for every element of the region of a point.
void forRegion(const Projection &projection, const Element &point,
               const std::function<void(const Element &)> &visit) {
  const Element start = startAt(projection, point);
  forEach({Extents(start.begin(), start.end()), projection.region}, visit);
}

bool isInside(const Element &element, ExtentsRef tensor) {
  for (size_t axis = 0; axis < element.size(); ++axis)
    if (element[axis] < 0 || element[axis] >= tensor[axis])
      return false;
  return true;
}

/// What the points of a block ask for inside the tensor.
Elements touched(const Projection &projection, const Region &block) {
  Elements elements;
  forEach(block, [&](const Element &point) {
    forRegion(projection, point, [&](const Element &element) {
      if (isInside(element, projection.tensor))
        elements.insert(element);
    });
  });
  return elements;
}

/// The ids of all rules that a space breaks, found by trying every point.
std::set<std::string> broken(const IndexSpace &space) {
  std::set<std::string> rules;
  for (const Loop &loop : space.loops)
    if (loop.extent < 1)
      return {"IS-EMPTY"};
  const auto check = [&](const Projection &one) {
    for (const int64_t extent : one.region)
      if (extent < 1)
        rules.insert("IS-EMPTY");
    forEach(space.whole(), [&](const Element &point) {
      forRegion(one, point, [&](const Element &element) {
        if (!one.outside && !isInside(element, one.tensor))
          rules.insert("IS-INSIDE");
      });
      for (size_t loop = 0; loop < point.size(); ++loop) {
        if (point[loop] + 1 == space.loops[loop].extent)
          continue;
        Element next = point;
        ++next[loop];
        const Element here = startAt(one, point), there = startAt(one, next);
        int axes = 0;
        for (size_t axis = 0; axis < here.size(); ++axis)
          axes += here[axis] != there[axis] ? 1 : 0;
        if (axes > 1)
          rules.insert("IS-COHERENT");
      }
    });
  };
  for (const Projection &operand : space.operands)
    check(operand);
  for (const Projection &result : space.results) {
    check(result);
    std::map<Element, std::set<Element>> writers; // without their reduced loops
    std::map<Element, Element> starts;
    forEach(space.whole(), [&](const Element &point) {
      Element writer = point;
      for (size_t loop = 0; loop < point.size(); ++loop)
        if (space.loops[loop].kind == LoopKind::Reduced)
          writer[loop] = 0;
      if (starts.try_emplace(writer, startAt(result, point)).first->second !=
          startAt(result, point))
        rules.insert("IS-REDUCED");
      forRegion(result, point, [&](const Element &element) { writers[element].insert(writer); });
    });
    forEach(wholeOf(result.tensor), [&](const Element &element) {
      if (writers[element].size() != 1)
        rules.insert("IS-COVER");
    });
    if (writers.size() != static_cast<size_t>(wholeOf(result.tensor).size()))
      rules.insert("IS-COVER");
  }
  return rules;
}

/// The least box of what the points of a block ask for, outside included.
Region boxOf(const Projection &projection, const Region &block) {
  Region box;
  std::optional<Element> low, high;
  forEach(block, [&](const Element &point) {
    forRegion(projection, point, [&](const Element &element) {
      if (!low)
        low = high = element;
      for (size_t axis = 0; axis < element.size(); ++axis) {
        (*low)[axis] = std::min((*low)[axis], element[axis]);
        (*high)[axis] = std::max((*high)[axis], element[axis]);
      }
    });
  });
  for (size_t axis = 0; axis < low->size(); ++axis) {
    box.start.push_back((*low)[axis]);
    box.extents.push_back((*high)[axis] - (*low)[axis] + 1);
  }
  return box;
}

class Properties : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  /// The next legal space.
  IndexSpace legal(Rng &rng) {
    while (true) {
      IndexSpace space = randomSpace(rng, context);
      std::string why;
      if (verify(space, why))
        return space;
    }
  }
};

TEST_F(Properties, VerifierFindsWhatEnumerationFinds) {
  Rng rng(1);
  unsigned accepted = 0;
  std::map<std::string, unsigned> named;
  for (unsigned trial = 0; trial < kSpaces; ++trial) {
    const IndexSpace space = randomSpace(rng, context);
    const std::set<std::string> rules = broken(space);
    std::string why;
    ASSERT_EQ(verify(space, why), rules.empty()) << "space " << trial << ": " << why;
    accepted += rules.empty() ? 1 : 0;
    if (rules.empty())
      continue;
    const std::string rule = why.substr(why.rfind('(') + 1, why.size() - why.rfind('(') - 2);
    ASSERT_TRUE(rules.count(rule)) << "space " << trial << ": " << why;
    ++named[rule];
  }
  // Neither side is empty, and every rule is met.
  EXPECT_GT(accepted, kSpaces / 4);
  EXPECT_GT(kSpaces - accepted, kSpaces / 4);
  for (const char *rule : {"IS-EMPTY", "IS-INSIDE", "IS-COHERENT", "IS-REDUCED", "IS-COVER"})
    EXPECT_GT(named[rule], 5U) << rule;
}

TEST_F(Properties, BlocksAreTheirPoints) {
  Rng rng(2);
  for (unsigned trial = 0; trial < kSpaces; ++trial) {
    const IndexSpace space = legal(rng);
    const Projection &one = space.operands.front();
    const Region block = randomBlock(rng, space);
    const Elements elements = touched(one, block);
    ASSERT_EQ(regionOf(one, block), boxOf(one, block)) << "space " << trial;
    ASSERT_EQ(elementsOf(one, block), static_cast<int64_t>(elements.size())) << "space " << trial;
    for (unsigned axis = 0; axis < one.rank() && !elements.empty(); ++axis) {
      std::set<int64_t> indices, found;
      for (const Element &element : elements)
        indices.insert(element[axis]);
      int64_t last = -1;
      for (const auto &run : indicesAlong(one, axis, block)) {
        ASSERT_GT(run.first, last) << "space " << trial; // a gap before each
        for (int64_t i = 0; i < run.count; ++i)
          found.insert(last = run.first + i);
        ++last;
      }
      ASSERT_EQ(found, indices) << "space " << trial;
    }

    const auto loop = static_cast<unsigned>(rng.range(0, space.loops.size() - 1));
    Region next = block;
    next.start[loop] += block.extents[loop];
    int64_t shared = 0;
    for (const Element &element : touched(one, next))
      shared += static_cast<int64_t>(elements.count(element));
    ASSERT_EQ(sharedElements(one, block, loop), shared) << "space " << trial;
    Element here(block.start.begin(), block.start.end()), there = here;
    ++there[loop];
    const Extents steps = delta(one, loop);
    for (unsigned axis = 0; axis < one.rank(); ++axis)
      ASSERT_EQ(startAt(one, there)[axis] - startAt(one, here)[axis], steps[axis]);

    if (one.rank() == 0)
      continue;
    const auto dim = static_cast<unsigned>(rng.range(0, one.rank() - 1));
    const int64_t lanes = rng.range(1, 4);
    Elements rows;
    for (Element row : elements) {
      row[dim] /= lanes;
      rows.insert(row);
    }
    ASSERT_EQ(rowsOf(one, block, dim, lanes), static_cast<int64_t>(rows.size()))
        << "space " << trial;
  }
}

} // namespace
} // namespace sluice::space
