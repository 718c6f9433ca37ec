// SPDX-License-Identifier: Apache-2.0
// Sessions: what a run depends on and what it does not, where data lives and how long.
#include "runtime/session.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/allowed_isas.h"
#include "runtime/platform/pthreadpools.h"
#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace qrt::session_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;
using testing::run_model;
using testing::RunOptions;
using testing::RunResult;

// Inputs of every_op_model() for a batch.
std::vector<Bytes> inputs_for(size_t batch, uint64_t seed = 1) {
  std::mt19937_64 engine(seed);
  std::vector<float> image(batch * 256);
  for (float& v : image) v = std::uniform_real_distribution<float>(-7, 7)(engine);
  Bytes gate(batch * 16);
  for (uint8_t& v : gate) v = static_cast<uint8_t>(engine());
  return {testing::to_bytes(image), gate};
}

RunResult run_every_op(size_t batch, const RunOptions& options) {
  RunOptions o = options;
  o.batch = batch;
  const RunResult result = run_model(testing::every_op_model().build(), inputs_for(batch), o);
  EXPECT_EQ(result.status, QRT_OK) << result.message;
  return result;
}

TEST(Session, GivesTheSameBytesOnEveryInstructionSetAndThreadCount) {
  RunOptions scalar;
  scalar.isa = "scalar";
  for (size_t batch : {1, 2, 5}) {
    const RunResult expected = run_every_op(batch, scalar);
    for (const char* isa : testing::machine_isas()) {
      for (size_t threads : {1, 2, 3}) {
        RunOptions o;
        o.isa = isa;
        o.threads = threads;
        ASSERT_EQ(run_every_op(batch, o).outputs, expected.outputs)
            << isa << ", " << threads << " threads, batch " << batch;
      }
    }
  }
}

TEST(Session, RunsABatchAsItsImagesOneByOne) {
  const RunResult together = run_every_op(3, {});
  const std::vector<Bytes> inputs = inputs_for(3);
  for (size_t i = 0; i < 3; ++i) {
    std::vector<Bytes> one;
    for (const Bytes& all : inputs) {
      const size_t n = all.size() / 3;
      one.emplace_back(all.begin() + static_cast<ptrdiff_t>(i * n),
                       all.begin() + static_cast<ptrdiff_t>((i + 1) * n));
    }
    const RunResult alone = run_model(testing::every_op_model().build(), one);
    ASSERT_EQ(alone.status, QRT_OK);
    for (size_t o = 0; o < alone.outputs.size(); ++o) {
      const size_t n = alone.outputs[o].size();
      const auto begin = together.outputs[o].begin() + static_cast<ptrdiff_t>(i * n);
      ASSERT_EQ(alone.outputs[o], Bytes(begin, begin + static_cast<ptrdiff_t>(n)));
    }
  }
}

TEST(Session, OutputsDependOnInputs) {
  const Bytes file = testing::every_op_model().build();
  ASSERT_NE(run_model(file, inputs_for(1, 1)).outputs, run_model(file, inputs_for(1, 2)).outputs);
}

class LiveSession : public ::testing::Test {
 protected:
  void load(const ModelBuilder& m) {
    file_ = m.build();
    qrt_error error = {};
    ASSERT_EQ(testing::load_copy(file_.data(), file_.size(), &model_, &error), QRT_OK)
        << error.message;
  }
  void start(const qrt_session_options* options = nullptr) {
    qrt_error error = {};
    ASSERT_EQ(qrt_session_create(model_, options, &session_, &error), QRT_OK) << error.message;
  }
  void set_inputs(const std::vector<Bytes>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(
          qrt_session_set_input_bytes(session_, i, inputs[i].data(), inputs[i].size(), nullptr),
          QRT_OK);
    }
  }
  std::vector<Bytes> outputs() const {
    std::vector<Bytes> all;
    for (size_t i = 0; i < qrt_model_output_count(model_); ++i) {
      qrt_tensor_info info;
      qrt_struct_init(&info);
      EXPECT_EQ(qrt_session_output_info(session_, i, &info), QRT_OK);
      const uint8_t* data = static_cast<const uint8_t*>(qrt_session_output_data(session_, i));
      all.emplace_back(data, data + info.bytes);
    }
    return all;
  }
  void TearDown() override {
    qrt_session_destroy(session_);
    qrt_model_destroy(model_);
  }

  Bytes file_;
  qrt_model* model_ = nullptr;
  qrt_session* session_ = nullptr;
};

