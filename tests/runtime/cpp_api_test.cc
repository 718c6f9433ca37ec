// qrt.hpp: ownership, typed access, and errors as exceptions.
#include <gtest/gtest.h>

#include <chrono>
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

TEST(CppApi, ARunIsCancelledFromAnotherThread) {
  const qrt::Model model = every_op();
  for (const size_t threads : {1, 2}) {
    qrt::SessionOptions options;
    options.threads = threads;
    qrt::Session session(model, options);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      session.cancel();
    });
    const qrt::Error error = error_of([&] {
      for (;;) session.run();
    });
    other.join();
    EXPECT_EQ(error.status(), QRT_CANCELLED);
    session.run();
  }
}

TEST(CppApi, RunsAModelThroughTypedSpans) {
  const qrt::Model model = every_op();
  ASSERT_EQ(model.input_count(), 2u);
  ASSERT_EQ(model.output_count(), 2u);
  ASSERT_EQ(model.default_batch(), 1u);
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
  session.get_output(1, copy.data(), 80);
  ASSERT_EQ(copy, std::vector<float>(y.begin(), y.end()));
  ASSERT_GT(session.op_count(), 0u);
  ASSERT_EQ(session.op_info(0).runs, 1u);
  session.profile_reset();
  ASSERT_EQ(session.op_info(0).runs, 0u);
  ASSERT_GT(session.memory(), 0u);
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
  ASSERT_EQ(error_of([&] { session.set_input(0, "x", 1); }).status(), QRT_INVALID_ARGUMENT);
  qrt::SessionOptions options;
  options.isa = "none";
  ASSERT_EQ(error_of([&] { qrt::Session(every_op(), options); }).status(), QRT_INVALID_ARGUMENT);
}

}  // namespace
