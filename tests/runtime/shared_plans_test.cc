// SPDX-License-Identifier: Apache-2.0
// Sessions of a model share plans of equal options, and the tables that no batch changes.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/plan_cache.h"
#include "runtime/session.h"
#include "tests/support/c_api.h"
#include "tests/support/planned.h"
#include "tests/support/runner.h"
#include "tests/support/shared_forms_model.h"

namespace qrt::shared_plans_test {
namespace {

using testing::Bytes;
using testing::shared_forms_model;
using testing::verified;

struct Delete {
  void operator()(qrt_model* model) const { qrt_model_destroy(model); }
  void operator()(qrt_session* session) const { qrt_session_destroy(session); }
};
using ModelPtr = std::unique_ptr<qrt_model, Delete>;
using SessionPtr = std::unique_ptr<qrt_session, Delete>;

ModelPtr load(const Bytes& file) {
  qrt_model* model = nullptr;
  qrt_error error = {};
  EXPECT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, &error), QRT_OK)
      << error.message;
  return ModelPtr(model);
}

SessionPtr create(const qrt_model* model, const testing::RunOptions& options) {
  const qrt_session_options o = testing::session_options(options);
  qrt_session* session = nullptr;
  qrt_error error = {};
  EXPECT_EQ(qrt_session_create(model, &o, &session, &error), QRT_OK) << error.message;
  return SessionPtr(session);
}

// Runs the session on patterns and returns its outputs, one after the other.
Bytes run(qrt_session* session) {
  for (size_t i = 0;; ++i) {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    if (qrt_session_input_info(session, i, &info) != QRT_OK) break;
    const Bytes input = testing::pattern<uint8_t>(info.bytes, 0, 255, static_cast<int>(i));
    EXPECT_EQ(qrt_session_set_input_bytes(session, i, input.data(), input.size(), nullptr), QRT_OK);
  }
  EXPECT_EQ(qrt_session_run(session, nullptr), QRT_OK);
  Bytes all;
  for (size_t i = 0;; ++i) {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    if (qrt_session_output_info(session, i, &info) != QRT_OK) break;
    const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
    all.insert(all.end(), data, data + info.bytes);
  }
  return all;
}

