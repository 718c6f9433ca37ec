// SPDX-License-Identifier: Apache-2.0
// States by the API: their names and sizes, streams that are parked and go on elsewhere, runs that fail, and bytes and
// sizes that are not a state's.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <qrt/qrt.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/planned.h"
#include "tests/support/random.h"
#include "tests/support/sized_model.h"
#include "tests/support/stream_model.h"

namespace qrt::states_test {
namespace {

using testing::Bytes;
using testing::ModelBuilder;

constexpr size_t kFrameBytes = 6 * 6 * 8;

Bytes frame(size_t number, size_t batch = 1) {
  return testing::pattern<uint8_t>(kFrameBytes * batch, 0, 255, static_cast<int>(number) + 1);
}

api::Model load(const ModelBuilder& m) {
  const Bytes file = m.build();
  return api::Model::load_memory(file.data(), file.size(), QRT_LOAD_COPY);
}

using Parked = std::vector<Bytes>;

Parked park(const api::Session& session) {
  Parked parked;
  for (size_t i = 0; i < session.state_count(); ++i) {
    parked.emplace_back(session.state_info(i).bytes);
    session.get_state(i, parked.back().data(), parked.back().size());
  }
  return parked;
}

void resume(api::Session* session, const Parked& parked) {
  for (size_t i = 0; i < parked.size(); ++i)
    session->set_state(i, parked[i].data(), parked[i].size());
}

Bytes step(api::Session* session, size_t number, size_t batch = 1) {
  const Bytes x = frame(number, batch);
  session->set_input_bytes("frame", x.data(), x.size());
  session->run();
  Bytes y(x.size());
  session->get_output_bytes("sum", y.data(), y.size());
  return y;
}

// The outputs of each frame in a stream that nothing interrupts, and the states that it leaves.
struct Stream {
  std::vector<Bytes> outputs;
  std::vector<Parked> states;
};

Stream uninterrupted(const api::Model& model, size_t frames, size_t batch = 1) {
  Stream stream;
  api::SessionOptions options;
  options.isa = "scalar";
  options.batch = batch;
  api::Session session(model, options);
  for (size_t i = 0; i < frames; ++i) {
    stream.outputs.push_back(step(&session, i, batch));
    stream.states.push_back(park(session));
  }
  return stream;
}

TEST(States, HaveNamesTypesAndSizes) {
  const api::Model model = load(testing::stream_model());
  api::SessionOptions options;
  options.batch = 2;
  const api::Session session(model, options);
  ASSERT_EQ(session.state_count(), 7u);
  const struct {
    const char* name;
    qrt_dtype dtype;
    std::vector<int64_t> dims;
    size_t bytes;
  } kExpected[] = {{"plane", QRT_UINT8, {2, 6, 6, 8}, 576}, {"total", QRT_UINT8, {2, 6, 6, 8}, 576},
                   {"shown", QRT_UINT8, {2, 6, 6, 8}, 576}, {"first", QRT_FLOAT32, {3, 5}, 60},
                   {"second", QRT_FLOAT32, {3, 5}, 60},     {"third", QRT_FLOAT32, {3, 5}, 60},
                   {"back", QRT_INT64, {3, 5}, 120}};
  for (size_t i = 0; i < 7; ++i) {
    const qrt_tensor_info info = session.state_info(i);
    EXPECT_STREQ(info.name, kExpected[i].name);
    EXPECT_EQ(info.dtype, kExpected[i].dtype);
    EXPECT_EQ(std::vector<int64_t>(info.dims, info.dims + info.rank), kExpected[i].dims);
    EXPECT_EQ(info.bytes, kExpected[i].bytes);
    EXPECT_EQ(qrt_session_find_state(session.get(), info.name), i);
  }
  EXPECT_EQ(qrt_session_find_state(session.get(), "frame"), SIZE_MAX);
  EXPECT_EQ(qrt_session_find_state(session.get(), nullptr), SIZE_MAX);
  EXPECT_EQ(qrt_session_find_state(nullptr, "plane"), SIZE_MAX);
  EXPECT_EQ(qrt_session_state_count(nullptr), 0u);
  qrt_tensor_info info;
  EXPECT_EQ(session.try_state_info("none", &info).code(), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_session_state_info(session.get(), 7, &info), QRT_INVALID_ARGUMENT);
  info.struct_size = 1;
  EXPECT_EQ(qrt_session_state_info(session.get(), 0, &info), QRT_INVALID_ARGUMENT);
}

// States pass without a copy where nothing else holds their memory; where every tensor is kept, all are copied.
TEST(States, PassWithoutACopyWhereNothingHoldsTheirMemory) {
  const auto names = [](const PlanOptions& options) {
    const ModelBuilder m = testing::stream_model();
    const auto plan = testing::planned(m, options);
    std::vector<std::string> exchanged;
    for (const ModelTensor& variable : plan->exchanged)
      exchanged.push_back(plan->model->tensor(variable.slot).name()->str());
    EXPECT_EQ(exchanged.size() + plan->final_copies.size(), 7u);
    return exchanged;
  };
  PlanOptions options;
  EXPECT_EQ(names(options), (std::vector<std::string>{"total", "first", "second", "back"}));
  options.keep_all = true;
  EXPECT_TRUE(names(options).empty());
}

TEST(States, AParkedStreamGoesOnWithAnyKernelsAndThreads) {
  const api::Model model = load(testing::stream_model());
  const std::vector<const char*> isas = testing::machine_isas();
  const size_t frames = 3 * isas.size() + 1;
  const Stream expected = uninterrupted(model, frames);
  ASSERT_NE(expected.outputs[0], expected.outputs[1]);
  // A session for each frame.
  Parked parked = park(api::Session(model));
  for (size_t i = 0; i < frames; ++i) {
    api::SessionOptions options;
    options.isa = isas[i % isas.size()];
    options.threads = 1 + i % 3;
    options.keep_all = i % 5 == 4;
    api::Session session(model, options);
    step(&session, 77);  // leaves something to be replaced
    resume(&session, parked);
    ASSERT_EQ(park(session), parked) << i;
    ASSERT_EQ(step(&session, i), expected.outputs[i]) << i << ' ' << options.isa;
    parked = park(session);
    ASSERT_EQ(parked, expected.states[i]) << i << ' ' << options.isa;
  }
  // Two streams that take turns in one session.
  api::Session session(model);
  const Parked start = park(session);
  Parked streams[2] = {start, start};
  for (size_t i = 0; i < frames; ++i)
    for (Parked& stream : streams) {
      resume(&session, stream);
      ASSERT_EQ(step(&session, i), expected.outputs[i]);
      stream = park(session);
    }
  session.reset();
  ASSERT_EQ(park(session), start);
  ASSERT_EQ(step(&session, 0), expected.outputs[0]);
}

TEST(States, EveryImageOfABatchHasItsOwn) {
  const api::Model model = load(testing::stream_model());
  const Stream expected = uninterrupted(model, 3);
  api::SessionOptions options;
  options.batch = 2;
  api::Session session(model, options);
  for (size_t i = 0; i < 3; ++i) {
    Bytes x = frame(i);
    x.resize(2 * kFrameBytes);
    session.set_input_bytes("frame", x.data(), x.size());
    session.run();
    Bytes y(x.size());
    session.get_output_bytes("sum", y.data(), y.size());
    y.resize(kFrameBytes);
    ASSERT_EQ(y, expected.outputs[i]);
  }
}

// Recurrent layers, which have an arithmetic of their own, keep the same states with all kernels.
TEST(States, OfRecurrentLayersAreTheSameWithAllKernels) {
  const api::Model model = load(testing::every_op_model());
  Parked expected[2];
  for (const char* isa : testing::machine_isas())
    for (const size_t threads : {1, 2, 3}) {
      api::SessionOptions options;
      options.isa = isa;
      options.threads = threads;
      api::Session session(model, options);
      const Parked start = park(session);
      for (Parked& after : expected) {
        session.run();
        const Parked now = park(session);
        if (after.empty()) after = now;
        ASSERT_EQ(now, after) << isa << ' ' << threads;
      }
      ASSERT_NE(expected[0], expected[1]);
      resume(&session, expected[0]);
      session.run();
      ASSERT_EQ(park(session), expected[1]);
      session.reset();
      ASSERT_EQ(park(session), start);
    }
}

// Runs on a pool that cancels the session at one of its calls.
struct Cancelling {
  api::Session* session = nullptr;
  int left = -1;

