#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/fuzz/choices.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/model_builder.h"

namespace qrt::fuzz {
namespace {

using testing::float_bits;
using testing::ModelBuilder;

constexpr int kMostOps = 8;

// Appends operators to tensors that are there, or to new model inputs. Some choices make models
// that verification refuses (windows beside the image, for example); that is fine.
class Generator {
 public:
  Generator(const uint8_t* data, size_t size) : choose_(data, size) {}

  std::vector<uint8_t> run() {
    m_.model().default_batch = static_cast<uint32_t>(choose_.integer(1, 3));
    for (int i = 0; i < kMostOps && (i == 0 || !choose_.done()); ++i) append_op();
    // What nothing reads, and what is chosen.
    for (const Live& t : live_)
      if (t.written && (!t.read || choose_.integer(0, 7) == 7)) m_.mark_output(t.tensor);
    return m_.build();
  }

 private:
  struct Live {
    uint32_t tensor;
    DType dtype;
    Shape shape;  // -1 first
    bool written, read = false;
  };

  void append_op() {
    switch (choose_.integer(0, 20)) {
      case 0:
      case 1: return conv2d();
      case 2: return depthwise();
      case 3: return fully_connected();
      case 4: return add();
      case 5: return mul();
      case 6: return concat();
      case 7: return max_pool();
      case 8: return average_pool();
      case 9: return global_average_pool();
      case 10: return lut();
      case 11: return reshape();
      case 12: return transpose();
      case 13: return softmax();
      case 14: return quantize();
      case 15: return min_max();
      case 16: return pair_lut();
      case 17: return arg_max();
      case 18: return top_k();
      case 19: return batch_mat_mul();
      default: return dequantize();
    }
  }

  // An existing tensor that fits, the latest first, or a new input.
  template <class Fits, class Make>
  Live pick(const Fits& fits, const Make& make) {
    int skip = choose_.integer(0, 7) == 7 ? choose_.integer(1, 4) : 0;
    for (size_t i = live_.size(); i-- > 0;) {
      if (!fits(live_[i]) || skip-- > 0) continue;
      live_[i].read = true;
      return live_[i];
    }
    const std::pair<DType, Shape> made = make();
    live_.push_back({m_.input(made.second, made.first), made.first, made.second, false, true});
    return live_.back();
  }

  Live image() {
    return pick([](const Live& t) { return t.dtype == DType::kUInt8 && t.shape.rank() == 4; },
                [&]() -> std::pair<DType, Shape> {
                  const int h = choose_.dimension(20), w = choose_.dimension(20);
                  return {DType::kUInt8, {-1, h, w, choose_.dimension(80)}};
                });
  }

  Shape any_shape() {
    Shape shape = {-1};
    for (int rank = choose_.integer(0, 3); rank > 0; --rank) shape.push_back(choose_.dimension(20));
    shape.push_back(choose_.dimension(100));
    return shape;
  }

  Live bytes() {
    return pick([](const Live& t) { return t.dtype == DType::kUInt8; },
                [&] { return std::make_pair(DType::kUInt8, any_shape()); });
  }

  Live anything() {
    return pick([](const Live&) { return true; },
                [&] {
                  auto dtype = static_cast<DType>(choose_.integer(0, kDTypeCount - 1));
                  if (is_packed(dtype)) dtype = DType::kUInt8;
                  return std::make_pair(dtype, any_shape());
                });
  }

  template <class Options>
  void emit(Options options, std::vector<uint32_t> inputs, const Shape& shape,
            DType dtype = DType::kUInt8) {
    const uint32_t out = m_.tensor(shape, dtype);
    m_.op(std::move(options), std::move(inputs), {out});
    live_.push_back({out, dtype, shape, true});
  }

