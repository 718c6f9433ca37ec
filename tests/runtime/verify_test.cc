// Verification: every rule refuses with its status and a message that names the place, and no bytes
// at all make loading or running misbehave.
#include "runtime/verify.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "kernels/integer_build.h"
#include "runtime/session.h"
#include "tests/support/every_op_model.h"
#include "tests/support/random.h"
#include "tests/support/runner.h"

namespace qrt {
namespace {

using testing::Bytes;
using testing::expect_refused;
using testing::ModelBuilder;

Bytes damaged(const std::function<void(fb::ModelT&)>& damage) {
  ModelBuilder m = testing::every_op_model();
  damage(m.model());
  return m.build();
}

// The first tensor of that name.
fb::TensorT& tensor(fb::ModelT& m, const std::string& name) {
  for (auto& t : m.tensors) {
    if (t->name == name) return *t;
  }
  abort();
}

template <class Options>
Options& options(fb::ModelT& m) {
  for (auto& op : m.operators) {
    if (op->options.type == fb::OpOptionsUnionTraits<Options>::enum_value) {
      return *static_cast<Options*>(op->options.value);
    }
  }
  abort();
}

TEST(Verify, AcceptsAModelWithEveryOperator) {
  ModelBuilder m = testing::every_op_model();
  std::vector<bool> seen(static_cast<size_t>(fb::OpOptions::MAX) + 1);
  for (auto& op : m.model().operators) seen[static_cast<size_t>(op->options.type)] = true;
  for (size_t type = 1; type < seen.size(); ++type) {
    if (is_integer_build() && type == static_cast<size_t>(fb::OpOptions::Float)) continue;
    ASSERT_TRUE(seen[type]) << fb::EnumNameOpOptions(static_cast<fb::OpOptions>(type));
  }
  ASSERT_EQ(testing::run_model(m.build(), {}).status, QRT_OK);
}

TEST(Verify, AnIntegerBuildRefusesFloatFallbacks) {
  if (!is_integer_build()) GTEST_SKIP() << "this build has them";
  ModelBuilder m;
  const uint32_t x = m.input({1, 4}, DType::kFloat32), y = m.output({1, 4}, DType::kFloat32);
  m.op(fb::FloatOptionsT(), {x}, {y});
  expect_refused(m.build(), QRT_UNSUPPORTED,
                 "float operators are not part of this build (QRT_INTEGER_ONLY)");
}

TEST(Verify, RefusesBytesThatAreNoModel) {
  expect_refused(Bytes(1), QRT_INVALID_MODEL, "too few");
  expect_refused(Bytes(100), QRT_INVALID_MODEL, "not a .qrt file");
  Bytes file = testing::every_op_model().build();
  file[4] = 'X';
  expect_refused(file, QRT_INVALID_MODEL, "not a .qrt file (no 'QRT1' at byte 4)");
  file = testing::every_op_model().build();
  std::fill(file.begin() + 8, file.end(), uint8_t{0xff});
  expect_refused(file, QRT_INVALID_MODEL, "structure");
}

TEST(Verify, RefusesAnotherVersion) {
  expect_refused(damaged([](fb::ModelT& m) { m.version = 2; }), QRT_UNSUPPORTED,
                 "version 2 is newer");
  expect_refused(damaged([](fb::ModelT& m) { m.version = 0; }), QRT_INVALID_MODEL, "version 0");
}

TEST(Verify, RefusesMissingParts) {
  expect_refused(damaged([](fb::ModelT& m) { m.operators.clear(); }), QRT_INVALID_MODEL, "missing");
  expect_refused(damaged([](fb::ModelT& m) { m.outputs.clear(); }), QRT_INVALID_MODEL, "missing");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers.clear(); }), QRT_INVALID_MODEL, "missing");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->options.Reset(); }), QRT_INVALID_MODEL,
                 "op 3 (unknown 'op3'): its options are missing");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->outputs.clear(); }), QRT_INVALID_MODEL,
                 "op 3 (Add 'op3'): its inputs or outputs are missing");
}

