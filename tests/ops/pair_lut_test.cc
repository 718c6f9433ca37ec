// SPDX-License-Identifier: Apache-2.0
// PairLut against indexing: every way of broadcasting, bytes and floats; models it has to refuse.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/broadcast.h"
#include "tests/support/op_tester.h"

namespace qrt::pair_lut_test {
namespace {

using testing::Bytes;
constexpr size_t kPairLutEntries = 65536;

// Checks a PairLut of one shape. Its table is a buffer of the model, and check_broadcast() knows only options.
void check(const Shape& a_shape, const Shape& b_shape, size_t a_step, size_t b_step,
           bool to_float) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  const size_t bytes = to_float ? 4 : 1;
  Bytes table(kPairLutEntries * bytes);
  for (uint8_t& v : table) v = static_cast<uint8_t>(random.integer(0, 255));
  testing::ModelBuilder m;
  const uint32_t a = m.input(a_shape), b = m.input(b_shape);
  fb::PairLutOptionsT o;
  o.table = m.buffer(table);
  o.to_float = to_float;
  m.op(o, {a, b}, {m.output(a_shape, to_float ? DType::kFloat32 : DType::kUInt8)});
  const auto concrete = [](Shape s) {
    if (s.rank() > 0 && s[0] == -1) s[0] = 3;
    return static_cast<size_t>(s.elements());
  };
  Bytes x(concrete(a_shape)), y(concrete(b_shape)), expected(x.size() * bytes);
  random.fill(x, 0, 255);
  random.fill(y, 0, 255);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = size_t{256} * x[i * a_step] + y[i / b_step % y.size()];
    memcpy(&expected[i * bytes], &table[at * bytes], bytes);
  }
  testing::expect_outputs(m, 3, {x, y}, {expected});
}

TEST(PairLut, BytesAndFloats) {
  for (const bool to_float : {false, true}) {
    check({-1, 5, 7}, {-1, 5, 7}, 1, 1, to_float);
    check({-1, 5, 7}, {7}, 1, 1, to_float);
    check({-1, 5, 7}, {5, 1}, 1, 7, to_float);
    check({-1, 5, 7}, {}, 1, 1, to_float);
    check({-1, 300, 301}, {-1, 300, 301}, 1, 1, to_float);
  }
}

TEST(PairLut, RejectsBadModels) {
  const auto reject = [](const std::string& part, size_t bytes, bool to_float, DType b, DType out) {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 4}), y = m.input({-1, 4}, b);
    fb::PairLutOptionsT o;
    o.table = m.buffer(Bytes(bytes));
    o.to_float = to_float;
    m.op(o, {x, y}, {m.output({-1, 4}, out)});
    testing::expect_rejected(m, part);
  };
  reject("the table holds 256 bytes, expected 65536", 256, false, DType::kUInt8, DType::kUInt8);
  reject("the table holds 65536 bytes, expected 262144", kPairLutEntries, true, DType::kUInt8,
         DType::kFloat32);
  reject("the output is uint8, expected float32", kPairLutEntries * 4, true, DType::kUInt8,
         DType::kUInt8);
  reject("the output is float32, expected a byte type", kPairLutEntries, false, DType::kUInt8,
         DType::kFloat32);
  reject("input 1 (b) is int16, expected uint8", kPairLutEntries, false, DType::kInt16,
         DType::kUInt8);
}

}  // namespace
}  // namespace qrt::pair_lut_test
