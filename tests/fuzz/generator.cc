// SPDX-License-Identifier: Apache-2.0
// The common part of the generator's operators: tensors, requantisations, weights.
#include "tests/fuzz/generator.h"

#include <algorithm>

namespace qrt::fuzz {
namespace {

constexpr int kMostOps = 8;

}  // namespace

std::vector<uint8_t> Generator::run() {
  using Append = void (Generator::*)();
  static constexpr Append kAppend[] = {
#define QRT_OP(Name, stem) &Generator::append_##stem,
#include "schema/ops.inc"
  };
  constexpr int kOps = sizeof(kAppend) / sizeof(kAppend[0]);
  m_.model().default_batch = static_cast<uint32_t>(choose_.integer(1, 3));
  for (int i = 0; i < kMostOps && (i == 0 || !choose_.done()); ++i)
    (this->*kAppend[choose_.integer(0, kOps - 1)])();
  // Tensors that nothing reads become outputs, and some others that are chosen.
  bool has_output = false;
  for (const Live& t : live_) {
    if (!t.written || (t.read && choose_.integer(0, 7) != 7)) continue;
    m_.mark_output(t.tensor);
    has_output = true;
  }
  // An operator that found nothing to work on leaves an empty model.
  if (!has_output) {
    append_reshape();
    m_.mark_output(live_.back().tensor);
  }
  return m_.build();
}

Generator::Live Generator::image() {
  const DType dtype = activation_type();
  return pick([=](const Live& t) { return t.dtype == dtype && t.shape.rank() == 4; },
              [&]() -> std::pair<DType, Shape> {
                const int h = choose_.dimension(20), w = choose_.dimension(20);
                return {dtype, {-1, h, w, choose_.dimension(80)}};
              });
}

Shape Generator::any_shape() {
  Shape shape = {-1};
  for (int rank = choose_.integer(0, 3); rank > 0; --rank) shape.push_back(choose_.dimension(20));
  shape.push_back(choose_.dimension(100));
  return shape;
}

Generator::Live Generator::of_type(DType dtype) {
  return pick([=](const Live& t) { return t.dtype == dtype; },
              [&] { return std::make_pair(dtype, any_shape()); });
}

Generator::Live Generator::bytes() { return of_type(DType::kUInt8); }

Generator::Live Generator::activation() { return of_type(activation_type()); }

Generator::Live Generator::anything() {
  return pick([](const Live& t) { return !is_packed(t.dtype); },
              [&] {
                auto dtype = static_cast<DType>(choose_.integer(0, kDTypeCount - 1));
                if (is_packed(dtype)) dtype = DType::kUInt8;
                return std::make_pair(dtype, any_shape());
              });
}

uint32_t Generator::random_constant(const Shape& shape, DType dtype) {
  const auto n = static_cast<size_t>(shape.elements());
  switch (dtype) {
    case DType::kInt16: return m_.constant(shape, dtype, choose_.values<int16_t>(n, -32768, 32767));
    case DType::kFloat32: {
      std::vector<float> values;
      for (int32_t v : choose_.values<int32_t>(n, -4096, 4095))
        values.push_back(static_cast<float>(v) / 64.0f);
      return m_.constant(shape, dtype, values);
    }
    default:
      return m_.constant(shape, dtype, choose_.values<uint8_t>(n * dtype_bytes(dtype), 0, 255));
  }
}

uint32_t Generator::operand(const Live& x) {
  if (choose_.coin()) {
    const auto same = [&](const Live& t) { return t.dtype == x.dtype && t.shape == x.shape; };
    return pick(same, [&] { return std::make_pair(x.dtype, x.shape); }).tensor;
  }
  Shape shape;
  for (int i = choose_.integer(0, x.shape.rank()); i < x.shape.rank(); ++i)
    shape.push_back(i == 0 || choose_.integer(0, 2) == 0 ? 1 : x.shape[i]);
  return random_constant(shape, x.dtype);
}

std::unique_ptr<fb::RequantT> Generator::requant(size_t channels, bool allow_acc, DType dtype) {
  if (dtype == DType::kInt16) return int_requant(channels, dtype);
  auto r = std::make_unique<fb::RequantT>();
  const int kind = choose_.integer(0, allow_acc ? 4 : 3);
  if (kind == 4) return r;
  if (kind > 1) return int_requant(channels, dtype);
  const size_t n = choose_.coin() ? channels : 1;
  r->lo = choose_.coin() ? 0 : choose_.integer(0, 255);
  r->hi = choose_.coin() ? 255 : choose_.integer(r->lo, 255);
  r->zero_point = choose_.integer(0, 255);
  r->kind = fb::RequantKind::F32;
  const int exponent = choose_.integer(-24, 4);
  for (size_t i = 0; i < n; ++i)
    r->scale.push_back(float_bits(choose_.scale(exponent, exponent + 3)));
  r->rounding = choose_.coin() ? fb::Rounding::HALF_UP : fb::Rounding::HALF_EVEN;
  if (kind == 1) {
    r->zero_point_before = true;
    r->fused = choose_.coin();
    r->offset = choose_.coin() ? 128 : 0;
    r->zero_point -= r->offset;
  }
  return r;
}

std::unique_ptr<fb::RequantT> Generator::int_requant(size_t channels, DType dtype) {
  auto r = std::make_unique<fb::RequantT>();
  const int least = dtype == DType::kUInt8 ? 0 : -32768,
            most = dtype == DType::kUInt8 ? 255 : 32767;
  const size_t n = choose_.coin() ? channels : 1;
  r->kind = fb::RequantKind::INT;
  r->lo = choose_.coin() ? least : choose_.integer(least, most);
  r->hi = choose_.coin() ? most : choose_.integer(r->lo, most);
  r->zero_point = choose_.integer(least, most);
  for (int s = choose_.integer(1, 2); s > 0; --s) r->stages.push_back(stage(n, choose_.coin()));
  return r;
}

std::unique_ptr<fb::RequantStageT> Generator::stage(size_t n, bool clips) {
  auto s = std::make_unique<fb::RequantStageT>();
  s->rounding = static_cast<fb::Rounding>(choose_.integer(0, 3));
  const int shift = choose_.integer(0, 62);
  for (size_t i = 0; i < n; ++i) {
    s->multiplier.push_back(std::max(0, choose_.integer(0, 65535) << choose_.integer(0, 15)));
    s->shift.push_back(static_cast<uint8_t>(shift));
  }
  if (clips) {
    s->clip_lo = choose_.integer(-32768, 0);
    s->clip_hi = choose_.integer(0, 32767);
  }
  return s;
}

std::vector<std::unique_ptr<fb::RequantStageT>> Generator::stages() {
  std::vector<std::unique_ptr<fb::RequantStageT>> all;
  for (int i = choose_.integer(1, 2); i > 0; --i) all.push_back(stage(1, choose_.coin()));
  return all;
}

uint32_t Generator::bias(size_t channels) {
  const int64_t most = int64_t{1} << choose_.integer(0, 31);
  return m_.bias(choose_.values<int32_t>(channels, -most, most - 1));
}

uint32_t Generator::int64_bias(size_t channels) {
  if (choose_.coin()) return bias(channels);
  const int64_t most = int64_t{1} << choose_.integer(0, 40);
  return m_.constant({static_cast<int64_t>(channels)}, DType::kInt64,
                     choose_.values<int64_t>(channels, -most, most - 1));
}

Generator::Storage Generator::choose_storage(size_t blocks) {
  Storage s;
  if (choose_.integer(0, 3) != 3) {
    if (choose_.coin()) s.hi = choose_.integer(0, 127), s.lo = -s.hi - 1;
    return s;
  }
  s.bits = choose_.coin() ? 4 : 2;
  s.hi = (1 << (s.bits - 1)) - 1;
  s.lo = -s.hi - 1;
  // A code of 0 remains.
  if (choose_.coin()) s.offsets = choose_.values<int8_t>(blocks * 16, -s.hi, -s.lo);
  return s;
}

uint32_t Generator::store(const Shape& shape, fb::Packing packing, const Storage& storage,
                          std::vector<int8_t> packed) {
  if (storage.bits == 8) return m_.packed(shape, packing, packed);
  const size_t block = storage.offsets.empty() ? 0 : packed.size() / (storage.offsets.size() / 16);
  for (size_t i = 0; block != 0 && i < packed.size(); ++i) {
    const size_t lane = i / block * 16 + i % 64 / 4;
    packed[i] = static_cast<int8_t>(packed[i] - storage.offset(lane));
  }
  return m_.narrow(shape, packing, storage.bits, packed, storage.offsets);
}

Generator::Axis Generator::axis(int64_t in, int most_kernel, bool dilate, bool is_pool) {
  Axis a{};
  a.stride = choose_.integer(0, 3) < 2 ? 1 : choose_.integer(1, 4);
  a.dilation = dilate && choose_.integer(0, 3) == 3 ? choose_.integer(1, 4) : 1;
  a.kernel = choose_.integer(1, most_kernel);
  const int most_pad = is_pool ? a.kernel / 2 : 5;
  a.pad_begin = choose_.coin() ? choose_.integer(0, most_pad) : 0;
  a.pad_end = choose_.coin() ? choose_.integer(0, most_pad) : 0;
  const int padded = static_cast<int>(in) + a.pad_begin + a.pad_end;
  a.kernel = std::min(a.kernel, (padded - 1) / a.dilation + 1);
  a.out = (padded - (a.kernel - 1) * a.dilation - 1) / a.stride + 1;
  return a;
}

}  // namespace qrt::fuzz