TEST(Verify, RefusesIndicesOutOfRange) {
  expect_refused(damaged([](fb::ModelT& m) { m.inputs[0] = 1000; }), QRT_INVALID_MODEL,
                 "a model input is tensor 1000");
  expect_refused(damaged([](fb::ModelT& m) { m.outputs[1] = UINT32_MAX; }), QRT_INVALID_MODEL,
                 "a model output is tensor 4294967295");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->inputs[1] = 1000; }),
                 QRT_INVALID_MODEL, "op 3 (Add 'op3'): an input is tensor 1000");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = 1000; }),
                 QRT_INVALID_MODEL, "op 3 (Add 'op3'): an output is tensor 1000");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").buffer = 99; }), QRT_INVALID_MODEL,
                 "('conv'): dimension 0 is -1");
  expect_refused(damaged([](fb::ModelT& m) {
                   for (auto& t : m.tensors) {
                     if (t->buffer != 0) t->buffer = 99;
                   }
                 }),
                 QRT_INVALID_MODEL, "buffer index 99 is out of range");
  expect_refused(damaged([](fb::ModelT& m) { options<fb::LutOptionsT>(m).table = 99; }),
                 QRT_INVALID_MODEL, "op 4 (Lut 'op4'): buffer index 99");
  expect_refused(damaged([](fb::ModelT& m) { options<fb::LutOptionsT>(m).table = 0; }),
                 QRT_INVALID_MODEL, "op 4 (Lut 'op4'): buffer index 0");
}

// Kernels multiply what the packing adds with whatever lies there: it has to be zero.
TEST(Verify, RefusesPackedWeightsWithMoreThanTheWeights) {
  const auto weights = [](fb::ModelT& m, fb::OpOptions type) -> std::vector<uint8_t>& {
    for (auto& op : m.operators) {
      if (op->options.type == type) return m.buffers[m.tensors[op->inputs[1]]->buffer]->data;
    }
    abort();
  };
  for (size_t last : {size_t{3}, size_t{64 * 3 - 1}}) {  // 3 x 3: row 3 of the first, of the last
    expect_refused(
        damaged([&](fb::ModelT& m) { weights(m, fb::OpOptions::DepthwiseConv2D)[last] = 1; }),
        QRT_INVALID_MODEL, "rounds 3 rows up to 4");
  }
  ModelBuilder m;
  const uint32_t x = m.input({-1, 5}), y = m.output({-1, 2});
  fb::FullyConnectedOptionsT dense;
  dense.weight_sum = {10, 10};
  dense.requant = testing::requant_f32({0.5f});
  m.op(std::move(dense), {x, m.gemm_weights({2, 5}, std::vector<int8_t>(10, 2)), m.bias({0, 0})},
       {y});
  ASSERT_EQ(testing::run_model(m.build(), {}).status, QRT_OK);
  std::vector<uint8_t>& packed = weights(m.model(), fb::OpOptions::FullyConnected);
  ASSERT_EQ(packed.size(), 128u);
  packed[64] = 3;  // k = 4, the fifth: a weight
  ASSERT_EQ(testing::run_model(m.build(), {}).status, QRT_OK);
  packed[65] = 1;  // k = 5
  expect_refused(m.build(), QRT_INVALID_MODEL, "op 0 (FullyConnected 'op0'): input 1 (weights)");
}

TEST(Verify, RefusesAnOrderThatReadsBeforeWriting) {
  expect_refused(damaged([](fb::ModelT& m) { std::swap(m.operators[0], m.operators[1]); }),
                 QRT_INVALID_MODEL, "op 0 (Conv2D 'op1'): input tensor 2 ('x') is not written");
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[3]->inputs[0] = m.operators[3]->outputs[0]; }),
      QRT_INVALID_MODEL, "('sum') is not written before");
  expect_refused(damaged([](fb::ModelT& m) { m.inputs.pop_back(); }), QRT_INVALID_MODEL,
                 "('gate') is not written before");
  expect_refused(damaged([](fb::ModelT& m) {
                   m.tensors.push_back(std::make_unique<fb::TensorT>(*m.tensors[0]));
                   m.outputs[0] = static_cast<uint32_t>(m.tensors.size() - 1);
                 }),
                 QRT_INVALID_MODEL, "is written by no operator");
}

