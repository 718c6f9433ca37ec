// SPDX-License-Identifier: Apache-2.0
// Random TFLite models against a second, independent implementation: every operator is computed here by
// plain loops of the reference's formulas while the model is built, and the converted model has to give
// the same bytes, in both rounding builds. QRT_TEST_MODELS models (200); QRT_TEST_SEED sets the seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::tflite_random_test {
namespace {

using testing::Bytes;
using testing::Random;
using testing::reference_multiplier;
using testing::reference_multiply;
using testing::ReferenceMultiplier;
using testing::TfliteBuilder;
using testing::TfliteReference;
using B = tflite::BuiltinOperator;
using T = tflite::TensorType;
using Activation = tflite::ActivationFunctionType;

// An image [n, h, w, c] and what it holds.
struct Image {
  int id = -1;
  int n = 1, h = 1, w = 1, c = 1;
  float scale = 1;
  int zero_point = 0;
  std::vector<int> q;

  TfliteBuilder::Dims dims() const { return {n, h, w, c}; }
  int at(int i, int y, int x, int k) const {
    return q[static_cast<size_t>(((i * h + y) * w + x) * c + k)];
  }
};

struct Limits {
  int lo, hi;
};

// One model: images that operators may read, the last one its output.
class RandomModel {
 public:
  RandomModel(Random* random, bool is_int16, bool single)
      : random_(*random), is_int16_(is_int16), single_(single) {
    Image x = image(pick(1, 2), pick(1, 7), pick(1, 7), pick(1, 9));
    x.id = b_.input(type(), x.dims(), x.scale, x.zero_point);
    for (size_t i = 0; i < size(x); ++i) x.q.push_back(pick(least(), most()));
    input_ = bytes(x);
    images_.push_back(std::move(x));
  }

  // Adds an operator that the images allow; what it is called.
  std::string add_operator() {
    static const std::map<std::string, void (RandomModel::*)()> kOperators = {
        {"CONV_2D", &RandomModel::conv},
        {"DEPTHWISE_CONV_2D", &RandomModel::depthwise},
        {"FULLY_CONNECTED", &RandomModel::fully_connected},
        {"ADD", &RandomModel::add},
        {"SUB", &RandomModel::subtract},
        {"MUL", &RandomModel::multiply},
        {"MAX_POOL_2D", &RandomModel::max_pool},
        {"AVERAGE_POOL_2D", &RandomModel::average_pool},
        {"QUANTIZE", &RandomModel::requantize},
        {"RELU", &RandomModel::relu},
        {"ABS", &RandomModel::absolute},
        {"LEAKY_RELU", &RandomModel::leaky_relu},
        {"PRELU", &RandomModel::prelu},
        {"MAXIMUM", &RandomModel::maximum},
        {"CONCATENATION", &RandomModel::concatenation},
        {"MEAN", &RandomModel::mean}};
    auto chosen = kOperators.begin();
    std::advance(chosen, pick(0, static_cast<int>(kOperators.size()) - 1));
    (this->*chosen->second)();
    return chosen->first;
  }

  void check() {
    const Image& y = images_.back();
    b_.graph().outputs.push_back(y.id);
    const auto reference =
        single_ ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
    testing::Imported imported = b_.import(reference);
    if (imported.refusals() > 0) {
      // Sums that the reference does not define, or multipliers that it refuses.
      EXPECT_NE(imported.rule().find("reference"), std::string::npos) << imported.report.text(true);
      refused = true;
      return;
    }
    ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
    EXPECT_EQ(testing::run_graph(std::move(imported.graph), true, {input_}).outputs,
              std::vector<Bytes>{bytes(y)});
  }

  bool refused = false;

 private:
  int pick(int lo, int hi) { return static_cast<int>(random_.integer(lo, hi)); }
  T type() const { return is_int16_ ? T::INT16 : T::INT8; }
  int least() const { return is_int16_ ? -32768 : -128; }
  int most() const { return is_int16_ ? 32767 : 127; }
  static size_t size(const Image& x) { return static_cast<size_t>(x.n * x.h * x.w * x.c); }
  Image& any() {
    return images_[static_cast<size_t>(pick(0, static_cast<int>(images_.size()) - 1))];
  }

