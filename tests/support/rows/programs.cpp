#include "tests/support/rows/programs.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sluice::loops::test {

using plan::test::GraphBuilder;
using rows::kNoRow;
using rows::RowId;

constexpr uint32_t kNoFamily = ~uint32_t{0};

uint32_t ProgramBuilder::family(uint32_t trips, uint32_t rows) {
  rows::Family made;
  made.name = "f" + std::to_string(program.families.size());
  made.trips = trips;
  made.rows = rows;
  program.families.push_back(std::move(made));
  return static_cast<uint32_t>(program.families.size() - 1);
}

format::HostTensor ProgramBuilder::nextTensor(const char *name,
                                              const std::vector<format::HostTensor> &before,
                                              uint32_t rows) const {
  format::HostTensor tensor;
  tensor.name = name + std::to_string(before.size());
  tensor.type = format::HostType::BFloat16;
  tensor.shape = {int64_t{rows}, program.geometry.lanes};
  tensor.dataDim = 1;
  tensor.rows = rows;
  if (!before.empty())
    tensor.firstRow = before.back().firstRow + before.back().rows;
  return tensor;
}

uint32_t ProgramBuilder::input(uint32_t trips, uint32_t rows) {
  const uint32_t made = family(trips, rows);
  program.families[made].input = static_cast<uint32_t>(program.inputs.size());
  format::HostTensor tensor = nextTensor("x", program.inputs, trips * rows);
  program.inputs.push_back(std::move(tensor));
  return made;
}

uint32_t ProgramBuilder::constants(uint32_t trips, uint32_t rows) {
  const uint32_t made = family(trips, rows);
  std::uniform_real_distribution<double> value(-1, 1);
  for (size_t i = 0; i < size_t{trips} * rows * program.geometry.lanes; ++i)
    program.families[made].constant.push_back(plan::test::toBf16(value(random)));
  return made;
}

std::vector<RowId> ProgramBuilder::read(GraphBuilder &trip, uint32_t family, bool all) {
  const rows::Family &from = program.families[family];
  rows::Read read{family, all, {}};
  for (uint32_t place = 0; all && place < from.total(); ++place)
    read.places.push_back(place);
  reads.push_back(std::move(read));
  return trip.input(all ? from.total() : from.rows);
}

std::vector<RowId> ProgramBuilder::window(GraphBuilder &trip, uint32_t family,
                                          std::vector<uint32_t> places, int32_t step) {
  const auto count = static_cast<uint32_t>(places.size());
  reads.push_back({family, true, std::move(places), step});
  return trip.input(count);
}

void ProgramBuilder::place(GraphBuilder &trip, std::optional<uint32_t> family, uint32_t output,
                           uint32_t first, std::vector<RowId> rows) {
  rows::Write write;
  write.family = family;
  if (!family)
    write.output = output;
  for (uint32_t row = 0; row < rows.size(); ++row)
    write.first.push_back(first + row);
  write.stride = static_cast<uint32_t>(rows.size());
  trip.output(rows);
  writes.push_back(std::move(write));
}

uint32_t ProgramBuilder::outputOf(uint32_t rows) {
  format::HostTensor tensor = nextTensor("y", program.outputs, rows);
  program.outputs.push_back(std::move(tensor));
  return static_cast<uint32_t>(program.outputs.size() - 1);
}

void ProgramBuilder::write(GraphBuilder &trip, uint32_t family, std::vector<RowId> rows) {
  trip.output(rows);
  rows::Write write;
  write.family = family;
  writes.push_back(std::move(write));
}

uint32_t ProgramBuilder::fold(GraphBuilder &trip, uint32_t trips, rows::Fold fold,
                              std::vector<RowId> rows) {
  if (fold == rows::Fold::Sum)
    rows = trip.dense(rows, static_cast<uint32_t>(rows.size()), rows::VectorStep{}, false);
  const auto count = static_cast<uint32_t>(rows.size());
  const uint32_t made =
      family(std::min(trips, program.geometry.cores), fold == rows::Fold::Sum ? 2 * count : count);
  write(trip, made, std::move(rows));
  writes.back().fold = fold;
  return made;
}

rows::VectorStep stepOf(rows::Fold fold) {
  rows::VectorStep step;
  step.alu1 = fold == rows::Fold::Max   ? isa::Alu::Max
              : fold == rows::Fold::Min ? isa::Alu::Min
                                        : isa::Alu::Mul;
  return step;
}