TEST(Verify, RefusesTensorsWrittenTwice) {
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = m.operators[2]->outputs[0]; }),
      QRT_INVALID_MODEL, "('depthwise') has a value already");
  expect_refused(damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = m.inputs[1]; }),
                 QRT_INVALID_MODEL, "('gate') has a value already");
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[3]->outputs[0] = m.operators[1]->inputs[2]; }),
      QRT_INVALID_MODEL, "has a value already");
  expect_refused(damaged([](fb::ModelT& m) { m.inputs.push_back(m.inputs[0]); }), QRT_INVALID_MODEL,
                 "is a constant, or stands twice");
}

TEST(Verify, RefusesShapesThatDisagreeWithInference) {
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").shape[3] = 9; }), QRT_INVALID_MODEL,
                 "('conv') has the shape [1, 8, 8, 9], expected [1, 8, 8, 8]");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").dtype = fb::DType::INT32; }),
                 QRT_INVALID_MODEL, "('conv') is int32, expected uint8");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").shape.pop_back(); }),
                 QRT_INVALID_MODEL, "('conv') has the shape [1, 8, 8]");
}

TEST(Verify, RefusesEnumValuesThatDoNotExist) {
  expect_refused(damaged([](fb::ModelT& m) { m.tensors[2]->dtype = static_cast<fb::DType>(21); }),
                 QRT_INVALID_MODEL, "tensor 2 ('x'): dtype is 21");
  expect_refused(
      damaged([](fb::ModelT& m) { m.tensors[2]->packing = static_cast<fb::Packing>(3); }),
      QRT_INVALID_MODEL, "tensor 2 ('x'): packing is 3");
  expect_refused(damaged([](fb::ModelT& m) {
                   options<fb::Conv2DOptionsT>(m).requant->kind = static_cast<fb::RequantKind>(3);
                 }),
                 QRT_INVALID_MODEL, "op 1 (Conv2D 'op1'): requant.kind is 3");
  expect_refused(damaged([](fb::ModelT& m) {
                   options<fb::DepthwiseConv2DOptionsT>(m).requant->stages[0]->rounding =
                       static_cast<fb::Rounding>(4);
                 }),
                 QRT_INVALID_MODEL, "rounding is 4");
}

TEST(Verify, RefusesAbsurdShapes) {
  expect_refused(damaged([](fb::ModelT& m) {
                   tensor(m, "image").shape = {-1, 65536, 32768, 4};
                 }),
                 QRT_INVALID_MODEL,
                 "tensor 0 ('image'): the shape [1, 65536, 32768, 4] has too many");
  expect_refused(damaged([](fb::ModelT& m) {
                   tensor(m, "image").shape = {-1, INT32_MAX, 2, 1};
                 }),
                 QRT_INVALID_MODEL, "too many elements");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape.assign(6, INT32_MAX); }),
                 QRT_INVALID_MODEL, "too many elements");
  expect_refused(damaged([](fb::ModelT& m) { m.default_batch = 100000000; }), QRT_INVALID_MODEL,
                 "too many elements");
  expect_refused(damaged([](fb::ModelT& m) { m.default_batch = 0; }), QRT_INVALID_MODEL,
                 "default_batch is 0");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape.assign(7, 1); }),
                 QRT_INVALID_MODEL, "7 dimensions");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape[1] = -1; }),
                 QRT_INVALID_MODEL, "dimension 1 is -1");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape[0] = -2; }),
                 QRT_INVALID_MODEL, "dimension 0 is -2");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "image").shape[1] = 0; }), QRT_UNSUPPORTED,
                 "dimension 1 is 0");
}

TEST(Verify, RefusesBuffersOfTheWrongSize) {
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[2]->data.pop_back(); }), QRT_INVALID_MODEL,
                 "its buffer has 31 bytes, but [8] of int32 takes 32");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[1]->data.pop_back(); }), QRT_INVALID_MODEL,
                 "op 1 (Conv2D 'op1')");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[2]->data.clear(); }), QRT_INVALID_MODEL,
                 "its buffer 2 is empty");
  expect_refused(damaged([](fb::ModelT& m) { m.buffers[0]->data = {1}; }), QRT_INVALID_MODEL,
                 "buffer 0 has 1 bytes");
}

