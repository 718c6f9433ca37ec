// SPDX-License-Identifier: Apache-2.0
// Sessions, pools and models of a process in its children: fork() copies them without their threads.
#include <gtest/gtest.h>
#include <qrt/qrt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/platform/pthreadpools.h"
#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QRT_THREAD_SANITIZER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define QRT_THREAD_SANITIZER 1
#endif

namespace qrt::fork_test {
namespace {

using testing::Bytes;
using testing::pattern;

#ifdef QRT_TEST_EMULATED
constexpr char kNoThreadsInAChild[] =
    "qemu's user mode aborts a child that starts threads where its parent had some";
#endif

struct Delete {
  void operator()(qrt_pool* pool) const { qrt_pool_destroy(pool); }
  void operator()(qrt_model* model) const { qrt_model_destroy(model); }
  void operator()(qrt_session* session) const { qrt_session_destroy(session); }
};
using PoolPtr = std::unique_ptr<qrt_pool, Delete>;
using SessionPtr = std::unique_ptr<qrt_session, Delete>;

// Returns the status with which body(), which returns whether all is right, ends in a child: 0 for
// right, the number of a signal (14, SIGALRM, where it hangs) otherwise.
int in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : status;
}

class Fork : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef QRT_THREAD_SANITIZER
    GTEST_SKIP() << "ThreadSanitizer ends a child that starts threads";
#endif
    file_ = testing::every_op_model().build();
    qrt_model* model = nullptr;
    ASSERT_EQ(qrt_model_load_memory(file_.data(), file_.size(), nullptr, &model, nullptr), QRT_OK);
    model_.reset(model);
    qrt_struct_init(&options_);
    const SessionPtr alone = session();
    ASSERT_TRUE(runs(alone.get(), &expected_));
  }

  SessionPtr session() const {
    qrt_session* session = nullptr;
    const qrt_status status = qrt_session_create(model_.get(), &options_, &session, nullptr);
    return SessionPtr(status == QRT_OK ? session : nullptr);
  }

  // Returns whether a run with the same inputs as always succeeds, and its outputs.
  static bool runs(qrt_session* session, std::vector<Bytes>* outputs) {
    outputs->clear();
    qrt_tensor_info info;
    qrt_struct_init(&info);
    for (size_t i = 0; qrt_session_input_info(session, i, &info) == QRT_OK; ++i) {
      const Bytes input = pattern<uint8_t>(info.bytes, 0, 60, static_cast<int>(i));
      if (qrt_session_set_input_bytes(session, i, input.data(), input.size(), nullptr) != QRT_OK)
        return false;
    }
    if (qrt_session_reset(session) != QRT_OK || qrt_session_run(session, nullptr) != QRT_OK)
      return false;
    for (size_t i = 0; qrt_session_output_info(session, i, &info) == QRT_OK; ++i) {
      Bytes& output = outputs->emplace_back(info.bytes);
      qrt_session_get_output_bytes(session, i, output.data(), output.size(), nullptr);
    }
    return true;
  }
  bool is_right(qrt_session* session) const {
    std::vector<Bytes> outputs;
    return session != nullptr && runs(session, &outputs) && outputs == expected_;
  }

  // Checks that a session of several threads of some kind, which has run, also runs in a child and
  // then in its parent again.
  void expect_survives_fork(SessionPtr session) {
    ASSERT_TRUE(is_right(session.get()));
    const size_t threads = testing::threads_of(session.get());
    ASSERT_GT(threads, 1u);
    EXPECT_EQ(in_child([&] {
                const bool right = testing::threads_of(session.get()) == 1 &&
                                   is_right(session.get()) && is_right(session.get());
                session.reset();
                return right;
              }),
              0);
    // Without a run there.
    EXPECT_EQ(in_child([&] {
                session.reset();
                return true;
              }),
              0);
    // A child's child.
    EXPECT_EQ(in_child([&] {
                return is_right(session.get()) &&
                       in_child([&] { return is_right(session.get()); }) == 0;
              }),
              0);
    EXPECT_EQ(testing::threads_of(session.get()), threads);
    EXPECT_TRUE(is_right(session.get()));
  }

  Bytes file_;
  std::unique_ptr<qrt_model, Delete> model_;
  qrt_session_options options_;
  std::vector<Bytes> expected_;
};

TEST_F(Fork, LeavesASessionOnTheCallingThread) {
  options_.threads = 3;
  expect_survives_fork(session());
}

TEST_F(Fork, LeavesASessionOfASharedPoolOnTheCallingThread) {
  qrt_pool* pool = nullptr;
  ASSERT_EQ(qrt_pool_create(3, &pool, nullptr), QRT_OK);
  const PoolPtr owner(pool);
  options_.pool = pool;
  expect_survives_fork(session());
  // New sessions of the pool in a child, and the pool's end there.
  EXPECT_EQ(in_child([&] {
              SessionPtr made = session();
              const bool right = qrt_pool_threads(pool) == 1 && is_right(made.get());
              qrt_pool_destroy(pool);
              return right && is_right(made.get());
            }),
            0);
}

TEST_F(Fork, LeavesASessionOfTheCallersPoolOnTheCallingThread) {
  pthreadpool* const pool = platform::make_pthreadpool(2);
  options_.pthreadpool = pool;
  if (pool != nullptr) expect_survives_fork(session());
  options_.pthreadpool = nullptr;
  options_.threads = 3;
  options_.parallel = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i) threads.emplace_back(task, argument, i);
    for (std::thread& thread : threads) thread.join();
  };
  expect_survives_fork(session());
  if (pool != nullptr) platform::end_pthreadpool(pool);
}

TEST_F(Fork, LeavesNewSessionsTheirThreads) {
#ifdef QRT_TEST_EMULATED
  GTEST_SKIP() << kNoThreadsInAChild;
#endif
  options_.threads = 3;
  const SessionPtr parents = session();
  EXPECT_EQ(in_child([&] {
              const SessionPtr made = session();
              const bool right = is_right(made.get());
              return right && testing::threads_of(made.get()) == 3;
            }),
            0);
  EXPECT_EQ(in_child([&] {
              qrt_model* model = nullptr;
              const bool loaded = qrt_model_load_memory(file_.data(), file_.size(), nullptr, &model,
                                                        nullptr) == QRT_OK;
              model_.reset(model);
              qrt_pool* pool = nullptr;
              if (!loaded || qrt_pool_create(2, &pool, nullptr) != QRT_OK) return false;
              options_.pool = pool;
              const SessionPtr made = session();
              qrt_pool_destroy(pool);
              return is_right(made.get());
            }),
            0);
}

// The helpers of other sessions run tasks, sleep or wait for locks at the moment of the fork.
TEST_F(Fork, WhileOtherSessionsRun) {
#ifdef QRT_TEST_EMULATED
  GTEST_SKIP() << kNoThreadsInAChild;
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's allocator keeps the locks that other threads held at the fork";
#endif
#endif
  options_.threads = 3;
  SessionPtr own = session(), other = session();
  ASSERT_TRUE(is_right(own.get()));
  std::atomic<bool> ends{false};
  std::thread runner([&] {
    while (!ends) qrt_session_run(other.get(), nullptr);
  });
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(in_child([&] { return is_right(own.get()) && is_right(session().get()); }), 0);
  ends = true;
  runner.join();
}

}  // namespace
}  // namespace qrt::fork_test
