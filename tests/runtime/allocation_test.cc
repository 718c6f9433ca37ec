// SPDX-License-Identifier: Apache-2.0
// Memory: whichever allocation fails, the caller gets OUT_OF_MEMORY and nothing leaks; a run
// allocates nothing.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/integer_build.h"
#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/runner.h"
#include "tests/support/shared_forms_model.h"
#include "tests/support/sized_model.h"

namespace qrt::allocation_test {
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
  for (const testing::ModelBuilder& m :
       {testing::every_op_model(), testing::shared_forms_model()}) {
    const std::vector<uint8_t> file = m.build();
    qrt_session_options options;
    qrt_struct_init(&options);
    options.threads = 2;
    options.profile = 1;
    options.keep_all = 1;
    // Each attempt has a model of its own, because a model keeps what sessions were made of.
    expect_out_of_memory_until_success([&] {
      qrt_model* model = nullptr;
      qrt_session* session = nullptr;
      qrt_status status = qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr);
      if (status == QRT_OK) status = qrt_session_create(model, &options, &session, nullptr);
      qrt_session_destroy(session);
      qrt_model_destroy(model);
      return status;
    });
  }
}

// A reshape that fails leaves the session as it was.
TEST(Allocation, ReshapingReportsEveryFailure) {
  const std::vector<uint8_t> file = testing::SizedModel(8, 7, true).build();
  const qrt_dim dims[] = {{"h", 31}, {"w", 9}};
  const auto outputs = [](qrt_session* session) {
    EXPECT_EQ(qrt_session_run(session, nullptr), QRT_OK);
    std::vector<uint8_t> all;
    qrt_tensor_info info;
    qrt_struct_init(&info);
    for (size_t i = 0; qrt_session_output_info(session, i, &info) == QRT_OK; ++i) {
      const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
      all.insert(all.end(), data, data + info.bytes);
    }
    return all;
  };
  const long before = live;
  bool is_done = false;
  for (long failing = 0; !is_done; ++failing) {
    qrt_model* model = nullptr;
    qrt_session* session = nullptr;
    ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
    qrt_session_options options;
    qrt_struct_init(&options);
    options.profile = 1;
    options.threads = 2;
    ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
    auto* x = static_cast<uint8_t*>(qrt_session_input_data(session, 0));
    for (size_t i = 0; i < 8 * 7 * 4; ++i) x[i] = static_cast<uint8_t>(i);
    const std::vector<uint8_t> expected = outputs(session);
    fail_at = failing;
    const qrt_status status = qrt_session_reshape(session, dims, 2, nullptr);
    fail_at = -1;
    is_done = status == QRT_OK;
    ASSERT_EQ(status, is_done ? QRT_OK : QRT_OUT_OF_MEMORY) << "allocation " << failing;
    if (!is_done) {
      ASSERT_EQ(outputs(session), expected) << "allocation " << failing;
    } else {
      ASSERT_GT(failing, 20);
    }
    qrt_session_destroy(session);
    qrt_model_destroy(model);
  }
  ASSERT_EQ(live, before);
}