TEST(Verify, RefusesPackedConstantsReadAsPlain) {
  expect_refused(
      damaged([](fb::ModelT& m) { m.operators[7]->inputs[0] = m.operators[1]->inputs[1]; }),
      QRT_INVALID_MODEL, "is packed, but not read as weights");
  expect_refused(damaged([](fb::ModelT& m) { m.outputs[0] = m.operators[1]->inputs[1]; }),
                 QRT_INVALID_MODEL, "is packed");
  expect_refused(damaged([](fb::ModelT& m) { tensor(m, "conv").packing = fb::Packing::GEMM; }),
                 QRT_INVALID_MODEL, "it is packed, but not a constant");
  expect_refused(damaged([](fb::ModelT& m) {
                   m.tensors[m.operators[1]->inputs[1]]->packing = fb::Packing::DEPTHWISE;
                 }),
                 QRT_INVALID_MODEL, "packing 2, expected 1 (GEMM)");
}

TEST(Verify, RefusesUnsoundQuantization) {
  const auto with = [](const std::function<void(fb::QuantizationT&)>& damage) {
    return damaged([&](fb::ModelT& m) { damage(*tensor(m, "softmax").quantization); });
  };
  expect_refused(with([](auto& q) { q.scale = {0.0f}; }), QRT_INVALID_MODEL, "scale 0 is 0");
  expect_refused(with([](auto& q) { q.scale = {-1.0f}; }), QRT_INVALID_MODEL, "scale 0 is -1");
  expect_refused(with([](auto& q) { q.scale = {NAN}; }), QRT_INVALID_MODEL, "scale 0 is nan");
  expect_refused(with([](auto& q) { q.scale = {INFINITY}; }), QRT_INVALID_MODEL, "scale 0 is inf");
  expect_refused(with([](auto& q) { q.scale.clear(); }), QRT_INVALID_MODEL,
                 "0 quantization scales");
  expect_refused(with([](auto& q) { q.zero_point = {256}; }), QRT_INVALID_MODEL,
                 "zero point 0 is 256");
  expect_refused(with([](auto& q) { q.axis = 2; }), QRT_INVALID_MODEL, "axis is 2");
  expect_refused(with([](auto& q) { q.axis = 1; }), QRT_INVALID_MODEL,
                 "1 quantization scales, expected 10");
  expect_refused(with([](auto& q) { q.axis = 0; }), QRT_INVALID_MODEL, "axis 0 is the batch");
}

