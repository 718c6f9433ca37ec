// Open dimensions: expressions and rules, files to refuse, and sessions at sizes other than those of the file, which give
// the bytes of a model in which these sizes are fixed.
#include "runtime/sizes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <qrt/qrt.hpp>
#include <string>
#include <vector>

#include "runtime/infer.h"
#include "tests/support/planned.h"
#include "tests/support/runner.h"
#include "tests/support/sized_model.h"

namespace qrt::sizes_test {
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

// Keeps the buffer of a table made by the object API.
class StoredSize {
 public:
  explicit StoredSize(const SizeOf& size) {
    const std::unique_ptr<fb::SizeT> stored = size.stored();
    fbb_.Finish(fb::CreateSize(fbb_, stored.get()));
  }
  const fb::Size& get() const { return *flatbuffers::GetRoot<fb::Size>(fbb_.GetBufferPointer()); }

 private:
  flatbuffers::FlatBufferBuilder fbb_;
};

Status evaluated(const SizeOf& size, int64_t* value) {
  return evaluate(StoredSize(size).get(), {17, 5}, {Shape{2, 3}, Shape{7}}, value);
}

void expect_value(const SizeOf& size, int64_t expected) {
  int64_t value = -12345;
  const Status status = evaluated(size, &value);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(value, expected);
}

void expect_malformed(const SizeOf& size, const std::string& part) {
  int64_t value;
  const Status status = evaluated(size, &value);
  ASSERT_EQ(status.code(), Code::kInvalidModel);
  ASSERT_NE(std::string(status.message()).find(part), std::string::npos) << status.message();
}

SizeOf of(std::vector<Function> functions, std::vector<int32_t> values) {
  return {std::move(functions), std::move(values)};
}

TEST(Sizes, AreEvaluated) {
  expect_value(constant_size(-3), -3);
  expect_value(symbol_size(1), 5);
  expect_value(dimension(0, 1), 3);
  expect_value(dimension(1, 0), 7);
  expect_value(symbol_size(0) * 2 - symbol_size(1), 29);
  expect_value(constant_size(-7) / 2, -4);  // rounds down
  expect_value(constant_size(7) / 2, 3);
  expect_value(constant_size(-8) / 2, -4);
  expect_value(testing::applied(Function::MINIMUM, symbol_size(0), symbol_size(1)), 5);
  expect_value(testing::applied(Function::MAXIMUM, symbol_size(0), symbol_size(1)), 17);
}

TEST(Sizes, KeepWithinTheirLimits) {
  const SizeOf large = constant_size(1 << 20) * constant_size(1 << 20);
  expect_value(large, int64_t{1} << 40);
  expect_value(constant_size(0) - large, -(int64_t{1} << 40));
  expect_malformed(large + 1, "leaves -2^40 to 2^40");
  expect_malformed(constant_size(-1) - large, "leaves -2^40 to 2^40");
  expect_malformed(large * large, "leaves -2^40 to 2^40");
  expect_malformed(constant_size(5) / 0, "divided by 0");
  expect_malformed(constant_size(5) / -1, "divided by -1");
  SizeOf longest = constant_size(1);
  while (longest.values.size() + 2 <= kMaxSizeSteps) longest = std::move(longest) + 1;
  expect_value(longest, 32);
  expect_malformed(of(std::vector<Function>(kMaxSizeSteps + 1), std::vector<int32_t>(65)),
                   "65 steps");
}

TEST(Sizes, RefuseMalformedExpressions) {
  expect_malformed({}, "0 steps");
  expect_malformed(of({Function::CONSTANT}, {}), "1 functions and 0 values");
  expect_malformed(of({Function::CONSTANT, Function::CONSTANT}, {1, 1}), "leaves 2 numbers");
  expect_malformed(of({Function::ADD}, {0}), "takes two numbers where there are 0");
  expect_malformed(of({Function::CONSTANT, Function::ADD}, {1, 0}), "where there are 1");
  expect_malformed(of({Function::CONSTANT, static_cast<Function>(9)}, {1, 0}), "where there are 1");
  expect_malformed(
      of({Function::CONSTANT, Function::CONSTANT, static_cast<Function>(200)}, {1, 1, 0}),
      "function 200");
  expect_malformed(symbol_size(2), "symbol 2, but there are 2");
  expect_malformed(symbol_size(-1), "symbol -1");
  expect_malformed(dimension(2, 0), "input 2, but there are 2");
  expect_malformed(dimension(1, 1), "dimension 1 of input 1, which has 1");
  expect_malformed(of({Function::DIMENSION}, {-1}), "dimension of input 0");
  expect_malformed(of({Function::DIMENSION}, {std::numeric_limits<int32_t>::min()}), "dimension");
}

// ---- whole models ----

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

// The outputs of the model in which the sizes are fixed.
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

TEST(Sizes, SessionsGiveTheBytesOfAFixedModel) {
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

TEST(Sizes, EveryInstructionSetGivesTheSameBytes) {
  const OpenModel open;
  for (const char* isa : testing::machine_isas()) {
    const Setting setting = {2, 1, isa};
    const Size2 size = {13, 9};
    api::Session session = open.session(size, setting);
    ASSERT_EQ(run(&session, pixels(size, 2)), fixed_outputs(size, setting)) << isa;
  }
}

TEST(Sizes, LargeBatchesAreCutAtOtherSizes) {
  const OpenModel open;
  const Size2 size = {64, 64};
  const Setting setting = {32};
  api::Session session = open.session(size, setting);
  ASSERT_EQ(run(&session, pixels(size, 32)), fixed_outputs(size, setting));
}

TEST(Sizes, ASessionGoesToOtherSizesAndBack) {
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

TEST(Sizes, InputsAreZerosAfterAReshape) {
  const OpenModel open;
  api::Session session = open.session({64, 64}, {1});
  const Bytes ones(64 * 64 * 4, 255);
  session.set_input_bytes("x", ones.data(), ones.size());
  session.run();
  session.reshape({{"h", 9}, {"w", 9}});
  for (const uint8_t v : session.input<uint8_t>("x")) ASSERT_EQ(v, 0);
  // The same sizes again change nothing.
  session.set_input_bytes("x", ones.data(), 9 * 9 * 4);
  session.reshape({{"h", 9}});
  for (const uint8_t v : session.input<uint8_t>("x")) ASSERT_EQ(v, 255);
}

TEST(Sizes, InfosTellOfOpenDimensions) {
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

TEST(Sizes, ReshapesThatCannotBeLeaveTheSessionAsItWas) {
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
  ASSERT_EQ(reshape(&session, "batch", INT32_MAX, &message), QRT_INVALID_ARGUMENT) << message;
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

TEST(Sizes, MaxDimsReserveTheBlock) {
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

TEST(Sizes, WithoutMemoryForAnotherBlockTheSessionStays) {
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

TEST(Sizes, MaxMemoryHoldsAtEverySize) {
  const OpenModel open;
  api::SessionOptions options;
  options.max_memory = api::Session::needed_memory(open.get()).memory + 2000;
  api::Session session(open.get(), options);
  std::string message;
  ASSERT_EQ(reshape(&session, "h", 64, &message), QRT_OUT_OF_MEMORY);
  ASSERT_NE(message.find("max_memory"), std::string::npos) << message;
  ASSERT_EQ(run(&session, pixels({8, 7}, 1)), fixed_outputs({8, 7}, {1}));
}

TEST(Sizes, VariablesStayWhereTheirShapeDoes) {
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

TEST(Sizes, BuffersStayBoundWhereTheirSizeDoes) {
  const Bytes file = testing::sized_counter(3).build();
  const api::Model model = api::Model::load_memory(file.data(), file.size());
  for (const bool external : {false, true})
    for (const size_t padding : {size_t{0}, size_t{QRT_BUFFER_PADDING}}) {
      const size_t both[] = {0, 1};
      api::SessionOptions options;
      options.external_inputs = options.external_outputs = both;
      options.external_input_count = options.external_output_count = external ? 2 : 0;
      api::Session session(model, options);
      alignas(64) uint8_t x[1024] = {}, one[128] = {1, 1, 1, 1}, y[1024] = {}, called[128] = {};
      session.bind_input("x", x, 3 + padding);
      session.bind_input("one", one, 4 + padding);
      session.bind_output("y", y, 3 + padding);
      session.bind_output("called", called, 4 + padding);
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

TEST(Sizes, AProfileBeginsAnew) {
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

TEST(Sizes, ASymbolMayBeTheBatch) {
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

// ---- files to refuse ----

Bytes damaged(const std::function<void(fb::ModelT&)>& damage) {
  SizedModel model(8, 7, true);
  damage(model.builder().model());
  return model.build();
}

// The operators of SizedModel.
enum Op : size_t { kConv, kPool, kResize, kAdd, kGather, kMean, kColumns, kReshape, kDepthwise };

void expect_bad(const std::function<void(fb::ModelT&)>& damage, const std::string& part) {
  expect_refused(damaged(damage), QRT_INVALID_MODEL, part);
}

TEST(Sizes, RefuseBadSymbols) {
  expect_bad([](fb::ModelT& m) { m.version = 1; }, "format version 1 has no symbols");
  expect_bad(
      [](fb::ModelT& m) {
        m.symbols.clear();
        m.version = 1;
      },
      "format version 1");
  expect_bad([](fb::ModelT& m) { m.symbols.clear(); }, "symbol 0, but there are 0");
  expect_bad([](fb::ModelT& m) { m.symbols[0]->name = ""; }, "has no name");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->name = "h"; }, "symbol 0 has the same name");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->name = "batch"; }, "dimension -1 has the same name");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->name = std::string("a\0b", 3); }, "zero byte");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->least = m.symbols[1]->value = 0; },
             "its value is 0, of 0 to 64");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->least = 8; }, "of 8 to 64");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->most = 6; }, "of 3 to 6");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->most = 0x80000000u; }, "to 2147483648");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->step = 0; }, "steps of 0");
  expect_bad([](fb::ModelT& m) { m.symbols[1]->step = 3; }, "steps of 3");
  expect_bad(
      [](fb::ModelT& m) {
        while (m.symbols.size() <= kMaxSymbols) {
          m.symbols.push_back(std::make_unique<fb::SymbolT>(*m.symbols[0]));
          m.symbols.back()->name = "s" + std::to_string(m.symbols.size());
        }
      },
      "65 symbols, expected at most 64");
}

