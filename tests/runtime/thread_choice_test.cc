// SPDX-License-Identifier: Apache-2.0
// When a session leaves its threads, by made-up times.
#include "runtime/thread_choice.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace qrt::thread_choice_test {
namespace {

struct Counts {
  int alone = 0, changes = 0;
  double seconds = 0;
};

// `all(i)` and `one(i)`: seconds of run i.
template <class All, class One>
Counts run(ThreadChoice* choice, int runs, const All& all, const One& one) {
  Counts counts;
  for (int i = 0; i < runs; ++i) {
    const bool alone = choice->is_alone();
    const double seconds = alone ? one(i) : all(i);
    counts.alone += alone;
    counts.seconds += seconds;
    choice->ran(seconds);
    counts.changes += choice->is_alone() != alone;
  }
  return counts;
}

TEST(ThreadChoice, StaysOnThreadsThatAreNotDisturbed) {
  ThreadChoice choice;
  testing::Random random;
  const auto all = [&](int) { return 0.006 + 1e-5 * static_cast<double>(random.integer(0, 100)); };
  const Counts counts = run(&choice, 2000, all, [](int) { return 0.012; });
  EXPECT_EQ(counts.alone, 0);
}

TEST(ThreadChoice, RunsAloneBesideAHog) {
  ThreadChoice choice;
  // Every other run waits for a thread that has lost its core.
  const Counts counts = run(
      &choice, 2000, [](int i) { return i % 2 ? 0.007 : 0.020; }, [](int) { return 0.010; });
  EXPECT_GT(counts.alone, 1800);
  EXPECT_LT(counts.seconds, 2000 * 0.010 * 1.1);
  EXPECT_GT(counts.changes, 4);  // looks again and again
}

TEST(ThreadChoice, ReturnsWhenTheHogHasGone) {
  ThreadChoice choice;
  run(
      &choice, 1000, [](int i) { return i % 2 ? 0.007 : 0.020; }, [](int) { return 0.010; });
  const Counts counts = run(
      &choice, 1000, [](int) { return 0.006; }, [](int) { return 0.012; });
  EXPECT_LT(counts.alone, 300);
  EXPECT_FALSE(choice.is_alone());
}

TEST(ThreadChoice, TrialsThatDoNotPayBecomeRare) {
  ThreadChoice choice;
  // The times of the threads vary, and one thread is always slower.
  const auto all = [](int i) { return i % 4 ? 0.006 : 0.002; };
  const Counts counts = run(&choice, 4000, all, [](int) { return 0.012; });
  EXPECT_GT(counts.alone, 0);
  EXPECT_LT(counts.seconds, 4000 * 0.005 * 1.02);
}

// Single slow runs change nothing, as runs are much shorter than what disturbs them.
TEST(ThreadChoice, SingleSlowRunsChangeNothing) {
  ThreadChoice choice;
  const auto all = [](int i) { return i % 500 == 499 ? 0.002 : 28e-6; };
  const Counts counts = run(&choice, 100000, all, [](int) { return 44e-6; });
  EXPECT_LT(counts.seconds, 100000 * 32e-6 * 1.02);
}

TEST(ThreadChoice, ShortRunsAreAloneBesideAHog) {
  ThreadChoice choice;
  // The system takes a core for 4 of 8 ms.
  double now = 0;
  const auto all = [&now](int) {
    const double place = now - 0.008 * static_cast<int>(now / 0.008);
    const double seconds = place > 0.0035 ? 0.004 : 0.0005;
    now += seconds;
    return seconds;
  };
  const auto one = [&now](int) {
    now += 0.00085;
    return 0.00085;
  };
  const Counts counts = run(&choice, 5000, all, one);
  EXPECT_GT(counts.alone, 4700);
  EXPECT_LT(counts.seconds, 5000 * 0.00085 * 1.08);
}

}  // namespace
}  // namespace qrt::thread_choice_test
