// SPDX-License-Identifier: Apache-2.0
// Lstm against loops from its formula, with the state as inputs and outputs of the model; its
// functions against the real ones; models it has to refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <type_traits>

#include "kernels/recurrent/recurrent.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::lstm_test {
namespace {

using testing::Bytes;
using testing::random_values;
using testing::rounded_twice;

struct Lstm {
  int64_t steps = 3, in = 5, cells = 7;
  bool time_major = false;
  int cell_clip = 0, tanh_multiplier = 3, tanh_shift = 0;
};

int32_t sat16(int32_t v) { return static_cast<int32_t>(clamp_int(v, -32768, 32767)); }

constexpr int32_t kMultiplier[4] = {1500000000, 1100000000, 2000000000, 1300000000};

// Checks an LSTM. T: uint8_t, or int16_t with biases and sums of 64 bits.
template <class T>
void check_of(const Lstm& s, size_t batch) {
  constexpr bool kIsWide = std::is_same_v<T, int16_t>;
  constexpr DType kType = kIsWide ? DType::kInt16 : DType::kUInt8;
  constexpr DType kSum = kIsWide ? DType::kInt64 : DType::kInt32;
  constexpr int kLo = kIsWide ? -32768 : 0, kHi = kIsWide ? 32767 : 255, kShift = kIsWide ? 15 : 23;
  using Sum = std::conditional_t<kIsWide, int64_t, int32_t>;
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const auto rows = static_cast<int64_t>(batch);
  const auto weights = random_values<int8_t>(&random, 4 * s.cells * s.in, -128, 127);
  const auto recurrent = random_values<int8_t>(&random, 4 * s.cells * s.cells, -128, 127);
  const auto bias = random_values<Sum>(&random, 4 * s.cells, -50000, 50000);
  const auto recurrent_bias = random_values<Sum>(&random, 4 * s.cells, -50000, 50000);
  const auto dims = [&](int64_t last) {
    return s.time_major ? Shape{s.steps, rows, last} : Shape{-1, s.steps, last};
  };
  const int64_t open = s.time_major ? rows : -1;
  testing::ModelBuilder m;
  const uint32_t x = m.input(dims(s.in), kType), h = m.input({open, s.cells}, kType);
  const uint32_t c = m.input({open, s.cells}, DType::kInt16);
  const uint32_t y = m.output(dims(s.cells), kType), next_h = m.output({open, s.cells}, kType);
  const uint32_t next_c = m.output({open, s.cells}, DType::kInt16);
  fb::LstmOptionsT o;
  o.time_major = s.time_major;
  for (const int32_t multiplier : kMultiplier) {
    o.gates.push_back(std::make_unique<fb::LstmGateT>());
    o.gates.back()->input_stages = testing::double_rounding(multiplier, 2);
    o.gates.back()->recurrent_stages = testing::double_rounding(multiplier, 3);
  }
  o.keep_stages = testing::double_rounding(1 << 30, 14);
  o.add_stages = testing::double_rounding(1700000000, 15);
  o.cell_clip = s.cell_clip;
  o.tanh_multiplier = s.tanh_multiplier;
  o.tanh_shift = static_cast<uint8_t>(s.tanh_shift);
  o.requant = testing::requant_int(1, kShift, 120);
  o.requant->lo = kLo;
  o.requant->hi = kHi;
  m.op(std::move(o),
       {x, m.constant({4, s.cells, s.in}, DType::kInt8, weights),
        m.constant({4, s.cells}, kSum, bias),
        m.constant({4, s.cells, s.cells}, DType::kInt8, recurrent),
        m.constant({4, s.cells}, kSum, recurrent_bias), h, c},
       {y, next_h, next_c});

  const auto cells = static_cast<size_t>(s.cells), in = static_cast<size_t>(s.in);
  const auto steps = static_cast<size_t>(s.steps);
  std::vector<T> input(batch * steps * in), hidden(batch * cells), sequence(batch * steps * cells);
  random.fill(input, kLo, kHi);
  random.fill(hidden, kLo, kHi);
  auto cell = random_values<int16_t>(&random, rows * s.cells, -32768, 32767);
  const std::vector<Bytes> inputs = {testing::bytes_of(input), testing::bytes_of(hidden),
                                     testing::bytes_of(cell)};
  for (size_t n = 0; n < batch; ++n) {
    for (size_t t = 0; t < steps; ++t) {
      const size_t place = s.time_major ? t * batch + n : n * steps + t;
      const std::vector<T> before(hidden.begin() + static_cast<std::ptrdiff_t>(n * cells),
                                  hidden.begin() + static_cast<std::ptrdiff_t>((n + 1) * cells));
      for (size_t k = 0; k < cells; ++k) {
        int32_t gate[4];
        for (size_t g = 0; g < 4; ++g) {
          const size_t row = g * cells + k;
          Sum a = bias[row], b = recurrent_bias[row];
          for (size_t i = 0; i < in; ++i) a += input[place * in + i] * weights[row * in + i];
          for (size_t i = 0; i < cells; ++i) b += before[i] * recurrent[row * cells + i];
          gate[g] = sat16(sat16(rounded_twice(a, kMultiplier[g], 2)) +
                          sat16(rounded_twice(b, kMultiplier[g], 3)));
        }
        int16_t& content = cell[n * cells + k];
        int32_t v = sat16(
            sat16(rounded_twice(sigmoid_q15(3 * gate[1]) * content, 1 << 30, 14)) +
            sat16(rounded_twice(sigmoid_q15(3 * gate[0]) * tanh_q15(3 * gate[2]), 1700000000, 15)));
        if (s.cell_clip > 0) v = std::min(std::max(v, -s.cell_clip), s.cell_clip);
        content = static_cast<int16_t>(v);
        const int64_t half = s.tanh_shift > 0 ? int64_t{1} << (s.tanh_shift - 1) : 0;
        const auto argument =
            static_cast<int32_t>((int64_t{v} * s.tanh_multiplier + half) >> s.tanh_shift);
        const int64_t product = tanh_q15(argument) * sigmoid_q15(3 * gate[3]);
        const int64_t q = ((product + (1 << (kShift - 1))) >> kShift) + 120;
        sequence[place * cells + k] = hidden[n * cells + k] =
            static_cast<T>(clamp_int(q, kLo, kHi));
      }
    }
  }
  testing::expect_outputs(
      m, batch, inputs,
      {testing::bytes_of(sequence), testing::bytes_of(hidden), testing::bytes_of(cell)});
}

void check(const Lstm& s, size_t batch) {
  check_of<uint8_t>(s, batch);
  check_of<int16_t>(s, batch);
}

TEST(Lstm, AnySize) {
  for (const int64_t in : {1, 17})
    for (const int64_t cells : {1, 8, 33})
      for (const int64_t steps : {1, 4}) {
        Lstm s;
        s.in = in;
        s.cells = cells;
        s.steps = steps;
        check(s, 1);
        check(s, 3);
      }
}

TEST(Lstm, TimeMajor) {
  Lstm s;
  s.time_major = true;
  check(s, 1);
  s.steps = 1;
  check(s, 1);
}

TEST(Lstm, ClipsAndScalesTheCell) {
  Lstm s;
  s.cell_clip = 3000;
  s.tanh_multiplier = 3 << 15;
  check(s, 2);
  s.cell_clip = 32768;
  s.tanh_multiplier = 3;
  s.tanh_shift = 4;
  check(s, 2);
}

TEST(Lstm, FunctionsAreCloseToTheRealOnes) {
  for (int x = -32768; x <= 32767; ++x) {
    const double real = static_cast<double>(x) / 4096;
    ASSERT_NEAR(sigmoid_q15(3 * x), 32768 / (1 + std::exp(-real)), 2) << x;
    ASSERT_NEAR(tanh_q15(3 * x), 32768 * std::tanh(real), 5) << x;
  }
  ASSERT_EQ(sigmoid_q15(INT32_MAX), 32767);
  ASSERT_EQ(tanh_q15(-INT32_MAX), -32767);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::LstmOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 2, 6}), h = m.input({-1, 3});
  const uint32_t c = m.input({-1, 3}, DType::kInt16);
  const uint32_t y = m.output({-1, 2, 3}), next_h = m.output({-1, 3});
  const uint32_t next_c = m.output({-1, 3}, DType::kInt16);
  fb::LstmOptionsT o;
  for (int g = 0; g < 4; ++g) {
    o.gates.push_back(std::make_unique<fb::LstmGateT>());
    o.gates.back()->input_stages = testing::double_rounding(1 << 30, 2);
    o.gates.back()->recurrent_stages = testing::double_rounding(1 << 30, 2);
  }
  o.keep_stages = testing::double_rounding(1 << 30, 14);
  o.add_stages = testing::double_rounding(1 << 30, 14);
  o.requant = testing::requant_int(1, 23, 120);
  fb::OperatorT& op = m.op(std::move(o),
                           {x, m.constant({4, 3, 6}, DType::kInt8, std::vector<int8_t>(72)),
                            m.constant({4, 3}, DType::kInt32, std::vector<int32_t>(12)),
                            m.constant({4, 3, 3}, DType::kInt8, std::vector<int8_t>(36)),
                            m.constant({4, 3}, DType::kInt32, std::vector<int32_t>(12)), h, c},
                           {y, next_h, next_c});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsLstm());
  testing::expect_rejected(m, part);
}

