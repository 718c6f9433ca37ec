// SPDX-License-Identifier: Apache-2.0
// Tests the costs of a file before its first run: small files that refer to one object many times,
// or ask for much in a few bytes, are refused, or take time and memory in proportion to their size.
// Each of these files once took minutes or gigabytes.
#include <gtest/gtest.h>
#include <qrt/qrt.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/c_api.h"
#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"
#include "tests/support/within_limits.h"

namespace qrt::costs_test {
namespace {

using testing::Bytes;
using testing::Limits;
using testing::ModelBuilder;
using testing::run_within;

constexpr size_t kMiB = size_t{1} << 20, kGiB = size_t{1} << 30;

// Builds models in which several references share one FlatBuffers table, which a ModelBuilder
// cannot write.
class SharingBuilder {
 public:
  using Tensor = flatbuffers::Offset<fb::Tensor>;

  SharingBuilder() { fbb.CreateVector(std::vector<uint8_t>(64)); }

  flatbuffers::Offset<flatbuffers::Vector<int32_t>> numbers(const std::vector<int32_t>& values) {
    return fbb.CreateVector(values);
  }
  Tensor tensor(flatbuffers::Offset<flatbuffers::Vector<int32_t>> shape,
                flatbuffers::Offset<fb::Quantization> quantization = 0) {
    return fb::CreateTensor(fbb, 0, fb::DType::UINT8, shape, 0, fb::Packing::NONE, quantization);
  }
  template <class Options>
  void op(flatbuffers::Offset<Options> options, const std::vector<uint32_t>& inputs,
          const std::vector<uint32_t>& outputs) {
    const auto in = fbb.CreateVector(inputs), out = fbb.CreateVector(outputs);
    operators.push_back(fb::CreateOperator(fbb, 0, 0, fb::OpOptionsTraits<Options>::enum_value,
                                           options.Union(), in, out));
  }
  Bytes build(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
    const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(fbb)};
    fb::FinishModelBuffer(fbb, fb::CreateModelDirect(fbb, 1, "test", "", "", "", "", 1, &tensors,
                                                     &operators, &inputs, &outputs, &buffers));
    return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
  }