  Bytes bytes(const Image& x) const {
    Bytes all;
    for (const int v : x.q) {
      all.push_back(static_cast<uint8_t>(v));
      if (is_int16_) all.push_back(static_cast<uint8_t>(v >> 8));
    }
    return all;
  }

  // Returns an image without content, of a scale of some size or a power of two.
  Image image(int n, int h, int w, int c) {
    Image x;
    x.n = n, x.h = h, x.w = w, x.c = c;
    const int exponent = pick(-8, -3) - (is_int16_ ? 8 : 0);
    x.scale = pick(0, 3) == 0 ? std::ldexp(1.0f, exponent) : random_.scale(exponent);
    x.zero_point = is_int16_ ? 0 : pick(-128, 127);
    return x;
  }

  void finish(Image y) {
    y.id = b_.activation(type(), y.dims(), y.scale, y.zero_point);
    b_.graph().operators.back()->outputs = {y.id};
    images_.push_back(std::move(y));
  }

  int clamped(int64_t v, Limits l) const {
    return static_cast<int>(std::min<int64_t>(std::max<int64_t>(v, l.lo), l.hi));
  }
  int scaled(int32_t v, ReferenceMultiplier m) const { return reference_multiply(v, m, single_); }

  Activation activation() {
    static const Activation kAll[] = {Activation::NONE, Activation::RELU, Activation::RELU6,
                                      Activation::RELU_N1_TO_1};
    return kAll[pick(0, 3)];
  }
  Limits limits(Activation a, const Image& y) const {
    const auto q = [&](float f) {
      return y.zero_point + static_cast<int>(std::round(f / y.scale));
    };
    Limits l = {least(), most()};
    if (a == Activation::RELU || a == Activation::RELU6) l.lo = std::max(l.lo, q(0));
    if (a == Activation::RELU6) l.hi = std::min(l.hi, q(6));
    if (a == Activation::RELU_N1_TO_1) l.lo = std::max(l.lo, q(-1)), l.hi = std::min(l.hi, q(1));
    return l;
  }

  // --- layers: constant weights of `count`, `out` scales and biases
  struct Weights {
    std::vector<int8_t> w;
    std::vector<float> scale;
    std::vector<int64_t> bias;
  };
  Weights weights(int count, int out, bool per_channel) {
    Weights r;
    for (int i = 0; i < count; ++i) r.w.push_back(static_cast<int8_t>(pick(-127, 127)));
    for (int i = 0; i < (per_channel ? out : 1); ++i) r.scale.push_back(random_.scale(-9));
    for (int i = 0; i < out; ++i) r.bias.push_back(pick(-2000, 2000));
    return r;
  }
  std::vector<int> layer_inputs(const Image& x, const TfliteBuilder::Dims& shape, const Weights& w,
                                int axis) {
    const std::vector<int64_t> zeros(w.scale.size(), 0);
    const int id = b_.constant(T::INT8, shape, w.w, w.scale, zeros, axis);
    const auto out = static_cast<int32_t>(w.bias.size());
    const std::vector<int32_t> narrow(w.bias.begin(), w.bias.end());
    return {
        x.id, id,
        is_int16_ ? b_.constant(T::INT64, {out}, w.bias) : b_.constant(T::INT32, {out}, narrow)};
  }
  // Returns the output for a sum with bias; `product` x scale * w scale.
  int layer_output(int64_t acc, double product, const Image& y, Limits l) const {
    const ReferenceMultiplier m = reference_multiplier(product / static_cast<double>(y.scale));
    if (!is_int16_) return clamped(scaled(static_cast<int32_t>(acc), m) + y.zero_point, l);
    const int64_t m16 = m.value < 0x7fff0000 ? (m.value + 0x8000) >> 16 : 0x7fff;
    const int total = 15 - m.shift;
    return clamped(((acc * m16 + (int64_t{1} << (total - 1))) >> total) + y.zero_point, l);
  }

