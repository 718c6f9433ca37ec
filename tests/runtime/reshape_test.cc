// SPDX-License-Identifier: Apache-2.0
// Sessions at sizes other than those of the file: they give the bytes of a model in which these sizes are fixed.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <qrt/qrt.hpp>
#include <string>
#include <vector>

#include "runtime/infer.h"
#include "runtime/sizes.h"
#include "tests/support/guarded.h"
#include "tests/support/planned.h"
#include "tests/support/runner.h"
#include "tests/support/sized_model.h"

namespace qrt::reshape_test {
namespace {

using testing::Bytes;
using testing::constant_size;
using testing::dimension;
using testing::expect_refused;
using testing::ModelBuilder;
using testing::SizedModel;
using testing::SizeOf;
using testing::some_numbers;
using testing::symbol_size;
using Function = fb::SizeFunction;

struct Size2 {
  int64_t h, w;
};

Bytes pixels(const Size2& size, size_t batch) {
  return some_numbers<uint8_t>(batch * static_cast<size_t>(size.h * size.w) * 4, 0, 255);
}

std::vector<Bytes> outputs_of(api::Session* session) {
  std::vector<Bytes> outputs;
  for (size_t i = 0; i < 3; ++i) {
    const qrt_tensor_info info = session->output_info(i);
    outputs.emplace_back(info.bytes);
    session->get_output_bytes(i, outputs.back().data(), info.bytes);
  }
  return outputs;
}

std::vector<Bytes> run(api::Session* session, const Bytes& x) {
  session->set_input_bytes("x", x.data(), x.size());
  session->run();
  return outputs_of(session);
}

struct Setting {
  size_t batch = 1, threads = 1;
  const char* isa = nullptr;
};

// Returns the outputs of the model in which the sizes are fixed.
std::vector<Bytes> fixed_outputs(const Size2& size, const Setting& setting) {
  const Bytes file = SizedModel(size.h, size.w, false).build();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  api::SessionOptions options;
  options.batch = setting.batch;
  options.threads = setting.threads;
  options.isa = setting.isa;
  api::Session session(model, options);
  return run(&session, pixels(size, setting.batch));
}

class OpenModel {
 public:
  OpenModel()
      : file_(SizedModel(8, 7, true).build()),
        model_(api::Model::load_memory(file_.data(), file_.size())) {}
  const api::Model& get() const { return model_; }

  api::Session session(const Size2& size, const Setting& setting) const {
    const qrt_dim dims[] = {{"w", size.w}, {"h", size.h}};
    api::SessionOptions options;
    options.batch = setting.batch;
    options.threads = setting.threads;
    options.isa = setting.isa;
    options.dims = dims;
    options.dim_count = 2;
    return api::Session(model_, options);
  }

