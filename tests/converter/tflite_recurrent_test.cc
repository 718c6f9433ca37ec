// SPDX-License-Identifier: Apache-2.0
// SVDF and LSTM of TFLite models, converted and run over several runs, against the reference's
// formulas; what is refused of them. LSTM's numbers of bytes are checked in tests/ops/lstm_test.cc.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "kernels/recurrent/recurrent.h"
#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::testing::tflite_recurrent_test {
namespace {

using B = BuiltinOperator;

constexpr int kIn = 6, kFilters = 4, kRank = 2, kMemory = 3, kUnits = 2;
constexpr float kInScale = 0.05f, kFeatureScale = 0.02f, kTimeScale = 0.01f, kOutScale = 0.3f;

struct Svdf {
  bool single = false;
  TensorType state = TensorType::INT16;
  float state_scale = 0.001f;
  int state_zero_point = 0;
  std::vector<int8_t> features;
  std::vector<int16_t> times;
  std::vector<int32_t> bias = {1000, -2000};

  explicit Svdf(Random* random) : features(kFilters * kIn), times(kFilters * kMemory) {
    for (int8_t& w : features) w = static_cast<int8_t>(random->integer(-127, 127));
    for (int16_t& w : times) w = static_cast<int16_t>(random->integer(-127, 127));
  }

  int variable(TfliteBuilder* b) const {
    const int id = b->activation(state, {1, kFilters * kMemory}, state_scale, state_zero_point);
    b->at(id).is_variable = true;
    return id;
  }
  TfliteBuilder build() const {
    TfliteBuilder b;
    const int x = b.input(TensorType::INT8, {1, kIn}, kInScale, -7);
    const int w = b.constant(TensorType::INT8, {kFilters, kIn}, features, {kFeatureScale}, {0});
    const std::vector<int8_t> narrow(times.begin(), times.end());
    const int t = state == TensorType::INT16
                      ? b.constant(state, {kFilters, kMemory}, times, {kTimeScale}, {0})
                      : b.constant(state, {kFilters, kMemory}, narrow, {kTimeScale}, {0});
    const int c = b.constant(TensorType::INT32, {kUnits}, bias);
    tflite::SVDFOptionsT o;
    o.rank = kRank;
    o.fused_activation_function = tflite::ActivationFunctionType::RELU;  // ignored
    const int kept = variable(&b);
    b.op(B::SVDF, {x, w, t, c, kept}, {b.output(TensorType::INT8, {1, kUnits}, kOutScale, 9)}, o);
    return b;
  }