  struct Window {
    int k, stride, before, out;
    bool same;
  };
  Window window(int in) {
    Window v;
    v.k = pick(1, std::min(3, in)), v.stride = pick(1, 2), v.same = same_;
    v.out = v.same ? (in + v.stride - 1) / v.stride : (in + v.stride - v.k) / v.stride;
    v.before = v.same ? std::max((v.out - 1) * v.stride + v.k - in, 0) / 2 : 0;
    return v;
  }
  template <class Options>
  void set_window(Options* o) {
    o->padding = same_ ? tflite::Padding::SAME : tflite::Padding::VALID;
    o->stride_h = rows_.stride, o->stride_w = cols_.stride;
  }
  void choose_windows(const Image& x) {
    same_ = pick(0, 1) == 1;
    rows_ = window(x.h), cols_ = window(x.w);
  }
  // Calls f(iy, ix, ky, kx) for the positions of a window inside the image.
  template <class F>
  void positions(const Image& x, int oy, int ox, const F& f) const {
    for (int ky = 0; ky < rows_.k; ++ky)
      for (int kx = 0; kx < cols_.k; ++kx) {
        const int iy = oy * rows_.stride - rows_.before + ky;
        const int ix = ox * cols_.stride - cols_.before + kx;
        if (iy >= 0 && ix >= 0 && iy < x.h && ix < x.w) f(iy, ix, ky, kx);
      }
  }
  // Fills y[i][oy][ox][k] = f(i, oy, ox, k).
  template <class F>
  static void fill(Image* y, const F& f) {
    for (int i = 0; i < y->n; ++i)
      for (int oy = 0; oy < y->h; ++oy)
        for (int ox = 0; ox < y->w; ++ox)
          for (int k = 0; k < y->c; ++k) y->q.push_back(f(i, oy, ox, k));
  }

  void conv() {
    const Image x = any();
    choose_windows(x);
    Image y = image(x.n, rows_.out, cols_.out, pick(1, 20));
    const Weights w = weights(y.c * rows_.k * cols_.k * x.c, y.c, pick(0, 1) == 1);
    tflite::Conv2DOptionsT o;
    set_window(&o);
    o.fused_activation_function = activation();
    const Limits l = limits(o.fused_activation_function, y);
    b_.op(B::CONV_2D, layer_inputs(x, {y.c, rows_.k, cols_.k, x.c}, w, 0), {}, o);
    fill(&y, [&](int i, int oy, int ox, int k) {
      int64_t acc = w.bias[static_cast<size_t>(k)];
      positions(x, oy, ox, [&](int iy, int ix, int ky, int kx) {
        for (int q = 0; q < x.c; ++q)
          acc += (x.at(i, iy, ix, q) - x.zero_point) *
                 w.w[static_cast<size_t>(((k * rows_.k + ky) * cols_.k + kx) * x.c + q)];
      });
      const float s = w.scale[w.scale.size() > 1 ? static_cast<size_t>(k) : 0];
      return layer_output(acc, static_cast<double>(x.scale) * static_cast<double>(s), y, l);
    });
    finish(std::move(y));
  }

  void depthwise() {
    const Image x = any();
    choose_windows(x);
    const int multiplier = pick(1, 2);
    Image y = image(x.n, rows_.out, cols_.out, x.c * multiplier);
    const Weights w = weights(y.c * rows_.k * cols_.k, y.c, true);
    tflite::DepthwiseConv2DOptionsT o;
    set_window(&o);
    o.depth_multiplier = multiplier;
    o.fused_activation_function = activation();
    const Limits l = limits(o.fused_activation_function, y);
    b_.op(B::DEPTHWISE_CONV_2D, layer_inputs(x, {1, rows_.k, cols_.k, y.c}, w, 3), {}, o);
    fill(&y, [&](int i, int oy, int ox, int k) {
      int64_t acc = w.bias[static_cast<size_t>(k)];
      positions(x, oy, ox, [&](int iy, int ix, int ky, int kx) {
        acc += (x.at(i, iy, ix, k / multiplier) - x.zero_point) *
               w.w[static_cast<size_t>((ky * cols_.k + kx) * y.c + k)];
      });
      const double s = static_cast<double>(w.scale[static_cast<size_t>(k)]);
      return layer_output(acc, static_cast<double>(x.scale) * s, y, l);
    });
    finish(std::move(y));
  }

