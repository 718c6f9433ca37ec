// SPDX-License-Identifier: Apache-2.0
// Layers with weights, and products of what is computed.
#include "tests/fuzz/generator.h"

namespace qrt::fuzz {

template <class Options>
uint32_t Generator::gemm_weights(const Shape& shape, size_t groups, size_t taps, size_t k,
                                 Options* o) {
  const size_t n = static_cast<size_t>(shape[0]) / groups, each = n * taps * k;
  const size_t blocks = (n + 15) / 16;
  const Storage storage = choose_storage(groups * blocks);
  auto w = choose_.values<int8_t>(groups * each, storage.lo, storage.hi);
  for (size_t c = 0; c < groups * n; ++c) {
    const int offset = storage.offset(c / n * blocks * 16 + c % n);
    int32_t sum = 0;
    for (size_t i = c * taps * k; i < (c + 1) * taps * k; ++i) {
      w[i] = static_cast<int8_t>(w[i] + offset);
      sum += w[i];
    }
    o->weight_sum.push_back(sum);
  }
  std::vector<int8_t> packed(groups * gemm_packed_bytes(n, taps, k));
  o->pair_safe = true;
  for (size_t g = 0; g < groups; ++g) {
    gemm_pack(&w[g * each], n, taps, k, &packed[g * gemm_packed_bytes(n, taps, k)]);
    o->pair_safe = o->pair_safe && gemm_pair_safe(&w[g * each], n, taps, k);
  }
  return store(shape, fb::Packing::GEMM, storage, std::move(packed));
}

void Generator::append_conv2d() {
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
  o.input_zero_point_16 = static_cast<int16_t>(zero_point_16());
  const bool rows = groups == 1 && w.dilation == 1 && choose_.coin();
  if (rows) o.tap_layout = fb::TapLayout::ROW;
  const auto taps = static_cast<size_t>(o.terms * h.kernel * (rows ? 1 : w.kernel));
  const auto k = static_cast<size_t>(in / groups * (rows ? w.kernel : 1));
  const uint32_t weights = gemm_weights({out, h.kernel, w.kernel, in / groups},
                                        static_cast<size_t>(groups), taps, k, &o);
  o.requant = requant(static_cast<size_t>(out), true, x.dtype);
  const DType dtype = o.requant->kind == fb::RequantKind::ACC ? DType::kInt32 : x.dtype;
  const auto channels = static_cast<size_t>(out);
  emit(std::move(o), {x.tensor, weights, x.is_int16() ? int64_bias(channels) : bias(channels)},
       {-1, h.out, w.out, out}, dtype);
}

void Generator::append_depthwise_conv2d() {
  const Live x = image();
  const Axis h = axis(x.shape[1], 6, true, false), w = axis(x.shape[2], 6, true, false);
  fb::DepthwiseConv2DOptionsT o;
  set_window(h, w, &o);
  set_dilation(h, w, &o);
  o.multiplier = static_cast<uint32_t>(choose_.integer(0, 3) == 3 ? choose_.integer(1, 4) : 1);
  o.input_zero_point = choose_.byte();
  o.input_zero_point_16 = static_cast<int16_t>(zero_point_16());
  const int64_t out = x.shape[3] * o.multiplier;
  const auto channels = static_cast<size_t>(out);
  const auto kh = static_cast<size_t>(h.kernel), kw = static_cast<size_t>(w.kernel);
  const auto terms =
      static_cast<size_t>(x.is_int16() || choose_.integer(0, 3) < 3 ? 1 : choose_.integer(2, 3));
  o.terms = static_cast<uint8_t>(terms);
  const Storage storage = choose_storage(terms * ((channels + 15) / 16));
  auto weights = choose_.values<int8_t>(terms * kh * kw * channels, storage.lo, storage.hi);
  o.weight_sum.resize(channels);
  const size_t elements = kh * kw * channels, lanes = (channels + 15) / 16 * 16;
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t c = i % channels;
    weights[i] = static_cast<int8_t>(weights[i] + storage.offset(i / elements * lanes + c));
    o.weight_sum[c] += weights[i];
  }
  const size_t term_bytes = depthwise_packed_bytes(channels, kh, kw);
  std::vector<int8_t> packed(terms * term_bytes);
  for (size_t t = 0; t < terms; ++t)
    depthwise_pack(weights.data() + t * elements, channels, kh, kw, packed.data() + t * term_bytes);
  const uint32_t stored =
      store({h.kernel, w.kernel, out}, fb::Packing::DEPTHWISE, storage, std::move(packed));
  o.requant = requant(channels, false, x.dtype);
  emit(std::move(o), {x.tensor, stored, x.is_int16() ? int64_bias(channels) : bias(channels)},
       {-1, h.out, w.out, out}, x.dtype);
}