TEST(Verify, RefusesRequantisationOutOfRange) {
  const auto f32 = [](const std::function<void(fb::RequantT&)>& damage) {
    return damaged([&](fb::ModelT& m) { damage(*options<fb::Conv2DOptionsT>(m).requant); });
  };
  const auto integer = [](const std::function<void(fb::RequantT&)>& damage) {
    return damaged(
        [&](fb::ModelT& m) { damage(*options<fb::DepthwiseConv2DOptionsT>(m).requant); });
  };
  const std::string conv = "op 1 (Conv2D 'op1'): requant",
                    dw = "op 2 (DepthwiseConv2D 'op2'): requant";
  expect_refused(f32([](auto& r) { r.lo = -1; }), QRT_INVALID_MODEL,
                 conv + " limits are -1 to 255");
  expect_refused(f32([](auto& r) { r.hi = 256; }), QRT_INVALID_MODEL,
                 conv + " limits are 0 to 256");
  expect_refused(f32([](auto& r) { r.lo = 9, r.hi = 8; }), QRT_INVALID_MODEL, conv + " limits");
  expect_refused(f32([](auto& r) { r.scale.clear(); }), QRT_INVALID_MODEL, conv + ".scale has 0");
  expect_refused(f32([](auto& r) { r.scale.pop_back(); }), QRT_INVALID_MODEL,
                 conv + ".scale has 7");
  for (uint32_t bits : {0u, 1u, 0x007fffffu, 0x7f800000u, 0x7fc00000u, 0x80000000u, 0xbf800000u}) {
    expect_refused(f32([=](auto& r) { r.scale[3] = bits; }), QRT_INVALID_MODEL, conv + ".scale[3]");
  }
  expect_refused(f32([](auto& r) { r.rounding = fb::Rounding::FLOOR; }), QRT_INVALID_MODEL,
                 conv + ".rounding is 3");
  expect_refused(f32([](auto& r) { r.fused = true; }), QRT_INVALID_MODEL, conv + ".fused");
  expect_refused(f32([](auto& r) { r.offset = 128; }), QRT_INVALID_MODEL, conv + ".offset is 128");
  expect_refused(f32([](auto& r) { r.zero_point = 256; }), QRT_INVALID_MODEL, conv + ".zero_point");
  expect_refused(
      f32([](auto& r) { r.zero_point_before = true, r.offset = 128, r.zero_point = 128; }),
      QRT_INVALID_MODEL, conv + ".zero_point is 128, expected -128 to 127");
  expect_refused(integer([](auto& r) { r.stages.clear(); }), QRT_INVALID_MODEL,
                 dw + ".stages has 0");
  expect_refused(integer([](auto& r) { r.stages[0]->shift = {63}; }), QRT_INVALID_MODEL,
                 dw + ".stages.shift[0] is 63");
  expect_refused(integer([](auto& r) { r.stages[0]->multiplier = {-1}; }), QRT_INVALID_MODEL,
                 dw + ".stages.multiplier[0] is -1");
  expect_refused(integer([](auto& r) {
                   r.stages[0]->shift = {1, 2};
                 }),
                 QRT_INVALID_MODEL, dw + ".stages.shift has 2");
  expect_refused(integer([](auto& r) { r.stages[0]->clip_lo = 1, r.stages[0]->clip_hi = 0; }),
                 QRT_INVALID_MODEL, dw + ".stages clip");
  expect_refused(damaged([](fb::ModelT& m) { options<fb::Conv2DOptionsT>(m).requant.reset(); }),
                 QRT_INVALID_MODEL, conv + " is missing");
}

// A file of 4 MB whose operators share one vector of scales: its plan would take gigabytes.
TEST(Verify, RefusesOperatorsThatShareHugeParameters) {
  constexpr uint32_t kChannels = 1 << 16, kOperators = 20;
  flatbuffers::FlatBufferBuilder fbb;
  const auto scale = fbb.CreateVector(std::vector<uint32_t>(kChannels, 0x3f800000));
  const auto zero_point = fbb.CreateVector(std::vector<int32_t>(kChannels));
  const std::vector<int32_t> shape = {static_cast<int32_t>(kChannels)};
  const std::vector<uint32_t> inputs = {0}, outputs = {1};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
      fb::CreateTensorDirect(fbb, "x", fb::DType::FLOAT32, &shape)};
  std::vector<flatbuffers::Offset<fb::Operator>> operators;
  const auto options = fb::CreateQuantizeOptions(fbb, scale, zero_point, 0).Union();
  for (uint32_t i = 1; i <= kOperators; ++i) {
    const std::vector<uint32_t> output = {i};
    tensors.push_back(fb::CreateTensorDirect(fbb, "", fb::DType::UINT8, &shape));
    operators.push_back(
        fb::CreateOperatorDirect(fbb, "", "", fb::OpOptions::Quantize, options, &inputs, &output));
  }
  const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(fbb)};
  fb::FinishModelBuffer(fbb, fb::CreateModelDirect(fbb, 1, "", "", "", "", "", 1, &tensors,
                                                   &operators, &inputs, &outputs, &buffers));
  expect_refused({fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()},
                 QRT_INVALID_MODEL, "op 9 (Quantize ''): the operators have parameters for more");
}