std::vector<RowId> ProgramBuilder::merge(GraphBuilder &trip, uint32_t parts, rows::Fold fold,
                                         uint32_t count) {
  const std::vector<RowId> all = read(trip, parts, true);
  if (fold == rows::Fold::Sum)
    return trip.sum(all, count);
  std::vector<RowId> result(all.begin(), all.begin() + count);
  for (size_t i = count; i < all.size(); ++i)
    result[i % count] = trip.vector({result[i % count]}, all[i], kNoRow, stepOf(fold));
  return result;
}

void ProgramBuilder::output(GraphBuilder &trip, uint32_t trips, std::vector<RowId> rows, Lie lie) {
  const auto count = static_cast<uint32_t>(rows.size());
  format::HostTensor tensor = nextTensor("y", program.outputs, trips * count);
  rows::Write write;
  write.output = static_cast<uint32_t>(program.outputs.size());
  const uint32_t first = tensor.firstRow + (lie == Lie::Falling ? (trips - 1) * count : 0);
  for (uint32_t row = 0; row < count; ++row)
    write.first.push_back(first + row * (lie == Lie::ByRow ? trips : 1));
  write.stride = lie == Lie::ByRow ? 1 : lie == Lie::Falling ? 0 - count : count;
  trip.output(rows);
  program.outputs.push_back(std::move(tensor));
  writes.push_back(std::move(write));
}

void ProgramBuilder::finish(GraphBuilder &trip, uint32_t trips) {
  rows::Body body;
  body.trips = trips;
  body.trip = std::move(trip.graph);
  const auto nodes = static_cast<uint32_t>(program.nodes.size());
  for (rows::Row &row : body.trip.rows)
    for (uint32_t &node : row.nodes)
      node += nodes;
  for (auto &[block, dynamic] : body.trip.dynamic)
    for (uint32_t &node : dynamic.nodes)
      node += nodes;
  program.nodes.insert(program.nodes.end(), body.trip.nodes.begin(), body.trip.nodes.end());
  body.reads = std::exchange(reads, {});
  body.writes = std::exchange(writes, {});
  program.bodies.push_back(std::move(body));
}

rows::Program denseNetwork(const std::string &target, uint32_t trips,
                           const std::vector<uint32_t> &widths, uint64_t seed) {
  ProgramBuilder builder(target, seed);
  const uint32_t x = builder.input(trips, widths[0]);
  GraphBuilder trip = builder.trip();
  std::vector<RowId> rows = builder.read(trip, x);
  for (size_t i = 1; i < widths.size(); ++i)
    rows = trip.dense(rows, widths[i],
                      i + 1 < widths.size() ? plan::test::relu() : rows::VectorStep{});
  builder.output(trip, trips, rows);
  builder.finish(trip, trips);
  return std::move(builder.program);
}

rows::Program poolingNetwork(const std::string &target, uint32_t trips, rows::Fold other,
                             uint64_t seed) {
  ProgramBuilder builder(target, seed);
  const uint32_t x = builder.input(trips, 2);
  GraphBuilder trip = builder.trip();
  const auto rows = trip.dense(builder.read(trip, x), 3, plan::test::relu());
  const auto most = trip.dense(rows, 2, rows::VectorStep{});
  const uint32_t sums = builder.fold(trip, trips, rows::Fold::Sum, rows);
  const uint32_t others = builder.fold(trip, trips, other, most);
  builder.output(trip, trips, trip.dense(rows, 1, rows::VectorStep{}));
  builder.finish(trip, trips);
  GraphBuilder last = builder.trip();
  builder.output(last, 1, last.dense(builder.merge(last, sums, rows::Fold::Sum, 3), 2, {}));
  builder.output(last, 1, last.dense(builder.merge(last, others, other, 2), 1, {}));
  builder.finish(last, 1);
  return std::move(builder.program);
}