TEST_F(LiveSession, InputsSurviveARunAndOutputsTheNextInput) {
  load(testing::every_op_model());
  start();
  const std::vector<Bytes> first = inputs_for(1, 1), second = inputs_for(1, 2);
  set_inputs(first);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  const std::vector<Bytes> result = outputs();
  ASSERT_EQ(memcmp(qrt_session_input_data(session_, 0), first[0].data(), first[0].size()), 0);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_EQ(outputs(), result);
  set_inputs(second);
  ASSERT_EQ(outputs(), result);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_NE(outputs(), result);
}

TEST_F(LiveSession, BuffersAreAlignedTo64) {
  load(testing::every_op_model());
  start();
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(reinterpret_cast<uintptr_t>(qrt_session_input_data(session_, i)) % 64, 0u);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(qrt_session_output_data(session_, i)) % 64, 0u);
  }
  ASSERT_EQ(qrt_session_input_data(session_, 2), nullptr);
  ASSERT_EQ(qrt_session_output_data(session_, 2), nullptr);
}

TEST_F(LiveSession, UnsetInputsAreZero) {
  load(testing::every_op_model());
  start();
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  const std::vector<Bytes> result = outputs();
  set_inputs({Bytes(1024), Bytes(16)});
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_EQ(outputs(), result);
}

TEST_F(LiveSession, OutlivesItsModel) {
  load(testing::every_op_model());
  start();
  set_inputs(inputs_for(1));
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  const std::vector<Bytes> result = outputs();
  qrt_model_destroy(std::exchange(model_, nullptr));
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_EQ(memcmp(qrt_session_output_data(session_, 0), result[0].data(), result[0].size()), 0);
}

TEST_F(LiveSession, IgnoresAndRestoresTheCallersFloatingPointState) {
  load(testing::every_op_model());
  start();
  set_inputs(inputs_for(1));
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  const std::vector<Bytes> expected = outputs();
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    fesetround(mode);
#if defined(__x86_64__)
    const unsigned state = _mm_getcsr() | 0x8040;  // and flush to zero, denormals are zero
    _mm_setcsr(state);
#endif
    const qrt_status status = qrt_session_run(session_, nullptr);
#if defined(__x86_64__)
    const unsigned after = _mm_getcsr();
    _mm_setcsr(after & ~0x8040u);
    EXPECT_EQ(after & ~0x3fu, state & ~0x3fu);
#endif
    EXPECT_EQ(fegetround(), mode);
    fesetround(FE_TONEAREST);
    ASSERT_EQ(status, QRT_OK);
    ASSERT_EQ(outputs(), expected) << "rounding mode " << mode;
  }
}

// Loading and creating, which make tables, do not depend on the floating-point state. The
// differential driver (tests/differential) checks the same with random models.
TEST(Session, IsMadeTheSameInEveryFloatingPointState) {
  const Bytes file = testing::every_op_model().build();
  const std::vector<Bytes> inputs = inputs_for(1);
  const std::vector<Bytes> expected = run_model(file, inputs).outputs;
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    fesetround(mode);
    qrt_model* model = nullptr;
    const qrt_status loaded =
        qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr);
    qrt_session* session = nullptr;
    const qrt_status created = qrt_session_create(model, nullptr, &session, nullptr);
    EXPECT_EQ(fegetround(), mode);
    fesetround(FE_TONEAREST);
    ASSERT_EQ(loaded, QRT_OK);
    ASSERT_EQ(created, QRT_OK);
    for (size_t i = 0; i < inputs.size(); ++i)
      qrt_session_set_input_bytes(session, i, inputs[i].data(), inputs[i].size(), nullptr);
    EXPECT_EQ(qrt_session_run(session, nullptr), QRT_OK);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(memcmp(qrt_session_output_data(session, i), expected[i].data(), expected[i].size()),
                0)
          << "rounding mode " << mode << ", output " << i;
    qrt_session_destroy(session);
    qrt_model_destroy(model);
  }
}

