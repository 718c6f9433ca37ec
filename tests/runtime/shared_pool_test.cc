// SPDX-License-Identifier: Apache-2.0
// One pool for several sessions, which several threads run.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <memory>
#include <thread>
#include <vector>

#include "runtime/platform/pthreadpools.h"
#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"

namespace qrt::shared_pool_test {
namespace {

using testing::Bytes;
using testing::pattern;

struct Delete {
  void operator()(qrt_pool* pool) const { qrt_pool_destroy(pool); }
  void operator()(qrt_model* model) const { qrt_model_destroy(model); }
  void operator()(qrt_session* session) const { qrt_session_destroy(session); }
};
using PoolPtr = std::unique_ptr<qrt_pool, Delete>;
using SessionPtr = std::unique_ptr<qrt_session, Delete>;

PoolPtr pool_of(size_t threads) {
  qrt_pool* pool = nullptr;
  qrt_error error = {};
  EXPECT_EQ(qrt_pool_create(threads, &pool, &error), QRT_OK) << error.message;
  return PoolPtr(pool);
}

class SharedPool : public ::testing::Test {
 protected:
  SharedPool() : file_(testing::every_op_model().build()) {
    qrt_model* model = nullptr;
    EXPECT_EQ(qrt_model_load_memory(file_.data(), file_.size(), nullptr, &model, nullptr), QRT_OK);
    model_.reset(model);
    qrt_struct_init(&options_);
  }
  SessionPtr session(qrt_error* error = nullptr) const {
    qrt_session* session = nullptr;
    const qrt_status status = qrt_session_create(model_.get(), &options_, &session, error);
    EXPECT_EQ(status == QRT_OK, session != nullptr);
    return SessionPtr(session);
  }

  Bytes file_;
  std::unique_ptr<qrt_model, Delete> model_;
  qrt_session_options options_;
};

TEST_F(SharedPool, SessionsRunAtTheSameTimeWithTheBytesOfOneAlone) {
  constexpr size_t kCallers = 4, kRuns = 25;
  PoolPtr pool = pool_of(3);
  ASSERT_EQ(qrt_pool_threads(pool.get()), 3u);
  options_.pool = pool.get();
  std::vector<SessionPtr> sessions;
  std::vector<std::vector<Bytes>> inputs, expected;
  for (size_t i = 0; i < kCallers; ++i) {
    options_.batch = i + 1;
    options_.threads = i;  // 0: all
    sessions.push_back(session());
    ASSERT_NE(sessions.back(), nullptr);
    ASSERT_EQ(testing::threads_of(sessions.back().get()), i == 0 ? 3 : i);
    inputs.push_back({testing::to_bytes(pattern<float>((i + 1) * 256, -6, 6, static_cast<int>(i))),
                      pattern<uint8_t>((i + 1) * 16, 0, 255, static_cast<int>(i))});
    testing::RunOptions alone;
    alone.batch = i + 1;
    expected.push_back(testing::run_model(file_, inputs[i], alone).outputs);
  }
  pool.reset();  // sessions keep its threads
  std::vector<size_t> wrong(kCallers);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      qrt_session* const s = sessions[i].get();
      for (size_t run = 0; run < kRuns; ++run) {
        for (size_t k = 0; k < 2; ++k)
          qrt_session_set_input_bytes(s, k, inputs[i][k].data(), inputs[i][k].size(), nullptr);
        wrong[i] += qrt_session_run(s, nullptr) != QRT_OK;
        for (size_t k = 0; k < 2; ++k)
          wrong[i] += memcmp(qrt_session_output_data(s, k), expected[i][k].data(),
                             expected[i][k].size()) != 0;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  ASSERT_EQ(wrong, std::vector<size_t>(kCallers));
}

TEST_F(SharedPool, TwoPoolsAtOnceAreRefused) {
  const PoolPtr pool = pool_of(2);
  const auto parallel = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    for (size_t i = 0; i < count; ++i) task(argument, i);
  };
  for (int which = 0; which < 8; ++which) {
    qrt_struct_init(&options_);
    options_.threads = 1;
    if ((which & 1) != 0) options_.pool = pool.get();
    if ((which & 2) != 0) options_.pthreadpool = &options_;  // is not looked at
    if ((which & 4) != 0) options_.parallel = parallel;
    qrt_error error = {};
    const bool is_one = (which & (which - 1)) == 0;
    const bool is_lacking = which == 2 && !platform::has_pthreadpools();
    ASSERT_EQ(session(&error) != nullptr, is_one && !is_lacking) << which;
    ASSERT_STREQ(error.message,
                 is_lacking ? "options.pthreadpool: this libqrt was built without pthreadpool; set "
                              "pool or parallel instead"
                 : is_one   ? ""
                            : "options name two pools: set one of pool, pthreadpool and parallel");
  }
}

TEST_F(SharedPool, ItsSizeIsChecked) {
  qrt_pool* pool = nullptr;
  qrt_error error = {};
  ASSERT_EQ(qrt_pool_create(0, &pool, &error), QRT_INVALID_ARGUMENT);
  ASSERT_STREQ(error.message, "a pool of 0 threads, expected 1 or more");
  ASSERT_EQ(qrt_pool_create(1025, &pool, &error), QRT_INVALID_ARGUMENT);
  ASSERT_STREQ(error.message, "1025 threads, expected at most 1024");
  ASSERT_EQ(pool, nullptr);
  ASSERT_EQ(qrt_pool_create(1, nullptr, &error), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(qrt_pool_threads(nullptr), 0u);
  const PoolPtr one = pool_of(1);
  options_.pool = one.get();
  options_.threads = 5;  // at most those of the pool
  const SessionPtr s = session();
  ASSERT_EQ(testing::threads_of(s.get()), 1u);
  ASSERT_EQ(qrt_session_run(s.get(), nullptr), QRT_OK);
}

}  // namespace
}  // namespace qrt::shared_pool_test
