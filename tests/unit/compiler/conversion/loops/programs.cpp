#include "tests/unit/compiler/conversion/loops/programs.h"

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

uint32_t ProgramBuilder::input(uint32_t trips, uint32_t rows) {
  const uint32_t made = family(trips, rows);
  program.families[made].input = static_cast<uint32_t>(program.inputs.size());
  format::HostTensor tensor;
  tensor.name = "x" + std::to_string(program.inputs.size());
  tensor.type = format::HostType::BFloat16;
  tensor.shape = {int64_t{trips} * rows, program.geometry.lanes};
  tensor.dataDim = 1;
  tensor.rows = trips * rows;
  if (!program.inputs.empty())
    tensor.firstRow = program.inputs.back().firstRow + program.inputs.back().rows;
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

void ProgramBuilder::write(GraphBuilder &trip, uint32_t family, std::vector<RowId> rows) {
  trip.output(rows);
  rows::Write write;
  write.family = family;
  writes.push_back(std::move(write));
}

void ProgramBuilder::output(GraphBuilder &trip, uint32_t trips, std::vector<RowId> rows,
                            bool interleaved) {
  const auto count = static_cast<uint32_t>(rows.size());
  format::HostTensor tensor;
  tensor.name = "y" + std::to_string(program.outputs.size());
  tensor.type = format::HostType::BFloat16;
  tensor.shape = {int64_t{trips} * count, program.geometry.lanes};
  tensor.dataDim = 1;
  tensor.rows = trips * count;
  if (!program.outputs.empty())
    tensor.firstRow = program.outputs.back().firstRow + program.outputs.back().rows;
  rows::Write write;
  write.output = static_cast<uint32_t>(program.outputs.size());
  for (uint32_t row = 0; row < count; ++row)
    write.first.push_back(tensor.firstRow + row * (interleaved ? trips : 1));
  write.stride = interleaved ? 1 : count;
  trip.output(rows);
  program.outputs.push_back(std::move(tensor));
  writes.push_back(std::move(write));
}

void ProgramBuilder::finish(GraphBuilder &trip, uint32_t trips) {
  rows::Body body;
  body.trips = trips;
  body.trip = std::move(trip.graph);
  for (rows::Row &row : body.trip.rows)
    for (uint32_t &node : row.nodes)
      node += static_cast<uint32_t>(program.nodes.size());
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

rows::Program randomProgram(const std::string &target, uint64_t seed) {
  ProgramBuilder builder(target, seed);
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(builder.random() % n); };
  const uint32_t trips = 2 + draw(60);
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
    builder.output(trip, trips, trip.dense(rows, 1 + draw(3), rows::VectorStep{}), draw(2) != 0);
  if (!twice) {
    builder.finish(trip, trips);
    return std::move(builder.program);
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
  builder.output(next, once ? 1 : trips, next.dense(read, 1 + draw(2), rows::VectorStep{}));
  builder.finish(next, once ? 1 : trips);
  return std::move(builder.program);
}

} // namespace sluice::loops::test