TEST(Verify, NamesInMessagesAreShortAndPrintable) {
  const Bytes file = damaged([](fb::ModelT& m) {
    m.operators[3]->name = "\x1b[31mred\n" + std::string(300, 'n');
    m.operators[3]->inputs[0] = 1000;
  });
  expect_refused(file, QRT_INVALID_MODEL, "op 3 (Add '\\x1b[31mred\\x0annn");
  ASSERT_LT(testing::run_model(file, {}).message.size(), 200u);
}

// One Lut whose table stands at the end of the file, but for `behind` bytes.
Bytes model_with_table_last(size_t behind, size_t alignment) {
  flatbuffers::FlatBufferBuilder fbb;
  if (behind != 0) fbb.CreateVector(Bytes(behind));
  fbb.ForceVectorAlignment(256, 1, alignment);
  const auto table = fbb.CreateVector(testing::pattern<uint8_t>(256, 0, 255));
  const std::vector<int32_t> shape = {8};
  const std::vector<uint32_t> x = {0}, y = {1};
  const std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
      fb::CreateTensorDirect(fbb, "x", fb::DType::UINT8, &shape),
      fb::CreateTensorDirect(fbb, "y", fb::DType::UINT8, &shape)};
  const std::vector<flatbuffers::Offset<fb::Operator>> operators = {fb::CreateOperatorDirect(
      fbb, "map", "", fb::OpOptions::Lut, fb::CreateLutOptions(fbb, 1).Union(), &x, &y)};
  const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(fbb),
                                                                fb::CreateBuffer(fbb, table)};
  fb::FinishModelBuffer(fbb, fb::CreateModelDirect(fbb, 1, "", "", "", "", "", 1, &tensors,
                                                   &operators, &x, &y, &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

TEST(Verify, RequiresSlackBehindEveryBuffer) {
  ASSERT_EQ(testing::run_model(model_with_table_last(64, 64), {}).status, QRT_OK);
  expect_refused(model_with_table_last(0, 64), QRT_INVALID_MODEL, "of file behind it, expected 64");
}

TEST(Verify, RequiresAlignedBuffers) {
  int misaligned = 0;
  for (size_t behind = 64; behind < 128; behind += 4) {
    const testing::RunResult result = testing::run_model(model_with_table_last(behind, 4), {});
    if (result.status == QRT_OK) continue;
    ++misaligned;
    ASSERT_NE(result.message.find("not a multiple of 64"), std::string::npos) << result.message;
  }
  ASSERT_GT(misaligned, 0);
}

// Fills the inputs with something and runs; the outputs' bytes, one after the other.
Bytes run_session(qrt_session* session) {
  qrt_tensor_info info;
  qrt_tensor_info_init(&info);
  for (size_t i = 0; qrt_session_input_info(session, i, &info) == QRT_OK; ++i) {
    const Bytes data =
        testing::pattern<uint8_t>(info.bytes, 0, info.dtype == QRT_FLOAT32 ? 66 : 255);
    qrt_session_set_input(session, i, data.data(), data.size(), nullptr);
  }
  qrt_session_run(session);
  Bytes outputs;
  for (size_t i = 0; qrt_session_output_info(session, i, &info) == QRT_OK; ++i) {
    const uint8_t* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
    outputs.insert(outputs.end(), data, data + info.bytes);
  }
  return outputs;
}

// What a verified file claims about its weights, and they: taken on trust (schema/README.md).
Bytes claims(const Bytes& file) {
  const fb::Model& model = *fb::GetModel(file.data());
  Bytes all;
  const auto add = [&](const auto* v) {
    const uint8_t* data = reinterpret_cast<const uint8_t*>(v->data());
    all.insert(all.end(), data, data + v->size() * sizeof(*v->data()));
  };
  for (const fb::Tensor* t : *model.tensors()) {
    if (t->packing() == fb::Packing::NONE) continue;
    add(model.buffers()->Get(t->buffer())->data());
    if (t->weight_offset() != nullptr) add(t->weight_offset());
    all.push_back(static_cast<uint8_t>(t->dtype()));
  }
  for (const fb::Operator* op : *model.operators()) {
    if (const auto* conv = op->options_as_Conv2D()) {
      add(conv->weight_sum());
      all.push_back(conv->pair_safe());
    }
    if (const auto* depthwise = op->options_as_DepthwiseConv2D()) add(depthwise->weight_sum());
    if (const auto* dense = op->options_as_FullyConnected()) {
      add(dense->weight_sum());
      all.push_back(dense->pair_safe());
    }
  }
  return all;
}

// Runs on the scalar kernels and, in turn, on those of one other instruction set, with the same
// result if the file's claims are true.
void expect_runs(const qrt_model* model, bool same_result) {
  Bytes expected;
  static size_t turn = 0;
  const std::vector<const char*> isas = testing::machine_isas();
  std::vector<const char*> two = {isas[0]};
  if (isas.size() > 1) two.push_back(isas[1 + turn++ % (isas.size() - 1)]);
  for (const char* isa : two) {
    qrt_session_options options;
    qrt_session_options_init(&options);
    options.isa = isa;
    qrt_session* session = nullptr;
    if (qrt_session_create(model, &options, &session, nullptr) != QRT_OK) break;
    if (qrt_session_memory(session) < 16 << 20) {
      const Bytes outputs = run_session(session);
      if (expected.empty()) expected = outputs;
      EXPECT_TRUE(!same_result || outputs == expected) << isa;
    }
    qrt_session_destroy(session);
  }
}

// Loads bytes of an exact size from the heap, where a sanitizer sees any access outside, and runs
// them if they pass. True if they passed.
bool survives(const Bytes& file) {
  qrt_model* model = nullptr;
  qrt_error error = {};
  const qrt_status status =
      qrt_model_load_memory(file.data(), file.size(), QRT_LOAD_COPY, &model, &error);
  EXPECT_TRUE((status == QRT_OK) == (model != nullptr));
  if (status != QRT_OK) {
    EXPECT_TRUE(status == QRT_INVALID_MODEL || status == QRT_UNSUPPORTED) << status;
    EXPECT_STRNE(error.message, "");
    return false;
  }
  // Huge models are legal; they need not run here.
  size_t bytes = 0;
  qrt_tensor_info info;
  qrt_tensor_info_init(&info);
  for (size_t i = 0; qrt_model_input_info(model, i, &info) == QRT_OK; ++i) bytes += info.bytes;
  static const Bytes true_claims = claims(testing::every_op_model().build());
  if (bytes < 1 << 20) expect_runs(model, claims(file) == true_claims);
  qrt_model_destroy(model);
  return true;
}

// Lengths from one that is tried to the next: the memory sanitizer would take half an hour for all.
constexpr size_t length_step() {
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
  return 17;
#endif
#endif
  return 1;
}

TEST(Corruption, EveryTruncationIsRefused) {
  const Bytes file = testing::every_op_model().build();
  for (size_t n = 1; n < file.size(); n += length_step()) {
    // What nothing refers to may be missing: builder's padding behind the slack.
    const bool ok = survives(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(n)));
    ASSERT_TRUE(!ok || n + 128 > file.size()) << n << " of " << file.size() << " bytes";
  }
}

// A small model file with `flips` bits or bytes changed.
Bytes flipped(Bytes file, testing::Random* random, int flips) {
  for (int i = 0; i < flips; ++i) {
    uint8_t& byte =
        file[static_cast<size_t>(random->integer(0, static_cast<int64_t>(file.size()) - 1))];
    if (random->coin()) {
      byte ^= static_cast<uint8_t>(1 << random->integer(0, 7));
    } else {
      byte = static_cast<uint8_t>(random->integer(0, 255));
    }
  }
  return file;
}

TEST(Corruption, NoFlippedBytesMisbehave) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Bytes file = testing::every_op_model().build();
  int passed = 0;
  for (int i = 0; i < 6000; ++i) {
    const int flips = static_cast<int>(random.coin() ? 1 : random.integer(1, 8));
    passed += survives(flipped(file, &random, flips));
    if (HasFailure()) FAIL() << "flip " << i;
  }
  ASSERT_GT(passed, 0);
}

