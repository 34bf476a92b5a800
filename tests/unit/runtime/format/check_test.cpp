// What a program file may say: one rule broken at a time.
#include <functional>

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/format/program_file.h"
#include "tests/unit/runtime/format/check_change.h"

namespace sluice::format {
namespace {

using test::afterMm;
using test::afterVec;
using test::encoded;
using test::problemAfter;
using test::smallInput;
using test::smallMm;
using test::smallProgram;
using test::smallVec;
using testing::HasSubstr;

TEST(Check, SmallProgramIsClean) {
  EXPECT_EQ(problemAfter([](Program &) {}), "none");
}

TEST(Check, Geometry) {
  EXPECT_EQ(problemAfter([](Program &p) { p.geometry.lanes = 12; }),
            "E0508 lanes is 12, allowed: a power of two");
  EXPECT_EQ(problemAfter([](Program &p) { p.geometry.lanes = 2; }),
            "E0508 lanes is 2, allowed: 4 to 64");
  EXPECT_EQ(problemAfter([](Program &p) { p.geometry.cores = 9; }),
            "E0508 cores is 9, allowed: 1 to 8");
  EXPECT_EQ(problemAfter([](Program &p) { p.geometry.peTerms = 3; }),
            "E0508 pe_terms is 3, allowed: a divisor of lanes (8)");
  EXPECT_EQ(problemAfter([](Program &p) { p.geometry.weightBlocks = 40000; }),
            "E0508 weight_blocks times lanes is 320000, allowed: up to 262144");
  for (std::string Geometry::*name : {&Geometry::name, &Geometry::rtl})
    for (const char *text : {"", "C2B8"})
      EXPECT_EQ(problemAfter([&](Program &p) { p.geometry.*name = text; }),
                "E0508 'name' and 'rtl' must have 1 to 64 characters from a-z, 0-9, '-' and '_'");
  EXPECT_EQ(problemAfter([](Program &p) { p.cores.resize(3); }),
            "E0507 the program has instructions for 3 cores, the geometry has 2 cores");
}

TEST(Check, Steps) {
  // [4, 8] in four steps, to [4, 8].
  const auto after = [](auto &&change) {
    return problemAfter([&](Program &p) {
      Model &model = p.models[0];
      model.steps = 4;
      model.inputs[0].shape = model.outputs[0].shape = {4, 8};
      model.inputs[0].dataDim = model.outputs[0].dataDim = 1;
      model.inputs[0].stepAxis = model.outputs[0].stepAxis = 0;
      change(p, model);
    });
  };
  EXPECT_EQ(after([](Program &, Model &) {}), "none");
  EXPECT_EQ(after([](Program &, Model &m) { m.steps = 0; }),
            "E0511 model 'small': the number of steps is 0, allowed: 1 or more");
  EXPECT_EQ(after([](Program &, Model &m) { m.steps = 1; }),
            "E0511 input 'x' of model 'small': the tensor has a step axis, but the model has only "
            "one step");
  EXPECT_EQ(after([](Program &, Model &m) { m.inputs[0].stepAxis.reset(); }),
            "E0511 model 'small': the model has 4 steps, but no input has a step axis");
  EXPECT_EQ(
      after([](Program &p, Model &m) {
        p.models.push_back(m);
        p.models[1].name = "other";
      }),
      "E0511 model 'small': the number of steps is 4, allowed in a program of several models: 1");
  EXPECT_EQ(after([](Program &, Model &m) { m.steps = 1U << 23; }),
            "E0511 model 'small': 8388608 steps of 1 input rows each are too many, allowed: up to "
            "4194304 rows in all");
  EXPECT_EQ(after([](Program &, Model &m) { m.inputs[0].stepAxis = 2; }),
            "E0511 input 'x' of model 'small': the step axis is 2, the rank is 2");
  EXPECT_EQ(
      after([](Program &, Model &m) { m.inputs[0].skipped = 4; }),
      "E0511 input 'x' of model 'small': the tensor skips 4 positions, allowed in an input: 0");
  EXPECT_EQ(after([](Program &, Model &m) { m.outputs[0].skipped = 2; }),
            "E0511 output 'y' of model 'small': the tensor has 1 rows, its shape needs 2");
  EXPECT_EQ(after([](Program &, Model &m) { m.outputs[0].skipped = 0xFFFFFFFF; }),
            "E0511 output 'y' of model 'small': the tensor has 4294967299 positions "
            "along axis 0, allowed: up to 2147483648");
  EXPECT_EQ(after([](Program &, Model &m) { m.outputs[0].skipped = 4; }),
            "E0511 output 'y' of model 'small': the tensor has 1 rows, its shape needs 2");
  EXPECT_EQ(after([](Program &, Model &m) {
              m.outputs[0].stepAxis.reset();
              m.outputs[0].skipped = 4;
            }),
            "E0511 output 'y' of model 'small': the tensor skips positions but has no step axis");
}

TEST(Check, Encoding) {
  EXPECT_EQ(problemAfter([](Program &p) { p.cores[0].instructions[0][8] = ~0ULL; }),
            "E0509 core 0 instruction 0 does not decode: unknown opcode, unknown enum value or "
            "stray bits");
  EXPECT_EQ(problemAfter([](Program &p) { p.hostInstructions[0] = encoded(smallMm()); }),
            "E0509 host port instruction 0: mm or vec at the host port, allowed: in a core");
  EXPECT_EQ(problemAfter([](Program &p) { p.cores[1].instructions[0] = encoded(smallInput()); }),
            "E0509 core 1 instruction 0: input in a core, allowed: at the host port");
  EXPECT_EQ(problemAfter([](Program &p) { p.cores[1].instructions.clear(); }),
            "E0509 core 1 instruction 0: the list is empty, the last instruction must be restart "
            "or halt");
  EXPECT_EQ(
      problemAfter([](Program &p) { p.cores[1].instructions.assign(513, encoded(isa::Halt{})); }),
      "E0509 core 1 has 513 instructions, its memory holds 512");
}

TEST(Check, Fields) {
  EXPECT_EQ(afterMm([](isa::Mm &mm) { mm.n[2] = 0; }),
            "E0509 core 0 instruction 0: n is 0, allowed: 1 to 4095");
  EXPECT_EQ(afterMm([](isa::Mm &mm) { mm.waitLevel = 5; }),
            "E0509 core 0 instruction 0: wait_level is 5, allowed: 0 to 4");
  EXPECT_EQ(afterMm([](isa::Mm &mm) { mm.waitCount = 0; }),
            "E0509 core 0 instruction 0: wait_count is 0, allowed: 1 to 255");
  EXPECT_EQ(afterMm([](isa::Mm &mm) { mm.sigEn = 1; }),
            "E0509 core 0 instruction 0: sig_units is 0, allowed: 1 to 3 (a signal needs a bank)");
  EXPECT_EQ(afterVec([](isa::Vec &vec) { vec.mask = 1; }),
            "E0509 core 0 instruction 1: sig_units is 0, allowed: 1 to 3 (a signal needs a bank)");
  EXPECT_EQ(afterVec([](isa::Vec &vec) { vec.mask = 4; }),
            "E0509 core 0 instruction 1: mask is 4, allowed: cores 0 to 1 and the host (bit 8), "
            "at least one");
  EXPECT_THAT(afterVec([](isa::Vec &vec) { vec.alu1 = isa::Alu::Select; }),
              HasSubstr("select in alu1, allowed: in alu2"));
  EXPECT_EQ(afterVec([](isa::Vec &vec) {
              vec.reduce = isa::Reduce::Max;
              vec.reduceLevel = 2;
              vec.sigLevel = 3;
            }),
            "E0509 core 0 instruction 1: sig_level is 3, allowed: 0 to 2 (reduce_level; other "
            "beats produce no result)");
  EXPECT_THAT(afterVec([](isa::Vec &vec) {
                vec.tableEn = 1;
                vec.tableId = 4;
              }),
              HasSubstr("table_id is 4, allowed: 0 to 3"));
}

TEST(Check, WideOperand) {
  const auto wide = [](auto &&change) {
    return afterVec([&](isa::Vec &vec) {
      vec.bWide = vec.bEn = vec.cEn = 1;
      change(vec);
    });
  };
  EXPECT_EQ(wide([](isa::Vec &vec) {
              vec.alu2 = isa::Alu::Add;
              vec.rhs2 = isa::Rhs2::B;
            }),
            "none");
  EXPECT_EQ(wide([](isa::Vec &vec) { vec.bEn = 0; }),
            "E0509 core 0 instruction 1: b_en is 0, allowed: 1 (b_wide reads rows b and c)");
  EXPECT_EQ(wide([](isa::Vec &vec) { vec.cEn = 0; }),
            "E0509 core 0 instruction 1: c_en is 0, allowed: 1 (b_wide reads rows b and c)");
  EXPECT_EQ(
      wide([](isa::Vec &vec) { vec.alu2 = isa::Alu::Select; }),
      "E0509 core 0 instruction 1: select needs separate operands b and c, but b_wide joins them");
  EXPECT_EQ(wide([](isa::Vec &vec) { vec.alu2 = isa::Alu::Add; }),
            "E0509 core 0 instruction 1: rhs2 is c, but b_wide joins c to b");
}

/// The small program's mm inside sequencer code; x uses register 1.
std::string afterSequencer(const std::vector<isa::Instruction> &before,
                           const std::vector<isa::Instruction> &after) {
  return problemAfter([&](Program &program) {
    auto &list = program.cores[1].instructions;
    list.clear();
    for (const auto &one : before)
      list.push_back(encoded(one));
    isa::Mm mm;
    mm.xReg = 1;
    list.push_back(encoded(mm));
    for (const auto &one : after)
      list.push_back(encoded(one));
  });
}

TEST(Check, Registers) {
  const isa::Loop loop{4};
  EXPECT_EQ(afterSequencer({isa::Setreg{1, 0}, loop},
                           {isa::Addreg{1, 341}, isa::Endloop{}, isa::Restart{}}),
            "none");
  EXPECT_EQ(afterSequencer({isa::Setreg{1, 0}, loop},
                           {isa::Addreg{1, 342}, isa::Endloop{}, isa::Restart{}}),
            "E0510 core 1 instruction 2: x reaches tensor row 1026, allowed: 0 to 1023, 32768 to "
            "33023");
  // Without setreg the register grows from inference to inference.
  EXPECT_EQ(
      afterSequencer({loop}, {isa::Addreg{1, 1}, isa::Endloop{}, isa::Restart{}}).substr(0, 5),
      "E0510");
  EXPECT_EQ(afterSequencer({loop}, {isa::Addreg{1, 1}, isa::Endloop{}, isa::Halt{}}), "none");
  // Set behind its use: the next pass starts with that value.
  EXPECT_EQ(afterSequencer({}, {isa::Setreg{1, 5000}, isa::Restart{}}),
            "E0510 core 1 instruction 0: x reaches tensor row 5000, allowed: 0 to 1023, 32768 to "
            "33023");
  EXPECT_EQ(afterSequencer({isa::Setreg{0, 1}}, {isa::Halt{}}),
            "E0509 core 1 instruction 0: index is 0, allowed: 1 to 7 (register 0 is always zero)");
}

TEST(Check, RegistersOfTheHostPort) {
  const auto afterInput = [](const std::function<void(isa::Input &)> &change) {
    return problemAfter([&](Program &program) {
      isa::Input input = smallInput();
      input.dstReg = 2;
      change(input);
      program.hostInstructions[0] = encoded(input);
      program.hostInstructions.insert(program.hostInstructions.begin(), {encoded(isa::Loop{1})});
      program.hostInstructions.insert(program.hostInstructions.begin() + 2,
                                      {encoded(isa::Addreg{2, 100}), encoded(isa::Endloop{})});
    });
  };
  // From inference to inference the register grows: only a ring holds it.
  EXPECT_EQ(afterInput([](isa::Input &) {}),
            "E0510 host port instruction 1: dst reaches inbox row 1024, allowed: 0 to 1023");
  EXPECT_EQ(afterInput([](isa::Input &input) { input.dstRing = 10; }), "none");
  EXPECT_EQ(afterInput([](isa::Input &input) { input.dstRing = 11; }),
            "E0510 host port instruction 1: dst reaches inbox row 1024, allowed: 0 to 1023");
}

TEST(Check, Loops) {
  EXPECT_EQ(afterSequencer({isa::Loop{0}}, {isa::Endloop{}, isa::Halt{}}),
            "E0509 core 1 instruction 0: count is 0, allowed: at least 1");
  EXPECT_EQ(afterSequencer({isa::Loop{2}}, {isa::Halt{}}),
            "E0509 core 1 instruction 0: the loop has no endloop");
  EXPECT_EQ(afterSequencer({}, {isa::Endloop{}, isa::Halt{}}),
            "E0509 core 1 instruction 1: endloop without a loop");
  const isa::Loop l{1};
  EXPECT_EQ(afterSequencer({l, l, l, l, l}, {}),
            "E0509 core 1 instruction 4: the loops nest more than 4 deep");
  EXPECT_EQ(afterSequencer({isa::Halt{}}, {isa::Halt{}}),
            "E0509 core 1 instruction 0: only the last instruction may be restart or halt");
  EXPECT_EQ(afterSequencer({}, {}),
            "E0509 core 1 instruction 0: the last instruction must be restart or halt");
}

/// The first problem of the stateful program after a change.
std::string problemOfState(const std::function<void(Program &)> &change) {
  Program program = test::statefulProgram();
  change(program);
  const auto problems = check(program);
  return problems.empty() ? "none" : problems[0].code + " " + problems[0].message;
}
std::string afterPlace(const std::function<void(StatePlace &)> &change) {
  return problemOfState([&](Program &program) { change(program.state.places[0]); });
}

TEST(Check, StatePlaces) {
  EXPECT_EQ(problemOfState([](Program &) {}), "none");
  EXPECT_EQ(afterPlace([](StatePlace &place) { place.core = 2; }),
            "E0517 state range 0: core is 2, allowed: 0 to 1");
  EXPECT_EQ(afterPlace([](StatePlace &place) { place.memory = StatePlace::Memory(3); }),
            "E0517 state range 0: memory is 3, allowed: 1 (rows) and 2 (preload rows)");
  EXPECT_EQ(afterPlace([](StatePlace &place) { place.rows = 0; }),
            "E0517 state range 0: the range has no rows");
  EXPECT_EQ(afterPlace([](StatePlace &place) { place.rows = 257; }),
            "E0517 state range 0: local rows 32768 to 33024, allowed: 32768 to 33023");
  EXPECT_EQ(afterPlace([](StatePlace &place) { place.first = 0xFFFFFFFF; }),
            "E0517 state range 0: local rows 4294967295 to 4294967295, allowed: 32768 to 33023");
  EXPECT_EQ(afterPlace([](StatePlace &place) { place.first = 1024; }),
            "E0517 state range 0: inbox rows 1024 to 1024, allowed: 0 to 1023");
  EXPECT_EQ(problemOfState([](Program &p) { p.state.places[1].first = 256; }),
            "E0517 state range 1: preload rows 256 to 256, allowed: 0 to 255");
  EXPECT_EQ(problemOfState([](Program &p) { std::swap(p.state.places[0], p.state.places[1]); }),
            "E0517 state range 1: core 0, local row 32768 follows core 0, rows 3 to 3, allowed: "
            "ascending and disjoint");
  EXPECT_EQ(problemOfState([](Program &p) {
              p.state.places[1] = {0, StatePlace::Memory::Rows, isa::kLocalBase, 1};
            }),
            "E0517 state range 1: core 0, local row 32768 follows core 0, rows 32768 to 32768, "
            "allowed: ascending and disjoint");
}

TEST(Check, Saves) {
  EXPECT_EQ(problemOfState([](Program &p) { p.state.places.clear(); }),
            "E0517 the program has save instructions but no state");
  EXPECT_EQ(
      problemOfState([](Program &p) { p.state.save.pop_back(); }),
      "E0517 the save has 2 entry points, expected 3: one per core and one for the host port");
  EXPECT_EQ(problemOfState([](Program &p) { p.state.save[0] = 14; }),
            "E0517 the save of core 0 begins at instruction 14, but its list has 14");
  EXPECT_EQ(problemOfState([](Program &p) { p.state.save[2] = 4; }),
            "E0517 the save of the host port begins at instruction 4, but its list has 4");
  EXPECT_EQ(problemOfState([](Program &p) { p.state.save[0] = 3; }),
            "E0509 core 0 instruction 2: the last instruction must be restart or halt");
  EXPECT_EQ(
      problemOfState([](Program &p) { p.cores[0].instructions.back() = encoded(isa::Restart{}); }),
      "E0509 core 0 instruction 13: the save ends with restart, allowed: halt");
  EXPECT_EQ(problemOfState([](Program &p) { p.cores[0].instructions[5] = encoded(isa::Halt{}); }),
            "E0509 core 0 instruction 5: only the last instruction may be restart or halt");
  EXPECT_EQ(problemOfState([](Program &p) {
              p.cores[0].instructions[4] = encoded(test::rowToHost(isa::kLocalBase, 5));
            }),
            "E0510 core 0 instruction 4: dst reaches host output row 5, allowed: 0 to 4");
  EXPECT_EQ(problemOfState([](Program &p) {
              p.cores[0].instructions[4] = encoded(test::rowToHost(isa::kLocalBase, 1));
            }),
            "E0517 the save does not write state row 0 of 5");
  EXPECT_EQ(problemOfState([](Program &p) {
              p.hostInstructions.insert(p.hostInstructions.end() - 1, encoded(smallInput()));
            }),
            "E0517 the save reads 1 rows from the host, allowed: 0");
  // An inference does not send what only a save may.
  EXPECT_EQ(problemOfState([](Program &p) {
              isa::Vec vec = smallVec();
              vec.dst = 1;
              p.cores[0].instructions[1] = encoded(vec);
            }),
            "E0510 core 0 instruction 1: dst reaches host output row 1, allowed: 0 to 0");
}

/// What takes no row and no weights is not asked where they are.
TEST(Check, UnroundedSumsMultiplyNothing) {
  const auto unrounded = [](isa::Mm &mm) {
    mm.emit = isa::Emit::Low;
    mm.x = 1024;
    mm.w = 2048;
  };
  EXPECT_EQ(afterMm(unrounded), "none");
  EXPECT_EQ(afterMm([&](isa::Mm &mm) {
              unrounded(mm);
              mm.init = isa::Init::Preload;
              mm.p = 256;
            }),
            "E0510 core 0 instruction 0: p reaches preload row 256, allowed: 0 to 255");
}

/// The small program with its input looked up in a table of three rows.
Program lookedUp() {
  Program program = test::smallProgram();
  Model &model = program.models[0];
  model.arrays = {{"ids", {1}, HostType::Int64, Limits{-3, 2}}};
  model.inputs[0].type = HostType::BFloat16;
  model.inputs[0].lookup = Lookup{0, 8, std::vector<uint16_t>(24)};
  return program;
}

TEST(Check, Lookups) {
  EXPECT_EQ(problemAfter([&](Program &p) { p = lookedUp(); }), "none");
  const auto problem = [&](auto change) {
    return problemAfter([&](Program &p) {
      p = lookedUp();
      change(p.models[0]);
    });
  };
  EXPECT_THAT(problem([](Model &m) { m.arrays[0].name = ""; }),
              HasSubstr("the name of an array is empty, not UTF-8 text, or used twice"));
  EXPECT_THAT(problem([](Model &m) { m.arrays[0].type = HostType::Float32; }),
              HasSubstr("the type of array 'ids' is wrong, or its limits are"));
  EXPECT_THAT(problem([](Model &m) { m.arrays[0].limits = {2, 1}; }),
              HasSubstr("the limits of array 'ids' are 2 and 1, allowed: ascending"));
  // Nothing reads the array.
  EXPECT_EQ(problem([](Model &m) { m.arrays.push_back({"b", {1}, HostType::Float32}); }), "none");
  EXPECT_THAT(problem([](Model &m) { m.inputs[0].array = 1; }),
              HasSubstr("the array is 1, allowed: 0 to 0"));
  EXPECT_THAT(problem([](Model &m) { m.arrays.push_back({"b", {2, 0}, HostType::Float32}); }),
              HasSubstr("array 'b': an extent is 0, allowed: 1 to "));
  EXPECT_THAT(problem([](Model &m) { m.arrays[0].shape = {2}; }),
              HasSubstr("the shape does not begin with that of array 'ids'"));
  EXPECT_THAT(problem([](Model &m) { m.inputs[0].lookup->rowElements = 4; }),
              HasSubstr("the lookup has 24 values in rows of 4, the shape needs rows of 8"));
  EXPECT_THAT(problem([](Model &m) { m.inputs[0].lookup->values.clear(); }),
              HasSubstr("the lookup has 0 values in rows of 8, the shape needs rows of 8"));
  EXPECT_THAT(problem([](Model &m) { m.arrays.clear(); }),
              HasSubstr("the tensor has an array or a lookup, allowed: none"));
  EXPECT_THAT(problem([](Model &m) { m.outputs[0].array = 1; }),
              HasSubstr("the tensor has an array or a lookup, allowed: none"));
}

TEST(Check, RandomNumbers) {
  const random::RandomNumbers numbers{random::Distribution::Bernoulli, 0.5, 0, 9};
  const auto problem = [&](auto change) {
    return problemAfter([&](Program &p) {
      Model &model = p.models[0];
      model.arrays = {{"x", {1, 8}, HostType::Float32, std::nullopt, numbers}};
      change(model);
    });
  };
  EXPECT_EQ(problem([](Model &) {}), "none");
  EXPECT_THAT(problem([](Model &m) { m.arrays.push_back({"b", {1}, HostType::Float32}); }),
              HasSubstr("array 'b' of the user follows one of random numbers"));
  EXPECT_THAT(
      problem([](Model &m) {
        m.arrays[0].type = m.inputs[0].type = HostType::Bool;
        m.arrays[0].limits = m.inputs[0].limits = {0, 1};
      }),
      HasSubstr("array 'x' of random numbers has type bool, allowed: floating-point types"));
  EXPECT_THAT(problem([](Model &m) { m.arrays[0].random->first = 2; }),
              HasSubstr("array 'x': the probability is 2, allowed: 0 to 1"));
  EXPECT_THAT(problem([](Model &m) {
                m.arrays[0].random->distribution = static_cast<random::Distribution>(77);
              }),
              HasSubstr("array 'x': the distribution is 77, allowed: 1 to 5"));
}

TEST(Check, Selections) {
  const auto problem = [&](auto change) {
    return problemAfter([&](Program &p) {
      Model &model = p.models[0];
      model.arrays = {{"all", {4, 16}, model.inputs[0].type}};
      model.inputs[0].selection = Selection{16, {0, 2}}; // all[1:2, 0:16:2]
      change(model);
    });
  };
  EXPECT_EQ(problem([](Model &) {}), "none");
  EXPECT_EQ(problem([](Model &m) { m.inputs[0].selection = Selection{63, {INT64_MAX, -9}}; }),
            "none"); // the first axis has one index
  for (const auto &[first, strides] :
       std::vector<std::pair<int64_t, std::vector<int64_t>>>{{50, {1, 2}},
                                                             {6, {1, -1}},
                                                             {-1, {1, 2}},
                                                             {64, {1, 0}},
                                                             {0, {1}},
                                                             {0, {1, 1, 1}},
                                                             {0, {0, INT64_MAX}},
                                                             {0, {0, INT64_MIN}}})
    EXPECT_EQ(problem([&](Model &m) { m.inputs[0].selection = Selection{first, strides}; }),
              fmt::format("E0511 input 'x' of model 'small': the elements from {} on, with strides "
                          "[{}], are not all in array 'all'",
                          first, fmt::join(strides, ", ")));
  EXPECT_THAT(problem([](Model &m) { m.arrays.clear(); }),
              HasSubstr("the tensor has an array or a lookup, allowed: none"));
  EXPECT_THAT(problem([](Model &m) { m.inputs[0].lookup = Lookup{0, 1, {0}}; }),
              HasSubstr("a tensor with a lookup or steps is a part of its array"));
}

TEST(Check, Quantisation) {
  const auto problem = [&](auto change) {
    return problemAfter([&](Program &p) {
      Model &model = p.models[0];
      model.inputs[0].quantised = model.outputs[0].quantised = Quantisation{0.5F, 3, {0, 255}};
      change(model);
    });
  };
  EXPECT_EQ(problem([](Model &) {}), "none");
  for (const float scale : {0.0F, -1.0F, INFINITY, NAN})
    EXPECT_THAT(problem([&](Model &m) { m.inputs[0].quantised->scale = scale; }),
                HasSubstr("allowed: finite and above 0"));
  EXPECT_THAT(problem([](Model &m) { m.outputs[0].quantised->zero = 256; }),
              HasSubstr("the zero point is 256 and the limits are 0 and 255"));
  EXPECT_THAT(problem([](Model &m) { m.outputs[0].quantised->limits.high = 257; }),
              HasSubstr("the limits are 0 and 257, allowed: ascending, in [-256, 256]"));
  EXPECT_THAT(problem([](Model &m) { m.outputs[0].type = HostType::Int8; }),
              HasSubstr("a tensor of integers or with a lookup is quantised"));
}

TEST(Check, HostTensors) {
  auto input = [](Program &p) -> HostTensor & { return p.models[0].inputs[0]; };
  EXPECT_EQ(problemAfter([&](Program &p) { input(p).rows = 2; }),
            "E0511 input 'x' of model 'small': the tensor has 2 rows, its shape needs 1");
  EXPECT_EQ(problemAfter([&](Program &p) { input(p).dataDim = 2; }),
            "E0511 input 'x' of model 'small': the data dimension is 2, the rank is 2");
  EXPECT_THAT(problemAfter([&](Program &p) { input(p).shape = {1, -8}; }),
              HasSubstr("extent is -8, allowed: 1 to 2147483648"));
  EXPECT_THAT(problemAfter([&](Program &p) { input(p).shape = {1 << 30, 1 << 30}; }),
              HasSubstr("the shape is too large, allowed: up to 2147483648 elements"));
  EXPECT_THAT(problemAfter([&](Program &p) { input(p).type = HostType{14}; }),
              HasSubstr("the element type is 14, allowed: 1 to 13"));
  EXPECT_THAT(problemAfter([&](Program &p) { input(p).type = HostType::Int8; }),
              HasSubstr("an input of type int8 has no limits"));
  EXPECT_THAT(problemAfter([&](Program &p) { input(p).limits = {0, 1}; }),
              HasSubstr("an input of type float32 has limits"));
  const auto ofType = [&](HostType type, int64_t low, int64_t high) {
    return problemAfter([&](Program &p) {
      input(p).type = type;
      input(p).limits = {low, high};
    });
  };
  EXPECT_THAT(ofType(HostType::Int16, -257, 0),
              HasSubstr("the limits are -257 and 0, allowed: ascending, in [-256, 256]"));
  EXPECT_THAT(ofType(HostType::UInt8, 3, 2),
              HasSubstr("the limits are 3 and 2, allowed: ascending, in [0, 255]"));
  EXPECT_EQ(problemAfter([&](Program &p) { input(p).name = "\xC0\x80"; }),
            "E0511 input '?' of model 'small': the name is empty or not UTF-8 text");
  EXPECT_EQ(problemAfter([&](Program &p) { p.models[0].inputs.push_back(input(p)); }),
            "E0511 input 'x' of model 'small': the name is used twice");
  for (const char *name : {"", "\xFF"})
    EXPECT_EQ(problemAfter([&](Program &p) { p.models[0].name = name; }),
              "E0511 a model's name is empty, not UTF-8 text, or used twice");
  EXPECT_EQ(problemAfter([&](Program &p) { p.models[0].outputs.clear(); }),
            "E0511 model 'small' has no output");
  EXPECT_EQ(problemAfter([](Program &p) {
              p.models[0].outputs.push_back({"z", {8}, HostType::Float32, 0, 0, 1});
            }),
            "E0511 output 'z' of model 'small': overlaps the rows of 'y'");
  EXPECT_EQ(problemAfter([](Program &p) {
              p.models[0].outputs.push_back({"z", {8}, HostType::Float32, 0, 1, 1});
            }),
            "E0511 output 'z' of model 'small': no instruction writes row 1");
  EXPECT_EQ(problemAfter([&](Program &p) {
              input(p).shape = {2, 8};
              input(p).rows = 2;
            }),
            "E0511 the host port reads 1 rows per pass, allowed: a multiple of the 2 input rows");
  EXPECT_EQ(problemAfter([](Program &p) { p.models.clear(); }), "E0511 the program has no model");
}

TEST(Check, Images) {
  EXPECT_EQ(problemAfter([](Program &p) { p.cores[0].weights[0].block = 2048; }),
            "E0512 core 0: weight block 2048 does not exist, allowed: below 2048");
  EXPECT_EQ(problemAfter([](Program &p) { p.cores[0].weights[0].elements[5] = 0x7F80; }),
            "E0512 core 0: weight block 0 holds an infinity or NaN, allowed: finite values");
  EXPECT_EQ(
      problemAfter([](Program &p) { p.cores[0].rows[0].address = 1024; }),
      "E0512 core 0: rows 1024 to 1024 are out of order or range, allowed: from 0 and below 1024");
  EXPECT_THAT(problemAfter([](Program &p) { p.cores[0].rows[0].lanes.resize(7); }),
              HasSubstr("7 values, expected a multiple of 8"));
  EXPECT_EQ(problemAfter([](Program &p) { p.cores[0].preloads[0].lanes[0] = 1ULL << 55; }),
            "E0512 core 0: preload row 3 sets bits above bit 54, allowed: bits 0 to 54");
  const auto table = [](uint64_t word) {
    return problemAfter([&](Program &p) {
      p.cores[0].tables = {{1, {word, 0, 0, 0}, std::vector<uint16_t>(isa::kTableEntries)}};
    });
  };
  EXPECT_EQ(table(119 << 8 | 2), "none");
  EXPECT_EQ(table(120 << 8 | 2), "E0512 core 0: log table 1 has base 120, allowed: 119");
  EXPECT_EQ(table(3), "E0512 core 0: table 1 has mode 3, allowed: 0 to 2");
}

TEST(Check, SourceMap) {
  EXPECT_EQ(problemAfter([](Program &p) { p.sourceMap[1].nodes = {2}; }),
            "E0513 the source map names node 2, but the program has 2 nodes");
  EXPECT_EQ(problemAfter([](Program &p) { p.sourceMap[1].instruction = 0; }),
            "E0513 the source map is not in order at core 0 instruction 0");
  EXPECT_EQ(problemAfter([](Program &p) { p.sourceMap[2].instruction = 3; }),
            "E0513 the source map names instruction 3 of core 2, which does not exist");
  EXPECT_EQ(problemAfter([](Program &p) { p.nodes[0].index = -2; }),
            "E0513 a source node has an index below -1 or a name that is not UTF-8 text");
  EXPECT_EQ(problemAfter([](Program &p) { p.options = "\xFF"; }),
            "E0513 the compiler version or the options are not UTF-8 text");
}

/// Two loops of three rows each in a loop of two passes, and what is said of them.
std::string afterRules(std::vector<RowRule> rules) {
  return problemAfter([&](Program &p) {
    isa::Vec vec;
    vec.n = {1, 1, 2, 3};
    vec.dst = isa::kLocalBase + 4;
    vec.dstKind = isa::Dst::Local;
    vec.dstStride = {0, 0, 3, 1};
    auto &list = p.cores[0].instructions;
    list.insert(list.begin() + 2, {encoded(isa::Loop{2}), encoded(vec), encoded(isa::Endloop{})});
    p.tensors = {{"h", {2, 6, 10}, 2}}; // 24 rows
    p.computedRows = {{0, 3, std::move(rules)}};
  });
}

TEST(Check, ComputedRows) {
  EXPECT_EQ(afterRules({{0, 0, false, 0, 12, {{2, 6}, {3, 2}}}}), "none");
  EXPECT_EQ(afterRules({{0, 0, false, 22, -12, {{2, -6}, {3, -2}}}}), "none");
  EXPECT_EQ(afterRules({{0, 0, false, 21, -12, {{2, -6}, {3, -2}}}}),
            "E0513 computed rows of core 0 instruction 3: a rule reaches rows -1 to 21 of 'h', "
            "which has 24 rows");
  EXPECT_EQ(afterRules({{1, 0, true, 0, 0, {{2, 1}}}, {4, 0, false, 3, 0, {}}}), "none");
  EXPECT_EQ(afterRules({{0, 0, false, 1, 12, {{2, 6}, {3, 2}}}}), "none");
  EXPECT_EQ(afterRules({{0, 0, false, 2, 12, {{2, 6}, {3, 2}}}}),
            "E0513 computed rows of core 0 instruction 3: a rule reaches rows 2 to 24 of 'h', "
            "which has 24 rows");
  EXPECT_EQ(afterRules({{0, 0, false, 0, -1, {}}}),
            "E0513 computed rows of core 0 instruction 3: a rule reaches rows -1 to 0 of 'h', "
            "which has 24 rows");
  EXPECT_EQ(afterRules({{0, 1, false, 0, 0, {}}}),
            "E0513 computed rows of core 0 instruction 3: a rule names tensor 1, the program has "
            "1 tensors");
  EXPECT_EQ(afterRules({{0, 0, false, 0, 0, {{2, 1}}}, {1, 0, false, 0, 0, {}}}),
            "E0513 computed rows of core 0 instruction 3: a rule covers 1 rows from row 1, the "
            "instruction has 6, 2 already covered");
  EXPECT_EQ(afterRules({{5, 0, false, 0, 0, {{2, 1}}}}),
            "E0513 computed rows of core 0 instruction 3: a rule covers 2 rows from row 5, the "
            "instruction has 6, 0 already covered");
  for (const uint32_t count : {0U, 7U, ~0U})
    EXPECT_EQ(afterRules({{0, 0, false, 0, 0, {{count, 0}, {2, 0}}}}),
              "E0513 computed rows of core 0 instruction 3: a rule covers no rows or more than "
              "the 6 that the instruction writes");
  EXPECT_EQ(afterRules({{0, 0, false, 0, 0, std::vector<RowTerm>(5)}}),
            "E0513 computed rows of core 0 instruction 3: a rule has 5 terms, allowed: up to 4");
  EXPECT_EQ(problemAfter([](Program &p) { p.computedRows[0].rules[0].perPass = 1; }),
            "E0513 computed rows of core 0 instruction 1: a rule advances by 1 every iteration, "
            "but the instruction is in no loop");
  EXPECT_EQ(problemAfter([](Program &p) { p.computedRows[0].instruction = 0; }),
            "E0513 computed rows of core 0 instruction 0: the instruction writes no rows");
  EXPECT_EQ(problemAfter([](Program &p) { p.computedRows[0].instruction = 3; }),
            "E0513 computed rows of core 0 instruction 3: the instruction does not exist");
  EXPECT_EQ(problemAfter([](Program &p) { p.computedRows[0].core = 2; }),
            "E0513 computed rows of core 2 instruction 1: the instruction does not exist");
  EXPECT_EQ(problemAfter([](Program &p) { p.computedRows.push_back(p.computedRows[0]); }),
            "E0513 computed rows are not in order at core 0 instruction 1");
}

TEST(Check, TensorsOfTheModel) {
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors[0].name = ""; }),
            "E0513 tensor 0 of the model: the name is empty or not UTF-8 text");
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors[0].shape = {4, 0}; }),
            "E0513 tensor 0 of the model: an extent is 0, allowed: 1 to 274877906944");
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors[0].shape = {int64_t{1} << 40, 2}; }),
            "E0513 tensor 0 of the model: an extent is 2, allowed: 1 to 1");
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors[0].dataDim = 1; }),
            "E0513 tensor 0 of the model: the data dimension is 1, the rank is 1");
  EXPECT_EQ(problemAfter([](Program &p) {
              p.tensors[0].shape = {};
              p.tensors[0].dataDim = 1;
            }),
            "E0513 tensor 0 of the model: the data dimension is 1, the rank is 0");
}

