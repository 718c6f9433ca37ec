// SPDX-License-Identifier: Apache-2.0
// Layers that keep a state between runs.
#include "tests/fuzz/generator.h"

namespace qrt::fuzz {

void Generator::append_svdf() {
  const Live x = pick([](const Live& t) { return t.dtype == DType::kUInt8 && t.shape.rank() == 2; },
                      [&]() -> std::pair<DType, Shape> {
                        return {DType::kUInt8, {-1, choose_.dimension(40)}};
                      });
  fb::SvdfOptionsT o;
  o.rank = static_cast<uint32_t>(choose_.integer(1, 3));
  const int64_t units = choose_.dimension(20), filters = units * o.rank;
  const int64_t memory = choose_.dimension(10);
  o.input_zero_point = choose_.byte();
  o.feature_stages = stages();
  if (choose_.coin()) {
    o.state_lo = -128, o.state_hi = 127;
    o.state_zero_point = choose_.integer(-128, 127);
  }
  o.requant = int_requant(1, DType::kUInt8);
  const Shape state = {-1, filters, memory};
  const uint32_t past = m_.tensor(state, DType::kInt16);
  const std::vector<uint32_t> inputs = {
      x.tensor, random_constant({filters, x.shape[1]}, DType::kInt8),
      random_constant({filters, memory}, DType::kInt16), bias(static_cast<size_t>(units)), past};
  const uint32_t y = add_output({-1, units}, DType::kUInt8),
                 next = add_output(state, DType::kInt16);
  m_.op(std::move(o), inputs, {y, next});
  m_.variable(past, next, choose_.integer(-128, 127));
}

void Generator::append_lstm() {
  const Live x = pick([](const Live& t) { return t.dtype == DType::kUInt8 && t.shape.rank() == 3; },
                      [&]() -> std::pair<DType, Shape> {
                        const int time = choose_.dimension(6);
                        return {DType::kUInt8, {-1, time, choose_.dimension(20)}};
                      });
  fb::LstmOptionsT o;
  const int64_t in = x.shape[2], cells = choose_.dimension(16);
  for (int g = 0; g < 4; ++g) {
    o.gates.push_back(std::make_unique<fb::LstmGateT>());
    o.gates.back()->input_stages = stages();
    o.gates.back()->recurrent_stages = stages();
  }
  o.keep_stages = stages();
  o.add_stages = stages();
  o.cell_clip = choose_.coin() ? 0 : choose_.integer(0, 32768);
  o.tanh_multiplier = choose_.integer(1, 65535);
  o.tanh_shift = static_cast<uint8_t>(choose_.integer(0, 31));
  o.requant = int_requant(1, DType::kUInt8);
  const Shape state = {-1, cells};
  const uint32_t hidden = m_.tensor(state, DType::kUInt8), cell = m_.tensor(state, DType::kInt16);
  const auto biases = [&] {
    return m_.constant({4, cells}, DType::kInt32,
                       choose_.values<int32_t>(static_cast<size_t>(4 * cells), -65536, 65535));
  };
  const uint32_t weights = random_constant({4, cells, in}, DType::kInt8), bias = biases();
  const uint32_t recurrent = random_constant({4, cells, cells}, DType::kInt8);
  const std::vector<uint32_t> inputs = {x.tensor, weights, bias, recurrent, biases(), hidden, cell};
  const uint32_t y = add_output({-1, x.shape[1], cells}, DType::kUInt8);
  const uint32_t next_hidden = add_output(state, DType::kUInt8);
  const uint32_t next_cell = add_output(state, DType::kInt16);
  m_.op(std::move(o), inputs, {y, next_hidden, next_cell});
  m_.variable(hidden, next_hidden, choose_.integer(0, 255));
  m_.variable(cell, next_cell);
}

// Appends a Recurrent, whose sequences are as long as the batch.
void Generator::append_recurrent() {
  using Cell = fb::RecurrentCell;
  const Live x =
      pick([](const Live& t) { return t.dtype == DType::kFloat32 && t.shape.rank() == 3; },
           [&]() -> std::pair<DType, Shape> {
             const int rows = choose_.dimension(5);
             return {DType::kFloat32, {-1, rows, choose_.dimension(20)}};
           });
  fb::RecurrentOptionsT o;
  o.cell = static_cast<Cell>(choose_.integer(0, static_cast<int>(Cell::MAX)));
  o.direction = static_cast<fb::RecurrentDirection>(choose_.integer(0, 2));
  const bool is_lstm = o.cell == Cell::LSTM, has_bytes = is_lstm && choose_.coin();
  const int64_t d = o.direction == fb::RecurrentDirection::BIDIRECTIONAL ? 2 : 1;
  const int64_t rows = x.shape[1], cells = choose_.dimension(16);
  const int64_t width = cells * (is_lstm ? 4 : o.cell == Cell::GRU ? 3 : 1);
  const DType weights = has_bytes ? DType::kUInt8 : DType::kFloat32;
  std::vector<uint32_t> inputs = {x.tensor, random_constant({d, x.shape[2], width}, weights),
                                  random_constant({d, cells, width}, weights),
                                  random_constant({d, width}, DType::kFloat32)};
  if (has_bytes) {
    const Shape scales = choose_.coin() ? Shape{d, width} : Shape{d};
    for (int i = 0; i < 2; ++i) inputs.push_back(random_constant(scales, DType::kFloat32));
    for (int64_t i = 0; i < d; ++i) {
      o.w_zero_point.push_back(choose_.byte());
      o.r_zero_point.push_back(choose_.byte());
    }
  }
  o.has_peepholes = is_lstm && choose_.coin();
  o.couples_forget = is_lstm && choose_.coin();
  o.resets_after = o.cell == Cell::GRU && choose_.coin();
  o.is_relu = o.cell == Cell::RNN && choose_.coin();
  o.nan_is_clip = choose_.coin();
  o.counts_ended = choose_.coin();
  o.x_block = static_cast<uint32_t>(choose_.dimension(30));
  o.h_block = static_cast<uint32_t>(choose_.dimension(30));
  if (choose_.coin()) o.clip = float_bits(choose_.scale(-4, 4));
  o.has_lengths = choose_.coin();
  o.has_hidden = choose_.coin();
  o.has_content = is_lstm && choose_.coin();
  const Shape state = {d, rows, cells};
  if (o.resets_after) inputs.push_back(random_constant({d, cells}, DType::kFloat32));
  if (o.has_peepholes) inputs.push_back(random_constant({d, 3 * cells}, DType::kFloat32));
  if (o.has_lengths)
    inputs.push_back(m_.constant({rows}, DType::kInt32,
                                 choose_.values<int32_t>(static_cast<size_t>(rows), 0, 1)));
  if (o.has_hidden) inputs.push_back(random_constant(state, DType::kFloat32));
  if (o.has_content) inputs.push_back(random_constant(state, DType::kFloat32));
  std::vector<uint32_t> outputs = {add_output({x.shape[0], d, rows, cells}, DType::kFloat32),
                                   m_.tensor(state, DType::kFloat32)};
  if (is_lstm) outputs.push_back(m_.tensor(state, DType::kFloat32));
  m_.op(std::move(o), inputs, outputs);
}

}  // namespace qrt::fuzz