TEST_F(LiveSession, UsesThePoolsOfTheCaller) {
  load(testing::every_op_model());
  const std::vector<Bytes> expected = run_every_op(1, {}).outputs;

  qrt_session_options options;
  qrt_struct_init(&options);
  if (pthreadpool* pool = platform::make_pthreadpool(2); pool != nullptr) {
    options.pthreadpool = pool;
    start(&options);
    set_inputs(inputs_for(1));
    ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
    ASSERT_EQ(outputs(), expected);
    qrt_session_destroy(std::exchange(session_, nullptr));
    platform::end_pthreadpool(pool);
  }

  qrt_struct_init(&options);
  options.threads = 3;
  options.parallel = [](void*, void (*task)(void*, size_t), void* argument, size_t count) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i) threads.emplace_back(task, argument, i);
    for (std::thread& t : threads) t.join();
  };
  start(&options);
  set_inputs(inputs_for(1));
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_EQ(outputs(), expected);
}

TEST_F(LiveSession, ProfilesEveryOperator) {
  load(testing::every_op_model());
  qrt_session_options options;
  qrt_struct_init(&options);
  options.profile = 1;
  start(&options);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  uint64_t total = 0;
  for (size_t i = 0; i < qrt_session_op_count(session_); ++i) {
    qrt_op_info info;
    qrt_struct_init(&info);
    ASSERT_EQ(qrt_session_op_info(session_, i, &info), QRT_OK);
    ASSERT_EQ(info.runs, 3u);
    ASSERT_STRNE(info.kernel, "");
    ASSERT_EQ(info.bytes == 0, std::string(info.kernel) == "view");
    total += info.total_ns;
  }
  ASSERT_GT(total, 0u);
  qrt_session_profile_reset(session_);
  qrt_op_info info;
  qrt_struct_init(&info);
  ASSERT_EQ(qrt_session_op_info(session_, 1, &info), QRT_OK);
  ASSERT_EQ(info.runs, 0u);
  ASSERT_EQ(info.total_ns, 0u);
  ASSERT_STREQ(info.type, "Conv2D");
  ASSERT_EQ(info.macs, 8u * 8 * 8 * 9 * 4);
  ASSERT_EQ(info.level, 1);
}

TEST_F(LiveSession, KeepsEveryTensorWhenAsked) {
  load(testing::every_op_model());
  qrt_session_options options;
  qrt_struct_init(&options);
  options.keep_all = 1;
  start(&options);
  set_inputs(inputs_for(1));
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_EQ(outputs(), run_every_op(1, {}).outputs);
  const size_t n = qrt_session_tensor_count(session_);
  size_t written = 0;
  ModelBuilder m = testing::every_op_model();
  for (const auto& op : m.model().operators) written += op->outputs.size();
  ASSERT_EQ(n, written);
  qrt_tensor_info info;
  qrt_struct_init(&info);
  const void* data = nullptr;
  ASSERT_EQ(qrt_session_tensor(session_, 0, &info, &data), QRT_OK);
  ASSERT_STREQ(info.name, "x");
  const float* image = static_cast<const float*>(qrt_session_input_data(session_, 0));
  for (size_t i = 0; i < info.bytes; ++i) {
    const float v = std::nearbyint(image[i] / 0.05f) + 128;
    ASSERT_EQ(static_cast<const uint8_t*>(data)[i], static_cast<uint8_t>(v < 0     ? 0
                                                                         : v > 255 ? 255
                                                                                   : v));
  }
  ASSERT_EQ(qrt_session_tensor(session_, n, &info, &data), QRT_INVALID_ARGUMENT);
}