TEST(Check, TensorsOfTheModelGoWithEachOther) {
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors.push_back({"h", {8}}); }), "none");
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors.push_back({"act.out", {4}}); }),
            "E0513 tensor 1 of the model: the shape is [4], but an earlier 'act.out' has [8]");
  // In another layout.
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors.push_back({"act.out", {8}}); }), "none");
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors[0].name = "y"; }), "none");
  EXPECT_EQ(
      problemAfter([](Program &p) { p.tensors[0].name = "x"; }),
      "E0513 tensor 0 of the model: the shape is [8], but the input or output 'x' has [1, 8]");
  EXPECT_EQ(
      problemAfter([](Program &p) {
        p.tensors[0].name = "y";
        p.tensors[0].shape = {4, 2};
      }),
      "E0513 tensor 0 of the model: the shape is [4, 2], but the input or output 'y' has [8]");
  EXPECT_EQ(problemAfter([](Program &p) { p.tensors[0].ofStep = true; }),
            "E0513 tensor 0 of the model: the tensor belongs to one step, but the model has only "
            "one step");
  // In four steps: y [4, 8] is [1, 8] in rows.
  const auto inSteps = [](std::vector<int64_t> shape) {
    return problemAfter([&](Program &p) {
      Model &model = p.models[0];
      model.steps = 4;
      model.inputs[0].shape = model.outputs[0].shape = {4, 8};
      model.inputs[0].dataDim = model.outputs[0].dataDim = 1;
      model.inputs[0].stepAxis = model.outputs[0].stepAxis = 0;
      p.tensors[0] = {"y", std::move(shape)};
      p.tensors[0].ofStep = true;
    });
  };
  EXPECT_EQ(inSteps({1, 8}), "none");
  EXPECT_EQ(
      inSteps({8}),
      "E0513 tensor 0 of the model: the shape is [8], but the input or output 'y' has [1, 8]");
}

} // namespace
} // namespace sluice::format