  void fully_connected() {
    const Image x = any();
    Image y = image(x.n, x.h, x.w, pick(1, 20));
    const bool per_channel = pick(0, 1) == 1 && y.c > 1;
    const Weights w = weights(y.c * x.c, y.c, per_channel);
    tflite::FullyConnectedOptionsT o;
    o.keep_num_dims = true;
    o.fused_activation_function = activation();
    const Limits l = limits(o.fused_activation_function, y);
    b_.op(B::FULLY_CONNECTED, layer_inputs(x, {y.c, x.c}, w, 0), {}, o);
    fill(&y, [&](int i, int oy, int ox, int k) {
      int64_t acc = w.bias[static_cast<size_t>(k)];
      for (int q = 0; q < x.c; ++q)
        acc += (x.at(i, oy, ox, q) - x.zero_point) * w.w[static_cast<size_t>(k * x.c + q)];
      const float s = w.scale[per_channel ? static_cast<size_t>(k) : 0];
      const double product = per_channel ? static_cast<double>(x.scale) * static_cast<double>(s)
                                         : static_cast<double>(x.scale * s);
      return layer_output(acc, product, y, l);
    });
    finish(std::move(y));
  }

  // --- elementwise: a second operand of the same shape, or of one pixel: an image or a constant
  Image operand(const Image& a) {
    std::vector<const Image*> same;
    for (const Image& x : images_)
      if (x.dims() == a.dims()) same.push_back(&x);
    if (pick(0, 1) == 1)
      return *same[static_cast<size_t>(pick(0, static_cast<int>(same.size()) - 1))];
    Image x = image(1, 1, 1, a.c);
    for (int i = 0; i < a.c; ++i) x.q.push_back(pick(least(), most()));
    if (is_int16_)
      x.id = b_.constant(T::INT16, x.dims(), std::vector<int16_t>(x.q.begin(), x.q.end()),
                         {x.scale}, {0});
    else
      x.id = b_.constant(T::INT8, x.dims(), std::vector<int8_t>(x.q.begin(), x.q.end()), {x.scale},
                         {x.zero_point});
    return x;
  }
  static int element(const Image& x, int i, int y, int z, int k) {
    return x.n * x.h * x.w == 1 ? x.at(0, 0, 0, k) : x.at(i, y, z, k);
  }

  template <class Real, class Options>
  void sum(B code, int sign) {
    const Image a = any(), c = operand(a);
    Image y = image(a.n, a.h, a.w, a.c);
    const Real sa = a.scale, sb = c.scale, twice = 2 * std::max(sa, sb);
    const int left = is_int16_ ? 15 : 20;
    const Real fine = static_cast<Real>(1 << left) * static_cast<Real>(y.scale);
    const auto ma = reference_multiplier(static_cast<double>(Real(sa / twice)));
    const auto mb = reference_multiplier(static_cast<double>(Real(sb / twice)));
    const auto mo = reference_multiplier(static_cast<double>(Real(twice / fine)));
    Options o;
    o.fused_activation_function = activation();
    const Limits l = limits(o.fused_activation_function, y);
    b_.op(code, {a.id, c.id}, {}, o);
    fill(&y, [&](int i, int h, int w, int k) {
      const int p = scaled((a.at(i, h, w, k) - a.zero_point) * (1 << left), ma);
      const int q = scaled((element(c, i, h, w, k) - c.zero_point) * (1 << left), mb);
      return clamped(scaled(p + sign * q, mo) + y.zero_point, l);
    });
    finish(std::move(y));
  }
  void add() { sum<double, tflite::AddOptionsT>(B::ADD, 1); }
  void subtract() { sum<float, tflite::SubOptionsT>(B::SUB, -1); }

  void multiply() {
    const Image a = any(), c = operand(a);
    Image y = image(a.n, a.h, a.w, a.c);
    const auto m = reference_multiplier(
        static_cast<double>(a.scale) * static_cast<double>(c.scale) / static_cast<double>(y.scale));
    tflite::MulOptionsT o;
    o.fused_activation_function = activation();
    const Limits l = limits(o.fused_activation_function, y);
    b_.op(B::MUL, {a.id, c.id}, {}, o);
    fill(&y, [&](int i, int h, int w, int k) {
      const int product =
          (a.at(i, h, w, k) - a.zero_point) * (element(c, i, h, w, k) - c.zero_point);
      return clamped(scaled(product, m) + y.zero_point, l);
    });
    finish(std::move(y));
  }

