// The container: round trip, every flipped bit, every truncation, versions,
// trailing bytes, and files that lie behind correct hashes.
#include "runtime/format/program_file.h"

#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/format/mutate.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::format {
namespace {

using test::smallProgram;
using testing::HasSubstr;

std::string codeOf(const ReadResult &result) {
  EXPECT_EQ(result.program.has_value(), result.problems.empty());
  return result.problems.empty() ? "" : result.problems[0].code;
}
std::string messageOf(const ReadResult &result) {
  return result.problems.empty() ? "" : result.problems[0].message;
}

TEST(ProgramFile, RoundTripGivesTheSameBytes) {
  const std::vector<uint8_t> bytes = write(smallProgram());
  const ReadResult result = read(bytes);
  ASSERT_TRUE(result.program) << messageOf(result);
  EXPECT_EQ(write(*result.program), bytes);
  const Program &program = *result.program;
  EXPECT_EQ(program.geometry, smallProgram().geometry);
  EXPECT_EQ(program.models[0].inputs[0].shape, (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(program.cores[0].instructions, smallProgram().cores[0].instructions);
  EXPECT_EQ(program.cores[0].weights[0].elements, smallProgram().cores[0].weights[0].elements);
  EXPECT_EQ(program.sourceMap[1].nodes, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(program.options, "--target c2b8");
  EXPECT_EQ(program.tensors, smallProgram().tensors);
  EXPECT_EQ(program.computedRows, smallProgram().computedRows);
}

TEST(ProgramFile, Stages) {
  Program program = smallProgram();
  const size_t size = sections(write(program))[0].size;
  program.geometry.stages.netHop = 4;
  const std::vector<uint8_t> bytes = write(program);
  EXPECT_EQ(sections(bytes)[0].size, size + sizeof(uint32_t) + 7 + sizeof(uint32_t));
  const ReadResult result = read(bytes);
  ASSERT_TRUE(result.program) << messageOf(result);
  EXPECT_EQ(result.program->geometry, program.geometry);
  EXPECT_EQ(write(*result.program), bytes);
  const auto refusal = [&](size_t back, uint32_t value) {
    std::vector<uint8_t> changed = bytes;
    const SectionInfo section = sections(bytes)[0];
    test::store(changed, section.offset + section.size - back, value);
    test::rehash(changed);
    return messageOf(read(changed));
  };
  EXPECT_EQ(refusal(4, 9), "net_hop is 9, allowed: 2 to 6");
  const std::string unknown =
      "section 'geometry' ends inside an entry, or one of its counts is too large";
  EXPECT_EQ(refusal(4, isa::Stages().netHop), unknown); // a default is not written
  EXPECT_EQ(refusal(8, 0x676F675F), unknown);           // another name
}

TEST(ProgramFile, WhatIsSaidOfComputedRows) {
  Program program = smallProgram();
  program.models[0].steps = 2; // so "h" may be of one
  program.tensors = {{"h", {4, 20}, 1, true}, {"scalar", {}}};
  isa::Vec vec = test::smallVec();
  vec.n = {1, 2, 3, 1};
  program.cores[0].instructions = {test::encoded(isa::Loop{2}), test::encoded(vec),
                                   test::encoded(isa::Endloop{}), test::encoded(isa::Restart{})};
  program.computedRows = {
      {0,
       1,
       {{0, 0, true, 9, -6, {{2, 1}}}, {3, 1, false, 0, 0, {}}, {4, 0, false, 5, 6, {{2, -5}}}}}};
  const ReadResult result = read(write(program));
  // The tokens of this program do not matter here, nor what its outputs are.
  for (const FileProblem &problem : result.problems)
    EXPECT_NE(problem.code, "E0513") << problem.message;
  const std::vector<uint8_t> bytes = write(program);
  program.tensors[0].ofStep = false;
  EXPECT_NE(write(program), bytes);
}

TEST(ProgramFile, RandomNumbers) {
  Program program = smallProgram();
  const random::RandomNumbers numbers{random::Distribution::Normal, -0.25, 3, 0xFEDCBA9876543210};
  program.models[0].arrays = {{"x", {1, 8}, HostType::Float32, std::nullopt, numbers}};
  const std::vector<uint8_t> bytes = write(program);
  const ReadResult result = read(bytes);
  ASSERT_TRUE(result.program) << messageOf(result);
  EXPECT_EQ(result.program->models[0].arrays[0].random, numbers);
  EXPECT_EQ(write(*result.program), bytes);
}

TEST(ProgramFile, EveryFlippedBitIsDetected) {
  std::vector<uint8_t> bytes = write(smallProgram());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= uint8_t(1 << bit % 8);
    const ReadResult result = read(bytes);
    ASSERT_FALSE(result.program) << "bit " << bit;
    ASSERT_FALSE(result.problems.empty()) << "bit " << bit;
    bytes[bit / 8] ^= uint8_t(1 << bit % 8);
  }
}

TEST(ProgramFile, EveryTruncationIsDetected) {
  const std::vector<uint8_t> bytes = write(smallProgram());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string code = codeOf(read(std::span(bytes).first(size)));
    ASSERT_EQ(code, size == 0 ? "E0502" : "E0504") << size;
  }
}

TEST(ProgramFile, TrailingBytes) {
  std::vector<uint8_t> bytes = write(smallProgram());
  bytes.push_back(0);
  const ReadResult result = read(bytes);
  EXPECT_EQ(codeOf(result), "E0505");
  EXPECT_THAT(messageOf(result), HasSubstr("trailing bytes: the file has"));
}

TEST(ProgramFile, OtherVersions) {
  std::vector<uint8_t> bytes = write(smallProgram());
  test::store<uint32_t>(bytes, kVersionOffset, 11);
  test::rehash(bytes);
  EXPECT_EQ(messageOf(read(bytes)),
            "format version 11, this build reads version 10: compile the model again");
  bytes = write(smallProgram());
  test::store<uint32_t>(bytes, kIsaVersionOffset, 9);
  test::rehash(bytes);
  EXPECT_EQ(codeOf(read(bytes)), "E0503");
  EXPECT_EQ(messageOf(read(bytes)),
            "instruction set version 9, this build has version 4: compile the model again");
}

TEST(ProgramFile, NotAProgram) {
  const std::string text = "a text file that is certainly longer than the magic bytes";
  const std::span bytes(reinterpret_cast<const uint8_t *>(text.data()), text.size());
  EXPECT_EQ(codeOf(read(bytes)), "E0502");
}

TEST(ProgramFile, PaddingIsCovered) {
  std::vector<uint8_t> bytes = write(smallProgram());
  const auto table = sections(bytes);
  size_t gap = 0;
  for (size_t i = 0; i + 1 < table.size() && gap == 0; ++i)
    if (table[i].offset + table[i].size < table[i + 1].offset)
      gap = table[i].offset + table[i].size;
  ASSERT_NE(gap, 0U);
  bytes[gap] = 1;
  test::rehash(bytes);
  EXPECT_EQ(codeOf(read(bytes)), "E0506");
}

/// What is said of the small program's file after `change`, behind correct hashes.
template <typename Change> std::string afterwards(Change change) {
  std::vector<uint8_t> bytes = write(smallProgram());
  change(bytes);
  test::rehash(bytes);
  return messageOf(read(bytes));
}

TEST(ProgramFile, TheSectionTableIsExact) {
  const std::vector<uint8_t> good = write(smallProgram());
  const auto table = sections(good);
  const size_t entry = kHeaderBytes + kEntryBytes; // of the models
  EXPECT_EQ(afterwards([](auto &bytes) { test::store<uint32_t>(bytes, kSectionCountOffset, 8); }),
            "the file has 8 sections, expected 11");
  EXPECT_EQ(
      afterwards([](auto &bytes) { test::store<uint32_t>(bytes, kSectionCountOffset + 4, 1); }),
      "a reserved field of the header is not zero");
  EXPECT_EQ(afterwards([&](auto &bytes) { test::store<uint32_t>(bytes, entry, 9); }),
            "section 1 has kind 9, expected 2 (models)");
  EXPECT_EQ(afterwards([&](auto &bytes) { test::store<uint32_t>(bytes, entry + 4, 1); }),
            "a reserved field of section 'models' is not zero");
  EXPECT_EQ(afterwards([&](auto &bytes) { test::store<uint64_t>(bytes, entry + kEntryOffset, 1); }),
            "section 'models' begins at byte 1, expected " + std::to_string(table[1].offset));
  EXPECT_EQ(afterwards([&](auto &bytes) {
              test::store<uint64_t>(bytes, entry + kEntrySize, good.size());
            }),
            "section 'models' of " + std::to_string(good.size()) + " bytes at byte " +
                std::to_string(table[1].offset) + " ends after the end of the file");
  EXPECT_EQ(afterwards([&](auto &bytes) {
              bytes.resize(good.size() + 8);
              test::store<uint64_t>(bytes, kFileSizeOffset, bytes.size());
            }),
            "the sections end at byte " + std::to_string(good.size()) + ", the file at " +
                std::to_string(good.size() + 8));
}

TEST(ProgramFile, SectionsHoldWhatTheyCount) {
  const size_t models = sections(write(smallProgram()))[1].offset;
  EXPECT_EQ(afterwards([&](auto &bytes) { test::store<uint32_t>(bytes, models, 1000); }),
            "section 'models' ends inside an entry, or one of its counts is too large");
  EXPECT_EQ(afterwards([&](auto &bytes) { test::store<uint32_t>(bytes, models, 0); }),
            "section 'models' has bytes after its last entry");
  const size_t rows = sections(write(smallProgram()))[10].offset;
  EXPECT_EQ(afterwards([&](auto &bytes) { test::store<uint32_t>(bytes, rows, 1000); }),
            "section 'computed rows' ends inside an entry, or one of its counts is too large");
  Program program = smallProgram();
  program.geometry.cores = 1;
  EXPECT_EQ(messageOf(read(write(program))),
            "the program has instructions for 2 cores, the geometry has 1 cores");
}

/// Every 32-bit word of header, table and sections set to nasty values.
TEST(ProgramFile, LyingWordsNeverCrash) {
  const std::vector<uint8_t> good = write(smallProgram());
  size_t accepted = 0;
  for (size_t offset = kVersionOffset; offset + 4 <= good.size(); offset += 4)
    for (uint32_t value : {0U, 1U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
      std::vector<uint8_t> bytes = good;
      test::store(bytes, offset, value);
      test::rehash(bytes);
      accepted += read(bytes).program.has_value();
    }
  EXPECT_GT(accepted, 0U); // weights and counters may be anything
}

TEST(ProgramFile, RandomMutationsNeverCrash) {
  const std::vector<uint8_t> good = write(smallProgram());
  std::mt19937 random(1);
  const char *rounds = std::getenv("SLUICE_FUZZ_ROUNDS");
  const int count = rounds ? std::atoi(rounds) : 20000;
  for (int round = 0; round < count; ++round) {
    std::vector<uint8_t> bytes = good;
    for (unsigned i = 1 + random() % 4; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    if (bytes.size() >= kHeaderBytes + kSectionCount * kEntryBytes)
      test::rehash(bytes);
    const ReadResult result = read(bytes);
    ASSERT_EQ(result.program.has_value(), result.problems.empty());
    if (result.program) {
      ASSERT_TRUE(check(*result.program).empty());
    }
  }
}

TEST(ProgramFile, FilesAreWrittenWholeOrNotAtAll) {
  const std::string folder = testing::TempDir() + "/sluice_write";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::vector<uint8_t> bytes = write(smallProgram());
  ASSERT_FALSE(writeAtomically(folder + "/p.sluice", bytes));
  EXPECT_TRUE(readFile(folder + "/p.sluice").program);
  // A directory in the way: the error names it, nothing is left behind.
  std::filesystem::create_directories(folder + "/d.sluice/full");
  const auto problem = writeAtomically(folder + "/d.sluice", bytes);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->code, "E0516");
  size_t entries = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
    ++entries;
  EXPECT_EQ(entries, 2U);
  EXPECT_TRUE(writeAtomically(folder + "/missing/p.sluice", bytes));
}

TEST(ProgramFile, DevicesAndLinksAreNotReplaced) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "sluice_special";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const std::vector<uint8_t> bytes = write(smallProgram());
  fs::create_symlink("/dev/full", folder / "full");
  const auto problem = writeAtomically(folder / "full", bytes);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->message,
            "cannot write '" + (folder / "full").string() + "': No space left on device");
  EXPECT_TRUE(fs::is_character_file(folder / "full"));
  EXPECT_FALSE(checkWritable(folder / "full"));
  fs::create_symlink("behind.sluice", folder / "link.sluice");
  for (int round = 0; round < 2; ++round) { // where there is no file yet, and where there is
    EXPECT_FALSE(checkWritable(folder / "link.sluice"));
    ASSERT_FALSE(writeAtomically(folder / "link.sluice", bytes));
    EXPECT_TRUE(fs::is_symlink(folder / "link.sluice"));
    EXPECT_TRUE(readFile(folder / "behind.sluice").program);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 3);
}

TEST(ProgramFile, OnlyTheBeginningOfAnotherFileIsRead) {
  const std::string path = testing::TempDir() + "/sluice_sparse";
  std::ofstream(path) << "not a program";
  std::filesystem::resize_file(path, uintmax_t{1} << 36); // more than there is memory
  const ReadResult result = readFile(path);
  std::filesystem::remove(path);
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems[0].code, "E0502");
}

TEST(ProgramFile, WhetherAFileCanBeWrittenIsSaidWithoutWritingIt) {
  const std::string folder = testing::TempDir() + "/sluice_writable";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/d.sluice");
  EXPECT_FALSE(checkWritable(folder + "/p.sluice"));
  for (const std::string name : {"/d.sluice", "/missing/p.sluice"}) {
    const auto problem = checkWritable(folder + name);
    ASSERT_TRUE(problem) << name;
    EXPECT_EQ(problem->code, "E0516");
  }
  const std::filesystem::directory_iterator left(folder);
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);
}

TEST(ProgramFile, UnreadablePaths) {
  EXPECT_EQ(codeOf(readFile("/nonexistent.sluice")), "E0501");
  const ReadResult result = readFile(testing::TempDir());
  EXPECT_EQ(codeOf(result), "E0501");
  EXPECT_THAT(messageOf(result), HasSubstr("it is a directory"));
}

} // namespace
} // namespace sluice::format