TEST_F(LiveSession, OneModelServesSeveralThreads) {
  load(testing::every_op_model());
  const std::vector<Bytes> inputs = inputs_for(1);
  const std::vector<Bytes> expected = run_every_op(1, {}).outputs;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      qrt_session* session = nullptr;
      ASSERT_EQ(qrt_session_create(model_, nullptr, &session, nullptr), QRT_OK);
      for (int round = 0; round < 20; ++round) {
        for (size_t i = 0; i < 2; ++i) {
          ASSERT_EQ(
              qrt_session_set_input_bytes(session, i, inputs[i].data(), inputs[i].size(), nullptr),
              QRT_OK);
        }
        ASSERT_EQ(qrt_session_run(session, nullptr), QRT_OK);
        for (size_t i = 0; i < 2; ++i) {
          ASSERT_EQ(
              memcmp(qrt_session_output_data(session, i), expected[i].data(), expected[i].size()),
              0);
        }
      }
      qrt_session_destroy(session);
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(Session, ReportsUnknownInstructionSets) {
  RunOptions options;
  options.isa = "mmx";
  const RunResult result = run_model(testing::every_op_model().build(), {}, options);
  ASSERT_EQ(result.status, QRT_INVALID_ARGUMENT);
  ASSERT_NE(result.message.find("scalar, avx2, avxvnni"), std::string::npos) << result.message;
}

TEST(Session, TakesTheCapFromTheEnvironment) {
  setenv("QRT_ISA", "scalar", 1);
  Result<IsaSet> isas = allowed_isas(nullptr);
  ASSERT_TRUE(isas.ok());
  ASSERT_EQ(*isas, static_cast<IsaSet>(Isa::kScalar));
  ASSERT_EQ(*allowed_isas(isa_name(Isa::kScalar)), static_cast<IsaSet>(Isa::kScalar));
  ASSERT_EQ(isa_warning(), "");
  setenv("QRT_ISA", "", 1);
  ASSERT_EQ(*allowed_isas(nullptr), detected_isas());
  unsetenv("QRT_ISA");
  ASSERT_EQ(*allowed_isas(nullptr), detected_isas());
}

// An unknown instruction set in the environment is ignored with a warning: who set the variable
// need not know that a program contains qrt.
TEST(Session, IgnoresAnUnknownCapOfTheEnvironmentAndWarns) {
  const Bytes file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  const char* foreign = is_foreign(Isa::kAvx2) ? "avx2" : "neon";
  for (const char* isa : {"nonsense", "avx9", foreign}) {
    setenv("QRT_ISA", isa, 1);
    EXPECT_EQ(*allowed_isas(nullptr), detected_isas());
    EXPECT_EQ(*allowed_isas("scalar"), static_cast<IsaSet>(Isa::kScalar));
    qrt_session* session = nullptr;
    qrt_error error = {};
    EXPECT_EQ(qrt_session_create(model, nullptr, &session, &error), QRT_OK);
    EXPECT_EQ(std::string(error.message).rfind("warning: ignored: QRT_ISA: ", 0), 0u)
        << error.message;
    EXPECT_NE(std::string(error.message).find(std::string("'") + isa + "'"), std::string::npos);
    qrt_session_destroy(session);
    qrt_session_options options;
    qrt_struct_init(&options);
    options.isa = "scalar";
    EXPECT_EQ(qrt_session_create(model, &options, &session, &error), QRT_OK);
    EXPECT_STREQ(error.message, "");
    qrt_session_destroy(session);
  }
  unsetenv("QRT_ISA");
  qrt_model_destroy(model);
}

TEST(Session, RefusesABatchBeyondMemory) {
  RunOptions options;
  options.batch = 2000000000;
  RunResult result = run_model(testing::every_op_model().build(), {}, options);
  ASSERT_EQ(result.status, QRT_OUT_OF_MEMORY);
  ASSERT_NE(result.message.find("batch 2000000000"), std::string::npos) << result.message;
}

TEST(Session, RefusesTooManyThreads) {
  RunOptions options;
  options.threads = 1000000;
  ASSERT_EQ(run_model(testing::every_op_model().build(), {}, options).status, QRT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace qrt::session_test