// Words of the file become indices, sizes and extremes: reaches checks that random bytes seldom do.
TEST(Corruption, NoReplacedWordsMisbehave) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const Bytes file = testing::every_op_model().build();
  const uint32_t words[] = {0,     1,        2,          3,          4,          7,
                            8,     16,       17,         255,        256,        65535,
                            65536, 1u << 20, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
  for (size_t at = 0; at + 4 <= file.size(); at += 4) {
    Bytes copy = file;
    const size_t which = static_cast<size_t>(random.integer(0, std::size(words) - 1));
    memcpy(copy.data() + at, &words[which], 4);
    survives(copy);
    if (HasFailure()) FAIL() << "word " << words[which] << " at byte " << at;
  }
}

TEST(ModelBytes, ReadsFilesAndSaysWhyNot) {
  char path[] = "/tmp/qrt_verify_test_XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  qrt_model* model = nullptr;
  qrt_error error = {};
  ASSERT_EQ(qrt_model_load_file(path, &model, &error), QRT_INVALID_MODEL);
  ASSERT_EQ(std::string(error.message), std::string(path) + ": the file is empty");
  const Bytes file = testing::every_op_model().build();
  ASSERT_EQ(write(fd, file.data(), file.size()), static_cast<ssize_t>(file.size()));
  close(fd);
  ASSERT_EQ(qrt_model_load_file(path, &model, &error), QRT_OK) << error.message;
  qrt_model_destroy(model);
  unlink(path);
  ASSERT_EQ(qrt_model_load_file(path, &model, &error), QRT_IO_ERROR);
  ASSERT_EQ(std::string(error.message), std::string(path) + ": No such file or directory");
  ASSERT_EQ(qrt_model_load_file("/tmp", &model, &error), QRT_IO_ERROR);
  ASSERT_EQ(std::string(error.message), "/tmp: not a regular file");
}

