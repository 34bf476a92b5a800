// The beats of small placed and ordered graphs, every one of them. The target has two cores;
// with one token for each, those of core 1 begin at 16, the host's at 1 and local ones at 6.
#include "compiler/conversion/plan/beats/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/beats/bank.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan {

// How a failed comparison shows beats.
static void PrintTo(const Beat &beat, std::ostream *out) {
  *out << "form " << beat.form << " at";
  for (const int32_t address : beat.address)
    *out << ' ' << address;
  *out << " init " << static_cast<int>(beat.init) << (beat.last ? " last" : "");
  if (beat.wait.count != 0)
    *out << " waits " << beat.wait.token << " x " << beat.wait.count;
  if (beat.signal.on)
    *out << " signals " << beat.signal.token << " to " << beat.signal.units;
}

namespace test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kHost = 1, kLocal = 6, kCore1 = 16;

struct Building : testing::Test {
  GraphBuilder builder{"c2b8", 1};
  PlacementOptions options;
  TokenLayout tokens = TokenLayout::make(2, Slots::One, false);
  Placement placement;
  MachineBeats beats;

  Building() { options.keepTogether = 0; }

  void build(uint32_t release = kNone) {
    const Work work = analyse(builder.graph);
    placement = place(builder.graph, work, options);
    const auto order = makeOrder(builder.graph, work, placement, Tails(work.stages.size(), 0));
    ASSERT_TRUE(order);
    beats = buildBeats(builder.graph, work, placement, *order, tokens, {release, false});
  }

  rows::Row &row(RowId id) { return builder.graph.rows[id]; }

  const isa::Mm &matrixForm(uint32_t core, size_t beat) const {
    const UnitBeats &unit = beats.matrix[core];
    return std::get<isa::Mm>(unit.forms[unit.beats[beat].form]);
  }
  const isa::Vec &vectorForm(uint32_t core, size_t beat) const {
    const UnitBeats &unit = beats.vector[core];
    return std::get<isa::Vec>(unit.forms[unit.beats[beat].form]);
  }
  const isa::Input &hostForm(size_t beat) const {
    return std::get<isa::Input>(beats.host.forms[beats.host.beats[beat].form]);
  }
};

Signal gives(uint32_t token, uint32_t units) { return {true, token, units}; }

/// The only product of a row.
Beat product(int32_t x, int32_t w, Wait wait, isa::Init init = isa::Init::Zero) {
  return {.address = {x, w, 0, 0}, .init = init, .last = true, .wait = wait, .signal = {}};
}

Beat at(uint32_t form, const std::array<int32_t, 4> &address, Wait wait = {}, Signal signal = {}) {
  return {.form = form, .address = address, .wait = wait, .signal = signal};
}

TEST_F(Building, OneProduct) {
  const auto x = builder.input(1), y = builder.dense(x, 1, relu());
  builder.output(y);
  build();
  EXPECT_THAT(beats.matrix[0].beats, ElementsAre(product(0, 0, {kHost, 1}, isa::Init::Preload)));
  EXPECT_EQ(matrixForm(0, 0).emit, isa::Emit::Bf16);
  EXPECT_THAT(beats.vector[0].beats, ElementsAre(at(0, {0, 0, 0, 0}, {}, gives(kLocal, 0))));
  const isa::Vec &form = vectorForm(0, 0);
  EXPECT_EQ(std::tuple(form.aSrc, form.post, form.dstKind, form.mask),
            std::tuple(isa::Source::Mxu, isa::Post::Relu, isa::Dst::Net, kHostMask));
  EXPECT_THAT(beats.host.beats, ElementsAre(at(0, {0, 0, 0, 0}, {}, gives(kHost, kMatrixBit)),
                                            at(1, {0, 0, 0, 0}, {kLocal, 1})));
  EXPECT_EQ(std::tuple(hostForm(0).mask, hostForm(0).skip, hostForm(1).skip), std::tuple(1, 0, 1));
  EXPECT_THAT(beats.weights, ElementsAre(ElementsAre(row(y[0]).terms[0].block), IsEmpty()));
  EXPECT_THAT(beats.matrix[1].beats, IsEmpty());
  EXPECT_THAT(beats.vector[1].beats, IsEmpty());
  EXPECT_EQ(std::tuple(beats.doneToken, beats.busyCores), std::tuple(kLocal, 1U));
}