// A session whose plans are its own goes on at sizes within max_dims without an allocation, and gives the bytes of
// a session whose plans the model keeps.
TEST(Allocation, APrivateReshapeTakesNoMemory) {
  const std::vector<uint8_t> file = testing::SizedModel(8, 7, true).build();
  const qrt_dim most[] = {{"h", 64}, {"w", 64}, {"batch", 2}};
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  for (const size_t threads : {1, 2}) {
    qrt_session_options options;
    qrt_struct_init(&options);
    options.threads = threads;
    options.max_dims = most;
    options.max_dim_count = 3;
    qrt_session *common = nullptr, *own = nullptr;
    ASSERT_EQ(qrt_session_create(model, &options, &common, nullptr), QRT_OK);
    options.private_plans = 1;
    ASSERT_EQ(qrt_session_create(model, &options, &own, nullptr), QRT_OK);
    const size_t block = testing::info_of(own).block_bytes;
    qrt_session_info needed;
    qrt_struct_init(&needed);
    ASSERT_EQ(qrt_session_needed_memory(model, &options, &needed, nullptr), QRT_OK);
    ASSERT_EQ(needed.block_bytes, block);
    ASSERT_EQ(needed.memory, testing::info_of(own).memory);
    ASSERT_EQ(needed.shared_memory, 0u);
    for (int64_t size = 2; size <= 62; size += 3) {
      const qrt_dim dims[] = {{"h", size}, {"w", 65 - size}, {"batch", 1 + size % 2}};
      ASSERT_EQ(qrt_session_reshape(common, dims, 3, nullptr), QRT_OK);
      fail_at = 0;
      const qrt_status status = qrt_session_reshape(own, dims, 3, nullptr);
      fail_at = -1;
      ASSERT_EQ(status, QRT_OK) << size;
      ASSERT_EQ(testing::info_of(own).block_bytes, block);
      qrt_tensor_info info;
      qrt_struct_init(&info);
      for (qrt_session* session : {common, own}) {
        ASSERT_EQ(qrt_session_input_info(session, 0, &info), QRT_OK);
        auto* x = static_cast<uint8_t*>(qrt_session_input_data(session, 0));
        for (size_t i = 0; i < info.bytes; ++i) x[i] = static_cast<uint8_t>(i * 7);
        ASSERT_EQ(qrt_session_run(session, nullptr), QRT_OK);
      }
      for (size_t i = 0; qrt_session_output_info(own, i, &info) == QRT_OK; ++i)
        ASSERT_EQ(
            memcmp(qrt_session_output_data(own, i), qrt_session_output_data(common, i), info.bytes),
            0)
            << size << ", output " << i;
    }
    qrt_session_destroy(common);
    qrt_session_destroy(own);
  }
  qrt_model_destroy(model);
}

// Returns the outputs of a run on inputs of zeros.
std::vector<uint8_t> outputs_of(const qrt_model* model, size_t batch) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.batch = batch;
  qrt_session* session = nullptr;
  EXPECT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
  EXPECT_EQ(qrt_session_run(session, nullptr), QRT_OK);
  std::vector<uint8_t> outputs;
  for (size_t i = 0; i < qrt_model_output_count(model); ++i) {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    EXPECT_EQ(qrt_session_output_info(session, i, &info), QRT_OK);
    const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
    outputs.insert(outputs.end(), data, data + info.bytes);
  }
  qrt_session_destroy(session);
  return outputs;
}

// After each failure the model is as good as new, however much of a plan was made by then.
TEST(Allocation, AFailureLeavesAUsableModel) {
  const std::vector<uint8_t> file = testing::shared_forms_model().build();
  const auto load = [&] {
    qrt_model* model = nullptr;
    EXPECT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
    return model;
  };
  qrt_model* other = load();
  const std::vector<uint8_t> expected = outputs_of(other, 1), of_three = outputs_of(other, 3);
  qrt_model_destroy(other);
  const long before = live;
  bool is_done = false;
  for (long failing = 0; !is_done; ++failing) {
    qrt_model* model = load();
    qrt_session* session = nullptr;
    fail_at = failing;
    const qrt_status status = qrt_session_create(model, nullptr, &session, nullptr);
    fail_at = -1;
    is_done = status == QRT_OK;
    ASSERT_EQ(status, is_done ? QRT_OK : QRT_OUT_OF_MEMORY) << "allocation " << failing;
    if (failing % 10 == 0) {  // a second failure after the first
      fail_at = failing / 2;
      qrt_session* again = nullptr;
      qrt_session_create(model, nullptr, &again, nullptr);
      fail_at = -1;
      qrt_session_destroy(again);
    }
    if (failing % 3 == 0) {
      ASSERT_EQ(outputs_of(model, 3), of_three) << "allocation " << failing;
    }
    ASSERT_EQ(outputs_of(model, 1), expected) << "allocation " << failing;
    qrt_session_destroy(session);
    qrt_model_destroy(model);
    ASSERT_EQ(live, before) << "leak with allocation " << failing << " failing";
  }
}

