// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM of float32 activations: with int8 weights against LiteRT's portable kernels written out as naive
// loops, over several runs; with weights of floats; what is refused. Sigmoid and tanh, which no standard defines to the last bit,
// are qrt's own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>

#include "kernels/float_fallback/float_fallback.h"
#include "kernels/integer_build.h"
#include "tests/support/hybrid_reference.h"
#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"

namespace qrt::testing::tflite_hybrid_lstm_test {
namespace {

using B = BuiltinOperator;
using Floats = std::vector<float>;

float applied(FloatUnary f, float x) {
  float y;
  select_float(static_cast<IsaSet>(Isa::kScalar))->unary(f, &x, &y, 1);
  return y;
}

float sigmoid(float x) { return applied(FloatUnary::kFusedSigmoid, x); }
float hyperbolic_tangent(float x) { return applied(FloatUnary::kTanh, x); }

struct Lstm {
  size_t rows = 2, steps = 3, in = 4, cells = 5;
  bool time_major = false, asymmetric = false, is_float = false;
  float clip = 0;
  std::vector<int8_t>
      weights[8];  // of the input and of the hidden state, for the gates i, f, g and o
  float scale[8];
  Floats bias[4];
  Floats hidden, cell;  // the state

  explicit Lstm(Random* random) {
    const auto size = [&](int64_t most) { return static_cast<size_t>(random->integer(1, most)); };
    rows = size(3), steps = size(6), in = size(20), cells = size(24);
    time_major = random->coin(), asymmetric = random->coin();
    if (random->integer(0, 3) == 0) clip = random->real(0.05f, 0.5f);
    for (size_t i = 0; i < 8; ++i) {
      weights[i].resize(cells * (i < 4 ? in : cells));
      random->fill(weights[i], -127, 127);
      scale[i] = random->scale(static_cast<int>(random->integer(-11, -7)));
    }
    for (Floats& b : bias)
      for (size_t c = 0; c < cells; ++c) b.push_back(random->real(-1, 1));
    reset();
  }

  void reset() {
    hidden.assign(rows * cells, 0.0f);
    cell = hidden;
  }
  size_t place(size_t t, size_t row) const { return time_major ? t * rows + row : row * steps + t; }
  Floats floats(size_t i) const {
    Floats w;
    for (const int8_t code : weights[i]) w.push_back(static_cast<float>(code) * scale[i]);
    return w;
  }

  TfliteBuilder build() const {
    const int r = static_cast<int>(rows), t = static_cast<int>(steps);
    const int n = static_cast<int>(in), c = static_cast<int>(cells);
    TfliteBuilder b;
    std::vector<int> inputs = {
        b.input(TensorType::FLOAT32, {time_major ? t : r, time_major ? r : t, n})};
    for (size_t i = 0; i < 8; ++i) {
      const TfliteBuilder::Dims shape = {c, i < 4 ? n : c};
      inputs.push_back(is_float ? b.constant(TensorType::FLOAT32, shape, floats(i))
                                : b.constant(TensorType::INT8, shape, weights[i], {scale[i]}, {0}));
    }
    inputs.resize(12, -1);
    for (const Floats& values : bias)
      inputs.push_back(b.constant(TensorType::FLOAT32, {c}, values));
    inputs.resize(18, -1);
    for (int i = 0; i < 2; ++i) {
      inputs.push_back(b.tensor(TensorType::FLOAT32, {r, c}));
      b.at(inputs.back()).is_variable = true;
    }
    inputs.resize(24, -1);
    tflite::UnidirectionalSequenceLSTMOptionsT o;
    o.fused_activation_function = tflite::ActivationFunctionType::TANH;
    o.time_major = time_major;
    o.asymmetric_quantize_inputs = asymmetric;
    o.cell_clip = clip;
    b.op(B::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs,
         {b.output(TensorType::FLOAT32, {time_major ? t : r, time_major ? r : t, c})}, o);
    return b;
  }

  // PortableMatrixBatchVectorMultiplyAccumulate of one vector and row `o` of weights i.
  float accumulated(float sum, const HybridRow& x, size_t i, size_t o) const {
    const size_t n = x.codes.size();
    int32_t dot = 0, total = 0;
    for (size_t k = 0; k < n; ++k) {
      dot += weights[i][o * n + k] * x.codes[k];
      total += weights[i][o * n + k];
    }
    dot -= total * x.offset;
    const float factor = x.scale * scale[i];
    const float product = static_cast<float>(dot) * factor;
    return sum + product;
  }