TEST(Sizes, RefuseBadSizesOfTensors) {
  const auto x = [](fb::ModelT& m) -> fb::TensorT& { return *m.tensors[m.inputs[0]]; };
  expect_bad([&](fb::ModelT& m) { x(m).sizes.pop_back(); }, "sizes for 3 dimensions, but 4");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[1] = symbol_size(1).stored(); },
             "has the shape [1, 8, 7, 4], but its sizes give [1, 7, 7, 4]");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[0] = constant_size(1).stored(); },
             "dimension 0 is the batch, but its size is 1");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[1] = dimension(0, 1).stored(); },
             "there are 0 inputs");
  expect_bad([&](fb::ModelT& m) { x(m).sizes[1] = (symbol_size(0) - 9).stored(); },
             "dimension 1 has the size -1");
  expect_bad(
      [&](fb::ModelT& m) {
        fb::TensorT& t = *m.tensors[m.operators[kConv]->outputs[0]];
        for (int32_t d : t.shape) t.sizes.push_back(constant_size(d).stored());
      },
      "has sizes, but is no model input, output or variable");
}

TEST(Sizes, RefuseBadRules) {
  const auto r = [](fb::ModelT& m, Op op, size_t i) -> fb::SizeRuleT& {
    return *m.operators[op]->sizes[i];
  };
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).size = constant_size(3).stored(); },
             "the rule for PAD_TOP 0 does not give what stands in the options");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).size = constant_size(-1).stored(); },
             "the rule for PAD_TOP 0: it gives -1, expected 0 to 65535");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).size = nullptr; }, "a size is missing");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).field = fb::SizeField::KERNEL_H; },
             "this operator has no such field");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).field = static_cast<fb::SizeField>(77); },
             "there is no field 77");
  expect_bad([&](fb::ModelT& m) { r(m, kConv, 0).index = 1; }, "this operator has no such field");
  expect_bad(
      [&](fb::ModelT& m) { std::swap(m.operators[kConv]->sizes[0], m.operators[kConv]->sizes[1]); },
      "ascending order");
  expect_bad(
      [&](fb::ModelT& m) {
        m.operators[kAdd]->sizes.push_back(
            testing::rule(fb::SizeField::SHAPE, 0, constant_size(1)));
      },
      "this operator has no such field");
  expect_bad([&](fb::ModelT& m) { r(m, kReshape, 0).index = 2; }, "no such field");
  expect_bad([&](fb::ModelT& m) { r(m, kReshape, 0).size = dimension(1, 0).stored(); },
             "input 1, but there are 1");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).resize->scale = testing::float_bits(3.0f); },
             "the rule for MAP 0 does not give what stands in the options");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).resize->scale = 0x7fc00000; }, "scale is nan");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).size = constant_size(1 << 21).stored(); },
             "more entries than");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 0).resize = nullptr; },
             "neither pieces nor resize");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kGather, 0).resize->rounding = static_cast<fb::ResizeRounding>(5);
      },
      "rounding is 5");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->divisor = 0; }, "divisor is 0");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->begin = nullptr; }, "missing");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->begin = constant_size(-1).stored(); },
             "it gives the index -1");
  expect_bad([&](fb::ModelT& m) { r(m, kGather, 1).pieces[1]->step = 2; },
             "does not give what stands in the options");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kGather, 1).pieces[0]->count = (constant_size(1 << 20) * (1 << 20)).stored();
      },
      "more entries than");
  expect_bad([&](fb::ModelT& m) { r(m, kResize, 0).resize = nullptr; }, "it has no resize");
  expect_bad([&](fb::ModelT& m) { r(m, kResize, 1).index = 2; }, "no such field");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kResize, 0).resize->coordinates = fb::ResizeCoordinates::ASYMMETRIC;
      },
      "the rule for RESIZE 0 does not give what stands in the options");
  expect_bad(
      [&](fb::ModelT& m) {
        r(m, kResize, 0).resize->coordinates = static_cast<fb::ResizeCoordinates>(6);
      },
      "coordinates is 6");
  expect_bad([&](fb::ModelT& m) { r(m, kMean, 0).numerator = 0; }, "numerator or denominator is 0");
  expect_bad([&](fb::ModelT& m) { r(m, kMean, 0).numerator += 1; },
             "does not give what stands in the options");
  expect_bad([&](fb::ModelT& m) { r(m, kMean, 0).size = constant_size(0).stored(); },
             "it gives 0, expected 1");
}

