// SPDX-License-Identifier: Apache-2.0
// The caller's own memory as inputs and outputs: no copy, the same bytes, and what is refused. That no
// operator reads beyond the padding, tests/support/op_tester.h shows for each.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <cstring>
#include <utility>
#include <vector>

#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/frame_model.h"
#include "tests/support/guarded.h"
#include "tests/support/runner.h"
#include "tests/support/within_limits.h"

namespace qrt::bind_test {
namespace {

using testing::Bytes;
using testing::Guarded;
using testing::ModelBuilder;
using testing::pattern;

size_t room(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns memory with the padding that a buffer needs, and a guard page behind it.
std::unique_ptr<Guarded<uint8_t>> buffer(size_t bytes) {
  return std::make_unique<Guarded<uint8_t>>(room(bytes), QRT_BUFFER_PADDING);
}

class Bind : public ::testing::Test {
 protected:
  void start(const ModelBuilder& m) {
    file_ = m.build();
    qrt_error error = {};
    ASSERT_EQ(testing::load_copy(file_.data(), file_.size(), &model_, &error), QRT_OK)
        << error.message;
    ASSERT_EQ(qrt_session_create(model_, &options_, &session_, &error), QRT_OK) << error.message;
  }
  Bind() { qrt_struct_init(&options_); }
  ~Bind() override {
    qrt_session_destroy(session_);
    qrt_model_destroy(model_);
  }

  size_t input_bytes(size_t i) const { return bytes_of(qrt_session_input_info, i); }
  size_t output_bytes(size_t i) const { return bytes_of(qrt_session_output_info, i); }

  std::string refused_input(size_t i, const void* data, size_t capacity) {
    qrt_error error = {};
    EXPECT_EQ(qrt_session_bind_input(session_, i, data, capacity, &error), QRT_INVALID_ARGUMENT);
    return error.message;
  }
  qrt_status bind_input(size_t i, const void* data) {
    return qrt_session_bind_input(session_, i, data, room(input_bytes(i)) + 64, nullptr);
  }
  qrt_status bind_output(size_t i, void* data) {
    return qrt_session_bind_output(session_, i, data, room(output_bytes(i)) + 64, nullptr);
  }

  // Binds all inputs and outputs to memory of the test.
  void bind_all() {
    for (size_t i = 0; i < qrt_model_input_count(model_); ++i) {
      inputs_.push_back(buffer(input_bytes(i)));
      ASSERT_EQ(bind_input(i, inputs_.back()->data()), QRT_OK);
    }
    for (size_t i = 0; i < qrt_model_output_count(model_); ++i) {
      outputs_.push_back(buffer(output_bytes(i)));
      ASSERT_EQ(bind_output(i, outputs_.back()->data()), QRT_OK);
    }
  }
  std::vector<Bytes> run(const std::vector<Bytes>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      memcpy(inputs_[i]->data(), inputs[i].data(), inputs[i].size());
    EXPECT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
    std::vector<Bytes> all;
    for (size_t i = 0; i < outputs_.size(); ++i)
      all.emplace_back(outputs_[i]->data(), outputs_[i]->data() + output_bytes(i));
    return all;
  }

  Bytes file_;
  qrt_session_options options_;
  qrt_model* model_ = nullptr;
  qrt_session* session_ = nullptr;
  std::vector<std::unique_ptr<Guarded<uint8_t>>> inputs_, outputs_;

 private:
  size_t bytes_of(qrt_status (*get)(const qrt_session*, size_t, qrt_tensor_info*), size_t i) const {
    qrt_tensor_info info;
    qrt_struct_init(&info);
    EXPECT_EQ(get(session_, i, &info), QRT_OK);
    return info.bytes;
  }
};

std::vector<Bytes> inputs_for(size_t batch, int seed) {
  std::vector<float> image(batch * 256);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<float>((i * 31 + static_cast<size_t>(seed)) % 130) / 10 - 6;
  return {testing::to_bytes(image), pattern<uint8_t>(batch * 16, 0, 255, seed)};
}

TEST_F(Bind, RunsReadAndWriteTheCallersMemory) {
  for (const size_t batch : {1, 3}) {
    options_.batch = batch;
    start(testing::every_op_model());
    testing::RunOptions alone;
    alone.batch = batch;
    bind_all();
    for (int seed = 1; seed < 3; ++seed) {
      const std::vector<Bytes> inputs = inputs_for(batch, seed);
      ASSERT_EQ(run(inputs), testing::run_model(file_, inputs, alone).outputs);
      ASSERT_EQ(memcmp(inputs_[0]->data(), inputs[0].data(), inputs[0].size()), 0);
    }
    ASSERT_EQ(qrt_session_input_data(session_, 0), inputs_[0]->data());
    ASSERT_EQ(qrt_session_output_data(session_, 1), outputs_[1]->data());
    qrt_session_destroy(std::exchange(session_, nullptr));
    qrt_model_destroy(std::exchange(model_, nullptr));
    inputs_.clear(), outputs_.clear();
  }
}

TEST_F(Bind, ASessionsOwnMemoryComesBack) {
  start(testing::every_op_model());
  void* const own = qrt_session_input_data(session_, 1);
  const std::vector<Bytes> inputs = inputs_for(1, 5);
  bind_all();
  const std::vector<Bytes> expected = run(inputs);
  qrt_error error = {};
  ASSERT_EQ(qrt_session_set_input_bytes(session_, 1, inputs[1].data(), 16, &error),
            QRT_INVALID_ARGUMENT);
  ASSERT_STREQ(error.message,
               "input 1 is bound to the caller's memory, which is not written to: bind NULL first");
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(qrt_session_bind_input(session_, i, nullptr, 0, nullptr), QRT_OK);
    ASSERT_EQ(qrt_session_bind_output(session_, i, nullptr, 0, nullptr), QRT_OK);
    ASSERT_EQ(qrt_session_set_input_bytes(session_, i, inputs[i].data(), inputs[i].size(), nullptr),
              QRT_OK);
  }
  ASSERT_EQ(qrt_session_input_data(session_, 1), own);
  inputs_.clear(), outputs_.clear();  // unmapped: nothing may touch them
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  for (size_t i = 0; i < 2; ++i)
    ASSERT_EQ(memcmp(qrt_session_output_data(session_, i), expected[i].data(), expected[i].size()),
              0);
}

TEST_F(Bind, MemoryThatDoesNotServeIsRefused) {
  start(testing::every_op_model());
  alignas(64) static uint8_t memory[4096];
  EXPECT_EQ(refused_input(0, memory + 4, 4000),
            "input 0 takes memory aligned to 64, this is 4 bytes behind such an address");
  EXPECT_EQ(refused_input(0, memory, 1023), "input 0 takes 1024 bytes, the buffer has 1023");
  EXPECT_EQ(refused_input(2, memory, 4096), "there is no input 2: the model has 2");
  EXPECT_EQ(qrt_session_bind_output(session_, 7, memory, 4096, nullptr), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_session_bind_output(nullptr, 0, memory, 4096, nullptr), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(qrt_session_bind_input(session_, 0, memory, 1024 + 64, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
}

TEST_F(Bind, AnOutputThatOverlapsAnythingIsRefusedByTheRun) {
  start(testing::every_op_model());
  alignas(64) static uint8_t memory[8192];
  ASSERT_EQ(qrt_session_bind_input(session_, 0, memory, 8192, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_bind_output(session_, 1, memory + 960, 4096, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(qrt_session_bind_output(session_, 1, memory + 1024, 4096, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_bind_output(session_, 0, memory + 1024, 4096, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_INVALID_ARGUMENT);  // two outputs
  ASSERT_EQ(qrt_session_bind_output(session_, 0, memory + 2048, 4096, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_bind_input(session_, 1, memory + 64, 4096, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);  // two inputs are no matter
}

TEST_F(Bind, ExternalTensorsTakeNoMemoryAndHaveToBeBound) {
  size_t own = 0, external = 0;
  options_.batch = 8;
  start(testing::every_op_model());
  own = testing::memory_of(session_);
  qrt_session_destroy(std::exchange(session_, nullptr));
  qrt_error error = {};
  testing::External both;
  both.add_inputs(model_, &options_);
  both.add_outputs(model_, &options_);
  ASSERT_EQ(qrt_session_create(model_, &options_, &session_, &error), QRT_OK) << error.message;
  external = testing::memory_of(session_);
  ASSERT_LE(external + input_bytes(0), own);
  size_t needed = 0;
  ASSERT_EQ(testing::needed_memory(model_, &options_, &needed, &error), QRT_OK);
  ASSERT_EQ(needed, external);
  ASSERT_EQ(qrt_session_input_data(session_, 0), nullptr);
  ASSERT_EQ(qrt_session_output_data(session_, 0), nullptr);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_INVALID_ARGUMENT);
  const std::vector<Bytes> inputs = inputs_for(8, 3);
  ASSERT_EQ(qrt_session_set_input_bytes(session_, 0, inputs[0].data(), inputs[0].size(), &error),
            QRT_INVALID_ARGUMENT);
  ASSERT_STREQ(error.message, "input 0 is external and has no memory: bind it");
  bind_all();
  testing::RunOptions alone;
  alone.batch = 8;
  ASSERT_EQ(run(inputs), testing::run_model(file_, inputs, alone).outputs);
  ASSERT_EQ(qrt_session_bind_input(session_, 1, nullptr, 0, nullptr), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_INVALID_ARGUMENT);
}

// Each run may read another frame: a convolution reads its input in the caller's memory, frames of
// a camera in turns.
TEST_F(Bind, EveryRunMayHaveAnotherFrame) {
  start(testing::frame_model());
  bind_all();
  std::vector<std::unique_ptr<Guarded<uint8_t>>> frames;
  for (int i = 0; i < 3; ++i) frames.push_back(buffer(testing::kFrameBytes));
  for (int turn = 0; turn < 7; ++turn) {
    const Bytes pixels = pattern<uint8_t>(testing::kFrameBytes, 0, 255, turn);
    uint8_t* const memory = frames[static_cast<size_t>(turn) % 3]->data();
    memcpy(memory, pixels.data(), pixels.size());
    ASSERT_EQ(bind_input(0, memory), QRT_OK);
    ASSERT_EQ(run({}), testing::run_model(file_, {pixels}).outputs) << turn;
  }
}

// Outputs without memory of their own are written to each buffer that is bound: an input, a
// constant, views of each other, and an output that is listed twice.
TEST_F(Bind, OutputsThatAreTheSameAreWrittenToEachBuffer) {
  ModelBuilder m;
  const auto reshape = [](std::vector<int32_t> shape) {
    fb::ReshapeOptionsT o;
    o.shape = std::move(shape);
    return o;
  };
  const uint32_t x = m.input({8, 8}), y = m.tensor({8, 8});
  const Bytes values = pattern<uint8_t>(64, 10, 20);
  const uint32_t constant = m.constant({64}, DType::kUInt8, values);
  fb::LutOptionsT lut;
  lut.table = m.buffer(pattern<uint8_t>(256, 0, 255, 3));
  m.op(std::move(lut), {x}, {y});
  m.mark_output(y);
  const uint32_t view = m.output({64});
  m.op(reshape({64}), {y}, {view});
  const uint32_t of_constant = m.output({4, 16});
  m.op(reshape({4, 16}), {constant}, {of_constant});
  m.mark_output(y);
  m.mark_output(x);
  m.mark_output(constant);
  start(m);
  const Bytes data = pattern<uint8_t>(64, 0, 255, 9);
  bind_all();
  const std::vector<Bytes> all = run({data});
  ASSERT_EQ(all, testing::run_model(file_, {data}).outputs);
  ASSERT_NE(all[0], Bytes(64, 0xA5));
  ASSERT_EQ(all, (std::vector<Bytes>{all[0], all[0], values, all[0], data, values}));
}

// A batch that is run in micro-batches (micro_batches.h): all that moves from micro-batch to micro-batch moves in the buffers.
TEST_F(Bind, BatchesInSlices) {
  ModelBuilder m;
  const Shape images = {-1, 50, 125, 31};
  const uint32_t x = m.input(images), a = m.tensor(images), y = m.output(images);
  for (const auto& [from, to] : {std::pair(x, a), std::pair(a, y)}) {
    fb::LutOptionsT lut;
    lut.table = m.buffer(pattern<uint8_t>(256, 0, 255, static_cast<int>(to)));
    m.op(std::move(lut), {from}, {to});
  }
  m.mark_output(x);
  options_.batch = 8;
  static constexpr size_t kFirst[] = {0};
  options_.external_inputs = kFirst;
  options_.external_input_count = 1;
  start(m);
  bind_all();
  const std::vector<Bytes> inputs = {pattern<uint8_t>(8 * 50 * 125 * 31, 0, 255, 2)};
  testing::RunOptions alone;
  alone.batch = 8;
  ASSERT_EQ(run(inputs), testing::run_model(file_, inputs, alone).outputs);
}

// A recurrent network reads and writes its state in two buffers in turns.
TEST_F(Bind, BuffersMayChangePlaces) {
  ModelBuilder m;
  const uint32_t x = m.input({64}), y = m.output({64});
  fb::LutOptionsT lut;
  Bytes next(256);
  for (size_t i = 0; i < 256; ++i) next[i] = static_cast<uint8_t>(i + 1);
  lut.table = m.buffer(next);
  m.op(std::move(lut), {x}, {y});
  start(m);
  const auto a = buffer(64), b = buffer(64);
  memset(a->data(), 0, 64);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(bind_input(0, i % 2 == 0 ? a->data() : b->data()), QRT_OK);
    ASSERT_EQ(bind_output(0, i % 2 == 0 ? b->data() : a->data()), QRT_OK);
    ASSERT_EQ(qrt_session_run(session_, nullptr), QRT_OK);
  }
  ASSERT_EQ(Bytes(a->data(), a->data() + 64), Bytes(64, 10));
}

// Bind all inputs of a session that has no room for a copy of any: it holds no memory for them, and takes no more
// than it needs.
class BindWithoutCopies : public Bind {
 protected:
  void start_without_room(const ModelBuilder& m) {
    start(m);
    qrt_session_destroy(std::exchange(session_, nullptr));
    testing::External all;
    qrt_session_options options = options_;
    all.add_inputs(model_, &options);
    qrt_error error = {};
    ASSERT_EQ(testing::needed_memory(model_, &options, &options.max_memory, &error), QRT_OK);
    ASSERT_EQ(qrt_session_create(model_, &options, &session_, &error), QRT_OK) << error.message;
  }
  void expect_output(const Bytes& input) {
    qrt_error error = {};
    ASSERT_EQ(qrt_session_run(session_, &error), QRT_OK) << error.message;
    const Bytes expected = testing::run_model(file_, {input}).outputs[0];
    ASSERT_EQ(memcmp(qrt_session_output_data(session_, 0), expected.data(), expected.size()), 0);
  }
};

// Kernels read what is behind a buffer in its last byte's page, which is another's and changes nothing.
TEST_F(BindWithoutCopies, ABufferThatEndsWithinAPageIsReadInPlace) {
#if QRT_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer watches what is read behind a buffer";
#endif
  start_without_room(testing::frame_model());
  const size_t bytes = input_bytes(0), least = room(bytes);
  qrt_error error = {};
  for (const size_t behind : {least - bytes, least - bytes + QRT_BUFFER_PADDING}) {
    Guarded<uint8_t> page(bytes + behind);
    for (int turn = 0; turn < 4; ++turn) {
      const Bytes pixels = pattern<uint8_t>(bytes, 0, 255, turn);
      memcpy(page.data(), pixels.data(), bytes);
      memset(page.data() + bytes, turn * 85, behind);
      const bool is_in_page = behind >= QRT_BUFFER_PADDING;
      ASSERT_EQ(qrt_session_bind_input(session_, 0, page.data(), bytes, &error),
                is_in_page ? QRT_OK : QRT_OUT_OF_MEMORY)
          << error.message;
      if (is_in_page) expect_output(pixels);
    }
  }
}

// Their kernels load no more than a buffer's bytes, though its page ends with them.
TEST_F(BindWithoutCopies, OperatorsThatReadNoFurtherTakeABufferThatEndsWithItsPage) {
  const auto quantize = [](ModelBuilder* m, uint32_t x, uint32_t y) {
    fb::QuantizeOptionsT o;
    o.scale = {testing::float_bits(0.37f)};
    o.zero_point = {11};
    m->op(std::move(o), {x}, {y});
  };
  const auto transpose = [](ModelBuilder* m, uint32_t x, uint32_t y) {
    fb::TransposeOptionsT o;
    o.perm = {0, 2, 1};
    m->op(std::move(o), {x}, {y});
  };
  const auto gather = [](ModelBuilder* m, uint32_t x, uint32_t y) {
    fb::GatherOptionsT o;
    o.axes.push_back(std::make_unique<fb::GatherAxisT>());
    o.axes[0]->axis = 2;
    o.axes[0]->index = {3, 0};
    m->op(std::move(o), {x}, {y});
  };
  for (const int64_t n : {16, 48, 272, 1600, 4112}) {
    const Shape planes = {1, 3, n}, pixels = {1, n, 3};
    std::vector<ModelBuilder> models(4);
    quantize(&models[0], models[0].input(planes, DType::kFloat32), models[0].output(planes));
    {
      ModelBuilder& m = models[1];
      const uint32_t x = m.input(planes, DType::kFloat32), q = m.tensor(planes);
      quantize(&m, x, q);
      transpose(&m, q, m.output(pixels));
    }
    const Shape bytes = {1, 4, n};
    transpose(&models[2], models[2].input(bytes), models[2].output({1, n, 4}));
    gather(&models[3], models[3].input(bytes), models[3].output({1, 4, 2}));
    for (const ModelBuilder& m : models) {
      start_without_room(m);
      Bytes input = pattern<uint8_t>(input_bytes(0), 0, 120);
      Guarded<uint8_t> memory(input.size());
      memcpy(memory.data(), input.data(), input.size());
      qrt_error error = {};
      ASSERT_EQ(qrt_session_bind_input(session_, 0, memory.data(), input.size(), &error), QRT_OK)
          << error.message;
      expect_output(input);
      qrt_session_destroy(std::exchange(session_, nullptr));
      qrt_model_destroy(std::exchange(model_, nullptr));
    }
  }
}

// Buffers without padding, which end where readable memory ends, are copied where needed.
TEST_F(Bind, BuffersWithoutPaddingAreCopiedWhereTheyHaveToBe) {
  for (const bool is_external : {false, true}) {
    for (const ModelBuilder& m : {testing::every_op_model(), testing::frame_model()}) {
      qrt_session_destroy(std::exchange(session_, nullptr));
      qrt_model_destroy(std::exchange(model_, nullptr));
      start(m);
      testing::External all;
      qrt_error error = {};
      if (is_external) {
        qrt_session_destroy(std::exchange(session_, nullptr));
        qrt_session_options options = options_;
        all.add_inputs(model_, &options);
        all.add_outputs(model_, &options);
        ASSERT_EQ(qrt_session_create(model_, &options, &session_, &error), QRT_OK);
      }
      const size_t told = testing::memory_of(session_);
      std::vector<Bytes> inputs;
      std::vector<std::unique_ptr<Guarded<uint8_t>>> in, out;
      for (size_t i = 0; i < qrt_model_input_count(model_); ++i) {
        const size_t bytes = input_bytes(i);
        inputs.push_back(pattern<uint8_t>(bytes, 0, 60, static_cast<int>(i)));
        in.push_back(std::make_unique<Guarded<uint8_t>>(room(bytes)));
        uint8_t* data = in.back()->data();
        ASSERT_EQ(qrt_session_bind_input(session_, i, data, room(bytes), &error), QRT_OK)
            << error.message;
        ASSERT_EQ(qrt_session_input_data(session_, i), data);
      }
      for (size_t i = 0; i < qrt_model_output_count(model_); ++i) {
        const size_t bytes = output_bytes(i);
        out.push_back(std::make_unique<Guarded<uint8_t>>(room(bytes)));
        ASSERT_EQ(qrt_session_bind_output(session_, i, out.back()->data(), room(bytes), &error),
                  QRT_OK)
            << error.message;
      }
      ASSERT_GE(testing::memory_of(session_), told);
      ASSERT_TRUE(is_external || testing::memory_of(session_) == told);
      for (int turn = 0; turn < 3; ++turn) {
        for (size_t i = 0; i < inputs.size(); ++i) {
          for (uint8_t& v : inputs[i]) v = static_cast<uint8_t>((v + turn) % 60);
          memcpy(in[i]->data(), inputs[i].data(), inputs[i].size());
        }
        ASSERT_EQ(qrt_session_run(session_, &error), QRT_OK) << error.message;
        const std::vector<Bytes> expected = testing::run_model(file_, inputs).outputs;
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(memcmp(out[i]->data(), expected[i].data(), expected[i].size()), 0) << turn;
          Bytes copy(expected[i].size());
          ASSERT_EQ(qrt_session_get_output_bytes(session_, i, copy.data(), copy.size(), &error),
                    QRT_OK);
          ASSERT_EQ(copy, expected[i]);
        }
      }
      // They may not overlap either.
      ASSERT_EQ(qrt_session_bind_output(session_, 0, in[0]->data(), output_bytes(0), &error),
                QRT_OK)
          << error.message;
      ASSERT_EQ(qrt_session_run(session_, &error), QRT_INVALID_ARGUMENT);
      ASSERT_NE(std::string(error.message).find("overlaps"), std::string::npos);
    }
  }
}

TEST_F(Bind, ACopyOfAnExternalBufferIsCounted) {
  start(testing::frame_model());
  qrt_session_destroy(std::exchange(session_, nullptr));
  testing::External all;
  all.add_inputs(model_, &options_);
  qrt_error error = {};
  size_t needed = 0;
  ASSERT_EQ(testing::needed_memory(model_, &options_, &needed, &error), QRT_OK);
  options_.max_memory = needed;
  ASSERT_EQ(qrt_session_create(model_, &options_, &session_, &error), QRT_OK);
  const size_t bytes = input_bytes(0);
  alignas(64) static uint8_t padded[testing::kFrameBytes + QRT_BUFFER_PADDING];
  Guarded<uint8_t> page(room(bytes));
  uint8_t* const memory = page.data();
  ASSERT_EQ(qrt_session_bind_input(session_, 0, memory, bytes, &error), QRT_OUT_OF_MEMORY);
  ASSERT_NE(std::string(error.message).find("max_memory"), std::string::npos) << error.message;
  ASSERT_EQ(qrt_session_bind_input(session_, 0, padded, sizeof padded, &error), QRT_OK);
  ASSERT_EQ(qrt_session_run(session_, &error), QRT_OK);
  qrt_session_destroy(std::exchange(session_, nullptr));
  options_.max_memory = 0;
  ASSERT_EQ(qrt_session_create(model_, &options_, &session_, &error), QRT_OK);
  ASSERT_EQ(qrt_session_bind_input(session_, 0, memory, bytes, &error), QRT_OK);
  ASSERT_EQ(testing::memory_of(session_), needed + bytes + 64);
}

}  // namespace
}  // namespace qrt::bind_test
