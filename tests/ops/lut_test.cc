// SPDX-License-Identifier: Apache-2.0
// Lut against indexing: one table, one per channel, 8-bit types; models it has to refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::lut_test {
namespace {

using testing::Bytes;

void check_table(const Shape& shape, bool per_channel, const Bytes& table, DType from, DType to) {
  SCOPED_TRACE(shape.to_string());
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t channels = table.size() / 256;
  testing::ModelBuilder m;
  const uint32_t x = m.input(shape, from), y = m.output(shape, to);
  fb::LutOptionsT o;
  o.table = m.buffer(table);
  o.per_channel = per_channel;
  m.op(o, {x}, {y});
  for (const int64_t batch : {1, 3}) {
    Shape concrete = shape;
    if (shape.rank() == 0 && batch != 1) continue;
    if (shape.rank() != 0) concrete[0] = batch;
    Bytes input(static_cast<size_t>(concrete.elements())), expected;
    random.fill(input, 0, 255);
    for (size_t i = 0; i < input.size(); ++i)
      expected.push_back(table[i % channels * 256 + input[i]]);
    testing::expect_outputs(m, static_cast<size_t>(batch), {input}, {expected});
  }
}

void check(const Shape& shape, bool per_channel, DType from = DType::kUInt8,
           DType to = DType::kUInt8) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Bytes table(256 * (per_channel ? static_cast<size_t>(shape[shape.rank() - 1]) : 1));
  random.fill(table, 0, 255);
  check_table(shape, per_channel, table, from, to);
}

TEST(Lut, OneTable) {
  for (const int64_t n : {1, 63, 64, 65, 1000}) check({-1, n}, false);
  check({}, false);
}

// A single table that is a straight line, with a Relu, limits or saturation, is computed. A table
// of two lines is looked up.
TEST(Lut, OneTableThatIsALine) {
  for (const auto& [slope, at, zero, lo, steep] : {std::array{73, 0, 0, 0, 1},
                                                   {100, 0, 128, 0, 1},
                                                   {-41, 255, 3, 10, 1},
                                                   {230, 128, 128, 128, 1},
                                                   {60, 128, 100, 0, 3}}) {
    Bytes table;
    for (int x = 0; x < 256; ++x) {
      const double v = (x - at) * (slope * 0.01) * (x < at ? 1 : steep) + zero;
      table.push_back(static_cast<uint8_t>(std::clamp<long>(std::lrint(v), lo, 255)));
    }
    check_table({-1, 91, 97}, false, table, DType::kUInt8, DType::kUInt8);
    check_table({-1, 91, 97}, false, table, DType::kInt8, DType::kUInt8);
  }
}

TEST(Lut, ATablePerChannel) {
  for (const int64_t c : {1, 3, 16, 65}) check({-1, 4, 5, c}, true);
  // Tensors of this size are computed by planes, in blocks of rows.
  for (const int64_t c : {1, 3, 16, 65, 600}) check({-1, 15, 19, c}, true);
  check({-1, 8, 8, 5000}, true);
}

// Lines for each channel, as from BatchNormalization and PRelu, give the tables' bytes, also if the
// last channel has no line.
TEST(Lut, LinesPerChannel) {
  for (const bool last_is_none : {false, true}) {
    for (const int64_t c : {3, 65, 200}) {
      Bytes table;
      for (int64_t k = 0; k < c; ++k) {
        const int64_t positive = 1 + k % 50, negative = k % 3 == 0 ? positive : k % 7;
        for (int64_t x = 0; x < 256; ++x) {
          const int64_t y = 90 + (x - 100) * (x < 100 ? negative : positive) / 20;
          table.push_back(static_cast<uint8_t>(y < 0 ? 0 : y > 255 ? 255 : y));
        }
      }
      if (last_is_none)
        for (size_t x = 50; x < 60; ++x) table[table.size() - x] = 77;
      for (const int64_t rows : {3, 15})
        check_table({-1, rows, 9, c}, true, table, DType::kUInt8, DType::kUInt8);
    }
  }
}