TEST_F(Building, TwoLayersOnTwoCores) {
  const auto x = builder.input(1), h = builder.dense(x, 2, {}, false),
             y = builder.dense(h, 2, {}, false);
  builder.output(y);
  build();
  for (int32_t core : {0, 1}) {
    Beat first = product(1, 1, {0, 1}), second = product(2, 2, {kCore1, 1});
    first.last = false;
    second.init = isa::Init::Keep;
    EXPECT_THAT(beats.matrix[core].beats, ElementsAre(product(0, 0, {kHost, 1}), first, second));
    // The row for both cores, then the one for the host, which lets the next inference in.
    EXPECT_THAT(beats.vector[core].beats,
                ElementsAre(at(0, {0, 0, 0, 1 + core}, {}, gives(kCore1 * core, kMatrixBit)),
                            at(1, {0, 0, 0, core}, {}, gives(kLocal, 0))));
    EXPECT_EQ(vectorForm(core, 0).mask, 3U);
    EXPECT_EQ(vectorForm(core, 1).mask, kHostMask);
    EXPECT_THAT(beats.weights[core],
                ElementsAre(row(h[core]).terms[0].block, row(y[core]).terms[0].block,
                            row(y[core]).terms[1].block));
  }
  EXPECT_EQ(hostForm(0).mask, 3U);
  EXPECT_THAT(beats.host.beats, ElementsAre(at(0, {0, 0, 0, 0}, {}, gives(kHost, kMatrixBit)),
                                            at(1, {0, 0, 0, 0}, {kLocal, 2})));
}

TEST_F(Building, TheNextInferenceMayEnterAmidRows) {
  const auto x = builder.input(1), h = builder.dense(x, 2, {}, false),
             y = builder.dense(h, 2, {}, false);
  builder.output(y);
  build(1);
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {0, 0, 0, 1}, {}, gives(0, kMatrixBit)),
                          at(1, {0, 0, 0, 0}, {}, gives(kLocal, 0)), at(2, {0, 0, 0, 0})));
  EXPECT_EQ(vectorForm(0, 1).dstKind, isa::Dst::Signal);
  EXPECT_EQ(vectorForm(0, 1).mask, kHostMask);
}

TEST_F(Building, TokensForAnotherUnitsSakeAreTaken) {
  const auto x = builder.input(1), y = builder.dense(x, 1, {}, false); // core 0
  const RowId v = builder.vector({x[0]}, kNoRow, kNoRow, {});          // core 1
  builder.output({y[0], v});
  build();
  // The packet with x tells both units of both cores.
  EXPECT_EQ(beats.host.beats[0].signal, gives(kHost, kMatrixBit | kVectorBit));
  EXPECT_THAT(beats.matrix[1].beats, ElementsAre(at(0, {0, 0, 0, 0}, {kHost, 1})));
  EXPECT_EQ(matrixForm(1, 0).skip, 1U);
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {0, 0, 0, 0}), at(1, {0, 0, 0, 0}, {kHost, 1}),
                          at(2, {0, 0, 0, 0}, {}, gives(kLocal, 0))));
  EXPECT_THAT(beats.vector[1].beats,
              ElementsAre(at(0, {0, 0, 0, 1}, {kHost, 1}, gives(kLocal, 0))));
}

TEST_F(Building, LocalRowsHaveTokensOfTheirOwn) {
  const auto x = builder.input(1), h = builder.dense(x, 1, {}, false);
  const RowId y = builder.vector(h, kNoRow, kNoRow, relu());
  builder.output({y});
  build();
  constexpr auto kAddress = static_cast<int32_t>(isa::kLocalBase);
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {0, 0, 0, kAddress}, {}, gives(kLocal, kVectorBit)),
                          at(1, {kAddress, 0, 0, 0}, {kLocal, 1}, gives(kLocal, 0))));
  EXPECT_EQ(vectorForm(0, 0).dstKind, isa::Dst::Local);
}

TEST_F(Building, AReductionWaitsForAllBeforeItsFirstBeat) {
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  builder.output({builder.vector(builder.input(3), kNoRow, kNoRow, max)});
  build();
  Beat last = at(0, {2, 0, 0, 0}, {}, gives(kLocal, 0));
  last.last = true;
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {0, 0, 0, 0}, {kHost, 3}), at(0, {1, 0, 0, 0}), last));
}

TEST_F(Building, OperandsOfAllStreams) {
  const auto x = builder.input(2);
  const RowId constant = builder.constant();
  rows::VectorStep step;
  step.alu1 = isa::Alu::Sub;
  step.alu2 = isa::Alu::Mul;
  builder.output({builder.vector({x[1]}, constant, x[0], step)});
  build();
  constexpr auto kConstant = static_cast<int32_t>(isa::kLocalBase);
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {1, kConstant, 0, 0}, {kHost, 2}, gives(kLocal, 0))));
  const isa::Vec &form = vectorForm(0, 0);
  EXPECT_EQ(std::tuple(form.bEn, form.cEn, form.alu1, form.alu2),
            std::tuple(1, 1, isa::Alu::Sub, isa::Alu::Mul));
}