  std::unique_ptr<fb::RequantT> requant(size_t channels, bool allow_acc) {
    auto r = std::make_unique<fb::RequantT>();
    const int kind = choose_.integer(0, allow_acc ? 4 : 3);
    const size_t n = choose_.coin() ? channels : 1;
    if (kind == 4) return r;
    r->lo = choose_.coin() ? 0 : choose_.integer(0, 255);
    r->hi = choose_.coin() ? 255 : choose_.integer(r->lo, 255);
    r->zero_point = choose_.integer(0, 255);
    if (kind <= 1) {
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
    r->kind = fb::RequantKind::INT;
    for (int s = choose_.integer(1, 2); s > 0; --s) r->stages.push_back(stage(n, choose_.coin()));
    return r;
  }

  std::unique_ptr<fb::RequantStageT> stage(size_t n, bool clips) {
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

  uint32_t bias(size_t channels) {
    const int64_t most = int64_t{1} << choose_.integer(0, 31);
    return m_.bias(choose_.values<int32_t>(channels, -most, most - 1));
  }

  // Packed weights of `groups` x n channels; sets the claims about them.
  template <class Options>
  uint32_t gemm_weights(const Shape& shape, size_t groups, size_t taps, size_t k, Options* o) {
    const size_t n = static_cast<size_t>(shape[0]) / groups, each = n * taps * k;
    const int most = choose_.coin() ? 127 : choose_.integer(0, 127);
    const auto w = choose_.values<int8_t>(groups * each, -most - 1, most);
    std::vector<int8_t> packed(groups * gemm_packed_bytes(n, taps, k));
    o->pair_safe = true;
    for (size_t g = 0; g < groups; ++g) {
      gemm_pack(&w[g * each], n, taps, k, &packed[g * gemm_packed_bytes(n, taps, k)]);
      o->pair_safe = o->pair_safe && gemm_pair_safe(&w[g * each], n, taps, k);
    }
    for (size_t c = 0; c < groups * n; ++c) {
      int32_t sum = 0;
      for (size_t i = 0; i < taps * k; ++i) sum += w[c * taps * k + i];
      o->weight_sum.push_back(sum);
    }
    return m_.packed(shape, fb::Packing::GEMM, packed);
  }

  // Stride, pads and (where the options have it) dilation; returns the output's size. The kernel
  // is cut to what fits.
  struct Axis {
    int stride, dilation, pad_begin, pad_end, kernel, out;
  };
  Axis axis(int64_t in, int most_kernel, bool dilate, bool is_pool) {
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
  template <class Options>
  void set_window(const Axis& h, const Axis& w, Options* o) {
    o->stride_h = static_cast<uint16_t>(h.stride), o->stride_w = static_cast<uint16_t>(w.stride);
    o->pad_top = static_cast<uint16_t>(h.pad_begin),
    o->pad_left = static_cast<uint16_t>(w.pad_begin);
    o->pad_bottom = static_cast<uint16_t>(h.pad_end),
    o->pad_right = static_cast<uint16_t>(w.pad_end);
  }
  template <class Options>
  void set_dilation(const Axis& h, const Axis& w, Options* o) {
    o->dilation_h = static_cast<uint16_t>(h.dilation);
    o->dilation_w = static_cast<uint16_t>(w.dilation);
  }

  void conv2d() {
    const Live x = image();
    const Axis h = axis(x.shape[1], 5, true, false), w = axis(x.shape[2], 5, true, false);
    const int64_t in = x.shape[3];
    int64_t groups = choose_.integer(0, 3) == 3 ? choose_.integer(1, 8) : 1;
    if (in % groups != 0) groups = in;
    const int64_t out = groups * choose_.dimension(groups == 1 ? 80 : 20);
    fb::Conv2DOptionsT o;
    set_window(h, w, &o);
    set_dilation(h, w, &o);
    o.groups = static_cast<uint32_t>(groups);
    o.terms = static_cast<uint8_t>(choose_.integer(0, 3) == 3 ? choose_.integer(1, 3) : 1);
    o.input_zero_point = choose_.byte();
    const bool rows = groups == 1 && w.dilation == 1 && choose_.coin();
    if (rows) o.tap_layout = fb::TapLayout::ROW;
    const auto taps = static_cast<size_t>(o.terms * h.kernel * (rows ? 1 : w.kernel));
    const auto k = static_cast<size_t>(in / groups * (rows ? w.kernel : 1));
    const uint32_t weights = gemm_weights({out, h.kernel, w.kernel, in / groups},
                                          static_cast<size_t>(groups), taps, k, &o);
    o.requant = requant(static_cast<size_t>(out), true);
    const DType dtype = o.requant->kind == fb::RequantKind::ACC ? DType::kInt32 : DType::kUInt8;
    emit(std::move(o), {x.tensor, weights, bias(static_cast<size_t>(out))}, {-1, h.out, w.out, out},
         dtype);
  }

  void depthwise() {
    const Live x = image();
    const Axis h = axis(x.shape[1], 6, true, false), w = axis(x.shape[2], 6, true, false);
    fb::DepthwiseConv2DOptionsT o;
    set_window(h, w, &o);
    set_dilation(h, w, &o);
    o.multiplier = static_cast<uint32_t>(choose_.integer(0, 3) == 3 ? choose_.integer(1, 4) : 1);
    o.input_zero_point = choose_.byte();
    const int64_t out = x.shape[3] * o.multiplier;
    const auto channels = static_cast<size_t>(out);
    const auto taps = static_cast<size_t>(h.kernel * w.kernel);
    const auto weights = choose_.values<int8_t>(taps * channels, -128, 127);
    for (size_t c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (size_t t = 0; t < taps; ++t) sum += weights[t * channels + c];
      o.weight_sum.push_back(sum);
    }
    o.requant = requant(channels, false);
    const uint32_t packed = m_.depthwise_weights({h.kernel, w.kernel, out}, weights);
    emit(std::move(o), {x.tensor, packed, bias(channels)}, {-1, h.out, w.out, out});
  }

  void fully_connected() {
    const Live x = bytes();
    const int last = x.shape.rank() - 1;
    if (last == 0) return;  // the batch is no number of inputs
    const int64_t in = x.shape[last], out = choose_.dimension(128);
    fb::FullyConnectedOptionsT o;
    o.terms = static_cast<uint8_t>(choose_.integer(0, 3) == 3 ? choose_.integer(1, 3) : 1);
    const uint32_t weights = gemm_weights({out, in}, 1, o.terms, static_cast<size_t>(in), &o);
    o.requant = requant(static_cast<size_t>(out), true);
    const DType dtype = o.requant->kind == fb::RequantKind::ACC ? DType::kInt32 : DType::kUInt8;
    Shape shape = x.shape;
    shape[last] = out;
    emit(std::move(o), {x.tensor, weights, bias(static_cast<size_t>(out))}, shape, dtype);
  }

  // A second operand for x: a tensor of the same shape, or a constant that broadcasts.
  uint32_t operand(const Live& x) {
    if (choose_.coin()) {
      const auto same = [&](const Live& t) {
        return t.dtype == DType::kUInt8 && t.shape == x.shape;
      };
      return pick(same, [&] { return std::make_pair(DType::kUInt8, x.shape); }).tensor;
    }
    Shape shape;
    for (int i = choose_.integer(0, x.shape.rank()); i < x.shape.rank(); ++i)
      shape.push_back(i == 0 || choose_.integer(0, 2) == 0 ? 1 : x.shape[i]);
    return m_.constant(shape, DType::kUInt8,
                       choose_.values<uint8_t>(static_cast<size_t>(shape.elements()), 0, 255));
  }

  void add() {
    const Live x = bytes();
    const uint32_t b = operand(x);
    fb::AddOptionsT o;
    if (choose_.integer(0, 3) == 3) return add_int(x, b);
    o.kind = choose_.coin() ? fb::AddKind::F32_MUL_ADD : fb::AddKind::F32_FMA;
    o.a_scale = float_bits(choose_.scale(-8, 4) * (choose_.integer(0, 7) == 7 ? -1.0f : 1.0f));
    o.b_scale = float_bits(choose_.scale(-8, 4));
    o.constant = float_bits(static_cast<float>(choose_.integer(-32768, 32767)) / 64.0f);
    o.a_is_inner = choose_.coin();
    o.a_offset = choose_.coin() ? -128 : 0;
    o.b_offset = choose_.coin() ? -128 : 0;
    o.output_offset = choose_.coin() ? 128 : 0;
    o.lo = choose_.coin() ? 0 : choose_.integer(0, 255);
    o.hi = choose_.integer(o.lo, 255);
    if (choose_.coin()) o.hi = 255;
    emit(o, {x.tensor, b}, x.shape);
  }

  void add_int(const Live& x, uint32_t b) {
    fb::AddOptionsT o;
    o.kind = fb::AddKind::INT;
    o.left_shift = static_cast<uint8_t>(choose_.integer(0, 20));
    o.a_zero_point = choose_.byte();
    o.b_zero_point = choose_.byte();
    o.subtract = choose_.coin();
    for (auto* stages : {&o.a_stages, &o.b_stages}) {
      const int count = choose_.integer(0, 2);  // the last one keeps the sum within int32
      for (int i = 1; i <= count; ++i) stages->push_back(stage(1, i == count));
    }
    o.requant = std::make_unique<fb::RequantT>();
    o.requant->kind = fb::RequantKind::INT;
    o.requant->zero_point = choose_.byte();
    o.requant->lo = choose_.integer(0, 255);
    o.requant->hi = choose_.integer(o.requant->lo, 255);
    for (int i = choose_.integer(1, 2); i > 0; --i)
      o.requant->stages.push_back(stage(1, choose_.coin()));
    emit(std::move(o), {x.tensor, b}, x.shape);
  }

  void min_max() {
    const Live x = bytes();
    fb::MinMaxOptionsT o;
    o.maximum = choose_.coin();
    emit(o, {x.tensor, operand(x)}, x.shape);
  }

  void pair_lut() {
    const Live x = bytes();
    const uint32_t b = operand(x);
    const auto v = choose_.values<uint8_t>(256, 0, 255);
    fb::PairLutOptionsT o;
    o.to_float = choose_.coin();
    if (o.to_float) {
      std::vector<float> table(65536);
      for (size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<float>(v[i % 256] * (i / 256));
      o.table = m_.buffer(table);
    } else {
      std::vector<uint8_t> table(65536);
      for (size_t i = 0; i < table.size(); ++i) table[i] = v[(i % 256) ^ v[i / 256]];
      o.table = m_.buffer(table);
    }
    emit(o, {x.tensor, b}, x.shape, o.to_float ? DType::kFloat32 : DType::kUInt8);
  }

  void arg_max() {
    const Live x = bytes();
    fb::ArgMaxOptionsT o;
    o.axis = static_cast<uint32_t>(choose_.integer(0, x.shape.rank() - 1));
    o.keep_dims = choose_.coin();
    o.minimum = choose_.coin();
    o.last_index = choose_.coin();
    Shape shape;
    for (int i = 0; i < x.shape.rank(); ++i)
      if (static_cast<uint32_t>(i) != o.axis || o.keep_dims)
        shape.push_back(static_cast<uint32_t>(i) == o.axis ? 1 : x.shape[i]);
    emit(o, {x.tensor}, shape, choose_.coin() ? DType::kInt64 : DType::kInt32);
  }

  void top_k() {
    const Live x = bytes();
    Shape shape = x.shape;
    const int last = shape.rank() - 1;
    if (last == 0) return;  // the batch is no row
    fb::TopKOptionsT o;
    o.k = static_cast<uint32_t>(choose_.integer(1, static_cast<int>(shape[last])));
    o.smallest = choose_.coin();
    shape[last] = o.k;
    const uint32_t values = m_.tensor(shape, DType::kUInt8);
    const DType dtype = choose_.coin() ? DType::kInt64 : DType::kInt32;
    const uint32_t indices = m_.tensor(shape, dtype);
    m_.op(o, {x.tensor}, {values, indices});
    live_.push_back({values, DType::kUInt8, shape, true});
    live_.push_back({indices, dtype, shape, true});
  }

  // x [..., m, k] times a constant, or times itself transposed.
  void batch_mat_mul() {
    const Live x = bytes();
    const int rank = x.shape.rank();
    if (rank < 3) return;
    const int64_t k = x.shape[rank - 1];
    fb::BatchMatMulOptionsT o;
    o.a_zero_point = choose_.byte();
    o.b_zero_point = choose_.coin() ? 128 : choose_.byte();
    o.transpose_b = choose_.coin();
    uint32_t b = x.tensor;
    int64_t n = x.shape[rank - 2];
    if (!o.transpose_b || choose_.coin()) {
      n = choose_.dimension(80);
      const auto elements = choose_.values<uint8_t>(static_cast<size_t>(k * n), 0, 255);
      b = m_.constant(o.transpose_b ? Shape{n, k} : Shape{k, n}, DType::kUInt8, elements);
    }
    Shape shape = x.shape;
    shape[rank - 1] = n;
    o.requant = requant(static_cast<size_t>(n), true);
    const DType dtype = o.requant->kind == fb::RequantKind::ACC ? DType::kInt32 : DType::kUInt8;
    emit(std::move(o), {x.tensor, b}, shape, dtype);
  }

  void mul() {
    const Live x = bytes();
    const uint32_t b = operand(x);
    fb::MulOptionsT o;
    o.a_zero_point = choose_.byte();
    o.b_zero_point = choose_.byte();
    o.requant = requant(1, false);
    emit(std::move(o), {x.tensor, b}, x.shape);
  }

  void concat() {
    const Live x = anything();
    if (x.shape.rank() < 2) return;
    fb::ConcatOptionsT o;
    o.axis = static_cast<uint32_t>(choose_.integer(1, x.shape.rank() - 1));
    const int axis = static_cast<int>(o.axis);
    std::vector<uint32_t> inputs = {x.tensor};
    Shape shape = x.shape;
    for (int n = choose_.integer(0, 3); n > 0; --n) {
      const auto fits = [&](const Live& t) {
        bool same = t.dtype == x.dtype && t.shape.rank() == x.shape.rank();
        for (int d = 0; same && d < x.shape.rank(); ++d)
          same = d == axis || t.shape[d] == x.shape[d];
        return same;
      };
      const Live other = pick(fits, [&] { return std::make_pair(x.dtype, x.shape); });
      inputs.push_back(other.tensor);
      shape[axis] += other.shape[axis];
    }
    emit(o, std::move(inputs), shape, x.dtype);
  }

  void max_pool() {
    const Live x = image();
    fb::MaxPool2DOptionsT o;
    if (choose_.integer(0, 3) == 3) {
      o.kernel_h = o.kernel_w = 0;
      return emit(o, {x.tensor}, {-1, 1, 1, x.shape[3]});
    }
    const Axis h = axis(x.shape[1], 5, true, true), w = axis(x.shape[2], 5, true, true);
    set_window(h, w, &o);
    set_dilation(h, w, &o);
    o.kernel_h = static_cast<uint32_t>(h.kernel), o.kernel_w = static_cast<uint32_t>(w.kernel);
    emit(o, {x.tensor}, {-1, h.out, w.out, x.shape[3]});
  }

  void average_pool() {
    const Live x = image();
    const Axis h = axis(x.shape[1], 8, false, true), w = axis(x.shape[2], 8, false, true);
    fb::AveragePool2DOptionsT o;
    set_window(h, w, &o);
    o.kernel_h = static_cast<uint32_t>(h.kernel), o.kernel_w = static_cast<uint32_t>(w.kernel);
    o.count_include_pad = choose_.coin();
    o.input_scale = float_bits(choose_.scale(-10, 2));
    o.input_zero_point = choose_.byte();
    o.output_scale = float_bits(choose_.scale(-10, 2));
    o.output_offset = choose_.coin() ? 128 : 0;
    o.output_zero_point = choose_.integer(0, 255) - o.output_offset;
    emit(o, {x.tensor}, {-1, h.out, w.out, x.shape[3]});
  }

  void global_average_pool() {
    const Live x = image();
    fb::GlobalAveragePool2DOptionsT o;
    o.input_zero_point = choose_.byte();
    o.requant = requant(1, false);
    emit(std::move(o), {x.tensor}, {-1, 1, 1, x.shape[3]});
  }

  void lut() {
    const Live x = pick(
        [](const Live& t) { return t.dtype == DType::kUInt8 || t.dtype == DType::kInt8; },
        [&] { return std::make_pair(choose_.coin() ? DType::kInt8 : DType::kUInt8, any_shape()); });
    fb::LutOptionsT o;
    o.per_channel = x.shape.rank() >= 2 && choose_.coin();
    const int64_t tables = o.per_channel ? x.shape[x.shape.rank() - 1] : 1;
    o.table = m_.buffer(choose_.values<uint8_t>(static_cast<size_t>(256 * tables), 0, 255));
    emit(o, {x.tensor}, x.shape, choose_.integer(0, 3) == 3 ? DType::kInt8 : DType::kUInt8);
  }

  void reshape() {
    const Live x = anything();
    Shape shape = {-1};
    int64_t rest = 1;
    for (int i = 1; i < x.shape.rank(); ++i) rest *= x.shape[i];
    for (int n = choose_.integer(0, 3); n > 0; --n) {
      const int d = choose_.integer(1, 8);
      if (rest % d != 0) continue;
      shape.push_back(d);
      rest /= d;
    }
    shape.push_back(rest);
    fb::ReshapeOptionsT o;
    o.shape.assign(shape.begin(), shape.end());
    emit(std::move(o), {x.tensor}, shape, x.dtype);
  }

  void transpose() {
    const Live x = anything();
    fb::TransposeOptionsT o;
    for (int i = 0; i < x.shape.rank(); ++i) o.perm.push_back(static_cast<uint8_t>(i));
    // The batch stays first: only dimension 0 may be open.
    for (int i = x.shape.rank() - 1; i > 1; --i)
      std::swap(o.perm[static_cast<size_t>(i)], o.perm[static_cast<size_t>(choose_.integer(1, i))]);
    Shape shape;
    for (uint8_t p : o.perm) shape.push_back(x.shape[p]);
    emit(std::move(o), {x.tensor}, shape, x.dtype);
  }

  void softmax() {
    const Live x = bytes();
    std::vector<float> table(256);
    const float step = choose_.scale(-8, 0);
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = std::exp((static_cast<float>(i) - 255.0f) * step);
    fb::SoftmaxOptionsT o;
    o.table = m_.buffer(table);
    o.k = float_bits(choose_.scale(4, 9));
    o.zero_point = choose_.byte();
    emit(o, {x.tensor}, x.shape);
  }

  // Scales and zero points of a boundary operator.
  template <class Options>
  void set_boundary(const Live& x, int lo, int hi, Options* o) {
    size_t n = 1;
    if (x.shape.rank() >= 2 && choose_.coin()) {
      o->axis = choose_.integer(1, x.shape.rank() - 1);
      n = static_cast<size_t>(x.shape[o->axis]);
    }
    for (size_t i = 0; i < n; ++i) {
      o->scale.push_back(float_bits(choose_.scale(-8, 4)));
      o->zero_point.push_back(choose_.integer(lo, hi));
    }
  }

  void quantize() {
    const Live x = pick([](const Live& t) { return t.dtype == DType::kFloat32; },
                        [&] { return std::make_pair(DType::kFloat32, any_shape()); });
    fb::QuantizeOptionsT o;
    const bool is_signed = choose_.integer(0, 3) == 3;
    set_boundary(x, is_signed ? -128 : 0, is_signed ? 127 : 255, &o);
    emit(std::move(o), {x.tensor}, x.shape, is_signed ? DType::kInt8 : DType::kUInt8);
  }

  void dequantize() {
    const Live x = pick(
        [](const Live& t) {
          return t.dtype == DType::kUInt8 || t.dtype == DType::kInt8 || t.dtype == DType::kInt32;
        },
        [&] { return std::make_pair(DType::kUInt8, any_shape()); });
    fb::DequantizeOptionsT o;
    const int lo = x.dtype == DType::kInt8 ? -128 : 0;
    const int hi = x.dtype == DType::kInt8 ? 127 : x.dtype == DType::kUInt8 ? 255 : 0;
    set_boundary(x, lo, hi, &o);
    emit(std::move(o), {x.tensor}, x.shape, DType::kFloat32);
  }

  Choices choose_;
  ModelBuilder m_;
  std::vector<Live> live_;
};

}  // namespace

void fuzz_graph(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> file = Generator(data, size).run();
  Status status;
  const ModelPtr model = load(file.data(), file.size(), &status);
  if (model != nullptr) compare_runs(model, size);
}

}  // namespace qrt::fuzz