  static void run(void* c, void (*task)(void*, size_t), void* argument, size_t n) {
    auto& self = *static_cast<Cancelling*>(c);
    if (self.left-- == 0) std::thread([&] { self.session->cancel(); }).join();
    for (size_t i = 0; i < n; ++i) task(argument, i);
  }
};

TEST(States, AreAsBeforeARunThatIsCancelled) {
  const api::Model model = load(testing::stream_model());
  constexpr size_t kBatch = 256;  // with fewer images operators are too short for two threads
  const Stream expected = uninterrupted(model, 6, kBatch);
  Cancelling pool;
  api::SessionOptions options;
  options.batch = kBatch;
  options.threads = 2;
  options.parallel = Cancelling::run;
  options.parallel_context = &pool;
  api::Session session(model, options);
  pool.session = &session;
  size_t cancelled = 0;
  for (size_t i = 0; i < 6; ++i) {
    const Parked before = park(session);
    for (int at = 0; at < 4; ++at) {
      pool.left = at;
      const Bytes x = frame(i + 40, kBatch);
      session.set_input_bytes("frame", x.data(), x.size());
      if (session.try_run().code() != QRT_CANCELLED) {  // it had fewer calls
        resume(&session, before);
        continue;
      }
      ++cancelled;
      ASSERT_EQ(park(session), before);
    }
    pool.left = -1;
    ASSERT_EQ(step(&session, i, kBatch), expected.outputs[i]);
    ASSERT_EQ(park(session), expected.states[i]);
  }
  ASSERT_GE(cancelled, 6u);
  // Before a run begins, and a state that was set meanwhile.
  session.cancel();
  session.set_state("total", expected.states[2][1].data(), kBatch * kFrameBytes);
  const Parked before = park(session);
  ASSERT_EQ(session.try_run().code(), QRT_CANCELLED);
  ASSERT_EQ(park(session), before);
}

TEST(States, AreAsBeforeARunThatFails) {
  const api::Model model = load(testing::stream_model());
  const Stream expected = uninterrupted(model, 4);
  for (const size_t threads : {1, 3}) {
    api::SessionOptions options;
    options.threads = threads;
    api::Session session(model, options);
    for (size_t i = 0; i < 4; ++i) {
      const Parked before = park(session);
      const int32_t outside[] = {0, 5, 1}, inside[] = {0, 4, 1};
      session.set_input_bytes("ids", outside, sizeof outside);
      const Bytes x = frame(i + 9);
      session.set_input_bytes("frame", x.data(), x.size());
      ASSERT_EQ(session.try_run().code(), QRT_OUT_OF_RANGE);
      ASSERT_EQ(park(session), before);
      session.set_input_bytes("ids", inside, sizeof inside);
      ASSERT_EQ(step(&session, i), expected.outputs[i]);
      ASSERT_EQ(park(session), expected.states[i]);
    }
  }
}

TEST(States, RefuseOtherSizesAndNames) {
  const api::Model model = load(testing::stream_model());
  api::Session session(model);
  step(&session, 0);
  const Parked before = park(session);
  Bytes memory(4096, 3);
  for (const size_t bytes :
       {size_t{0}, size_t{1}, kFrameBytes - 1, kFrameBytes + 1, size_t{4096}, SIZE_MAX}) {
    const std::string message = "state 1 takes 288 bytes, not " + std::to_string(bytes);
    const api::Outcome set = session.try_set_state("total", memory.data(), bytes);
    EXPECT_EQ(set.code(), QRT_INVALID_ARGUMENT);
    EXPECT_EQ(set.message(), message);
    const api::Outcome get = session.try_get_state("total", memory.data(), bytes);
    EXPECT_EQ(get.code(), QRT_INVALID_ARGUMENT);
    EXPECT_EQ(get.message(), message);
  }
  EXPECT_EQ(memory, Bytes(4096, 3));
  EXPECT_STREQ(session.try_set_state(7, memory.data(), 1).message(), "no such state: 7");
  EXPECT_STREQ(session.try_get_state("sum", memory.data(), 1).message(),
               "no state is called 'sum'");
  EXPECT_STREQ(session.try_set_state("total", nullptr, kFrameBytes).message(), "data is NULL");
  EXPECT_EQ(park(session), before);
}

// States may hold any bytes: runs end with the same bytes whatever kernels compute them.
TEST(States, TakeAnyBytes) {
  testing::Random random;
  for (const ModelBuilder& m : {testing::stream_model(), testing::every_op_model()}) {
    const api::Model model = load(m);
    for (int round = 0; round < 20; ++round) {
      Parked hostile = park(api::Session(model)), after;
      for (Bytes& bytes : hostile)
        for (uint8_t& byte : bytes)
          byte = round == 0   ? 0xff
                 : round == 1 ? 0x80
                              : static_cast<uint8_t>(random.integer(0, 255));
      for (const char* isa : testing::machine_isas()) {
        api::SessionOptions options;
        options.isa = isa;
        options.threads = 2;
        api::Session session(model, options);
        resume(&session, hostile);
        ASSERT_EQ(park(session), hostile);
        session.run();
        const Parked now = park(session);
        if (after.empty()) after = now;
        ASSERT_EQ(now, after) << isa;
      }
    }
  }
}

TEST(States, ChangeTheirSizeWithTheSession) {
  const Bytes file = testing::sized_counter(3).build();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  api::Session session(model);
  const auto sizes = [&] {
    std::vector<size_t> bytes;
    for (size_t i = 0; i < session.state_count(); ++i) bytes.push_back(session.state_info(i).bytes);
    return bytes;
  };
  const std::vector<size_t> before = sizes();
  for (int i = 0; i < 3; ++i) session.run();
  const Parked parked = park(session);
  session.reshape({{"n", 700}});
  EXPECT_NE(sizes(), before);
  EXPECT_EQ(session.try_set_state(0, parked[0].data(), parked[0].size()).code(),
            parked[0].size() == sizes()[0] ? QRT_OK : QRT_INVALID_ARGUMENT);
  session.run();
  session.reshape({{"n", 3}});
  EXPECT_EQ(sizes(), before);
  resume(&session, parked);
  EXPECT_EQ(park(session), parked);
}

// States that are exchanged stay where their shape does, and begin anew otherwise.
TEST(States, PassToAnotherBatchWhereTheirShapeStays) {
  const api::Model model = load(testing::stream_model());
  for (size_t runs = 0; runs < 4; ++runs) {
    api::Session session(model), other(model);
    const Parked start = park(session);
    Parked filled = start;
    for (size_t i = 3; i < filled.size(); ++i)
      for (size_t k = 0; k < filled[i].size(); ++k) filled[i][k] = static_cast<uint8_t>(i + k);
    for (api::Session* s : {&session, &other}) {
      resume(s, filled);
      for (size_t i = 0; i < runs; ++i) step(s, i);
    }
    session.reshape({{"batch", 3}});
    session.reshape({{"batch", 1}});
    const Parked now = park(session), expected = park(other);
    for (size_t i = 0; i < now.size(); ++i) ASSERT_EQ(now[i], i < 3 ? start[i] : expected[i]) << i;
    const Bytes after = step(&session, 9);
    resume(&other, now);
    ASSERT_EQ(step(&other, 9), after);
  }
}

}  // namespace
}  // namespace qrt::states_test