// Expects that a bias is refused for int16 activations, as a multiplier could make too much of the sums.
void reject_bias(const std::string& part, int64_t bias, int64_t recurrent_bias) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 2, 6}, DType::kInt16), h = m.input({-1, 3}, DType::kInt16);
  const uint32_t c = m.input({-1, 3}, DType::kInt16);
  const uint32_t y = m.output({-1, 2, 3}, DType::kInt16), next_h = m.output({-1, 3}, DType::kInt16);
  const uint32_t next_c = m.output({-1, 3}, DType::kInt16);
  fb::LstmOptionsT o;
  for (int g = 0; g < 4; ++g) {
    o.gates.push_back(std::make_unique<fb::LstmGateT>());
    o.gates.back()->input_stages = testing::double_rounding(1 << 30, 2);
    o.gates.back()->recurrent_stages = testing::double_rounding(1 << 30, 2);
  }
  o.keep_stages = testing::double_rounding(1 << 30, 14);
  o.add_stages = testing::double_rounding(1 << 30, 14);
  o.requant = testing::requant_int(1, 23, 120);
  std::vector<int64_t> biases(12), recurrent_biases(12);
  biases[7] = bias;
  recurrent_biases[11] = recurrent_bias;
  m.op(std::move(o),
       {x, m.constant({4, 3, 6}, DType::kInt8, std::vector<int8_t>(72)),
        m.constant({4, 3}, DType::kInt64, biases),
        m.constant({4, 3, 3}, DType::kInt8, std::vector<int8_t>(36)),
        m.constant({4, 3}, DType::kInt64, recurrent_biases), h, c},
       {y, next_h, next_c});
  if (part.empty()) {
    Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
    ASSERT_TRUE(sound.ok()) << sound.status().message();
  } else {
    testing::expect_rejected(m, part);
  }
}