 private:
  Bytes file_;
  api::Model model_;
};

const Size2 kSizes[] = {{8, 7}, {2, 3}, {13, 9}, {9, 64}, {64, 33}, {31, 30}};

TEST(Reshape, SessionsGiveTheBytesOfAFixedModel) {
  const OpenModel open;
  for (const Size2& size : kSizes)
    for (const size_t batch : {1, 3})
      for (const size_t threads : {1, 2, 3}) {
        const Setting setting = {batch, threads};
        api::Session session = open.session(size, setting);
        ASSERT_EQ(run(&session, pixels(size, batch)), fixed_outputs(size, setting))
            << size.h << " x " << size.w << ", batch " << batch << ", threads " << threads;
      }
}

TEST(Reshape, EveryInstructionSetGivesTheSameBytes) {
  const OpenModel open;
  for (const char* isa : testing::machine_isas()) {
    const Setting setting = {2, 1, isa};
    const Size2 size = {13, 9};
    api::Session session = open.session(size, setting);
    ASSERT_EQ(run(&session, pixels(size, 2)), fixed_outputs(size, setting)) << isa;
  }
}

TEST(Reshape, LargeBatchesAreCutAtOtherSizes) {
  const OpenModel open;
  const Size2 size = {64, 64};
  const Setting setting = {32};
  api::Session session = open.session(size, setting);
  ASSERT_EQ(run(&session, pixels(size, 32)), fixed_outputs(size, setting));
}

TEST(Reshape, ASessionGoesToOtherSizesAndBack) {
  const OpenModel open;
  for (const size_t threads : {1, 3}) {
    api::Session session = open.session(kSizes[0], {1, threads});
    for (int round = 0; round < 2; ++round)
      for (const Size2& size : kSizes) {
        session.reshape({{"h", size.h}, {"w", size.w}});
        ASSERT_EQ(session.input_info("x").dims[1], size.h);
        ASSERT_EQ(session.input_info("x").dims[2], size.w);
        for (const Bytes& output : outputs_of(&session)) ASSERT_FALSE(output.empty());
        ASSERT_EQ(run(&session, pixels(size, 1)), fixed_outputs(size, {1}));
      }
    session.reshape({{"batch", 3}});
    ASSERT_EQ(session.info().batch, 3u);
    ASSERT_EQ(run(&session, pixels(kSizes[5], 3)), fixed_outputs(kSizes[5], {3}));
  }
}

TEST(Reshape, InputsAreZerosAfterAReshape) {
  const OpenModel open;
  api::Session session = open.session({64, 64}, {1});
  const Bytes ones(64 * 64 * 4, 255);
  session.set_input_bytes("x", ones.data(), ones.size());
  session.run();
  session.reshape({{"h", 9}, {"w", 9}});
  for (const uint8_t v : session.input<uint8_t>("x")) ASSERT_EQ(v, 0);
  // A reshape to the present sizes changes nothing.
  session.set_input_bytes("x", ones.data(), 9 * 9 * 4);
  session.reshape({{"h", 9}});
  for (const uint8_t v : session.input<uint8_t>("x")) ASSERT_EQ(v, 255);
}

TEST(Reshape, InfosTellOfOpenDimensions) {
  const OpenModel open;
  const qrt_model* model = open.get().get();
  ASSERT_EQ(qrt_model_dim_count(model), 3u);
  const struct {
    const char* name;
    int64_t value, least, most;
  } expected[] = {{"batch", 1, 1, INT32_MAX}, {"h", 8, 2, 64}, {"w", 7, 3, 64}};
  for (size_t i = 0; i < 3; ++i) {
    qrt_dim_info info;
    qrt_struct_init(&info);
    ASSERT_EQ(qrt_model_dim_info(model, i, &info), QRT_OK);
    ASSERT_STREQ(info.name, expected[i].name);
    ASSERT_EQ(info.default_size, expected[i].value);
    ASSERT_EQ(info.least, expected[i].least);
    ASSERT_EQ(info.most, expected[i].most);
    ASSERT_EQ(info.step, 1);
  }
  const qrt_tensor_info x = open.get().input_info("x");
  ASSERT_EQ(std::vector<int64_t>(x.dims, x.dims + 4), (std::vector<int64_t>{-1, -1, -1, 4}));
  ASSERT_STREQ(x.dim_names[0], "batch");
  ASSERT_STREQ(x.dim_names[1], "h");
  ASSERT_STREQ(x.dim_names[2], "w");
  ASSERT_EQ(x.dim_names[3], nullptr);
  ASSERT_EQ(x.bytes, 8u * 7 * 4);
  const qrt_tensor_info y = open.get().output_info("columns");
  ASSERT_EQ(y.dims[1], -1);
  ASSERT_STREQ(y.dim_names[1], "((w + 1) / 2 + 1 + (w + 1) / 2 / 2) * 8");
  api::Session session = open.session({13, 9}, {2});
  const qrt_session_info info = session.info();
  ASSERT_EQ(info.dim_count, 3u);
  ASSERT_STREQ(info.dims[1].name, "h");
  ASSERT_EQ(info.dims[0].value, 2);
  ASSERT_EQ(info.dims[1].value, 13);
  ASSERT_EQ(info.dims[2].value, 9);
  ASSERT_EQ(session.input_info("x").dim_names, nullptr);
}

qrt_status reshape(api::Session* session, const char* name, int64_t size, std::string* message) {
  const qrt_dim dim = {name, size};
  qrt_error error;
  const qrt_status status = qrt_session_reshape(session->get(), &dim, 1, &error);
  *message = error.message;
  return status;
}

TEST(Reshape, ReshapesThatCannotBeLeaveTheSessionAsItWas) {
  const OpenModel open;
  const Size2 size = {13, 9};
  api::Session session = open.session(size, {1});
  const std::vector<Bytes> before = run(&session, pixels(size, 1));
  std::string message;
  ASSERT_EQ(reshape(&session, "h", 65, &message), QRT_OUT_OF_RANGE);
  ASSERT_EQ(message, "the size of 'h' is 65, expected 2 to 64");
  ASSERT_EQ(reshape(&session, "h", 1, &message), QRT_OUT_OF_RANGE);
  ASSERT_EQ(reshape(&session, "h", INT64_MIN, &message), QRT_OUT_OF_RANGE);
  ASSERT_EQ(reshape(&session, "batch", 0, &message), QRT_OUT_OF_RANGE);
  ASSERT_EQ(reshape(&session, "depth", 3, &message), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(message, "the model has no open dimension 'depth': it has 'batch', 'h', 'w'");
  ASSERT_EQ(reshape(&session, nullptr, 3, &message), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(reshape(&session, "batch", INT32_MAX, &message), QRT_OUT_OF_MEMORY) << message;
  qrt_error error;
  ASSERT_EQ(qrt_session_reshape(session.get(), nullptr, 1, &error), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(qrt_session_reshape(nullptr, nullptr, 0, &error), QRT_INVALID_ARGUMENT);
  session.run();
  ASSERT_EQ(outputs_of(&session), before);
}

// ---- memory ----

struct Counted {
  int allocated = 0, released = 0;
  size_t most = SIZE_MAX;

  static void* allocate(void* context, size_t bytes, size_t alignment) {
    auto* self = static_cast<Counted*>(context);
    if (bytes > self->most) return nullptr;
    ++self->allocated;
    return ::operator new (bytes, std::align_val_t{alignment});
  }
  static void release(void* context, void* memory, size_t) {
    ++static_cast<Counted*>(context)->released;
    ::operator delete (memory, std::align_val_t{64});
  }
  void use(api::SessionOptions* options) {
    options->allocate = allocate;
    options->release = release;
    options->allocator_context = this;
  }
};

TEST(Reshape, MaxDimsReserveTheBlock) {
  const OpenModel open;
  Counted counted;
  const qrt_dim dims[] = {{"h", 64}, {"w", 64}};
  {
    api::SessionOptions options;
    counted.use(&options);
    options.max_dims = dims;
    options.max_dim_count = 2;
    const qrt_session_info needed = api::Session::needed_memory(open.get(), options);
    api::Session session(open.get(), options);
    const size_t block = session.info().block_bytes;
    ASSERT_EQ(needed.block_bytes, block);
    ASSERT_EQ(needed.memory, session.info().memory);
    for (int64_t h = 2; h <= 64; h += 7)
      for (int64_t w = 3; w <= 64; w += 5) {
        session.reshape({{"h", h}, {"w", w}});
        ASSERT_EQ(session.info().block_bytes, block);
      }
    ASSERT_EQ(run(&session, pixels({58 + 0, 63}, 1)).size(), 3u);
    ASSERT_EQ(counted.allocated, 1);
    session.reshape({{"h", 64}, {"w", 64}, {"batch", 4}});
    ASSERT_EQ(counted.allocated, 2);
    ASSERT_EQ(counted.released, 1);
    ASSERT_EQ(run(&session, pixels({64, 64}, 4)), fixed_outputs({64, 64}, {4}));
  }
  ASSERT_EQ(counted.released, 2);
}

TEST(Reshape, WithoutMemoryForAnotherBlockTheSessionStays) {
  const OpenModel open;
  Counted counted;
  api::SessionOptions options;
  counted.use(&options);
  api::Session session(open.get(), options);
  const std::vector<Bytes> before = run(&session, pixels({8, 7}, 1));
  counted.most = session.info().block_bytes;
  std::string message;
  ASSERT_EQ(reshape(&session, "h", 64, &message), QRT_OUT_OF_MEMORY);
  ASSERT_NE(message.find("a session at batch 1, h 64, w 7"), std::string::npos) << message;
  session.run();
  ASSERT_EQ(outputs_of(&session), before);
  ASSERT_EQ(session.input_info("x").dims[1], 8);
}

TEST(Reshape, MaxMemoryHoldsAtEverySize) {
  const OpenModel open;
  api::SessionOptions options;
  options.max_memory = api::Session::needed_memory(open.get()).memory + 2000;
  api::Session session(open.get(), options);
  std::string message;
  ASSERT_EQ(reshape(&session, "h", 64, &message), QRT_OUT_OF_MEMORY);
  ASSERT_NE(message.find("max_memory"), std::string::npos) << message;
  ASSERT_EQ(run(&session, pixels({8, 7}, 1)), fixed_outputs({8, 7}, {1}));
}

TEST(Reshape, VariablesStayWhereTheirShapeDoes) {
  const Bytes file = testing::sized_counter(3).build();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  api::Session session(model);
  const auto count = [&](size_t n) {
    const Bytes x(n, 2), one(4, 1);
    session.set_input_bytes("x", x.data(), n);
    session.set_input_bytes("one", one.data(), 4);
    session.run();
    Bytes y(n), called(4);
    session.get_output_bytes("y", y.data(), n);
    session.get_output_bytes("called", called.data(), 4);
    return std::vector<Bytes>{y, called};
  };
  ASSERT_EQ(count(3), (std::vector<Bytes>{Bytes(3, 5), Bytes(4, 1)}));
  ASSERT_EQ(count(3), (std::vector<Bytes>{Bytes(3, 7), Bytes(4, 2)}));
  session.reshape({{"n", 700}});
  ASSERT_EQ(count(700), (std::vector<Bytes>{Bytes(700, 5), Bytes(4, 3)}));
  session.reshape({{"n", 2}});
  ASSERT_EQ(count(2), (std::vector<Bytes>{Bytes(2, 5), Bytes(4, 4)}));
  session.reset();
  ASSERT_EQ(count(2), (std::vector<Bytes>{Bytes(2, 5), Bytes(4, 1)}));
}

TEST(Reshape, BuffersStayBoundWhereTheirSizeDoes) {
  const Bytes file = testing::sized_counter(3).build();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  for (const bool external : {false, true})
    for (const size_t padding : {size_t{0}, size_t{QRT_BUFFER_PADDING}}) {
      const size_t both[] = {0, 1};
      api::SessionOptions options;
      options.external_inputs = options.external_outputs = both;
      options.external_input_count = options.external_output_count = external ? 2 : 0;
      api::Session session(model, options);
      alignas(64) uint8_t x[1024] = {}, y[1024] = {};
      testing::Guarded<uint8_t> one(64 + padding),
          called(64 + padding);  // without padding: a page ends there
      memset(one.data(), 1, 4);
      session.bind_input("x", x, 3 + padding);
      session.bind_input("one", one.data(), 4 + padding);
      session.bind_output("y", y, 3 + padding);
      session.bind_output("called", called.data(), 4 + padding);
      session.run();
      ASSERT_EQ(called[0], 1);
      session.reshape({{"n", 500}});
      if (external) {
        ASSERT_FALSE(session.try_run().ok());
        session.bind_input("x", x, 500 + padding);
        session.bind_output("y", y, 500 + padding);
      }
      session.run();
      ASSERT_EQ(called[0], 2);
      ASSERT_EQ(y[0], 3);
      ASSERT_EQ(y[499], external ? 3 : 0);
    }
}

TEST(Reshape, AProfileBeginsAnew) {
  const OpenModel open;
  api::SessionOptions options;
  options.profile = 1;
  options.keep_all = 1;
  api::Session session(open.get(), options);
  session.run();
  session.reshape({{"h", 33}});
  ASSERT_EQ(session.op_info(0).runs, 0u);
  session.run();
  ASSERT_EQ(session.op_info(0).runs, 1u);
  ASSERT_EQ(qrt_session_tensor_count(session.get()), session.op_count());
  qrt_tensor_info info;
  qrt_struct_init(&info);
  ASSERT_EQ(qrt_session_tensor(session.get(), 0, &info, nullptr), QRT_OK);
  ASSERT_EQ(info.dims[1], 17);
}

TEST(Reshape, ASymbolMayBeTheBatch) {
  ModelBuilder m;
  testing::add_symbol(&m, "batch", 2, 2, 8, 2);
  const uint32_t x = m.input({2, 5}), y = m.output({2, 5});
  testing::set_sizes(&m, x, {symbol_size(0), constant_size(5)});
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = testing::float_bits(1.0f);
  m.op(add, {x, x}, {y});
  const Bytes file = m.build();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  ASSERT_EQ(model.info().default_batch, 2u);
  api::SessionOptions options;
  options.batch = 6;
  api::Session session(model, options);
  ASSERT_EQ(session.info().batch, 6u);
  ASSERT_EQ(session.input_info(0).dims[0], 6);
  options.batch = 5;
  api::Session none;
  const api::Outcome outcome = api::Session::try_create(model, &none, options);
  ASSERT_EQ(outcome.code(), QRT_OUT_OF_RANGE);
  ASSERT_STREQ(outcome.message(), "the size of 'batch' is 5, expected 2 to 8 in steps of 2");
}

}  // namespace
}  // namespace qrt::reshape_test