// Rules that hold at the file's own sizes and make no sense at others.
TEST(Sizes, HostileRulesEndInAStatus) {
  const auto at = [](const std::function<void(fb::ModelT&)>& damage, int64_t h,
                     std::string* message) {
    const Bytes file = damaged(damage);
    const api::Model model = api::Model::load_memory(file.data(), file.size());
    const qrt_dim dim = {"h", h};
    api::SessionOptions options;
    options.dims = &dim;
    options.dim_count = 1;
    api::Session session;
    const api::Outcome outcome = api::Session::try_create(model, &session, options);
    *message = outcome.message();
    return outcome.code();
  };
  std::string message;
  const auto conv_top = [](fb::ModelT& m) {
    m.operators[kConv]->sizes[0]->size = (symbol_size(0) * 100 - 800).stored();
  };
  ASSERT_EQ(at(conv_top, 7, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("it gives -100"), std::string::npos) << message;
  ASSERT_EQ(at(conv_top, 9, &message), QRT_INVALID_ARGUMENT);  // other shapes than Add takes
  const auto columns = [](fb::ModelT& m) {
    auto& piece = *m.operators[kGather]->sizes[1]->pieces[2];
    piece.begin = (dimension(0, 2) - 1 + symbol_size(0) - 8).stored();
  };
  ASSERT_EQ(at(columns, 8, &message), QRT_OK) << message;
  ASSERT_EQ(at(columns, 9, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("of axis 2 is"), std::string::npos) << message;
  const auto many = [](fb::ModelT& m) {
    auto& piece = *m.operators[kGather]->sizes[1]->pieces[0];
    piece.count = ((symbol_size(0) - 8) * (1 << 20) + 1).stored();
  };
  ASSERT_EQ(at(many, 16, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("more entries than"), std::string::npos) << message;
  const auto divided = [](fb::ModelT& m) {
    m.operators[kReshape]->sizes[0]->size =
        (dimension(0, 2) * dimension(0, 3) * (symbol_size(0) - 7) / (symbol_size(0) - 7)).stored();
  };
  ASSERT_EQ(at(divided, 9, &message), QRT_OK) << message;
  ASSERT_EQ(at(divided, 7, &message), QRT_INVALID_ARGUMENT);
  ASSERT_NE(message.find("divided by 0"), std::string::npos) << message;
}

// Words of the file become indices, sizes and extremes: what still loads runs at other sizes, or is refused with a
// message.
TEST(Sizes, NoReplacedWordsMisbehave) {
  const uint32_t words[] = {0,   1,     2,        5,          8,          9,
                            255, 65535, 1u << 20, 0x7fffffff, 0x80000000, 0xffffffff};
  for (const uint32_t least : {2, 0}) {
    SizedModel sized(8, 7, true);
    for (const auto& symbol : sized.builder().model().symbols) symbol->least = least;
    const Bytes file = sized.build();
    size_t loaded = 0, sessions = 0;
    for (size_t at = 0; at + 4 <= file.size(); at += 4) {
      Bytes copy = file;
      memcpy(copy.data() + at, &words[at / 4 % std::size(words)], 4);
      api::Model model;
      if (!api::Model::try_load_memory(copy.data(), copy.size(), &model).ok()) continue;
      ++loaded;
      const qrt_dim dims[] = {{"h", 13}, {"w", 9}};
      api::SessionOptions options;
      options.max_memory = size_t{1} << 26;
      options.dims = dims;
      options.dim_count = 2;
      api::Session session;
      const api::Outcome made = api::Session::try_create(model, &session, options);
      if (!made.ok()) {
        ASSERT_STRNE(made.message(), "") << at;
        ASSERT_NE(made.code(), QRT_INTERNAL) << at;
        continue;
      }
      ++sessions;
      session.run();
      for (const char* name : {"h", "w"})
        for (const int64_t size : {int64_t{least}, int64_t{64}}) {
          const qrt_dim dim = {name, size};
          const api::Outcome reshaped = session.try_reshape(&dim, 1);
          ASSERT_TRUE(reshaped.ok() || reshaped.message()[0] != '\0');
          session.run();
        }
    }
    ASSERT_GT(loaded, 100u);
    ASSERT_GT(sessions, 100u);
  }
}

TEST(Sizes, QuantizationAlongAnOpenDimensionHoldsAtItsDefaultOnly) {
  ModelBuilder m;
  testing::add_symbol(&m, "n", 2);
  const uint32_t x = m.input({2, 5}), y = m.output({2, 5});
  testing::set_sizes(&m, x, {symbol_size(0), constant_size(5)});
  auto q = std::make_unique<fb::QuantizationT>();
  q->scale = {1, 2};
  q->zero_point = {0, 0};
  q->axis = 0;
  m.at(y).quantization = std::move(q);
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = testing::float_bits(1.0f);
  m.op(add, {x, x}, {y});
  const std::shared_ptr<const VerifiedModel> model = testing::verified(m);
  PlanOptions options;
  ASSERT_TRUE(make_plan(model, options).ok());
  options.sizes = {3};
  Result<std::shared_ptr<const Plan>> plan = make_plan(model, options);
  ASSERT_EQ(plan.status().code(), Code::kInvalidArgument);
  ASSERT_NE(std::string(plan.status().message()).find("2 quantization scales along dimension 0"),
            std::string::npos)
      << plan.status().message();
}

}  // namespace
}  // namespace qrt::sizes_test
