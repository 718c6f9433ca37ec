// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/folding/cast.h"

#include <cmath>
#include <cstring>

#include "kernels/edge/numbers.h"

namespace qrt::convert::from_onnx {
namespace {

// Finds the format of a float of 8 or 4 bits. Returns false for other types.
bool small_format(int type, SmallFormat* format) {
  switch (type) {
    case kFloat8E4M3FN: *format = SmallFormat::kE4M3FN; return true;
    case kFloat8E4M3FNUZ: *format = SmallFormat::kE4M3FNUZ; return true;
    case kFloat8E5M2: *format = SmallFormat::kE5M2; return true;
    case kFloat8E5M2FNUZ: *format = SmallFormat::kE5M2FNUZ; return true;
    case kFloat4E2M1: *format = SmallFormat::kE2M1; return true;
    default: return false;
  }
}

bool is_real_type(int type) {
  return type == kFloat || type == kHalf || type == kBfloat16 || type == kDouble;
}

// Rounds toward zero, as x86-64 converts to 64 bits for int64 and uint32, and to 32 bits for int32 and
// narrower types. Types of 4 and 2 bits are rounded half away from zero first.
int64_t rounded(double v, int to) {
  if (packed_bits(to) != 0) v = std::round(v);
  const bool is_wide = to == kInt64 || to == kUint32;
  const double limit = is_wide ? 9223372036854775808.0 : 2147483648.0;
  if (!(v >= -limit && v < limit)) return is_wide ? INT64_MIN : INT32_MIN;
  return static_cast<int64_t>(v);
}

// Elements of 4 and 2 bits stand in a byte each, sign extended.
uint8_t low_bits(int64_t v, int to) {
  const int bits = packed_bits(to);
  const auto code = static_cast<uint8_t>(static_cast<uint64_t>(v) & ((1u << bits) - 1));
  const bool is_negative = (to == kInt4 || to == kInt2) && (code >> (bits - 1)) != 0;
  return is_negative ? static_cast<uint8_t>(code | (0xffu << bits)) : code;
}

double element(const Constant& c, int64_t i) {
  SmallFormat format;
  if (small_format(c.type, &format)) return double{small_to_float(format, c.as<uint8_t>()[i])};
  if (c.type == kDouble) return c.as<double>()[i];
  return double{c.real(i)};
}

// Calls store(i, at) for each of `n` elements of `bytes` bytes, of which the first stands at `at`.
template <class Store>
void for_each_element(int64_t n, size_t bytes, uint8_t* at, const Store& store) {
  for (int64_t i = 0; i < n; ++i, at += bytes) store(i, at);
}

// Stores the integers read(i) as elements of type `to`. The kind of element is decided once, because a small
// file can ask for millions of them.
template <class Read>
void store_integers(int64_t n, int to, uint8_t* data, const Read& read) {
  const size_t bytes = element_bytes(to);
  const auto low = [&](auto zero) {
    using Element = decltype(zero);
    for_each_element(n, bytes, data, [&](int64_t i, uint8_t* at) {
      const auto element = static_cast<Element>(read(i));
      memcpy(at, &element, sizeof element);
    });
  };
  if (to == kBool)
    for_each_element(n, bytes, data, [&](int64_t i, uint8_t* at) { *at = read(i) != 0; });
  else if (packed_bits(to) != 0)
    for_each_element(n, bytes, data, [&](int64_t i, uint8_t* at) { *at = low_bits(read(i), to); });
  else if (bytes == 1)
    low(uint8_t{});
  else if (bytes == 2)
    low(uint16_t{});
  else if (bytes == 4)
    low(uint32_t{});
  else
    low(uint64_t{});
}

void store_real(double v, int to, bool saturate, uint8_t* at) {
  const auto real = static_cast<float>(v);
  SmallFormat format;
  if (small_format(to, &format)) {
    *at = float_to_small(small_float(format, saturate), real);
  } else if (to == kDouble) {
    memcpy(at, &v, sizeof v);
  } else if (to == kFloat) {
    memcpy(at, &real, sizeof real);
  } else {
    const uint16_t half = to == kHalf ? float_to_half(real) : float_to_bfloat(real);
    memcpy(at, &half, sizeof half);
  }
}

}  // namespace

ConstantPtr cast_constant(const Constant& from, int to, bool saturate) {
  SmallFormat format;
  const bool reads_real = from.is_real() || small_format(from.type, &format);
  const bool makes_real = is_real_type(to) || small_format(to, &format);
  const size_t bytes = element_bytes(to);
  if ((!reads_real && !from.is_integer()) || bytes == 0 || to == kUint64 || to == kFloat8E8M0)
    return nullptr;
  auto made = std::make_shared<Constant>();
  made->type = to;
  made->shape = from.shape;
  const int64_t n = from.elements();
  made->data.resize(static_cast<size_t>(n) * bytes);
  uint8_t* const data = made->data.data();
  if (makes_real && !reads_real && to == kFloat) {
    // An integer of 64 bits is rounded once.
    for_each_element(n, bytes, data, [&](int64_t i, uint8_t* at) {
      const auto real = static_cast<float>(from.integer(i));
      memcpy(at, &real, sizeof real);
    });
  } else if (makes_real) {
    for_each_element(n, bytes, data, [&](int64_t i, uint8_t* at) {
      store_real(reads_real ? element(from, i) : static_cast<double>(from.integer(i)), to, saturate,
                 at);
    });
  } else if (reads_real && to == kBool) {
    for_each_element(n, bytes, data, [&](int64_t i, uint8_t* at) { *at = element(from, i) != 0; });
  } else if (reads_real) {
    store_integers(n, to, data, [&](int64_t i) { return rounded(element(from, i), to); });
  } else {
    store_integers(n, to, data, [&](int64_t i) { return from.integer(i); });
  }
  return made;
}

}  // namespace qrt::convert::from_onnx
