// SPDX-License-Identifier: Apache-2.0
// qrt.hpp: ownership, typed access, and errors as exceptions.
#include <gtest/gtest.h>

#include <array>
#include <qrt/qrt.hpp>
#include <thread>
#include <utility>

#include "tests/support/every_op_model.h"

namespace {

qrt::Model every_op() {
  const std::vector<uint8_t> file = qrt::testing::every_op_model().build();
  return qrt::Model::load_memory(file.data(), file.size(), QRT_LOAD_COPY);
}

template <class F>
qrt::Error error_of(F f) {
  try {
    f();
  } catch (const qrt::Error& e) {
    return e;
  }
  return {QRT_OK, ""};
}

// A run is cancelled from another thread at any moment: while it is in progress, or between two runs.
TEST(CppApi, ARunIsCancelledFromAnotherThread) {
  const qrt::Model model = every_op();
  for (const size_t threads : {1, 2}) {
    qrt::SessionOptions options;
    options.threads = threads;
    qrt::Session session(model, options);
    std::thread other([&] { session.cancel(); });
    const qrt::Error error = error_of([&] {
      for (;;) session.run();
    });
    other.join();
    EXPECT_EQ(error.status(), QRT_CANCELLED);
    session.run();
  }
}

// A run in progress is cancelled: a pool of the caller's knows when one is.
TEST(CppApi, ARunInProgressIsCancelled) {
  struct Context {
    qrt::Session* session = nullptr;
    int left = 0;  // calls of the pool until it cancels
    std::size_t tasks = 0;
  } context;
  qrt::SessionOptions options;
  options.threads = 2;
  options.parallel_context = &context;
  options.parallel = [](void* c, void (*task)(void*, std::size_t), void* argument, std::size_t n) {
    Context& context = *static_cast<Context*>(c);
    if (context.left-- == 0) std::thread([&] { context.session->cancel(); }).join();
    for (std::size_t i = 0; i < n; ++i, ++context.tasks) task(argument, i);
  };
  qrt::Session session(every_op(), options);
  context.session = &session;
  EXPECT_EQ(error_of([&] { session.run(); }).status(), QRT_CANCELLED);
  EXPECT_GT(context.tasks, 0u);
  session.run();
}

TEST(CppApi, BindsTheCallersMemoryAndSharesAPool) {
  const qrt::Model model = every_op();
  ASSERT_EQ(model.find_output("probabilities"), 1u);
  ASSERT_EQ(model.find_input("none"), std::nullopt);
  ASSERT_EQ(model.info().level, qrt::is_integer_build() ? 1 : 2);
  qrt::SessionOptions options;
  auto pool = std::make_unique<qrt::Pool>(2);
  ASSERT_EQ(pool->threads(), 2u);
  options.pool = pool->get();
  const std::size_t external[] = {0, 1};
  options.external_inputs = external;
  options.external_input_count = 2;
  qrt::Session first(model, options), second(model, options);
  pool.reset();
  ASSERT_STREQ(error_of([&] { first.run(); }).what(),
               "input 0 is external and has no memory: bind it");
  ASSERT_STREQ(error_of([&] { first.input<float>(0); }).what(),
               "'image' is external and has no memory: bind it");
  alignas(QRT_BUFFER_ALIGNMENT) float image[256 + 16], scores[10 + 16];
  alignas(QRT_BUFFER_ALIGNMENT) std::uint8_t gate[16 + 64];
  for (float& v : image) v = 2;
  for (std::uint8_t& v : gate) v = 9;
  for (qrt::Session* session : {&first, &second}) {
    session->bind_input(0, image, sizeof image);
    session->bind_input(1, gate, sizeof gate);
  }
  first.bind_output(1, scores, sizeof scores);
  ASSERT_EQ(first.output<float>(1).data(), scores);
  first.run();
  second.run();
  for (std::size_t i = 0; i < 10; ++i) ASSERT_EQ(scores[i], second.output<float>(1)[i]);
  ASSERT_STREQ(error_of([&] { first.bind_input(0, gate + 1, 4096); }).what(),
               "input 0 takes memory aligned to 64, this is 1 bytes behind such an address");
}

TEST(CppApi, RunsAModelThroughTypedSpans) {
  const qrt::Model model = every_op();
  ASSERT_EQ(model.input_count(), 2u);
  ASSERT_EQ(model.output_count(), 2u);
  ASSERT_EQ(model.info().default_batch, 1u);
  ASSERT_EQ(model.metadata("name"), "test");
  ASSERT_EQ(model.metadata("none"), std::nullopt);
  ASSERT_STREQ(model.input_info(1).name, "gate");

  qrt::SessionOptions options;
  options.batch = 2;
  options.profile = 1;
  qrt::Session session(model, options);
  ASSERT_EQ(session.input<float>(0).size(), 512u);
  for (float& v : session.input<float>(0)) v = 1.0f;
  for (uint8_t& v : session.input<uint8_t>(1)) v = 100;
  session.run();
  const qrt::Span<const float> y = session.output<float>(1);
  ASSERT_EQ(y.size(), 20u);
  for (size_t i = 0; i < 10; ++i) ASSERT_EQ(y[i], y[10 + i]);
  std::vector<float> copy(20);
  session.get_output(1, copy);
  ASSERT_EQ(copy, std::vector<float>(y.begin(), y.end()));
  ASSERT_GT(session.op_count(), 0u);
  ASSERT_EQ(session.op_info(0).runs, 1u);
  session.profile_reset();
  ASSERT_EQ(session.op_info(0).runs, 0u);
  ASSERT_GT(session.info().memory, session.info().shared_memory);
  ASSERT_GT(session.info().shared_memory, 0u);
}

TEST(CppApi, HandlesMove) {
  qrt::Model model = every_op();
  qrt::Session session(model);
  const qrt::Model moved = std::move(model);
  qrt::Session other = std::move(session);
  other.run();
  ASSERT_EQ(model.get(), nullptr);
  ASSERT_EQ(session.get(), nullptr);
  ASSERT_EQ(error_of([&] { session.run(); }).status(), QRT_INVALID_ARGUMENT);
}

TEST(CppApi, ErrorsCarryStatusAndMessage) {
  const qrt::Error error = error_of([] { qrt::Model::load_memory("not a model at all", 18); });
  ASSERT_EQ(error.status(), QRT_INVALID_MODEL);
  ASSERT_STREQ(error.what(), "not a .qrt file (no 'QRT1' at byte 4)");

  qrt::Session session(every_op());
  ASSERT_STREQ(error_of([&] { session.input<uint8_t>(0); }).what(),
               "'image' holds float32, another type was asked for");
  ASSERT_EQ(error_of([&] { session.output<float>(2); }).status(), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(error_of([&] { session.set_input_bytes(0, "x", 1); }).status(), QRT_INVALID_ARGUMENT);
  qrt::SessionOptions options;
  options.isa = "none";
  ASSERT_EQ(error_of([&] { qrt::Session(every_op(), options); }).status(), QRT_INVALID_ARGUMENT);
}

TEST(CppApi, InputsAndOutputsHaveNames) {
  const qrt::Model model = every_op();
  qrt::Session session(model);
  const std::vector<float> image(256, 2.5f);
  const std::array<std::uint8_t, 16> gate = {1, 2, 3};
  session.set_input("image", image);
  session.set_input(std::string("gate"), gate);
  session.run();
  std::vector<float> by_name(10), by_index(10);
  session.get_output("probabilities", by_name);
  session.get_output(1, by_index);
  ASSERT_EQ(by_name, by_index);
  ASSERT_EQ(session.input<std::uint8_t>("gate")[2], 3);
  ASSERT_EQ(session.output<float>("probabilities").data(), session.output<float>(1).data());
  ASSERT_EQ(session.input_info("gate").bytes, 16u);
  ASSERT_EQ(model.output_info("probabilities").rank, 2);
  // Names that are others' and none, elements of another type, too few of them.
  ASSERT_STREQ(error_of([&] { session.set_input("probabilities", image); }).what(),
               "no input is called 'probabilities'");
  ASSERT_STREQ(error_of([&] { model.output_info("image"); }).what(), "no output is called 'image'");
  ASSERT_STREQ(error_of([&] { session.output<float>(7); }).what(), "no such output: 7");
  ASSERT_STREQ(error_of([&] { session.set_input("gate", image); }).what(),
               "'gate' holds uint8, another type was asked for");
  by_name.resize(9);
  ASSERT_STREQ(error_of([&] { session.get_output(1, by_name); }).what(),
               "output 1 takes 40 bytes, not 36");
}

TEST(CppApi, FormsThatDoNotThrow) {
  qrt::Model model;
  qrt::Session session;
  ASSERT_EQ(qrt::Model::try_load_file("/no/such/file.qrt", &model).code(), QRT_IO_ERROR);
  ASSERT_EQ(model.get(), nullptr);
  const qrt::Outcome none = qrt::Session::try_create(model, &session);
  ASSERT_FALSE(none.ok());
  ASSERT_STREQ(none.message(), "model is NULL");
  const std::vector<std::uint8_t> file = qrt::testing::every_op_model().build();
  ASSERT_TRUE(qrt::Model::try_load_memory(file.data(), file.size(), &model, QRT_LOAD_COPY).ok());
  ASSERT_TRUE(qrt::Session::try_create(model, &session).ok());
  ASSERT_TRUE(session.try_set_input("image", std::vector<float>(256, 1.0f)).ok());
  ASSERT_EQ(session.try_set_input("gate", std::vector<float>(16)).code(), QRT_INVALID_ARGUMENT);
  ASSERT_TRUE(session.try_run().ok());
  qrt::Span<const float> scores;
  ASSERT_TRUE(session.try_output("probabilities", &scores).ok());
  ASSERT_EQ(scores.size(), 10u);
  session.cancel();
  ASSERT_EQ(session.try_run().code(), QRT_CANCELLED);
  qrt_op_info op;
  ASSERT_TRUE(session.try_op_info(0, &op).ok());
  ASSERT_EQ(session.try_op_info(1000, &op).code(), QRT_INVALID_ARGUMENT);
  qrt_session_info needed;
  ASSERT_TRUE(qrt::Session::try_needed_memory(model, &needed).ok());
  ASSERT_EQ(needed.memory, session.info().memory);
}

}  // namespace
