// SPDX-License-Identifier: Apache-2.0
// Parallel: every index once, chunks cover the range, and tasks see the kernels' floating-point
// state.
#include "runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <memory>
#include <vector>

#include "runtime/float_env.h"
#include "runtime/platform/pthreadpools.h"

namespace qrt::parallel_test {
namespace {

struct PoolDeleter {
  void operator()(pthreadpool* pool) const { platform::end_pthreadpool(pool); }
};
// Returns the direction scalar float arithmetic rounds in, observed.
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
  if (!platform::has_pthreadpools()) GTEST_SKIP() << "a build without pthreadpool";
  const Pool pool(platform::make_pthreadpool(3));
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
}  // namespace qrt::parallel_test