TEST(ModelBytes, MapsAPartOfAFile) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(tmpfile(), fclose);
  ASSERT_NE(file, nullptr);
  const int fd = fileno(file.get());
  const std::string text = "before model behind";
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const auto part = [&](uint64_t offset, uint64_t length) -> std::string {
    Result<ModelBytes> bytes = ModelBytes::map(fd, offset, length);
    if (!bytes.ok()) return bytes.status().message();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  };
  EXPECT_EQ(part(0, 0), text);
  EXPECT_EQ(part(7, 5), "model");
  EXPECT_EQ(part(7, 0), "model behind");
  EXPECT_EQ(part(7, 12), "model behind");
  EXPECT_EQ(part(7, 13), "the file has 19 bytes, not 13 from offset 7 on");
  EXPECT_EQ(part(18, 0), "d");
  EXPECT_EQ(part(19, 0), "the file has 19 bytes, not 0 from offset 19 on");
  // A hole: nothing is read.
  constexpr size_t kLimit = kMaxFileBytes;
  ASSERT_EQ(ftruncate(fd, off_t{kLimit} + 8), 0);
  EXPECT_EQ(ModelBytes::map(fd, 8, 0)->size(), kLimit);
  EXPECT_EQ(part(7, 0), std::to_string(kLimit + 1) + " bytes are too many for a model (limit " +
                            std::to_string(kLimit) + ")");
}

// A regular file that says that it has a page, and cannot be mapped.
TEST(ModelBytes, FilesThatCannotBeMapped) {
  const char* const kPath = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (access(kPath, R_OK) != 0) GTEST_SKIP() << "no such file here";
  Result<ModelBytes> bytes = ModelBytes::map_file(kPath);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), Code::kIoError) << bytes.status().message();
}

TEST(ModelBytes, CopiesOfNothing) {
  Result<ModelBytes> none = ModelBytes::copy(nullptr, 0);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 0u);
}

TEST(ModelBytes, BorrowsAlignedBytesAndCopiesOthers) {
  alignas(64) static uint8_t data[192];
  Result<ModelBytes> aligned = ModelBytes::borrow(data, 128);
  ASSERT_EQ(aligned->data(), data);
  Result<ModelBytes> copied = ModelBytes::borrow(data + 1, 128);
  ASSERT_NE(copied->data(), data + 1);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(copied->data()) % 64, 0u);
}

}  // namespace
}  // namespace qrt