TEST(Lstm, RejectsSumsBeyond64Bits) {
  const int64_t most = (int64_t{1} << 32) - 1 - 6 * (1 << 22);
  reject_bias("", most, -most);
  reject_bias("sums with element 7 of input 2 may reach", most + 1, 0);
  reject_bias("sums with element 11 of input 4 may reach", 0, int64_t{1} << 33);
  reject_bias("input 4, element 11 is -9223372036854775808, expected at most 2^61", 0, INT64_MIN);
}

// Sequences beyond all elements are refused. Where addresses have 32 bits no file has cells enough
// for 2^40, and such an output has the size of no tensor.
TEST(Lstm, RejectsSequencesBeyondAllElements) {
  constexpr int64_t kCells = 520;
  testing::ModelBuilder m;
  const uint32_t x = m.input({1, kMaxTensorElements, 1}), h = m.input({1, kCells});
  const uint32_t c = m.input({1, kCells}, DType::kInt16);
  const auto constant = [&](const Shape& shape, DType dtype) {
    return m.constant(shape, dtype,
                      Bytes(static_cast<size_t>(shape.elements()) * dtype_bytes(dtype)));
  };
  fb::LstmOptionsT o = testing::lstm_options();
  o.requant = testing::requant_int(1, 23, 128);
  m.op(std::move(o),
       {x, constant({4, kCells, 1}, DType::kInt8), constant({4, kCells}, DType::kInt32),
        constant({4, kCells, kCells}, DType::kInt8), constant({4, kCells}, DType::kInt32), h, c},
       {m.output({1, 1, kCells}), m.output({1, kCells}), m.output({1, kCells}, DType::kInt16)});
  testing::expect_rejected(
      m, kHas64Bits ? "the output has shape [1, 2147483647, 520], more than 2^40 elements"
                    : "has the shape [1, 1, 520], expected [1, 67108863, 520]");
}

TEST(Lstm, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::LstmOptionsT;
  reject("has 6 inputs, expected 7", [](M& m, O&) { m.model().operators[0]->inputs.pop_back(); });
  reject("input 0 (x) is int8", [](M& m, O&) { m.at(0).dtype = fb::DType::INT8; });
  reject("input 2 (bias) is int32, expected int64",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("[n, time, in]", [](M& m, O&) { m.at(0).shape = {-1, 12}; });
  reject("input 1 (weights) has shape [4, 3, 6], expected [4, 3, 5]", [](M& m, O&) {
    m.at(0).shape = {-1, 2, 5};
  });
  reject("input 5 (hidden) has shape", [](M& m, O&) { m.at(1).shape = {-1, 4}; });
  reject("input 6 (cell) is int32", [](M& m, O&) { m.at(2).dtype = fb::DType::INT32; });
  reject("has 0 gates, expected 4", [](M&, O& o) { o.gates.clear(); });
  reject("has 3 gates, expected 4", [](M&, O& o) { o.gates.pop_back(); });
  reject("gates.input_stages has no stages", [](M&, O& o) { o.gates[2]->input_stages.clear(); });
  reject("gates.recurrent_stages.shift[0] is 63",
         [](M&, O& o) { o.gates[3]->recurrent_stages[0]->shift = {63}; });
  reject("keep_stages has no stages", [](M&, O& o) { o.keep_stages.clear(); });
  reject("cell_clip is -1", [](M&, O& o) { o.cell_clip = -1; });
  reject("tanh_multiplier is 98305", [](M&, O& o) { o.tanh_multiplier = 98305; });
  reject("tanh_shift is 32", [](M&, O& o) { o.tanh_shift = 32; });
  reject("this operator takes INT", [](M&, O& o) { o.requant = testing::requant_f32({0.5f}); });
}

}  // namespace
}  // namespace qrt::lstm_test
