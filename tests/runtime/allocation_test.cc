// Memory: whichever allocation fails, the caller gets OUT_OF_MEMORY and nothing leaks; a run
// allocates nothing.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include "tests/support/every_op_model.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/runner.h"

namespace qrt {
namespace {

// Calls f() with the first, second, ... allocation failing until it succeeds. f() frees what it
// makes and returns its status.
template <class F>
void expect_out_of_memory_until_success(const F& f) {
  ASSERT_EQ(f(), QRT_OK);  // first use: what the process keeps
  const long before = live;
  long failures = 0;
  for (;; ++failures) {
    fail_at = failures;
    const qrt_status status = f();
    fail_at = -1;
    ASSERT_EQ(live, before) << "leak with allocation " << failures << " failing";
    if (status == QRT_OK) break;
    ASSERT_EQ(status, QRT_OUT_OF_MEMORY) << "with allocation " << failures << " failing";
  }
  ASSERT_GT(failures, 5);
}

TEST(Allocation, LoadingReportsEveryFailure) {
  const std::vector<uint8_t> file = testing::every_op_model().build();
  expect_out_of_memory_until_success([&] {
    qrt_model* model = nullptr;
    const qrt_status status =
        qrt_model_load_memory(file.data(), file.size(), QRT_LOAD_COPY, &model, nullptr);
    qrt_model_destroy(model);
    return status;
  });
}

TEST(Allocation, CreatingASessionReportsEveryFailure) {
  const std::vector<uint8_t> file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), 0, &model, nullptr), QRT_OK);
  qrt_session_options options;
  qrt_session_options_init(&options);
  options.threads = 2;
  options.profile = 1;
  options.keep_all = 1;
  expect_out_of_memory_until_success([&] {
    qrt_session* session = nullptr;
    const qrt_status status = qrt_session_create(model, &options, &session, nullptr);
    qrt_session_destroy(session);
    return status;
  });
  qrt_model_destroy(model);
}

// What a session tells of its memory is what it takes, and a little more: limits can be trusted.
TEST(Allocation, ASessionTellsItsMemory) {
  const std::vector<uint8_t> every_op = testing::every_op_model().build();
  testing::ModelBuilder gather;
  fb::GatherOptionsT o;
  o.axes.push_back(std::make_unique<fb::GatherAxisT>());
  for (int i = 0; i < 100000; ++i) o.axes[0]->index.push_back(i % 2 == 0 ? -1 : 1);
  const uint32_t x = gather.input({2});
  gather.op(std::move(o), {x}, {gather.output({100000})});
  for (const std::vector<uint8_t>& file : {every_op, gather.build()}) {
    qrt_model* model = nullptr;
    ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), 0, &model, nullptr), QRT_OK);
    for (const size_t batch : {1, 4}) {
      qrt_session_options options;
      qrt_session_options_init(&options);
      if (batch > 1 && qrt_model_default_batch(model) == 0) continue;
      options.batch = batch;
      qrt_session* session = nullptr;
      const long before = bytes;
      ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
      const long taken = bytes - before, told = static_cast<long>(qrt_session_memory(session));
      EXPECT_LE(taken, told + told / 20) << "batch " << batch;
      EXPECT_GE(3 * taken, told) << "batch " << batch;
      qrt_session_destroy(session);
    }
    qrt_model_destroy(model);
  }
}

TEST(Allocation, ARunAllocatesNothing) {
  const std::vector<uint8_t> file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), 0, &model, nullptr), QRT_OK);
  for (const char* isa : testing::machine_isas()) {
    for (size_t threads : {1, 3}) {
      qrt_session_options options;
      qrt_session_options_init(&options);
      options.isa = isa;
      options.threads = threads;
      options.batch = 4;
      options.profile = 1;
      qrt_session* session = nullptr;
      ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
      const long before = made;
      ASSERT_EQ(qrt_session_run(session), QRT_OK);
      ASSERT_EQ(made, before) << isa << ", " << threads << " threads";
      qrt_session_destroy(session);
    }
  }
  qrt_model_destroy(model);
}

}  // namespace
}  // namespace qrt