std::unique_ptr<Session> session_of(const std::shared_ptr<const VerifiedModel>& model,
                                    const SessionOptions& options) {
  Result<std::unique_ptr<Session>> session = Session::create(model, options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  return session.ok() ? std::move(*session) : nullptr;
}

TEST(SharedPlans, SessionsOfEqualOptionsHaveOnePlan) {
  const auto model = verified(shared_forms_model());
  SessionOptions options;
  const auto first = session_of(model, options);
  options.batch = 1;  // the default, by its number
  options.threads = 1;
  EXPECT_EQ(&session_of(model, options)->plan(), &first->plan());
  EXPECT_EQ(&**Session::plan_for(model, options), &first->plan());
}

TEST(SharedPlans, WhatDecidesMakesAnotherPlan) {
  const auto model = verified(shared_forms_model());
  SessionOptions best;
  best.isa = testing::machine_isas().back();  // whatever QRT_ISA says
  const auto first = session_of(model, best);
  std::vector<SessionOptions> others(6, best);
  others[0].batch = 2;
  others[1].threads = 2;
  others[2].isa = "scalar";
  others[3].keep_all = true;
  others[4].external_inputs = {0};
  others[5].external_outputs = {0};
  for (size_t i = 0; i < others.size(); ++i) {
    if (i == 2 && testing::machine_isas().size() == 1) continue;
    EXPECT_NE(&session_of(model, others[i])->plan(), &first->plan()) << i;
  }
}

TEST(SharedPlans, ALimitOfMemoryIsKept) {
  const auto model = verified(shared_forms_model());
  SessionOptions limited;
  const auto free = session_of(model, limited);
  const size_t bytes = free->memory_bytes();
  limited.max_memory = bytes;
  EXPECT_EQ(&session_of(model, limited)->plan(), &free->plan()) << "within the limit as it is";
  limited.max_memory = bytes - 1;
  Result<std::unique_ptr<Session>> small = Session::create(model, limited);
  if (small.ok()) {
    EXPECT_LT((*small)->memory_bytes(), bytes);
    EXPECT_NE(&(*small)->plan(), &free->plan());
    limited.max_memory = bytes + 1;
    EXPECT_EQ(&session_of(model, limited)->plan(), &free->plan()) << "not the slower one";
  } else {
    EXPECT_EQ(small.status().code(), Code::kOutOfMemory);
  }
  limited.max_memory = 1;
  EXPECT_EQ(Session::create(model, limited).status().code(), Code::kOutOfMemory);
  EXPECT_EQ(&session_of(model, {})->plan(), &free->plan());
}

TEST(SharedPlans, ALimitThatWasFirstDoesNotSlowOthersDown) {
  const testing::ModelBuilder m = shared_forms_model();
  const auto model = verified(m);
  const size_t bytes = session_of(verified(m), {})->memory_bytes();
  SessionOptions limited;
  limited.max_memory = bytes - 1;
  const Result<std::unique_ptr<Session>> small = Session::create(model, limited);
  EXPECT_EQ(session_of(model, {})->memory_bytes(), bytes);
}

TEST(SharedPlans, OnlySomePlansAreKept) {
  const Bytes file = shared_forms_model().build();
  const ModelPtr model = load(file);
  EXPECT_EQ(testing::info_of(model.get()).shared_memory, size_t{0});
  std::vector<SessionPtr> sessions;
  size_t most = 0;
  for (size_t batch = 1; batch <= 3 * PlanCache::kKeptPlans; ++batch) {
    sessions.push_back(create(model.get(), {batch, 1, nullptr}));
    most = std::max(most, testing::info_of(sessions.back().get()).shared_memory);
  }
  EXPECT_GT(testing::info_of(model.get()).shared_memory, most);
  EXPECT_LE(testing::info_of(model.get()).shared_memory, PlanCache::kKeptPlans * most);
  for (size_t i = 0; i < sessions.size(); ++i) {
    const ModelPtr other = load(file);
    EXPECT_EQ(run(sessions[i].get()), run(create(other.get(), {i + 1, 1, nullptr}).get()))
        << "batch " << i + 1;
  }
}

TEST(SharedPlans, TheOrderOfDestructionDoesNotMatter) {
  const Bytes file = shared_forms_model().build();
  std::vector<int> order = {0, 1, 2, 3};  // two of one plan, one of another, the model
  const auto make = [](const qrt_model* model, int i) {
    return create(model, {i == 2 ? size_t{3} : size_t{0}, 1, nullptr});
  };
  std::vector<Bytes> expected;
  for (int i = 0; i < 3; ++i) expected.push_back(run(make(load(file).get(), i).get()));
  do {
    ModelPtr model = load(file);
    std::vector<SessionPtr> sessions;
    for (int i = 0; i < 3; ++i) sessions.push_back(make(model.get(), i));
    for (const int gone : order) {
      if (gone == 3) {
        model = nullptr;
      } else {
        sessions[static_cast<size_t>(gone)] = nullptr;
      }
      for (size_t i = 0; i < sessions.size(); ++i) {
        if (sessions[i] == nullptr) continue;
        ASSERT_EQ(run(sessions[i].get()), expected[i]);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// Eight threads make, run and destroy sessions of one model at once. They use few batches, so that plans
// are shared, but more than are kept, so that some plans are made anew.
TEST(SharedPlans, ThreadsMakeSessionsAtOnce) {
  constexpr size_t kThreads = 8, kRounds = 6, kBatches = PlanCache::kKeptPlans + 2;
  const Bytes file = shared_forms_model().build();
  for (const char* isa : testing::machine_isas()) {
    std::vector<Bytes> expected;
    for (size_t batch = 1; batch <= kBatches; ++batch) {
      const ModelPtr model = load(file);
      expected.push_back(run(create(model.get(), {batch, 1, isa}).get()));
    }
    const ModelPtr model = load(file);
    std::atomic<size_t> waiting{kThreads}, wrong{0};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        SessionPtr kept;
        for (size_t i = 0; i < kRounds; ++i) {
          const size_t batch = i == 0 ? 1 : (t * 5 + i) % kBatches + 1;
          SessionPtr session = create(model.get(), {batch, 1, isa});
          if (run(session.get()) != expected[batch - 1]) ++wrong;
          const qrt_session_options options = testing::session_options({batch, 1, isa});
          qrt_session_info needed;
          qrt_struct_init(&needed);
          const qrt_session_info made = testing::info_of(session.get());
          if (qrt_session_needed_memory(model.get(), &options, &needed, nullptr) != QRT_OK ||
              needed.memory != made.memory || needed.shared_memory != made.shared_memory)
            ++wrong;
          if (i % 2 == 0) kept = std::move(session);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, size_t{0}) << isa;
  }
}

}  // namespace
}  // namespace qrt::shared_plans_test