// A further session takes only the memory that each session has for itself. A session at another
// batch has a plan of its own, but shares the tables that do not depend on the batch. Both batches
// are large enough that every instruction set takes one form of a convolution at both, which small
// batches do not promise.
TEST(Allocation, FurtherSessionsTakeWhatIsTheirs) {
  const std::vector<uint8_t> file = testing::shared_forms_model().build();
  const auto load = [&] {
    qrt_model* model = nullptr;
    EXPECT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
    return model;
  };
  const auto create = [](const qrt_model* model, size_t batch) {
    qrt_session_options options;
    qrt_struct_init(&options);
    options.batch = batch;
    qrt_session* session = nullptr;
    EXPECT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
    return session;
  };
  qrt_model *model = load(), *fresh = load();
  qrt_session* first = create(model, 8);
  long before = bytes;
  qrt_session* second = create(model, 8);
  const long taken = bytes - before;
  const long own =
      static_cast<long>(testing::info_of(second).memory - testing::info_of(second).shared_memory);
  // malloc rounds its blocks up, the largest two of them to whole pages.
  EXPECT_LE(taken, own + 3072 + 2 * 4096);
  EXPECT_GE(taken, own / 2);
  before = bytes;
  qrt_session* third = create(model, 12);
  const long of_third = bytes - before;
  before = bytes;
  qrt_session* alone = create(fresh, 12);
  const long of_alone = bytes - before;
  const long shared = static_cast<long>(testing::info_of(alone).shared_memory);
  EXPECT_GT(shared, 20000);  // scalar kernels transform the fewest weights
  EXPECT_LT(of_third, of_alone - shared / 3) << "of " << shared << " shared";
  for (qrt_session* session : {first, second, third, alone}) qrt_session_destroy(session);
  for (qrt_model* m : {model, fresh}) qrt_model_destroy(m);
}

// A session's info reports slightly more memory than it takes, so that limits can be trusted.
TEST(Allocation, ASessionTellsItsMemory) {
  const std::vector<uint8_t> every_op = testing::every_op_model().build();
  testing::ModelBuilder gather;
  fb::GatherOptionsT o;
  o.axes.push_back(std::make_unique<fb::GatherAxisT>());
  for (int i = 0; i < 100000; ++i) o.axes[0]->index.push_back(i % 2 == 0 ? -1 : 1);
  const uint32_t x = gather.input({2});
  gather.op(std::move(o), {x}, {gather.output({100000})});
  for (const std::vector<uint8_t>& file : {every_op, gather.build()}) {
    for (const size_t batch : {1, 4}) {
      qrt_model* model = nullptr;
      ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
      qrt_session_options options;
      qrt_struct_init(&options);
      options.batch = testing::info_of(model).default_batch == 0 ? 0 : batch;
      qrt_session* session = nullptr;
      const long before = bytes;
      ASSERT_EQ(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
      const long taken = bytes - before, told = static_cast<long>(testing::memory_of(session));
      EXPECT_LE(taken, told + told / 20) << "batch " << batch;
      EXPECT_GE(3 * taken, told) << "batch " << batch;
      qrt_session_destroy(session);
      qrt_model_destroy(model);
    }
  }
}

// Returns the model with every operator, and with further forms of those that have tables of their own.
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

// Returns operator `index` of every_op_model(), repeated so many times, with its tensors as inputs
// and outputs of the model; nothing where the operator reads constants alone.
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
  if (model.inputs.empty()) return {};
  if (op->options.AsLoopBegin() || op->options.AsLoopEnd()) return {};  // neither stands alone
  for (int i = 0; i < times; ++i) {
    auto copy = std::make_unique<fb::OperatorT>();
    copy->options = op->options;
    // Gives the operators equal tables where they can share them.
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

// A session's info counts the tables of every operator, too: here each operator runs alone, without
// an arena that would hide them.
TEST(Allocation, ASessionTellsTheTablesOfEveryOperator) {
  const size_t count = operators_with_tables().model().operators.size();
  for (size_t op = 0; op < count; ++op) {
    const std::vector<uint8_t> file = repeated(op, 50);
    if (file.empty()) continue;
    for (const char* isa : testing::machine_isas()) {
      qrt_model* model = nullptr;
      qrt_error error = {};
      ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, &error), QRT_OK)
          << error.message;
      qrt_session_options options;
      qrt_struct_init(&options);
      options.isa = isa;
      qrt_model_info of_model;
      qrt_struct_init(&of_model);
      ASSERT_EQ(qrt_model_get_info(model, &of_model), QRT_OK);
      // A batch so large that tables pay, where the operator's tensors have one.
      options.batch = of_model.default_batch == 0 ? 0 : 33;
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
      qrt_model_destroy(model);
    }
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
}  // namespace qrt::allocation_test