void Generator::append_fully_connected() {
  const Live x = activation();
  const int last = x.shape.rank() - 1;
  if (last == 0) return;  // the batch is no number of inputs
  const int64_t in = x.shape[last], out = choose_.dimension(128);
  fb::FullyConnectedOptionsT o;
  o.terms = static_cast<uint8_t>(choose_.integer(0, 3) == 3 ? choose_.integer(1, 3) : 1);
  const uint32_t weights = gemm_weights({out, in}, 1, o.terms, static_cast<size_t>(in), &o);
  o.requant = requant(static_cast<size_t>(out), true, x.dtype);
  const DType dtype = o.requant->kind == fb::RequantKind::ACC ? DType::kInt32 : x.dtype;
  const auto channels = static_cast<size_t>(out);
  Shape shape = x.shape;
  shape[last] = out;
  emit(std::move(o), {x.tensor, weights, x.is_int16() ? int64_bias(channels) : bias(channels)},
       shape, dtype);
}

// Appends x [..., m, k] times a constant, or times itself transposed.
void Generator::append_batch_mat_mul() {
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

void Generator::append_dynamic_layer(const Live& x, uint32_t scale, uint32_t zero) {
  const int rank = x.shape.rank();
  if (rank != 2 && rank != 4) return;
  const int64_t out = choose_.dimension(80), in = x.shape[rank - 1];
  std::unique_ptr<fb::FloatStoreT> store;
  if (choose_.coin()) {
    store = std::make_unique<fb::FloatStoreT>();
    store->weights_first = choose_.coin();
    store->lo = float_bits(static_cast<float>(choose_.integer(-64, 0)));
    store->hi = float_bits(static_cast<float>(choose_.integer(0, 64)));
  }
  const auto append = [&](auto o, uint32_t weights, const Shape& shape) {
    o.requant = std::make_unique<fb::RequantT>();
    o.store = std::move(store);
    emit(std::move(o),
         {x.tensor, weights, bias(static_cast<size_t>(out)), zero, scale,
          random_constant({out}, DType::kFloat32), random_constant({out}, DType::kFloat32)},
         shape, DType::kFloat32);
  };
  if (rank == 2) {
    fb::FullyConnectedOptionsT o;
    const uint32_t weights = gemm_weights({out, in}, 1, 1, static_cast<size_t>(in), &o);
    return append(std::move(o), weights, {-1, out});
  }
  const Axis h = axis(x.shape[1], 3, true, false), w = axis(x.shape[2], 3, true, false);
  fb::Conv2DOptionsT o;
  set_window(h, w, &o);
  set_dilation(h, w, &o);
  const uint32_t weights =
      gemm_weights({out, h.kernel, w.kernel, in}, 1, static_cast<size_t>(h.kernel * w.kernel),
                   static_cast<size_t>(in), &o);
  append(std::move(o), weights, {-1, h.out, w.out, out});
}

void Generator::append_mat_mul_nbits() {
  const Live x = of_type(DType::kFloat32);
  Shape shape = x.shape;
  const int last = shape.rank() - 1;
  if (last == 0) return;  // the batch is no row
  fb::MatMulNBitsOptionsT o;
  o.bits = static_cast<uint8_t>(1 << choose_.integer(1, 3));
  o.block = static_cast<uint16_t>(16 * choose_.integer(1, 16));
  o.n = static_cast<uint32_t>(choose_.dimension(40));
  o.has_zero_points = choose_.coin();
  o.has_bias = choose_.coin();
  o.in_float = choose_.coin();
  const int64_t panels = (o.n + 15) / 16, blocks = (shape[last] + o.block - 1) / o.block;
  std::vector<uint32_t> inputs = {
      x.tensor, random_constant({panels, blocks, 2 * o.block * o.bits}, DType::kUInt8),
      random_constant({panels, blocks, 16}, DType::kFloat32)};
  if (o.has_zero_points) inputs.push_back(random_constant({panels, blocks, 16}, DType::kUInt8));
  if (o.has_bias) inputs.push_back(random_constant({o.n}, DType::kFloat32));
  shape[last] = o.n;
  emit(o, inputs, shape, DType::kFloat32);
}

// Appends a GatherNBits whose rows are the indices of greatest elements, which are inside.
void Generator::append_gather_nbits() {
  const Live x = of_type(choose_.coin() ? DType::kInt32 : DType::kUInt8);
  if (x.shape.rank() != 2) return;
  fb::ArgMaxOptionsT greatest;
  greatest.axis = 1;
  const uint32_t index = add_output({-1, 1}, choose_.coin() ? DType::kInt64 : DType::kInt32);
  m_.op(greatest, {x.tensor}, {index});
  fb::GatherNBitsOptionsT o;
  o.bits = static_cast<uint8_t>(1 << choose_.integer(1, 3));
  o.block = static_cast<uint16_t>(16 * choose_.integer(1, 16));
  o.n = static_cast<uint32_t>(x.shape[1]);
  o.k = static_cast<uint32_t>(choose_.dimension(40));
  o.has_zero_points = choose_.coin();
  const int64_t panels = (o.n + 15) / 16, blocks = (o.k + o.block - 1) / o.block;
  std::vector<uint32_t> inputs = {
      random_constant({panels, blocks, 2 * o.block * o.bits}, DType::kUInt8),
      random_constant({panels, blocks, 16}, DType::kFloat32), index};
  if (o.has_zero_points) inputs.push_back(random_constant({panels, blocks, 16}, DType::kUInt8));
  emit(o, inputs, {-1, 1, o.k}, DType::kFloat32);
}

void Generator::append_dynamic_product() {
  const Live a = bytes();
  const int rank = a.shape.rank();
  if (rank < 2) return;
  fb::DynamicProductOptionsT o;
  Shape b, y;
  o.is_convolution = rank == 4 && choose_.coin();
  if (o.is_convolution) {
    const Axis h = axis(a.shape[2], 4, true, false), w = axis(a.shape[3], 4, true, false);
    set_window(h, w, &o);
    set_dilation(h, w, &o);
    const int64_t out = choose_.dimension(20);
    b = {out, a.shape[1], h.kernel, w.kernel};
    y = {-1, out, h.out, w.out};
  } else {
    b = {a.shape[rank - 1], choose_.dimension(40)};
    y = a.shape;
    y[rank - 1] = b[1];
  }
  const int64_t channels = b[o.is_convolution ? 0 : 1];
  const Shape each = choose_.coin() ? Shape{channels} : Shape{};
  std::vector<uint32_t> inputs = {a.tensor, random_constant(b, DType::kUInt8),
                                  random_constant({}, DType::kUInt8),
                                  random_constant(each, DType::kUInt8)};
  if (choose_.coin()) return emit(o, std::move(inputs), y, DType::kInt32);
  for (const Shape& s : {Shape{}, each, Shape{}}) {
    std::vector<float> scales(static_cast<size_t>(s.elements()));
    for (float& f : scales) f = choose_.scale(-9, 1);
    inputs.push_back(m_.constant(s, DType::kFloat32, scales));
  }
  inputs.push_back(random_constant({}, DType::kUInt8));
  if (o.is_convolution && choose_.coin()) inputs.push_back(bias(static_cast<size_t>(channels)));
  emit(o, std::move(inputs), y);
}

}  // namespace qrt::fuzz