  // Runs the reference once; `past` is the state in its own domain.
  Bytes step(const Bytes& x, std::vector<int>* past) const {
    const float product = kInScale * kFeatureScale, summed = state_scale * kTimeScale;
    const auto feature = reference_multiplier(static_cast<double>(product / state_scale));
    const auto time = reference_multiplier(static_cast<double>(summed / kOutScale));
    const bool is_int16 = state == TensorType::INT16;
    Bytes y;
    for (size_t unit = 0; unit < kUnits; ++unit) {
      auto sum = static_cast<uint32_t>(bias[unit]);  // wraps, as the reference's int32 does
      for (size_t f = unit * kRank; f < (unit + 1) * kRank; ++f) {
        int32_t acc = 0;
        for (size_t i = 0; i < kIn; ++i)
          acc += (static_cast<int8_t>(x[i]) + 7) * features[f * kIn + i];
        int v = reference_multiply(acc, feature, single);
        v = std::clamp(v, is_int16 ? -32768 : -128, is_int16 ? 32767 : 127) + state_zero_point;
        int* row = past->data() + f * kMemory;
        for (size_t i = 1; i < kMemory; ++i) row[i - 1] = row[i];
        row[kMemory - 1] = is_int16 ? static_cast<int16_t>(v) : static_cast<int8_t>(v);
        for (size_t i = 0; i < kMemory; ++i)
          sum += static_cast<uint32_t>((row[i] - state_zero_point) * times[f * kMemory + i]);
      }
      const int out = reference_multiply(static_cast<int32_t>(sum), time, single) + 9;
      y.push_back(static_cast<uint8_t>(std::clamp(out, -128, 127)));
    }
    return y;
  }
};

// Runs a model several times in one session, and again after a reset.
void check_runs(const Svdf& svdf, Random* random) {
  Imported imported = svdf.build().import(svdf.single ? TfliteReference::kSingleRounding
                                                      : TfliteReference::kDoubleRounding);
  ASSERT_EQ(imported.status.code(), Code::kOk) << imported.report.text(true);
  Bytes file;
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  ASSERT_TRUE(convert::write_model(imported.graph, &file).ok());
  qrt_model* model = nullptr;
  qrt_session* session = nullptr;
  ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  const std::unique_ptr<qrt_model, void (*)(qrt_model*)> owner(model, qrt_model_destroy);
  ASSERT_EQ(qrt_session_create(model, nullptr, &session, nullptr), QRT_OK);
  const std::unique_ptr<qrt_session, void (*)(qrt_session*)> session_owner(session,
                                                                           qrt_session_destroy);
  for (int round = 0; round < 2; ++round) {
    std::vector<int> past(kFilters * kMemory, svdf.state_zero_point);
    for (int i = 0; i < 6; ++i) {
      Bytes x(kIn), y(kUnits);
      random->fill(x, 0, 255);
      ASSERT_EQ(qrt_session_set_input_bytes(session, 0, x.data(), x.size(), nullptr), QRT_OK);
      ASSERT_EQ(qrt_session_run(session, nullptr), QRT_OK);
      ASSERT_EQ(qrt_session_get_output_bytes(session, 0, y.data(), y.size(), nullptr), QRT_OK);
      ASSERT_EQ(y, svdf.step(x, &past)) << "run " << i;
    }
    ASSERT_EQ(qrt_session_reset(session), QRT_OK);
  }
}

TEST(TfliteSvdf, KeepsItsStateBetweenRuns) {
  Random random;
  SCOPED_TRACE(random.trace());
  Svdf svdf(&random);
  check_runs(svdf, &random);
  svdf.single = true;
  check_runs(svdf, &random);
}

// Time weights of 16 bits are taken, as in TFLM's keyword_scrambled.tflite: their sums over time
// might leave int32.
TEST(TfliteSvdf, TimeWeightsOf16Bits) {
  Random random;
  SCOPED_TRACE(random.trace());
  Svdf svdf(&random);
  for (int16_t& w : svdf.times) w = static_cast<int16_t>(random.coin() ? 32767 : -32768);
  check_runs(svdf, &random);
}

TEST(TfliteSvdf, AStateOf8BitsWrapsAroundItsZeroPoint) {
  Random random;
  SCOPED_TRACE(random.trace());
  Svdf svdf(&random);
  svdf.state = TensorType::INT8;
  svdf.state_scale = 0.02f;
  svdf.state_zero_point = 100;
  check_runs(svdf, &random);
}

TEST(TfliteSvdf, Refuses) {
  Random random;
  const auto reject = [&](const std::string& part, const std::function<void(TfliteBuilder&)>& f) {
    SCOPED_TRACE(part);
    TfliteBuilder b = Svdf(&random).build();
    f(b);
    expect_rule(b, part);
  };
  using T = TfliteBuilder;
  reject("is not a variable tensor", [](T& b) {
    b.graph().inputs.push_back(4);
    b.at(4).is_variable = false;
  });
  reject("is float32, which this operator's state is not",
         [](T& b) { b.at(4).type = TensorType::FLOAT32; });
  reject("is float32: only integer operators", [](T& b) { b.at(0).type = TensorType::FLOAT32; });
  reject("of different types", [](T& b) { b.at(4).type = TensorType::INT8; });
  reject("beyond what the reference kernels define",
         [](T& b) { b.at(5).quantization->scale = {1e-12f}; });
  reject("is the state of an earlier operator, too", [](T& b) {
    const int y = b.output(TensorType::INT8, {1, kUnits}, kOutScale, 9);
    tflite::SVDFOptionsT o;
    o.rank = kRank;
    b.op(B::SVDF, {0, 1, 2, 3, 4}, {y}, o);
  });
  reject("keeps its content between runs", [](T& b) {
    const int y = b.output(TensorType::INT8, {1, kFilters * kMemory}, 1, 0);
    b.op(B::RESHAPE, {4}, {y}, tflite::ReshapeOptionsT());
  });
}

constexpr int kSteps = 3, kCells = 5;

TfliteBuilder lstm_model(TensorType type = TensorType::INT8) {
  Random random;
  TfliteBuilder b;
  const bool is_int16 = type == TensorType::INT16;
  const float out_scale = is_int16 ? 1.0f / 32768 : 1.0f / 128;
  const int out_zero = is_int16 ? 0 : 3;
  std::vector<int> inputs = {b.input(type, {1, kSteps, kIn}, kInScale, -7)};
  for (int i = 1; i <= 8; ++i) {
    const int columns = i <= 4 ? kIn : kCells;
    std::vector<int8_t> w(static_cast<size_t>(kCells * columns));
    for (int8_t& v : w) v = static_cast<int8_t>(random.integer(-127, 127));
    inputs.push_back(b.constant(TensorType::INT8, {kCells, columns}, w, {0.01f}, {0}));
  }
  inputs.resize(12, -1);
  for (int i = 12; i <= 15; ++i)
    inputs.push_back(
        is_int16 ? b.constant(TensorType::INT64, {kCells}, std::vector<int64_t>(kCells, 100))
                 : b.constant(TensorType::INT32, {kCells}, std::vector<int32_t>(kCells, 100)));
  inputs.resize(18, -1);
  inputs.push_back(b.activation(type, {1, kCells}, out_scale, out_zero));
  inputs.push_back(b.activation(TensorType::INT16, {1, kCells}, 1.0f / 2048, 0));
  for (size_t i : {18, 19}) b.at(inputs[i]).is_variable = true;
  inputs.resize(24, -1);
  tflite::UnidirectionalSequenceLSTMOptionsT o;
  o.fused_activation_function = tflite::ActivationFunctionType::TANH;
  b.op(B::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs,
       {b.output(type, {1, kSteps, kCells}, out_scale, out_zero)}, o);
  return b;
}

tflite::UnidirectionalSequenceLSTMOptionsT& lstm_options(TfliteBuilder& b) {
  return *b.graph().operators[0]->builtin_options.AsUnidirectionalSequenceLSTMOptions();
}

// An LSTM becomes one operator with two variables; its options are compared.
TEST(TfliteLstm, BecomesOneOperatorWithTwoVariables) {
  TfliteBuilder b = lstm_model();
  lstm_options(b).cell_clip = 0.6f;
  Imported imported = b.import();
  ASSERT_EQ(imported.status.code(), Code::kOk) << imported.report.text(true);
  const convert::Graph& graph = imported.graph;
  ASSERT_EQ(graph.variables.size(), 2u);
  ASSERT_EQ(graph.variables[0].initial, 131);
  ASSERT_EQ(graph.variables[1].initial, 0);
  for (const convert::Node& node : graph.nodes) {
    const auto* o = node.options.AsLstm();
    if (o == nullptr) continue;
    ASSERT_EQ(o->cell_clip, 1228);     // 0.6 * 2048, towards zero
    ASSERT_EQ(o->tanh_multiplier, 6);  // 2^-11 = 2 * 2^-12
    ASSERT_EQ(o->tanh_shift, 0);
    ASSERT_EQ(o->requant->zero_point, 131);
    return;
  }
  FAIL() << "no Lstm";
}

// Checks an LSTM against the reference's steps over the file's own integers.
template <class T>
void check_lstm(TensorType type, float out_scale, int out_zero) {
  constexpr bool kIsWide = sizeof(T) == 2;
  TfliteBuilder b = lstm_model(type);
  const auto weights = [&](int input) {
    const auto tensor = b.graph().operators[0]->inputs[static_cast<size_t>(input)];
    const Bytes& data = b.model.buffers[b.at(tensor).buffer]->data;
    return from_bytes<int8_t>(data);
  };
  const auto sat16 = [](int64_t v) { return std::clamp<int64_t>(v, -32768, 32767); };
  const auto multiply_64 = [](int64_t x, ReferenceMultiplier m) {
    const int64_t high = m.value < 0x7fff0000 ? (m.value + (1 << 15)) >> 16 : 0x7fff;
    return (x * high + (int64_t{1} << (14 - m.shift))) >> (15 - m.shift);
  };
  const auto saturated = [](int64_t v) {
    return static_cast<T>(
        std::clamp<int64_t>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  };
  const float of_input = kInScale * 0.01f, of_hidden = out_scale * 0.01f;
  const auto mi = reference_multiplier(static_cast<double>(of_input) * 4096);
  const auto mh = reference_multiplier(static_cast<double>(of_hidden) * 4096);
  const auto keep = reference_multiplier(std::ldexp(1.0, -15));
  const auto add = reference_multiplier(std::ldexp(1.0, -30) * 2048);
  const auto make = reference_multiplier(std::ldexp(1.0, -30) / static_cast<double>(out_scale));
  std::vector<int8_t> w[4], r[4];
  for (int g = 0; g < 4; ++g) {
    w[g] = weights(1 + g);
    r[g] = weights(5 + g);
  }
  Random random;
  std::vector<T> x(kSteps * kIn);
  random.fill(x, kIsWide ? -3000 : -128, kIsWide ? 3000 : 127);
  for (const bool single : {false, true}) {
    const auto scaled = [&](int64_t v, ReferenceMultiplier m) {
      return kIsWide ? multiply_64(v, m) : reference_multiply(static_cast<int32_t>(v), m, single);
    };
    std::vector<T> y, hidden(kCells, static_cast<T>(out_zero));
    std::vector<int64_t> cell(kCells, 0);
    for (size_t t = 0; t < kSteps; ++t) {
      const std::vector<T> before = hidden;
      for (size_t c = 0; c < kCells; ++c) {
        int32_t gate[4];
        for (int g = 0; g < 4; ++g) {
          int64_t a = 100, h = 0;
          for (size_t i = 0; i < kIn; ++i) a += (x[t * kIn + i] + 7) * w[g][c * kIn + i];
          for (size_t i = 0; i < kCells; ++i) h += (before[i] - out_zero) * r[g][c * kCells + i];
          gate[g] = static_cast<int32_t>(sat16(sat16(scaled(a, mi)) + sat16(scaled(h, mh))));
        }
        const int32_t in = sigmoid_q15(3 * gate[0]), forget = sigmoid_q15(3 * gate[1]);
        const int32_t update = tanh_q15(3 * gate[2]), out = sigmoid_q15(3 * gate[3]);
        const auto old = static_cast<int32_t>(cell[c]);
        cell[c] = sat16(sat16(reference_multiply(forget * old, keep, single)) +
                        sat16(reference_multiply(in * update, add, single)));
        hidden[c] = saturated(
            reference_multiply(tanh_q15(static_cast<int32_t>(cell[c]) * 6) * out, make, single) +
            out_zero);
      }
      y.insert(y.end(), hidden.begin(), hidden.end());
    }
    const auto reference =
        single ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
    ASSERT_EQ(b.run({to_bytes(x)}, reference), std::vector<Bytes>{to_bytes(y)});
  }
}

TEST(TfliteLstm, RunsInt8Activations) { check_lstm<int8_t>(TensorType::INT8, 1.0f / 128, 3); }
TEST(TfliteLstm, RunsInt16Activations) { check_lstm<int16_t>(TensorType::INT16, 1.0f / 32768, 0); }

TEST(TfliteLstm, Refuses) {
  const auto reject = [&](const std::string& part, const std::function<void(TfliteBuilder&)>& f) {
    SCOPED_TRACE(part);
    TfliteBuilder b = lstm_model();
    f(b);
    expect_rule(b, part);
  };
  using T = TfliteBuilder;
  const auto inputs = [](T& b) -> std::vector<int>& { return b.graph().operators[0]->inputs; };
  reject("peephole connections", [&](T& b) { inputs(b)[10] = inputs(b)[1]; });
  reject("a projection", [&](T& b) { inputs(b)[16] = inputs(b)[1]; });
  reject("layer normalisation", [&](T& b) { inputs(b)[21] = inputs(b)[1]; });
  reject("its activation is not TANH", [](T& b) {
    lstm_options(b).fused_activation_function = tflite::ActivationFunctionType::RELU;
  });
  reject("has shape [5, 6], expected [5, 5]", [&](T& b) { inputs(b)[5] = inputs(b)[1]; });
  reject("is not an int32 constant of 5 elements", [&](T& b) { inputs(b)[13] = inputs(b)[2]; });
  TfliteBuilder wide = lstm_model(TensorType::INT16);
  wide.model.buffers[wide.at(inputs(wide)[12]).buffer]->data =
      to_bytes(std::vector<int64_t>(kCells, int64_t{1} << 50));
  expect_rule(wide, "a bias is beyond 2^45");
  reject("cell_clip is below one step", [](T& b) { lstm_options(b).cell_clip = 1e-6f; });
}

}  // namespace
}  // namespace qrt::testing::tflite_recurrent_test