  // EvalHybrid of lstm_eval.cc, one run.
  Floats run(const Floats& x) {
    Floats y(rows * steps * cells);
    for (size_t row = 0; row < rows; ++row)
      for (size_t t = 0; t < steps; ++t) {
        const HybridRow of_x = quantised(x.data() + place(t, row) * in, in, asymmetric);
        const HybridRow of_h = quantised(hidden.data() + row * cells, cells, asymmetric);
        for (size_t c = 0; c < cells; ++c) {
          float gate[4];
          for (size_t g = 0; g < 4; ++g)
            gate[g] = accumulated(accumulated(bias[g][c], of_x, g, c), of_h, 4 + g, c);
          float& content = cell[row * cells + c];
          const float kept = sigmoid(gate[1]) * content;
          const float added = hyperbolic_tangent(gate[2]) * sigmoid(gate[0]);
          content = kept + added;
          if (clip > 0) content = std::max(std::min(content, clip), -clip);
          hidden[row * cells + c] = sigmoid(gate[3]) * hyperbolic_tangent(content);
          y[place(t, row) * cells + c] = hidden[row * cells + c];
        }
      }
    return y;
  }
};

// Runs a model as often as there are inputs, in one session.
std::vector<Floats> run_all(const TfliteBuilder& b, const std::vector<Floats>& inputs) {
  Imported imported = b.import();
  EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  if (!imported.status.ok()) return {};
  EXPECT_EQ(imported.graph.reference, "tflite-hybrid");
  EXPECT_EQ(imported.graph.variables.size(), 2u);
  record_support(b.model, imported.report);
  const Shape output = imported.graph.values[imported.graph.outputs[0]].type.shape;
  Bytes file;
  EXPECT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  EXPECT_TRUE(convert::write_model(imported.graph, &file).ok());
  qrt_model* model = nullptr;
  qrt_session* session = nullptr;
  EXPECT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
  const std::unique_ptr<qrt_model, void (*)(qrt_model*)> owner(model, qrt_model_destroy);
  EXPECT_EQ(qrt_session_create(model, nullptr, &session, nullptr), QRT_OK);
  const std::unique_ptr<qrt_session, void (*)(qrt_session*)> session_owner(session,
                                                                           qrt_session_destroy);
  std::vector<Floats> results;
  for (const Floats& x : inputs) {
    Floats y(static_cast<size_t>(output.elements()));
    EXPECT_EQ(qrt_session_set_input_bytes(session, 0, x.data(), x.size() * sizeof(float), nullptr),
              QRT_OK);
    EXPECT_EQ(qrt_session_run(session, nullptr), QRT_OK);
    EXPECT_EQ(qrt_session_get_output_bytes(session, 0, y.data(), y.size() * sizeof(float), nullptr),
              QRT_OK);
    results.push_back(std::move(y));
  }
  return results;
}

std::vector<Floats> random_inputs(Random* random, const Lstm& lstm) {
  std::vector<Floats> inputs(3, Floats(lstm.rows * lstm.steps * lstm.in));
  for (Floats& x : inputs)
    for (size_t i = 0; i < x.size(); i += lstm.in) {
      const float range = random->integer(0, 5) == 0 ? 0.0f : random->real(0.1f, 4);
      for (size_t k = 0; k < lstm.in; ++k) x[i + k] = random->real(-1, 1) * range;
    }
  return inputs;
}

TEST(TfliteHybridLstm, HasThePortableKernelsBits) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(random.trace() + " model " + std::to_string(i));
    Lstm lstm(&random);
    const std::vector<Floats> inputs = random_inputs(&random, lstm);
    const std::vector<Floats> results = run_all(lstm.build(), inputs);
    ASSERT_EQ(results.size(), inputs.size());
    for (size_t n = 0; n < inputs.size(); ++n)
      ASSERT_EQ(to_bytes(results[n]), to_bytes(lstm.run(inputs[n]))) << "run " << n;
  }
}

// Beside a layer of integer weights an LSTM may keep floats, as one of few weights does.
TEST(TfliteHybridLstm, TakesWeightsOfFloats) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  SCOPED_TRACE(random.trace());
  Lstm lstm(&random);
  lstm.is_float = true;
  TfliteBuilder b = lstm.build();
  const auto cells = static_cast<int>(lstm.cells);
  const int y = b.graph().outputs[0];
  const std::vector<int8_t> identity = [&] {
    std::vector<int8_t> w(lstm.cells * lstm.cells);
    for (size_t c = 0; c < lstm.cells; ++c) w[c * lstm.cells + c] = 1;
    return w;
  }();
  const int rows = static_cast<int>(lstm.rows * lstm.steps);
  b.op(B::FULLY_CONNECTED, {y, b.constant(TensorType::INT8, {cells, cells}, identity, {1.0f}, {0})},
       {b.output(TensorType::FLOAT32, {rows, cells})}, tflite::FullyConnectedOptionsT());
  const std::vector<Floats> inputs = random_inputs(&random, lstm);
  const std::vector<Floats> results = run_all(b, inputs);
  ASSERT_EQ(results.size(), inputs.size());
  std::vector<Floats> w;
  for (size_t i = 0; i < 8; ++i) w.push_back(lstm.floats(i));
  std::vector<double> hidden(lstm.rows * lstm.cells), content = hidden;
  const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (size_t n = 0; n < inputs.size(); ++n)
    for (size_t t = 0; t < lstm.steps; ++t) {
      const std::vector<double> before = hidden;
      for (size_t i = 0; i < hidden.size(); ++i) {
        const size_t row = i / lstm.cells, c = i % lstm.cells;
        double gate[4];
        for (size_t g = 0; g < 4; ++g) {
          gate[g] = static_cast<double>(lstm.bias[g][c]);
          for (size_t k = 0; k < lstm.in; ++k)
            gate[g] += static_cast<double>(inputs[n][lstm.place(t, row) * lstm.in + k]) *
                       static_cast<double>(w[g][c * lstm.in + k]);
          for (size_t k = 0; k < lstm.cells; ++k)
            gate[g] +=
                before[row * lstm.cells + k] * static_cast<double>(w[4 + g][c * lstm.cells + k]);
        }
        content[i] = logistic(gate[1]) * content[i] + std::tanh(gate[2]) * logistic(gate[0]);
        const auto clip = static_cast<double>(lstm.clip);
        if (clip > 0) content[i] = std::max(std::min(content[i], clip), -clip);
        hidden[i] = logistic(gate[3]) * std::tanh(content[i]);
        const float got = results[n][lstm.place(t, row) * lstm.cells + c];
        EXPECT_NEAR(static_cast<double>(got), hidden[i], 1e-4) << n << ", " << t << ", " << i;
      }
    }
}

