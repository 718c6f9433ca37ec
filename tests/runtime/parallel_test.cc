// Parallel and Team: every index once, chunks cover the range, and tasks see the kernels'
// floating-point state.
#include "runtime/parallel.h"

#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/float_env.h"
#include "runtime/team.h"

namespace qrt {
namespace {

struct PoolDeleter {
  void operator()(pthreadpool* pool) const { pthreadpool_destroy(pool); }
};
// The direction scalar float arithmetic rounds in, observed.
int rounding() {
  volatile float one = 1.0f, tiny = 1e-10f;
  if (one + tiny > one) return FE_UPWARD;
  return one - tiny < one ? FE_DOWNWARD : FE_TONEAREST;
}

using Pool = std::unique_ptr<pthreadpool, PoolDeleter>;

void expect_each_index_once(const Parallel& parallel, size_t count) {
  std::vector<std::atomic<int>> seen(count);
  parallel.run(count, [&](size_t i) { ++seen[i]; });
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], 1) << "index " << i << " of " << count;
}

TEST(Parallel, RunsEachIndexOnceWithoutAPool) {
  for (size_t n : {0, 1, 7, 100}) expect_each_index_once(Parallel{}, n);
}

TEST(Parallel, RunsEachIndexOnceOnAPool) {
  const Pool pool(pthreadpool_create(3));
  Parallel parallel;
  parallel.threads = 3;
  parallel.pool = pool.get();
  for (size_t n : {0, 1, 2, 3, 1000}) expect_each_index_once(parallel, n);
}

TEST(Parallel, UsesTheCallersPool) {
  size_t calls = 0;
  Parallel parallel;
  parallel.threads = 4;
  parallel.custom_context = &calls;
  parallel.custom = [](void* context, void (*task)(void*, size_t), void* argument, size_t count) {
    ++*static_cast<size_t*>(context);
    for (size_t i = count; i-- > 0;) task(argument, i);
  };
  expect_each_index_once(parallel, 50);
  ASSERT_EQ(calls, 1u);
}

TEST(Parallel, ChunksCoverTheRangeOnGrainBorders) {
  Parallel parallel;
  parallel.threads = 5;
  parallel.custom = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    for (size_t i = 0; i < count; ++i) task(argument, i);
  };
  for (size_t total : {0, 1, 15, 16, 17, 79, 80, 81, 1009}) {
    size_t next = 0, chunks = 0;
    parallel.chunks(total, 16, [&](size_t chunk, size_t begin, size_t end) {
      ASSERT_EQ(chunk, chunks);
      ASSERT_EQ(begin, next);
      ASSERT_EQ(begin % 16, 0u);
      next = end;
      ++chunks;
    });
    ASSERT_EQ(next, total);
    ASSERT_LE(chunks, 5u);
  }
}

TEST(Parallel, TasksRoundToNearestWhateverThePoolsThreadsDo) {
  Parallel parallel;
  parallel.threads = 2;
  parallel.custom = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    const int before = fegetround();
    fesetround(FE_UPWARD);
    for (size_t i = 0; i < count; ++i) task(argument, i);
    EXPECT_EQ(rounding(), FE_UPWARD);
    fesetround(before);
  };
  parallel.run(3, [](size_t) { EXPECT_EQ(rounding(), FE_TONEAREST); });
}

Parallel parallel_of(Team* team, size_t threads) {
  Parallel parallel;
  parallel.threads = threads;
  parallel.team = team;
  return parallel;
}

TEST(Team, RunsEachIndexOnceWithMoreAndFewerTasksThanThreads) {
  for (size_t threads : {1, 2, 3, 8}) {
    const std::unique_ptr<Team> team = Team::create(threads);
    ASSERT_NE(team, nullptr);
    for (size_t n : {0, 1, 2, 3, 7, 8, 9, 1000})
      expect_each_index_once(parallel_of(team.get(), threads), n);
  }
}

// Threads that come late find the next job, or the one after it.
TEST(Team, KeepsManyShortJobsApart) {
  const std::unique_ptr<Team> team = Team::create(4);
  const Parallel parallel = parallel_of(team.get(), 4);
  for (size_t job = 1; job <= 5000; ++job) {
    const size_t count = 1 + job % 9;
    std::vector<size_t> seen(count);  // no atomics: a job's tasks do not touch each other
    parallel.run(count, [&](size_t i) { seen[i] += job; });
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], job) << "task " << i << " of " << count;
  }
}

TEST(Team, WakesThreadsThatFellAsleep) {
  const std::unique_ptr<Team> team = Team::create(3);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // Ends only if each task has a thread of its own.
    std::atomic<int> begun{0};
    parallel_of(team.get(), 3).run(3, [&](size_t) {
      for (++begun; begun < 3;) std::this_thread::yield();
    });
  }
}

TEST(Team, StopsWhetherItsThreadsSleepOrWait) {
  for (int ms : {0, 5}) {
    const std::unique_ptr<Team> team = Team::create(3);
    expect_each_index_once(parallel_of(team.get(), 3), 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }
}

TEST(Team, TasksRoundToNearestWhateverTheThreadThatMadeItDoes) {
  fesetround(FE_UPWARD);
  const std::unique_ptr<Team> team = Team::create(2);
  fesetround(FE_TONEAREST);
  std::atomic<int> begun{0};
  parallel_of(team.get(), 2).run(2, [&](size_t) {
    for (++begun; begun < 2;) std::this_thread::yield();
    EXPECT_EQ(rounding(), FE_TONEAREST);
  });
}

TEST(ScopedFloatEnv, SetsNearestEvenAndRestores) {
  fesetround(FE_DOWNWARD);
  {
    const ScopedFloatEnv env;
    EXPECT_EQ(rounding(), FE_TONEAREST);
  }
  EXPECT_EQ(rounding(), FE_DOWNWARD);
  fesetround(FE_TONEAREST);
}

}  // namespace
}  // namespace qrt