TEST(Lut, SignedBytesIndexByTheirUnsignedValue) {
  check({-1, 300}, false, DType::kInt8, DType::kInt8);
  check({-1, 300}, false, DType::kInt8, DType::kUInt8);
  check({-1, 300}, false, DType::kUInt8, DType::kInt8);
}

TEST(Lut, ToFloats) {
  for (const bool per_channel : {false, true}) {
    testing::Random random;
    SCOPED_TRACE(random.trace());
    std::vector<float> table(per_channel ? 256 * 5 : 256);
    for (float& v : table) v = static_cast<float>(random.integer(-1000, 1000)) / 7;
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 300, 5});
    fb::LutOptionsT o;
    o.table = m.buffer(table);
    o.per_channel = per_channel;
    o.to_float = true;
    m.op(o, {x}, {m.output({-1, 300, 5}, DType::kFloat32)});
    Bytes input(3 * 300 * 5);
    random.fill(input, 0, 255);
    std::vector<float> expected;
    for (size_t i = 0; i < input.size(); ++i)
      expected.push_back(table[(per_channel ? i % 5 * 256 : 0) + input[i]]);
    testing::expect_outputs(m, 3, {input}, {testing::bytes_of(expected)});
  }
}

// Work is cut into several tasks on every instruction set.
TEST(Lut, ManyTasks) {
  check({-1, 700001}, false);
  check({-1, 100, 70, 96}, true);
}

using Damage = std::function<void(testing::ModelBuilder&, fb::LutOptionsT&)>;

void reject(const std::string& part, const Damage& damage) {
  SCOPED_TRACE(part);
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 6, 4}), y = m.output({-1, 6, 4});
  fb::LutOptionsT o;
  o.table = m.buffer(Bytes(256));
  fb::OperatorT& op = m.op(o, {x}, {y});
  Result<std::shared_ptr<const VerifiedModel>> sound = testing::load(m);
  ASSERT_TRUE(sound.ok()) << sound.status().message();
  damage(m, *op.options.AsLut());
  testing::expect_rejected(m, part);
}

TEST(Lut, RejectsBadModels) {
  using M = testing::ModelBuilder;
  using O = fb::LutOptionsT;
  reject("has 2 inputs, expected 1", [](M& m, O&) { m.model().operators[0]->inputs.push_back(0); });
  reject("has 2 outputs, expected 1", [](M& m, O&) {
    const uint32_t t = m.output({-1, 6, 4});
    m.model().operators[0]->outputs.push_back(t);
  });
  reject("maps uint16 to uint8", [](M& m, O&) { m.at(0).dtype = fb::DType::UINT16; });
  reject("the table holds 256 bytes, expected 65536",
         [](M& m, O&) { m.at(0).dtype = fb::DType::INT16; });
  reject("maps uint8 to float32", [](M& m, O&) { m.at(1).dtype = fb::DType::FLOAT32; });
  reject("buffer index 9 is out of range", [](M&, O& o) { o.table = 9; });
  reject("buffer index 0 is out of range", [](M&, O& o) { o.table = 0; });
  reject("the table holds 256 bytes, expected 256 * 4", [](M&, O& o) { o.per_channel = true; });
  reject("the table holds 255 bytes, expected 256 * 1",
         [](M& m, O& o) { o.table = m.buffer(Bytes(255)); });
  reject("the table holds 512 bytes, expected 256 * 1",
         [](M& m, O& o) { o.table = m.buffer(Bytes(512)); });
  reject("x has rank 0, expected at least 1 with a table per channel", [](M& m, O& o) {
    m.at(0).shape.clear();
    m.at(1).shape.clear();
    o.per_channel = true;
  });
  reject("has the shape [1, 24], expected [1, 6, 4]", [](M& m, O&) { m.at(1).shape = {-1, 24}; });
}

}  // namespace
}  // namespace qrt::lut_test