TEST_F(Building, WaitsForSeveralTokensAreBeatsInFront) {
  const auto x = builder.input(1), h = builder.dense(x, 2, {}, false); // cores 0, 1
  builder.output({builder.vector({h[0]}, h[1], x[0], {})});            // core 0
  build();
  const std::vector<Beat> &vector = beats.vector[0].beats;
  ASSERT_EQ(vector.size(), 4U);
  EXPECT_EQ(vector[1].wait, (Wait{kHost, 1}));
  EXPECT_EQ(vector[2].wait, (Wait{kLocal, 1}));
  EXPECT_EQ(vector[3].wait, (Wait{kCore1, 1}));
  EXPECT_EQ(beats.vector[0].origins[2].row, kNoRow);
  EXPECT_EQ(beats.vector[0].origins[3].read[1], h[1]);
}

TEST_F(Building, WeightsAreCopiedAndAnnounced) {
  const auto x = builder.input(2), y = builder.product({x[0]}, {x[1]}, true);
  builder.output(y);
  build();
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {1, 0, 0, 0}, {kHost, 1}, gives(kLocal, kMatrixBit)),
                          at(1, {0, 0, 0, 0}, {}, gives(kLocal, 0))));
  EXPECT_EQ(vectorForm(0, 0).dstKind, isa::Dst::Wcol);
  EXPECT_EQ(beats.vector[0].origins[0].block, row(y[0]).terms[0].block);
  EXPECT_THAT(beats.matrix[0].beats,
              ElementsAre(at(1, {0, 0, 0, 0}, {kHost, 1}), product(0, 0, {kLocal, 1})));
  EXPECT_EQ(matrixForm(0, 0).skip, 1U);
}

TEST_F(Building, WeightsAreComputedInTheirPlace) {
  const auto x = builder.input(1), w = builder.dense(x, 1, {}, false);
  builder.output(builder.product(x, w, false));
  build();
  // The block is the second of its core, and has eight rows.
  EXPECT_THAT(beats.vector[0].beats, ElementsAre(at(0, {0, 0, 0, 8}, {}, gives(kLocal, kMatrixBit)),
                                                 at(1, {0, 0, 0, 0}, {}, gives(kLocal, 0))));
  EXPECT_EQ(vectorForm(0, 0).dstKind, isa::Dst::Wrow);
  EXPECT_EQ(vectorForm(0, 0).aSrc, isa::Source::Mxu);
}

TEST_F(Building, PartialSumsTravelAsTwoRows) {
  const auto x = builder.input(2), h = builder.dense(x, 2, {}, false);
  row(h[0]).wide = true;
  row(h[1]).b = h[0];
  row(h[1]).step.alu1 = isa::Alu::Add;
  builder.output({h[1]});
  std::vector<uint32_t> cores(builder.graph.rows.size(), kNone);
  cores[h[0]] = 1;
  cores[h[1]] = 0;
  options.cores = &cores;
  build();
  EXPECT_THAT(beats.vector[1].beats,
              ElementsAre(at(0, {0, 0, 0, 2}), at(1, {0, 0, 0, 3}, {}, gives(kCore1, kVectorBit)),
                          at(2, {0, 0, 0, 0}, {}, gives(kLocal, 0))));
  EXPECT_EQ(std::tuple(vectorForm(1, 0).aSrc, vectorForm(1, 0).part),
            std::tuple(isa::Source::Peek, isa::Part::High));
  EXPECT_EQ(std::tuple(vectorForm(1, 1).aSrc, vectorForm(1, 1).part),
            std::tuple(isa::Source::Mxu, isa::Part::Low));
  EXPECT_EQ(matrixForm(1, 0).emit, isa::Emit::Fp32);
  EXPECT_THAT(beats.vector[0].beats,
              ElementsAre(at(0, {0, 2, 3, 0}, {kCore1, 1}, gives(kLocal, 0))));
  EXPECT_EQ(vectorForm(0, 0).bWide, 1U);
}

TEST_F(Building, ARowWhoseProductsVanishReadsZeros) {
  const auto x = builder.input(1), y = builder.dense(x, 1, {});
  builder.setWeights(row(y[0]).terms[0].block, 0);
  builder.output(y);
  build();
  EXPECT_THAT(beats.matrix[0].beats,
              ElementsAre(product(static_cast<int32_t>(placement.cores[0].zeroRow), 0, {kHost, 1},
                                  isa::Init::Preload)));
}

TEST_F(Building, RowsThatNobodyReadsAreTaken) {
  const auto x = builder.input(2);
  builder.output(builder.dense({x[1]}, 1, {}, false));
  build();
  EXPECT_EQ(hostForm(0).mask, 1U);
  EXPECT_FALSE(beats.host.beats[0].signal.on);
  EXPECT_EQ(beats.host.beats[1].signal, gives(kHost, kMatrixBit));
}