namespace {

/// Some operations behind rows of the same position.
std::vector<RowId> randomLayers(GraphBuilder &trip, std::vector<RowId> rows, RowId shared,
                                std::mt19937_64 &random) {
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (uint32_t layer = 0, layers = 1 + draw(4); layer < layers; ++layer) {
    rows::VectorStep step;
    switch (draw(5)) {
    case 0: { // rows that one row per position is taken from
      step.reduce = isa::Reduce::Max;
      const RowId most = trip.vector(rows, kNoRow, kNoRow, step);
      rows::VectorStep minus;
      minus.alu1 = isa::Alu::Sub;
      std::vector<RowId> shifted;
      for (RowId row : rows)
        shifted.push_back(trip.vector({row}, most, kNoRow, minus));
      rows = shifted;
      break;
    }
    case 1: { // a residual
      step.alu1 = isa::Alu::Add;
      auto sum = trip.dense(rows, static_cast<uint32_t>(rows.size()), step, draw(2) != 0);
      for (size_t i = 0; i < sum.size(); ++i)
        trip.graph.rows[sum[i]].b = rows[i];
      rows = sum;
      break;
    }
    case 2: { // a gate, with an operand that every position shares
      step.alu1 = isa::Alu::Mul;
      step.alu2 = isa::Alu::Add;
      std::vector<RowId> gated;
      for (RowId row : rows)
        gated.push_back(trip.vector({row}, shared, trip.constant(), step));
      rows = gated;
      break;
    }
    default:
      rows = trip.dense(rows, 1 + draw(4), draw(2) != 0 ? plan::test::relu() : step, draw(3) != 0,
                        draw(4) == 0 ? 0.5 : 0);
    }
  }
  return rows;
}

} // namespace

rows::Program randomProgram(const std::string &target, uint64_t seed, uint32_t mostTrips) {
  ProgramBuilder builder(target, seed);
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(builder.random() % n); };
  const auto lie = [&] { return static_cast<Lie>(draw(3)); };
  const uint32_t trips = 2 + draw(mostTrips - 1);
  const uint32_t x = builder.input(trips, 1 + draw(4));
  const uint32_t second = draw(3) == 0 ? builder.input(draw(2) != 0 ? trips : 1, 1 + draw(2)) : x;
  if (draw(3) == 0) // a ring, unless the group is large
    builder.program.geometry.inboxRows = 64;
  const uint32_t table = draw(3) == 0 ? builder.constants(trips, 1) : kNoFamily;
  const bool twice = draw(2) != 0;
  GraphBuilder trip = builder.trip();
  std::vector<RowId> rows = builder.read(trip, x);
  if (second != x) {
    const std::vector<RowId> more =
        builder.read(trip, second, builder.program.families[second].trips == 1);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const RowId shared = table != kNoFamily ? builder.read(trip, table)[0] : trip.constant();
  rows = randomLayers(trip, rows, shared, builder.random);
  if (!twice || draw(2) != 0)
    builder.output(trip, trips, trip.dense(rows, 1 + draw(3), rows::VectorStep{}), lie());
  // What all positions are folded to is merged in a body of one trip, behind the others. Products
  // are rounded at every position, so they have few.
  const bool folds = draw(3) == 0;
  const auto fold = static_cast<rows::Fold>(draw(trips <= 3 ? 4 : 3));
  const uint32_t folded = 1 + draw(2);
  uint32_t parts = kNoFamily;
  if (folds)
    parts = builder.fold(trip, trips, fold, trip.dense(rows, folded, rows::VectorStep{}));
  const auto finished = [&] {
    if (folds) {
      GraphBuilder last = builder.trip();
      const auto merged = builder.merge(last, parts, fold, folded);
      builder.output(last, 1, last.dense(merged, 1 + draw(2), rows::VectorStep{}));
      builder.finish(last, 1);
    }
    return std::move(builder.program);
  };
  if (!twice) {
    builder.finish(trip, trips);
    return finished();
  }
  const auto passed = trip.dense(rows, 1 + draw(2), plan::test::relu());
  const uint32_t between = builder.family(trips, static_cast<uint32_t>(passed.size()));
  builder.write(trip, between, passed);
  builder.finish(trip, trips);
  // The second body reads its own positions, or all of them, in a loop or once.
  const bool all = trips * passed.size() <= 40 && draw(2) != 0, once = all && draw(2) != 0;
  GraphBuilder next = builder.trip();
  std::vector<RowId> read = builder.read(next, between, all);
  if (all && !once) {
    const std::vector<RowId> own = builder.read(next, between);
    std::vector<RowId> weights(read.begin(), read.begin() + std::min<size_t>(read.size(), 8));
    if (draw(2) != 0) { // attention: positions become weights
      read = next.product(own, weights, draw(2) != 0);
    } else {
      read = next.dense(read, 1, rows::VectorStep{});
      read.insert(read.end(), own.begin(), own.end());
    }
  }
  read = randomLayers(next, read, next.constant(), builder.random);
  builder.output(next, once ? 1 : trips, next.dense(read, 1 + draw(2), rows::VectorStep{}), lie());
  builder.finish(next, once ? 1 : trips);
  return finished();
}

} // namespace sluice::loops::test