// All steps share the packed weights: a step adds operators, not weights.
TEST(TfliteHybridLstm, StepsShareTheirWeights) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  Lstm lstm(&random);
  lstm.rows = 1, lstm.steps = 50, lstm.in = 8, lstm.cells = 64;
  for (size_t i = 0; i < 8; ++i)
    lstm.weights[i].assign(lstm.cells * (i < 4 ? lstm.in : lstm.cells), 1);
  for (Floats& b : lstm.bias) b.assign(lstm.cells, 0.5f);
  Imported imported = lstm.build().import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  size_t weights = 0;
  for (const convert::Value& value : imported.graph.values)
    weights += value.packing == fb::Packing::GEMM;
  EXPECT_EQ(weights, 2u);
}

// A file of a few bytes may ask for any number of steps.
TEST(TfliteHybridLstm, StepsAreWithinTheBudget) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  Random random;
  Lstm lstm(&random);
  lstm.rows = 1, lstm.time_major = true;
  TfliteBuilder b = lstm.build();
  b.at(b.graph().inputs[0]).shape[0] = b.at(b.graph().outputs[0]).shape[0] = 1 << 20;
  expect_rule(b, "it has 1048576 steps: the file has");
}

TEST(TfliteHybridLstm, Refuses) {
  if (is_integer_build()) GTEST_SKIP() << "this build has no layers of floats";
  using T = TfliteBuilder;
  const auto reject = [&](const std::string& part, const std::function<void(T&)>& f) {
    SCOPED_TRACE(part);
    Random random;
    Lstm lstm(&random);
    lstm.rows = 2, lstm.steps = 3, lstm.in = 4, lstm.cells = 5;
    for (size_t i = 0; i < 8; ++i) lstm.weights[i].assign(5 * (i < 4 ? 4 : 5), 1);
    for (Floats& b : lstm.bias) b.assign(5, 0.5f);
    T b = lstm.build();
    f(b);
    expect_rule(b, part);
  };
  const auto inputs = [](T& b) -> std::vector<int>& { return b.graph().operators[0]->inputs; };
  reject("peephole connections, which qrt's float form lacks",
         [&](T& b) { inputs(b)[10] = inputs(b)[1]; });
  reject("a projection", [&](T& b) { inputs(b)[16] = inputs(b)[1]; });
  reject("layer normalisation", [&](T& b) { inputs(b)[21] = inputs(b)[1]; });
  reject("coupled to the forget gate",
         [&](T& b) { inputs(b)[1] = inputs(b)[5] = inputs(b)[12] = -1; });
  reject("has shape [5, 4], expected [5, 5]", [&](T& b) { inputs(b)[6] = inputs(b)[1]; });
  reject("has several scales, of which the reference reads one", [&](T& b) {
    auto& q = *b.at(inputs(b)[3]).quantization;
    q.scale.assign(5, 0.5f);
    q.zero_point.assign(5, 0);
  });
  reject("is no finite number for every channel", [&](T& b) {
    b.model.buffers[b.at(inputs(b)[14]).buffer]->data = to_bytes(Floats(5, HUGE_VALF));
  });
  reject("is not a variable tensor", [&](T& b) {
    b.graph().inputs.push_back(inputs(b)[18]);
    b.at(inputs(b)[18]).is_variable = false;
  });
  reject("expected float32 of [2, 5]", [&](T& b) { b.at(inputs(b)[19]).shape = {1, 5}; });
  reject("is float32", [&](T& b) {
    inputs(b)[7] = b.constant(TensorType::FLOAT32, {5, 5}, Floats(25, 1.0f));
  });
}

}  // namespace
}  // namespace qrt::testing::tflite_hybrid_lstm_test
