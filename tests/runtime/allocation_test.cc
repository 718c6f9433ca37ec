// Memory: whichever allocation fails, the caller gets OUT_OF_MEMORY and nothing leaks; a run
// allocates nothing.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <algorithm>
#include <memory>

#include "kernels/integer_build.h"
#include "tests/support/c_api.h"
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
    const qrt_status status = testing::load_copy(file.data(), file.size(), &model, nullptr);
    qrt_model_destroy(model);
    return status;
  });
}

TEST(Allocation, CreatingASessionReportsEveryFailure) {
  const std::vector<uint8_t> file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  qrt_session_options options;
  qrt_struct_init(&options);
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
    ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
    for (const size_t batch : {1, 4}) {
      qrt_session_options options;
      qrt_struct_init(&options);
      if (batch > 1 && testing::info_of(model).default_batch == 0) continue;
      options.batch = batch;
      qrt_session* session = nullptr;
      const long before = bytes;
      ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
      const long taken = bytes - before, told = static_cast<long>(testing::memory_of(session));
      EXPECT_LE(taken, told + told / 20) << "batch " << batch;
      EXPECT_GE(3 * taken, told) << "batch " << batch;
      qrt_session_destroy(session);
    }
    qrt_model_destroy(model);
  }
}

// All operators of the model with every one, and forms of some that have tables of their own.
testing::ModelBuilder operators_with_tables() {
  testing::ModelBuilder m = testing::every_op_model();
  const uint32_t x = m.input({-1, 64, 32}), real = m.input({-1, 2048}, DType::kFloat32);
  const uint32_t small = m.input({-1, 2048}, DType::kFloat8E4M3FN);
  fb::LutOptionsT lut;  // lines
  lut.per_channel = true;
  std::vector<uint8_t> tables;
  for (int i = 0; i < 32 * 256; ++i) tables.push_back(static_cast<uint8_t>(255 - i % 256));
  lut.table = m.buffer(tables);
  m.op(lut, {x}, {m.tensor({-1, 64, 32})});
  if (is_integer_build()) return m;
  fb::AddOptionsT add;
  add.a_scale = testing::float_bits(0.5f);
  add.b_scale = testing::float_bits(0.25f);
  m.op(add, {x, x}, {m.tensor({-1, 64, 32})});
  fb::QuantizeOptionsT quantize;
  quantize.scale = testing::float_bits(std::vector<float>{0.5f});
  quantize.zero_point = {0};
  quantize.overflow = fb::Overflow::INT64;
  m.op(quantize, {real}, {m.tensor({-1, 2048})});
  const uint32_t scale = m.constant({}, DType::kFloat32, std::vector<float>{0.5f});
  m.op(fb::DequantizeOptionsT(), {small, scale}, {m.tensor({-1, 2048}, DType::kFloat32)});
  return m;
}

// Operator `index` of these, so many times, its tensors outside.
std::vector<uint8_t> repeated(size_t index, int times) {
  testing::ModelBuilder m = operators_with_tables();
  fb::ModelT& model = m.model();
  const std::unique_ptr<fb::OperatorT> op = std::move(model.operators[index]);
  model.operators.clear();
  model.variables.clear();
  model.outputs.clear();
  model.inputs.clear();
  for (const uint32_t t : op->inputs)
    if (model.tensors[t]->buffer == 0) model.inputs.push_back(t);
  std::sort(model.inputs.begin(), model.inputs.end());
  model.inputs.erase(std::unique(model.inputs.begin(), model.inputs.end()), model.inputs.end());
  for (int i = 0; i < times; ++i) {
    auto copy = std::make_unique<fb::OperatorT>();
    copy->options = op->options;
    // Tables that are shared where the operators are alike.
    if (auto* add = copy->options.AsAdd())
      add->constant = testing::float_bits(static_cast<float>(i));
    copy->inputs = op->inputs;
    for (const uint32_t t : op->outputs) {
      const fb::TensorT& tensor = *model.tensors[t];
      Shape shape;
      for (const int32_t d : tensor.shape) shape.push_back(d);
      copy->outputs.push_back(m.output(shape, static_cast<DType>(tensor.dtype)));
    }
    model.operators.push_back(std::move(copy));
  }
  return m.build();
}

// The same of every operator by itself, without the arena that hides its tables.
TEST(Allocation, ASessionTellsTheTablesOfEveryOperator) {
  const size_t count = operators_with_tables().model().operators.size();
  for (size_t op = 0; op < count; ++op) {
    const std::vector<uint8_t> file = repeated(op, 50);
    qrt_model* model = nullptr;
    qrt_error error = {};
    ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, &error), QRT_OK)
        << error.message;
    for (const char* isa : testing::machine_isas()) {
      qrt_session_options options;
      qrt_struct_init(&options);
      options.isa = isa;
      options.batch = 33;  // so much to do that tables pay
      testing::External external;
      external.add_inputs(model, &options);
      external.add_outputs(model, &options);
      qrt_session* session = nullptr;
      const long before = bytes;
      ASSERT_EQ(qrt_session_create(model, &options, &session, &error), QRT_OK) << error.message;
      const long taken = bytes - before, told = static_cast<long>(testing::memory_of(session));
      qrt_op_info info;
      info.struct_size = sizeof info;
      qrt_session_op_info(session, 0, &info);
      EXPECT_LE(taken, told) << info.type << ": " << info.kernel << " on " << isa;
      qrt_session_destroy(session);
    }
    qrt_model_destroy(model);
  }
}

TEST(Allocation, ARunAllocatesNothing) {
  const std::vector<uint8_t> file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  for (const char* isa : testing::machine_isas()) {
    for (size_t threads : {1, 3}) {
      qrt_session_options options;
      qrt_struct_init(&options);
      options.isa = isa;
      options.threads = threads;
      options.batch = 4;
      options.profile = 1;
      qrt_session* session = nullptr;
      ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
      const long before = made;
      ASSERT_EQ(qrt_session_run(session, nullptr), QRT_OK);
      ASSERT_EQ(made, before) << isa << ", " << threads << " threads";
      qrt_session_destroy(session);
    }
  }
  qrt_model_destroy(model);
}

}  // namespace
}  // namespace qrt