TEST(TokenLayout, OneTokenForEachCore) {
  const TokenLayout two = TokenLayout::make(2, Slots::One, false);
  EXPECT_EQ(std::tuple(two.ofCore(0, 7), two.ofCore(1, 7)), std::tuple(0U, kCore1));
  EXPECT_EQ(std::tuple(two.ofHost(0), two.ofHost(239), two.ofHost(240), two.ofHost(1200)),
            std::tuple(1U, 1U, 2U, 1U));
  EXPECT_EQ(std::tuple(two.ofLocal(0), two.ofLocal(240), two.ofLocal(960)), std::tuple(6U, 7U, 6U));
  const TokenLayout six = TokenLayout::make(6, Slots::One, false); // 32 is no multiple of 6
  EXPECT_EQ(std::tuple(six.ofCore(5, 9), six.host, six.local), std::tuple(5U, 23U, 28U));
}

TEST(TokenLayout, SeveralTokensForEachCore) {
  const TokenLayout layout = TokenLayout::make(2, Slots::Many, false);
  EXPECT_EQ(layout.slots, 13U); // 32 tokens, 5 of the host and a local one
  EXPECT_EQ(std::tuple(layout.ofCore(0, 0), layout.ofCore(1, 0), layout.ofCore(0, 1),
                       layout.ofCore(1, 12), layout.ofCore(1, 13)),
            std::tuple(0U, 1U, 2U, 25U, 1U));
  EXPECT_EQ(std::tuple(layout.host, layout.local, layout.locals), std::tuple(26U, 31U, 1U));
}

TEST(TokenLayout, ATokenForARunOfTheRowsOfACore) {
  const TokenLayout layout = TokenLayout::make(6, Slots::InRuns, false);
  EXPECT_EQ(layout.slots, 4U);
  EXPECT_EQ(std::tuple(layout.ofCore(1, 0), layout.ofCore(1, 239), layout.ofCore(1, 240),
                       layout.ofCore(1, 959), layout.ofCore(1, 960)),
            std::tuple(1U, 1U, 7U, 19U, 1U));
}

TEST(TokenLayout, NoTwoProducersShareAToken) {
  for (const uint32_t cores : {1, 2, 3, 4, 6, 8, 16})
    for (const Slots slots : {Slots::One, Slots::Many, Slots::InRuns}) {
      SCOPED_TRACE(testing::Message() << cores << " cores, slots " << static_cast<int>(slots));
      const TokenLayout layout = TokenLayout::make(cores, slots, false);
      std::set<uint32_t> tokens;
      size_t count = 0;
      const auto add = [&](uint32_t token) {
        EXPECT_LT(token, isa::kTokens);
        tokens.insert(token);
        ++count;
      };
      for (uint32_t core = 0; core < cores; ++core)
        for (uint32_t slot = 0; slot < layout.slots; ++slot)
          add(layout.ofCore(core, slot * (layout.inRuns ? TokenLayout::kRun : 1)));
      for (uint32_t i = 0; i < layout.hosts; ++i)
        add(layout.ofHost(i * TokenLayout::kRun));
      for (uint32_t i = 0; i < layout.locals; ++i)
        add(layout.ofLocal(i * TokenLayout::kRun));
      EXPECT_EQ(tokens.size(), count);
    }
}

TEST(Bank, TakesEachTokenOnce) {
  Bank bank(4);
  for (RowId row = 0; row < 4; ++row)
    bank.announce(row, row / 2, 10 * row); // two rows for each of tokens 0 and 1
  bank.need(1);
  EXPECT_THAT(bank.take(), ElementsAre(Wait{0, 2})); // row 0 came before
  bank.need(0);
  EXPECT_THAT(bank.take(), IsEmpty());
  bank.need(2);
  EXPECT_THAT(bank.take(), ElementsAre(Wait{1, 1}));
  EXPECT_THAT(bank.drain(), ElementsAre(Wait{1, 1}));
  EXPECT_THAT(bank.drain(), IsEmpty());
}

TEST(Bank, TakesWhatHasArrivedToo) {
  Bank bank(5);
  for (RowId row = 0; row < 5; ++row)
    bank.announce(row, row == 4 ? 1 : 0, 10 * row);
  bank.need(0);
  bank.needArrived(25); // rows 1 and 2 are there; of token 1 nothing is needed
  EXPECT_THAT(bank.take(), ElementsAre(Wait{0, 3}));
}

TEST(Bank, AWaitTakesNoMoreThanATokenHolds) {
  Bank bank(300);
  for (RowId row = 0; row < 300; ++row)
    bank.announce(row, 3, kUnknown);
  bank.needAll(3, 1);
  EXPECT_THAT(bank.take(), ElementsAre(Wait{3, isa::kTokenMax}, Wait{3, 300 - isa::kTokenMax}));
}

} // namespace
} // namespace test
} // namespace sluice::plan
