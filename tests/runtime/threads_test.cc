// SPDX-License-Identifier: Apache-2.0
// A system that does not let threads start: a session takes those it gets, and says how many.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <qrt/qrt.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>

#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"
#include "tests/support/within_limits.h"

namespace {

#if !QRT_TEST_SANITIZED
std::atomic<int> allowed{1 << 20};  // threads beside the first that may run at the same time
std::atomic<int> running{0};

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* run_counted(void* p) {
  const std::unique_ptr<Start> start(static_cast<Start*>(p));
  void* result = start->routine(start->argument);
  --running;
  return result;
}

#endif

}  // namespace

#if !QRT_TEST_SANITIZED
// In the place of the C library's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*routine)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (++running > allowed) {
    --running;
    return EAGAIN;
  }
  const int failed = create(thread, attributes, run_counted, new Start{routine, argument});
  if (failed != 0) --running;
  return failed;
}
#endif

namespace qrt::threads_test {
namespace {

// Outputs of the model of every operator; *threads as the session tells.
testing::Bytes run_with(size_t wanted, size_t* threads) {
  const testing::Bytes file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  EXPECT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  qrt_session_options options;
  qrt_struct_init(&options);
  options.threads = wanted;
  options.batch = 5;
  qrt_session* session = nullptr;
  qrt_error error = {};
  EXPECT_EQ(qrt_session_create(model, &options, &session, &error), QRT_OK) << error.message;
  *threads = testing::threads_of(session);
  testing::Bytes result;
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(qrt_session_run(session, nullptr), QRT_OK);
    qrt_tensor_info info;
    qrt_struct_init(&info);
    for (size_t i = 0; qrt_session_output_info(session, i, &info) == QRT_OK; ++i) {
      const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
      result.insert(result.end(), data, data + info.bytes);
    }
  }
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return result;
}

// Runs a test in a process of its own, with limits: what is wrong here hangs.
void expect_within_limits(const std::function<bool()>& test) {
  EXPECT_EQ(testing::run_within({size_t{4} << 30, 5}, test), 0);
}

TEST(Threads, AsManyAsAskedFor) {
  expect_within_limits([] {
    size_t three = 0, one = 0;
    return run_with(3, &three) == run_with(1, &one) && three == 3 && one == 1;
  });
  EXPECT_EQ(testing::threads_of(nullptr), 0u);
}

#if !QRT_TEST_SANITIZED
TEST(Threads, FewerWhereTheSystemStartsFewer) {
  expect_within_limits([] {
    size_t one = 0;
    const testing::Bytes expected = run_with(1, &one);
    for (const int may_start : {0, 1, 2, 3}) {
      allowed = may_start;
      size_t threads = 0;
      const testing::Bytes actual = run_with(4, &threads);
      if (threads != 1 + static_cast<size_t>(may_start) || actual != expected) return false;
      if (running != 0) return false;
    }
    return true;
  });
}
#endif

}  // namespace
}  // namespace qrt::threads_test
