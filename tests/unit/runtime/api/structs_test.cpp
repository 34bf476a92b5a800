// Callers that were compiled with an older or a newer header than the library.
#include "runtime/api/structs.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::expected;
using test::Machine;
using test::Values;

/// The struct of a later header.
template <typename T> struct Later {
  T known = test::sized<T>();
  uint64_t added = 0;

  Later() { known.size = sizeof(*this); }
};

TEST(Structs, ALaterCallerSeesZeroInWhatWeDoNotKnow) {
  const Machine machine;
  Later<sluice_rt_machine> info;
  info.added = 7;
  ASSERT_EQ(sluice_rt_program_machine(machine.program, &info.known), SLUICE_RT_OK);
  EXPECT_STREQ(info.known.target, "c2b8");
  EXPECT_EQ(info.known.size, sizeof info);
  EXPECT_EQ(info.added, 0U);
}

/// The first version of a struct that has grown since.
struct First {
  size_t size;
  uint32_t a;
};
struct Grown {
  size_t size;
  uint32_t a;
  uint32_t b;
  uint64_t c;
};

} // namespace

template <> inline constexpr size_t runtime::kFirstSize<Grown> = sizeof(First);

namespace {

TEST(Structs, AnEarlierCallerGetsWhatItHas) {
  Grown place{sizeof(First), 1, 2, 3};
  ASSERT_EQ(runtime::give<Grown>(&place, {0, 10, 20, 30}), SLUICE_RT_OK);
  EXPECT_EQ(place.size, sizeof(First));
  EXPECT_EQ(place.a, 10U);
  EXPECT_EQ(place.c, 3U); // not the caller's struct any more
}

TEST(Structs, AnEarlierCallersArrayHasItsOwnDistance) {
  const std::array<First, 3> theirs{{{sizeof(First), 1}, {sizeof(First), 2}, {sizeof(First), 3}}};
  std::string wrong;
  const auto *array = reinterpret_cast<const Grown *>(theirs.data());
  const std::vector<Grown> all = runtime::take(array, theirs.size(), wrong);
  ASSERT_EQ(wrong, "");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].a, 3U);
  EXPECT_EQ(all[2].c, 0U);
}

TEST(Structs, SizesThatCannotBe) {
  const Machine machine;
  sluice_rt_machine info{};
  EXPECT_EQ(sluice_rt_program_machine(machine.program, &info), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(
      sluice_rt_last_error(),
      "the size of a struct is 0, allowed: 32 or more; set its member 'size' to its sizeof");
}

class Arrays : public testing::Test {
protected:
  sluice_rt_status submit(const sluice_rt_input *in, const sluice_rt_output *out) {
    sluice_rt_job *job = nullptr;
    const sluice_rt_status status =
        sluice_rt_submit(machine.device, 0, in, 1, out, 1, nullptr, &job);
    if (status == SLUICE_RT_OK) {
      EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK);
    }
    sluice_rt_job_release(job);
    return status;
  }

  Machine machine;
  const Values x{1, 2, 3};
  Values y{};
  const sluice_rt_input in{sizeof in, x.data(), sizeof x, SLUICE_RT_FLOAT32};
  const sluice_rt_output out{sizeof out, y.data(), sizeof y, SLUICE_RT_FLOAT32};
};

TEST_F(Arrays, OfALaterCaller) {
  Later<sluice_rt_input> later;
  later.known = in;
  later.known.size = sizeof later;
  ASSERT_EQ(submit(&later.known, &out), SLUICE_RT_OK) << sluice_rt_last_error();
  EXPECT_EQ(y, expected(x));
  later.added = 1;
  EXPECT_EQ(submit(&later.known, &out), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(),
               "struct 0 sets members that this library does not have, allowed: zero");
  sluice_rt_output small = out;
  small.size = 8;
  EXPECT_EQ(submit(&in, &small), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(
      sluice_rt_last_error(),
      "the size of a struct is 8, allowed: 32 or more; set its member 'size' to its sizeof");
}

TEST_F(Arrays, OfDifferentSizes) {
  const std::array<Grown, 2> theirs{{{sizeof(Grown), 1, 0, 0}, {sizeof(First), 2, 0, 0}}};
  std::string wrong;
  EXPECT_TRUE(runtime::take(theirs.data(), 2, wrong).empty());
  EXPECT_EQ(wrong, "struct 1 has size 16, struct 0 has 24");
}

TEST_F(Arrays, OfAnyAlignmentAndInTheSamePlace) {
  std::array<char, sizeof(Values) + 1> bytes{};
  std::memcpy(bytes.data() + 1, x.data(), sizeof x);
  const sluice_rt_input odd{sizeof odd, bytes.data() + 1, sizeof x, SLUICE_RT_FLOAT32};
  const sluice_rt_output same{sizeof same, bytes.data() + 1, sizeof x, SLUICE_RT_FLOAT32};
  ASSERT_EQ(submit(&odd, &same), SLUICE_RT_OK) << sluice_rt_last_error();
  Values result;
  std::memcpy(result.data(), bytes.data() + 1, sizeof result);
  EXPECT_EQ(result, expected(x));
}

} // namespace
} // namespace sluice