  void maximum() {
    const Image a = any();
    Image c = operand(a);
    c.scale = a.scale, c.zero_point = a.zero_point;
    for (const Image& x : images_)
      if (x.id == c.id) c = a;
    if (c.id != a.id) {
      b_.at(c.id).quantization->scale = {a.scale};
      b_.at(c.id).quantization->zero_point = {a.zero_point};
    }
    Image y = image(a.n, a.h, a.w, a.c);
    y.scale = a.scale, y.zero_point = a.zero_point;
    b_.op(B::MAXIMUM, {a.id, c.id}, {});
    fill(&y, [&](int i, int h, int w, int k) {
      return std::max(a.at(i, h, w, k), element(c, i, h, w, k));
    });
    finish(std::move(y));
  }

  // --- one operand
  template <class F>
  void map(const Image& x, Image y, const F& f) {
    for (size_t i = 0; i < x.q.size(); ++i) y.q.push_back(f(x.q[i] - x.zero_point, i));
    finish(std::move(y));
  }
  Image like(const Image& x) { return image(x.n, x.h, x.w, x.c); }

  void requantize() {
    const Image x = any();
    const Image y = like(x);
    const auto m =
        reference_multiplier(static_cast<double>(x.scale) / static_cast<double>(y.scale));
    b_.op(B::QUANTIZE, {x.id}, {});
    map(x, y, [&](int v, size_t) {
      return clamped(scaled(v, m) + y.zero_point, {least(), most()});
    });
  }
  void relu() {
    const Image x = any();
    const Image y = like(x);
    const auto m = reference_multiplier(static_cast<double>(x.scale / y.scale));
    b_.op(B::RELU, {x.id}, {});
    map(x, y, [&](int v, size_t) {
      return clamped(scaled(v, m) + y.zero_point, {std::max(least(), y.zero_point), most()});
    });
  }
  void absolute() {
    const Image x = any();
    const Image y = like(x);
    const auto m = reference_multiplier(static_cast<double>(x.scale / y.scale));
    b_.op(B::ABS, {x.id}, {});
    map(x, y, [&](int v, size_t) {
      return clamped(scaled(std::abs(v), m) + y.zero_point, {least(), most()});
    });
  }
  void leaky_relu() {
    const Image x = any();
    const Image y = like(x);
    tflite::LeakyReluOptionsT o;
    o.alpha = random_.scale(pick(-4, 0));
    const float below = x.scale * o.alpha;
    const auto positive = reference_multiplier(static_cast<double>(x.scale / y.scale));
    const auto negative = reference_multiplier(static_cast<double>(below / y.scale));
    b_.op(B::LEAKY_RELU, {x.id}, {}, o);
    map(x, y, [&](int v, size_t) {
      return clamped(scaled(v, v >= 0 ? positive : negative) + y.zero_point, {least(), most()});
    });
  }
  void prelu() {
    const Image x = any();
    const Image y = like(x);
    const bool by_element = pick(0, 1) == 1;
    std::vector<int8_t> alpha(static_cast<size_t>(by_element ? x.h * x.w * x.c : x.c));
    for (int8_t& a : alpha) a = static_cast<int8_t>(pick(-128, 127));
    const float scale = random_.scale(-7);
    const int zero_point = is_int16_ ? 0 : pick(-20, 20);
    const int id = b_.constant(
        T::INT8, by_element ? TfliteBuilder::Dims{x.h, x.w, x.c} : TfliteBuilder::Dims{1, 1, x.c},
        alpha, {scale}, {zero_point});
    const double in = static_cast<double>(x.scale), out = static_cast<double>(y.scale);
    const auto positive = reference_multiplier(in / out);
    const auto negative = reference_multiplier(in * static_cast<double>(scale) / out);
    b_.op(B::PRELU, {x.id, id}, {});
    map(x, y, [&](int v, size_t i) {
      const int a = alpha[i % alpha.size()] - zero_point;
      return clamped((v >= 0 ? scaled(v, positive) : scaled(v * a, negative)) + y.zero_point,
                     {least(), most()});
    });
  }