  flatbuffers::FlatBufferBuilder fbb;
  std::vector<Tensor> tensors;
  std::vector<flatbuffers::Offset<fb::Operator>> operators;
};

struct Outcome {
  qrt_status load = QRT_OK, session = QRT_OK;
  size_t needed = 0, held = 0;
  std::string message;
};

Outcome try_model(const Bytes& file, const qrt_session_options* options = nullptr) {
  Outcome outcome;
  qrt_error error = {};
  qrt_model* model = nullptr;
  qrt_session* session = nullptr;
  outcome.load = qrt_model_load_memory(file.data(), file.size(), nullptr, &model, &error);
  if (outcome.load == QRT_OK) {
    testing::needed_memory(model, options, &outcome.needed, nullptr);
    outcome.session = qrt_session_create(model, options, &session, &error);
    if (outcome.session == QRT_OK) outcome.held = testing::memory_of(session);
  }
  outcome.message = error.message;
  qrt_session_destroy(session);
  qrt_model_destroy(model);
  return outcome;
}

// Expects that `expected` accepts the file's outcome, within `limits`: by default a gigabyte of
// addresses and five seconds.
void expect_cheap(const Bytes& file, const std::function<bool(const Outcome&)>& expected,
                  Limits limits = {}, const qrt_session_options* options = nullptr) {
  EXPECT_EQ(run_within(limits,
                       [&] {
                         const Outcome outcome = try_model(file, options);
                         if (expected(outcome)) return true;
                         fprintf(stderr, "load %d, session %d, needed %zu, held %zu: %s\n",
                                 outcome.load, outcome.session, outcome.needed, outcome.held,
                                 outcome.message.c_str());
                         return false;
                       }),
            0);
}

bool names_again(const Outcome& o) {
  return o.load == QRT_INVALID_MODEL && o.message.find("again and again") != std::string::npos;
}

TEST(Costs, OneQuantizationOfAllTensors) {
  constexpr int32_t kChannels = 1 << 17;
  SharingBuilder b;
  const auto shape = b.numbers({kChannels});
  const auto quantization =
      fb::CreateQuantization(b.fbb, b.fbb.CreateVector(std::vector<float>(kChannels, 1.0f)),
                             b.numbers(std::vector<int32_t>(kChannels)), 0);
  for (int i = 0; i < 20000; ++i) b.tensors.push_back(b.tensor(shape, quantization));
  const Bytes file = b.build({0}, {0});
  EXPECT_LT(file.size(), 2 * kMiB);
  expect_cheap(file, names_again);
}

TEST(Costs, OneWeightOffsetOfAllTensors) {
  SharingBuilder b;
  const auto shape = b.numbers({1});
  const auto offsets = b.fbb.CreateVector(std::vector<int8_t>(400000));
  for (int i = 0; i < 2000; ++i)
    b.tensors.push_back(
        fb::CreateTensor(b.fbb, 0, fb::DType::INT4, shape, 1, fb::Packing::GEMM, 0, offsets));
  expect_cheap(b.build({0}, {0}), names_again);
}

TEST(Costs, OneIndexMapOfAllGathers) {
  constexpr int32_t kIndices = 400000;
  constexpr uint32_t kGathers = 32000;
  SharingBuilder b;
  const auto shape = b.numbers({kIndices});
  const auto map = fb::CreateGatherAxis(b.fbb, 0, b.numbers(std::vector<int32_t>(kIndices)));
  const auto options = fb::CreateGatherOptions(
      b.fbb, b.fbb.CreateVector(std::vector<flatbuffers::Offset<fb::GatherAxis>>{map}));
  for (uint32_t i = 0; i <= kGathers; ++i) b.tensors.push_back(b.tensor(shape));
  for (uint32_t i = 0; i < kGathers; ++i) b.op(options, {0}, {i + 1});
  const Bytes file = b.build({0}, {1});
  EXPECT_LT(file.size(), 4 * kMiB);
  expect_cheap(file, names_again);
}

TEST(Costs, OneSetOfAxesOfAllResizes) {
  constexpr int32_t kSize = 20000;
  constexpr uint32_t kResizes = 10000;
  SharingBuilder b;
  const auto shape = b.numbers({1, kSize, kSize, 1});
  const auto zeros = b.numbers(std::vector<int32_t>(kSize));
  const auto axis = fb::CreateResizeAxis(b.fbb, zeros, zeros, zeros, zeros);
  fb::ResizeLinearOptionsBuilder o(b.fbb);
  o.add_kind(fb::ResizeKind::INT_HALF_AWAY);
  o.add_h(axis);
  o.add_w(axis);
  const auto options = o.Finish();
  for (uint32_t i = 0; i <= kResizes; ++i) b.tensors.push_back(b.tensor(shape));
  for (uint32_t i = 0; i < kResizes; ++i) b.op(options, {0}, {i + 1});
  expect_cheap(b.build({0}, {1}), names_again);
}

// Checks that reads of constants are counted, also of shared ones, which honest models have, such
// as the weight of an unrolled loop. `add` adds an operator that reads `bytes` of constants: two
// gigabytes are read in time, four are refused.
void expect_reads_counted(int64_t bytes, const std::function<void(ModelBuilder*)>& begin,
                          const std::function<void(ModelBuilder*)>& add) {
  for (const bool is_within : {true, false}) {
    ModelBuilder m;
    begin(&m);
    for (int64_t n = (is_within ? 2 : 4) * static_cast<int64_t>(kGiB) / bytes; n > 0; --n) add(&m);
    expect_cheap(m.build(), [&](const Outcome& o) {
      if (is_within) return o.session == QRT_OK;
      return o.load == QRT_INVALID_MODEL &&
             o.message.find("bytes of constants") != std::string::npos;
    });
  }
}

TEST(Costs, OneConstantOfManyOperators) {
  constexpr int32_t kBytes = 1 << 24;
  uint32_t x = 0, c = 0;
  expect_reads_counted(
      kBytes,
      [&](ModelBuilder* m) {
        x = m->input({1});
        c = m->constant({kBytes}, DType::kUInt8, std::vector<uint8_t>(kBytes));
        m->mark_output(x);
      },
      [&](ModelBuilder* m) {
        m->op(fb::MinMaxOptionsT(), {x, c}, {m->tensor({kBytes})});
      });
}

TEST(Costs, OneTableOfManySoftmaxes) {
  constexpr size_t kEntries = 65536;
  uint32_t x = 0;
  fb::SoftmaxOptionsT o;
  o.kind = fb::SoftmaxKind::INT16_ANY_SCALE;
  o.stages = std::move(testing::requant_int(1, 20)->stages);
  expect_reads_counted(
      kEntries * sizeof(int32_t),
      [&](ModelBuilder* m) {
        x = m->input({1, 4}, DType::kInt16);
        o.table = m->buffer(std::vector<int32_t>(kEntries, 1 << 30));
        m->mark_output(x);
      },
      [&](ModelBuilder* m) {
        m->op(o, {x}, {m->tensor({1, 4}, DType::kInt16)});
      });
}

// Reads of a table count for each of many softmaxes that share the table, from pairs of codes to
// float.
TEST(Costs, OneTableOfManySoftmaxesToFloat) {
  constexpr size_t kEntries = 65536;
  uint32_t x = 0;
  fb::SoftmaxOptionsT o;
  expect_reads_counted(
      kEntries * sizeof(float),
      [&](ModelBuilder* m) {
        x = m->input({1, 4});
        o.table = m->buffer(std::vector<float>(kEntries, 1.0f));
        m->mark_output(x);
      },
      [&](ModelBuilder* m) {
        m->op(o, {x}, {m->tensor({1, 4}, DType::kFloat32)});
      });
}

TEST(Costs, OneSetOfWeightsOfManyLstms) {
  constexpr int64_t kIn = 1 << 20;
  uint32_t x = 0, weights = 0, bias = 0, recurrent = 0, hidden = 0, cell = 0;
  fb::LstmOptionsT o = testing::lstm_options();
  o.requant = testing::requant_int(1, 23, 128);
  expect_reads_counted(
      4 * kIn + 4 + 32,
      [&](ModelBuilder* m) {
        x = m->input({1, 1, kIn});
        hidden = m->input({1, 1});
        cell = m->input({1, 1}, DType::kInt16);
        weights = m->constant({4, 1, kIn}, DType::kInt8, std::vector<int8_t>(4 * kIn));
        recurrent = m->constant({4, 1, 1}, DType::kInt8, std::vector<int8_t>(4));
        bias = m->constant({4, 1}, DType::kInt32, std::vector<int32_t>(4));
        m->mark_output(x);
      },
      [&](ModelBuilder* m) {
        m->op(o, {x, weights, bias, recurrent, bias, hidden, cell},
              {m->tensor({1, 1, 1}), m->tensor({1, 1}), m->tensor({1, 1}, DType::kInt16)});
      });
}

TEST(Costs, OneSetOfWeightsOfManySvdfs) {
  constexpr int64_t kIn = 1 << 20;
  uint32_t x = 0, features = 0, times = 0, bias = 0, state = 0;
  fb::SvdfOptionsT o;
  o.feature_stages = testing::double_rounding(1 << 30, 2);
  o.requant = testing::requant_int(1, 22, 100);
  expect_reads_counted(
      kIn + 2 + 4,
      [&](ModelBuilder* m) {
        x = m->input({1, kIn});
        state = m->input({1, 1, 1}, DType::kInt16);
        features = m->constant({1, kIn}, DType::kInt8, std::vector<int8_t>(kIn));
        times = m->constant({1, 1}, DType::kInt16, std::vector<int16_t>(1));
        bias = m->bias({0});
        m->mark_output(x);
      },
      [&](ModelBuilder* m) {
        m->op(o, {x, features, times, bias, state},
              {m->tensor({1, 1}), m->tensor({1, 1, 1}, DType::kInt16)});
      });
}

TEST(Costs, ConcatOfOneTensor) {
  constexpr int64_t kTimes = 80000;
  ModelBuilder m;
  const uint32_t x = m.input({1, 4}), copy = m.tensor({1, 4});
  m.op(fb::ReshapeOptionsT(), {x}, {copy}).options.AsReshape()->shape = {1, 4};
  fb::ConcatOptionsT concat;
  concat.axis = 1;
  m.op(concat, std::vector<uint32_t>(kTimes, copy), {m.output({1, 4 * kTimes})});
  expect_cheap(m.build(), [](const Outcome& o) { return o.session == QRT_OK; },
               {kGiB, /*cpu_seconds=*/2});
}

// A file with the greatest number of operators is cheap. Each has two tensors, which all live to
// the end of a run.
TEST(Costs, OperatorsWithoutEnd) {
  ModelBuilder m;
  const uint32_t x = m.input({1, 64});
  fb::TopKOptionsT o;
  o.k = 64;
  uint32_t at = x;
  for (size_t i = 0; i < (size_t{1} << 15); ++i) {
    const uint32_t y = m.tensor({1, 64});
    m.op(o, {at}, {y, m.tensor({1, 64}, DType::kInt32)});
    at = y;
  }
  m.mark_output(at);
  const Bytes file = m.build();
  EXPECT_EQ(run_within({kGiB, 5},
                       [&] {
                         qrt_session_options options;
                         qrt_struct_init(&options);
                         options.keep_all = 1;
                         return try_model(file).session == QRT_OK &&
                                try_model(file, &options).session == QRT_OK;
                       }),
            0);
}

TEST(Costs, ChannelsWithConstantsOfTheirOwn) {
  constexpr int32_t kChannels = 4096;
  constexpr uint32_t kLayers = 2000;
  SharingBuilder b;
  std::vector<int32_t> multipliers(kChannels);
  for (int32_t i = 0; i < kChannels; ++i) multipliers[static_cast<size_t>(i)] = 1000 + i;
  const auto stage = fb::CreateRequantStage(
      b.fbb, b.numbers(multipliers), b.fbb.CreateVector(std::vector<uint8_t>(kChannels, 20)));
  const auto stages = b.fbb.CreateVector(std::vector<flatbuffers::Offset<fb::RequantStage>>{stage});
  fb::RequantBuilder r(b.fbb);
  r.add_kind(fb::RequantKind::INT);
  r.add_stages(stages);
  const auto requant = r.Finish();
  fb::BatchMatMulOptionsBuilder o(b.fbb);
  o.add_requant(requant);
  const auto options = o.Finish();
  const auto a = b.numbers({1, 1}), c = b.numbers({1, kChannels});
  b.tensors = {b.tensor(a), b.tensor(c)};
  for (uint32_t i = 0; i < kLayers; ++i) {
    b.tensors.push_back(b.tensor(c));
    b.op(options, {0, 1}, {i + 2});
  }
  expect_cheap(b.build({0, 1}, {2}), [](const Outcome& o) { return o.load == QRT_INVALID_MODEL; });
}

// One scale for sixteen million columns is not repeated for each column.
TEST(Costs, ScalarRequantisationOfManyColumns) {
  constexpr int64_t kColumns = 1 << 24;
  ModelBuilder m;
  const uint32_t a = m.input({1, 1}), b = m.input({1, kColumns});
  fb::BatchMatMulOptionsT o;
  o.requant = testing::requant_int(1 << 20, 24);
  o.requant->stages.push_back(
      std::make_unique<fb::RequantStageT>(*testing::requant_int(3, 2)->stages[0]));
  m.op(std::move(o), {a, b}, {m.output({1, kColumns})});
  const Bytes file = m.build();
  EXPECT_LT(file.size(), size_t{2000});
  expect_cheap(file, [](const Outcome& outcome) {
    return outcome.session == QRT_OK && outcome.held < 320 * kMiB && outcome.held == outcome.needed;
  });
}

bool needs_more(const Outcome& o, size_t bytes) {
  return o.session == QRT_OUT_OF_MEMORY && o.needed > bytes &&
         o.message.find("max_memory") != std::string::npos;
}

TEST(Costs, EnormousInputs) {
  ModelBuilder m;
  for (int i = 0; i < 4; ++i) m.input({INT32_MAX});
  const uint32_t x = m.input({1});
  m.op(fb::ReshapeOptionsT(), {x}, {m.output({1})}).options.AsReshape()->shape = {1};
  const Bytes file = m.build();
  EXPECT_LT(file.size(), size_t{1200});
  expect_cheap(file, [](const Outcome& o) { return needs_more(o, 8 * kGiB); }, {512 * kMiB, 5});
}

TEST(Costs, ConvolutionTables) {
  constexpr int kKernel = 8, kLayers = 4;
  constexpr int64_t kPixels = 2048;
  ModelBuilder m;
  const uint32_t x = m.input({1, kPixels, kPixels, 1});
  const uint32_t w =
      m.gemm_weights({1, kKernel, kKernel, 1}, std::vector<int8_t>(kKernel * kKernel));
  const uint32_t bias = m.bias({0});
  for (int i = 0; i < kLayers; ++i) {
    fb::Conv2DOptionsT o;
    o.pad_top = o.pad_left = kKernel / 2;
    o.pad_bottom = o.pad_right = kKernel / 2 - 1;
    o.weight_sum = {0};
    o.requant = testing::requant_int(1, 0);
    m.op(std::move(o), {x, w, bias}, {m.tensor({1, kPixels, kPixels, 1})});
  }
  m.mark_output(x);
  const Bytes file = m.build();
  EXPECT_LT(file.size(), size_t{40000});
  expect_cheap(file, [](const Outcome& o) { return needs_more(o, 7 * kGiB); }, {512 * kMiB, 5});
}

// The runs of a gather count as memory: a map of single elements takes six times its bytes as runs.
TEST(Costs, RunsOfAGather) {
  constexpr int64_t kIndices = 1 << 20;
  ModelBuilder m;
  const uint32_t x = m.input({2});
  fb::GatherOptionsT o;
  o.axes.push_back(std::make_unique<fb::GatherAxisT>());
  for (int64_t i = 0; i < kIndices; ++i) o.axes[0]->index.push_back(i % 2 == 0 ? -1 : 1);
  m.op(std::move(o), {x}, {m.output({kIndices})});
  const Bytes file = m.build();
  expect_cheap(file,
               [](const Outcome& o) {
                 return o.session == QRT_OK && o.held == o.needed && o.held > 16 * size_t{kIndices};
               },
               {256 * kMiB, 5});
  qrt_session_options options;
  qrt_struct_init(&options);
  options.max_memory = 8 * kMiB;
  expect_cheap(
      file,
      [](const Outcome& o) {
        return o.session == QRT_OUT_OF_MEMORY && o.message.find("max_memory") != std::string::npos;
      },
      {256 * kMiB, 5}, &options);
}

TEST(Costs, MaxMemoryIsTheLimit) {
  const Bytes file = testing::every_op_model().build();
  qrt_session_options options;
  qrt_struct_init(&options);
  options.batch = 3;
  options.keep_all = 1;
  const size_t needed = try_model(file, &options).needed;
  ASSERT_GT(needed, size_t{100000});
  options.max_memory = needed;
  EXPECT_EQ(try_model(file, &options).held, needed);
  options.max_memory = needed - 1;
  EXPECT_EQ(try_model(file, &options).session, QRT_OUT_OF_MEMORY);
  EXPECT_EQ(try_model(file, &options).needed, needed) << "can be asked for";
}

TEST(Costs, MoreImagesMayTakeMore) {
  ModelBuilder m;
  const uint32_t x = m.input({-1, 32 << 20}), y = m.output({-1, 32 << 20});
  m.op(fb::ReshapeOptionsT(), {x}, {y}).options.AsReshape()->shape = {-1, 32 << 20};
  const Bytes file = m.build();
  qrt_model* model = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  qrt_session_options options;
  qrt_struct_init(&options);
  options.batch = 60;
  size_t needed = 0;
  EXPECT_EQ(testing::needed_memory(model, &options, &needed, nullptr), QRT_OK);
  EXPECT_GT(needed, 2 * kGiB) << "beyond what one image may take";
  options.max_memory = needed - 1;
  qrt_session* session = nullptr;
  EXPECT_NE(qrt_session_create(model, &options, &session, nullptr), QRT_OK);
  EXPECT_EQ(session, nullptr);
  qrt_model_destroy(model);
}

TEST(Costs, LoadingWithinALimit) {
  const Bytes file = testing::every_op_model().build();
  qrt_model* model = nullptr;
  qrt_error error = {};
  qrt_load_options options;
  qrt_struct_init(&options);
  const auto load = [&](size_t max_memory) {
    options.max_memory = max_memory;
    const qrt_status status =
        qrt_model_load_memory(file.data(), file.size(), &options, &model, &error);
    qrt_model_destroy(model);
    return status;
  };
  options.flags = QRT_LOAD_COPY;
  EXPECT_EQ(load(0), QRT_OK) << error.message;
  EXPECT_EQ(load(file.size() - 1), QRT_OUT_OF_MEMORY);
  EXPECT_NE(std::string(error.message).find("max_memory"), std::string::npos) << error.message;
  EXPECT_EQ(load(file.size() + 1), QRT_OUT_OF_MEMORY) << "its narrow weights are widened";
  EXPECT_EQ(load(2 * file.size()), QRT_OK) << error.message;
  options.struct_size = 3;
  EXPECT_EQ(load(0), QRT_INVALID_ARGUMENT);
}

TEST(Costs, SizesThatNoModelHas) {
  const uint8_t byte[64] = {};
  const auto is_refused = [&](size_t size) {
    qrt_model* model = nullptr;
    qrt_error error = {};
    const qrt_status status = testing::load_copy(byte, size, &model, &error);
    return status == QRT_INVALID_MODEL && model == nullptr &&
           strstr(error.message, "too many") != nullptr;
  };
  // Nothing is read beyond the first byte: such sizes are refused before they are copied.
  for (const size_t size : {SIZE_MAX, SIZE_MAX - 63, size_t{3} << 30, size_t{1} << 31})
    EXPECT_EQ(run_within({}, [&] { return is_refused(size); }), 0) << size;
}

// Models of any operator are searched for shared tables: types stand in the order of union values,
// so sharing is seen in the last operator's, too.
TEST(Costs, ModelsOfAnyOperatorAreWalked) {
  EXPECT_EQ(try_model(testing::every_op_model().build()).session, QRT_OK);
}

}  // namespace
}  // namespace qrt::costs_test