  // --- windows and rows
  template <class F>
  void pool(B code, const F& f) {
    const Image x = any();
    choose_windows(x);
    Image y = image(x.n, rows_.out, cols_.out, x.c);
    y.scale = x.scale, y.zero_point = x.zero_point;
    tflite::Pool2DOptionsT o;
    set_window(&o);
    o.filter_height = rows_.k, o.filter_width = cols_.k;
    o.fused_activation_function = activation();
    const Limits l = limits(o.fused_activation_function, y);
    b_.op(code, {x.id}, {}, o);
    fill(&y, [&](int i, int oy, int ox, int k) {
      std::vector<int> seen;
      positions(x, oy, ox, [&](int iy, int ix, int, int) { seen.push_back(x.at(i, iy, ix, k)); });
      return clamped(f(seen), l);
    });
    finish(std::move(y));
  }
  void max_pool() {
    pool(B::MAX_POOL_2D,
         [](const std::vector<int>& v) { return *std::max_element(v.begin(), v.end()); });
  }
  void average_pool() {
    pool(B::AVERAGE_POOL_2D, [](const std::vector<int>& v) {
      const int n = static_cast<int>(v.size());
      int acc = 0;
      for (const int x : v) acc += x;
      return acc > 0 ? (acc + n / 2) / n : (acc - n / 2) / n;
    });
  }

  void mean() {
    const Image x = any();
    Image y = image(x.n, 1, 1, x.c);
    const int n = x.h * x.w;
    const auto whole =
        reference_multiplier(static_cast<double>(x.scale) / static_cast<double>(y.scale));
    const int k = std::min({63 - __builtin_clzll(static_cast<uint64_t>(n)), 32, 31 + whole.shift});
    const ReferenceMultiplier m = {static_cast<int32_t>((int64_t{whole.value} << k) / n),
                                   whole.shift - k};
    tflite::ReducerOptionsT o;
    o.keep_dims = true;
    b_.op(B::MEAN, {x.id, b_.constant<int32_t>(T::INT32, {2}, {1, 2})}, {}, o);
    fill(&y, [&](int i, int, int, int c) {
      int32_t acc = 0;
      for (int h = 0; h < x.h; ++h)
        for (int w = 0; w < x.w; ++w) acc += x.at(i, h, w, c) - x.zero_point;
      return clamped(scaled(acc, m) + y.zero_point, {least(), most()});
    });
    finish(std::move(y));
  }

  void concatenation() {
    const Image a = any();
    Image y = image(a.n, a.h, a.w, 2 * a.c);
    y.scale = a.scale, y.zero_point = a.zero_point;
    tflite::ConcatenationOptionsT o;
    o.axis = 3;
    b_.op(B::CONCATENATION, {a.id, a.id}, {}, o);
    fill(&y, [&](int i, int h, int w, int k) { return a.at(i, h, w, k % a.c); });
    finish(std::move(y));
  }

  Random& random_;
  const bool is_int16_, single_;
  TfliteBuilder b_;
  Bytes input_;
  std::vector<Image> images_;
  bool same_ = false;
  Window rows_{}, cols_{};
};

TEST(TfliteRandom, ModelsHaveTheReferencesBytes) {
  const char* given = std::getenv("QRT_TEST_MODELS");
  const int models = given ? std::atoi(given) : 200;
  Random random;
  int refused = 0;
  for (int i = 0; i < models && !::testing::Test::HasFailure(); ++i) {
    const bool is_int16 = random.coin(), single = random.integer(0, 3) == 0;
    RandomModel model(&random, is_int16, single);
    std::string operators;
    for (int64_t n = random.integer(1, 5); n > 0; --n) operators += model.add_operator() + " ";
    SCOPED_TRACE("model " + std::to_string(i) + (is_int16 ? " int16 " : " int8 ") +
                 (single ? "single: " : "double: ") + operators + random.trace());
    model.check();
    refused += model.refused;
  }
  RecordProperty("refused", refused);
  EXPECT_LT(refused * 4, models + 8);
}

}  // namespace
}  // namespace qrt::tflite_random_test
