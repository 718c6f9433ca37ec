// SPDX-License-Identifier: Apache-2.0
// Computes the operator Recurrent, one scalar at a time, from its definition in schema/qrt_model.fbs.
#ifndef QRT_TESTS_SUPPORT_RECURRENT_ORACLE_H_
#define QRT_TESTS_SUPPORT_RECURRENT_ORACLE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/float_fallback/float_fallback.h"
#include "qrt_model_generated.h"

namespace qrt::testing::recurrent {

using Cell = fb::RecurrentCell;
using Direction = fb::RecurrentDirection;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The operator with its inputs; those that the options do not announce are not read.
struct Case {
  fb::RecurrentOptionsT options;
  int64_t steps, rows, in, cells;
  Floats x, w, r, b, reset_bias, peepholes, hidden, content;
  std::vector<int32_t> lengths;
  // The weights and their scales, where they are bytes.
  std::vector<uint8_t> w_bytes, r_bytes;
  Floats w_scale, r_scale;
  bool by_column = false;

  int64_t directions() const { return options.direction == Direction::BIDIRECTIONAL ? 2 : 1; }
  int64_t gates() const {
    return options.cell == Cell::LSTM ? 4 : options.cell == Cell::GRU ? 3 : 1;
  }
  int64_t width() const { return gates() * cells; }
  float clip() const {
    float f;
    memcpy(&f, &options.clip, sizeof f);
    return f;
  }
  void set_clip(float f) { memcpy(&options.clip, &f, sizeof f); }
};

inline float unary(FloatUnary f, float x) {
  float y;
  select_float(static_cast<IsaSet>(Isa::kScalar))->unary(f, &x, &y, 1);
  return y;
}
inline float sigmoid(float x) { return unary(FloatUnary::kOrtSigmoid, x); }
inline float tanh(float x) { return unary(FloatUnary::kOrtTanh, x); }

inline float rounded_tanh(float x, float limit) {
  x = x < -limit ? -limit : x > limit ? limit : x;
  if (limit == 20) x = 0.5f * x;
  const float over[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f,
                        5.12229709037114e-08f,  1.48572235717979e-05f, 6.37261928875436e-04f,
                        4.89352455891786e-03f};
  const float under[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f,
                         4.89352518554385e-03f};
  const float z = x * x;
  float p = over[0], q = under[0];
  for (int i = 1; i < 7; ++i) p = z * p + over[i];
  for (int i = 1; i < 4; ++i) q = z * q + under[i];
  return x * p / q;
}
inline float rounded_sigmoid(float x) { return 0.5f * (1.0f + rounded_tanh(x, 20)); }

inline float canonical(float f) { return std::isnan(f) ? kNan : f; }

// Adds n products to `sum` in blocks.
inline float product(const float* a, const float* b, int64_t n, int64_t stride, uint32_t block,
                     float sum) {
  for (int64_t i = 0; i < n;) {
    float part = 0;
    for (const int64_t end = std::min<int64_t>(n, i + block); i < end; ++i)
      part = std::fma(a[i], b[i * stride], part);
    sum = std::fma(part, 1.0f, sum);
  }
  return canonical(sum);
}

inline float limited(const Case& c, float v) {
  if (std::isnan(v)) return c.options.nan_is_clip ? c.clip() : v;
  return std::max(-c.clip(), std::min(c.clip(), v));
}

// Makes the state of a row of an LSTM from its sums.
inline void finish_lstm(const Case& c, int64_t direction, const Floats& sums, float* content,
                        float* hidden) {
  const int64_t n = c.cells;
  for (int64_t i = 0; i < n; ++i) {
    const auto argument = [&](int64_t gate, int64_t hole, float of) {
      float v = sums[static_cast<size_t>(gate * n + i)];
      if (c.options.has_peepholes && hole >= 0)
        v = v + of * c.peepholes[static_cast<size_t>((direction * 3 + hole) * n + i)];
      return limited(c, v + c.b[static_cast<size_t>((direction * 4 + gate) * n + i)]);
    };
    const float in = sigmoid(argument(0, 0, content[i]));
    const float forget = c.options.couples_forget ? 1.0f - in : sigmoid(argument(2, 2, content[i]));
    const float now = content[i] * forget + in * tanh(argument(3, -1, 0));
    content[i] = canonical(now);
    hidden[i] = canonical(tanh(now) * sigmoid(argument(1, 1, now)));
  }
}

// One row in one direction, step by step.
class Oracle {
 public:
  Oracle(const Case& c, int64_t direction, int64_t row)
      : c_(c), o_(c.options), d_(direction), row_(row) {}

  void run(Floats* y, Floats* last_hidden, Floats* last_content) {
    const int64_t n = c_.cells, length = c_.lengths.empty() ? c_.steps : c_.lengths[at(row_)];
    const bool back = o_.direction == Direction::REVERSE || d_ == 1;
    const size_t state = at((d_ * c_.rows + row_) * n);
    hidden_.assign(at(n), 0);
    content_.assign(at(n), 0);
    if (o_.has_hidden)
      std::copy_n(c_.hidden.begin() + static_cast<ptrdiff_t>(state), n, hidden_.begin());
    if (o_.has_content)
      std::copy_n(c_.content.begin() + static_cast<ptrdiff_t>(state), n, content_.begin());
    for (int64_t s = 0; s < length; ++s) {
      const int64_t t = back ? length - 1 - s : s;
      step(&c_.x[at((t * c_.rows + row_) * c_.in)]);
      std::copy_n(hidden_.begin(), n,
                  y->begin() + ((t * c_.directions() + d_) * c_.rows + row_) * n);
    }
    if (length == 0) {
      hidden_.assign(at(n), 0);
      content_.assign(at(n), 0);
    }
    std::copy_n(hidden_.begin(), n, last_hidden->begin() + static_cast<ptrdiff_t>(state));
    std::copy_n(content_.begin(), n, last_content->begin() + static_cast<ptrdiff_t>(state));
  }

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  float of_x(const float* x, int64_t column) const {
    const float bias = o_.cell == Cell::RNN ? c_.b[at(d_ * c_.width() + column)] : 0;
    return product(x, &c_.w[at(d_ * c_.in * c_.width() + column)], c_.in, c_.width(), o_.x_block,
                   bias);
  }
  float of_hidden(const Floats& a, int64_t column, float sum) const {
    return product(a.data(), &c_.r[at(d_ * c_.cells * c_.width() + column)], c_.cells, c_.width(),
                   o_.h_block, sum);
  }
  float bias(int64_t column) const { return c_.b[at(d_ * c_.width() + column)]; }

  void step(const float* x) {
    const int64_t n = c_.cells;
    const Floats before = hidden_;
    Floats reset(at(n));
    for (int64_t i = 0; i < n && o_.cell == Cell::GRU; ++i) {
      const float r =
          rounded_sigmoid(limited(c_, of_hidden(before, n + i, of_x(x, n + i)) + bias(n + i)));
      const float of = o_.resets_after ? of_hidden(before, 2 * n + i, c_.reset_bias[at(d_ * n + i)])
                                       : before[at(i)];
      reset[at(i)] = canonical(of * r);
    }
    if (o_.cell == Cell::LSTM) {
      Floats sums(at(4 * n));
      for (int64_t j = 0; j < 4 * n; ++j) sums[at(j)] = of_hidden(before, j, of_x(x, j));
      return finish_lstm(c_, d_, sums, content_.data(), hidden_.data());
    }
    for (int64_t i = 0; i < n; ++i) {
      float h = 0;
      if (o_.cell == Cell::RNN) {
        const float v = limited(c_, of_hidden(before, i, 0) + of_x(x, i));
        h = o_.is_relu ? (v > 0 ? v : 0) : unary(FloatUnary::kTanh, v);
      } else {
        const float z = sigmoid(limited(c_, of_hidden(before, i, of_x(x, i)) + bias(i)));
        const float given = of_x(x, 2 * n + i);
        const float sum =
            o_.resets_after ? given + reset[at(i)] : of_hidden(reset, 2 * n + i, given);
        h = (1.0f - z) * rounded_tanh(limited(c_, sum + bias(2 * n + i)), 10) + z * before[at(i)];
      }
      hidden_[at(i)] = canonical(h);
    }
  }

  const Case& c_;
  const fb::RecurrentOptionsT& o_;
  const int64_t d_, row_;
  Floats hidden_, content_;
};

// Bytes of floats and how they were made.
struct Quantised {
  // `counted`: those that the range is of.
  Quantised(const Floats& x, const std::vector<bool>& counted) {
    float least = 0, most = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (counted[i]) least = std::min(least, x[i]), most = std::max(most, x[i]);
    if (least != most) scale = (most - least) / 255.0f;
    zero_point = static_cast<int32_t>(std::nearbyint(0.0f - least / scale));
    for (const float v : x)
      codes.push_back(static_cast<int32_t>(std::min(
          255.0f, std::max(0.0f, std::nearbyint(v / scale) + static_cast<float>(zero_point)))));
  }
  // Returns the product of row r of k values with column j of matrix `b`.
  float product(int64_t r, int64_t k, const uint8_t* b, int64_t width, int64_t j,
                uint8_t b_zero_point, float b_scale) const {
    int32_t sum = 0;
    for (int64_t i = 0; i < k; ++i)
      sum +=
          (codes[static_cast<size_t>(r * k + i)] - zero_point) * (b[i * width + j] - b_zero_point);
    return static_cast<float>(sum) * (scale * b_scale);
  }

  float scale = 1;
  int32_t zero_point;
  std::vector<int32_t> codes;
};

// Computes all rows of one direction with weights that are bytes.
inline void run_bytes(const Case& c, int64_t d, Floats* y, Floats* last_hidden,
                      Floats* last_content) {
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  const int64_t n = c.cells, width = c.width();
  const bool back = c.options.direction == Direction::REVERSE || d == 1;
  std::vector<int32_t> lengths = c.lengths;
  if (lengths.empty()) lengths.assign(at(c.rows), static_cast<int32_t>(c.steps));
  const int64_t most = *std::max_element(lengths.begin(), lengths.end());
  std::vector<bool> counted(c.x.size());
  std::fill_n(counted.begin(), most * c.rows * c.in, true);
  const Quantised x(c.x, counted);
  Floats hidden(at(c.rows * n)), content(at(c.rows * n));
  const auto first = static_cast<ptrdiff_t>(d * c.rows * n);
  if (c.options.has_hidden) std::copy_n(c.hidden.begin() + first, c.rows * n, hidden.begin());
  if (c.options.has_content) std::copy_n(c.content.begin() + first, c.rows * n, content.begin());
  const auto scale = [&](const Floats& scales, int64_t j) {
    return scales[at(c.by_column ? d * width + j : d)];
  };
  for (int64_t s = 0; s < most; ++s) {
    counted.assign(hidden.size(), false);
    for (int64_t r = 0; r < c.rows; ++r)
      if (s <= lengths[at(r)] || (c.options.counts_ended && lengths[at(r)] > 0))
        std::fill_n(counted.begin() + r * n, n, true);
    const Quantised h(hidden, counted);
    for (int64_t r = 0; r < c.rows; ++r) {
      if (s >= lengths[at(r)]) continue;
      const int64_t t = back ? lengths[at(r)] - 1 - s : s;
      Floats sums;
      for (int64_t j = 0; j < width; ++j) {
        const float of_x = x.product(t * c.rows + r, c.in, &c.w_bytes[at(d * c.in * width)], width,
                                     j, c.options.w_zero_point[at(d)], scale(c.w_scale, j));
        sums.push_back(of_x + h.product(r, n, &c.r_bytes[at(d * n * width)], width, j,
                                        c.options.r_zero_point[at(d)], scale(c.r_scale, j)));
      }
      finish_lstm(c, d, sums, &content[at(r * n)], &hidden[at(r * n)]);
      std::copy_n(hidden.begin() + r * n, n,
                  y->begin() + ((t * c.directions() + d) * c.rows + r) * n);
    }
  }
  for (int64_t r = 0; r < c.rows; ++r)
    if (lengths[at(r)] == 0) {
      std::fill_n(hidden.begin() + r * n, n, 0.0f);
      std::fill_n(content.begin() + r * n, n, 0.0f);
    }
  std::copy(hidden.begin(), hidden.end(), last_hidden->begin() + first);
  std::copy(content.begin(), content.end(), last_content->begin() + first);
}

struct Results {
  Floats y, hidden, content;
};

inline Results results_of(const Case& c) {
  const int64_t d = c.directions();
  Results made;
  made.y.resize(static_cast<size_t>(c.steps * d * c.rows * c.cells));
  made.hidden.resize(static_cast<size_t>(d * c.rows * c.cells));
  made.content = made.hidden;
  for (int64_t direction = 0; direction < d; ++direction) {
    if (!c.w_bytes.empty()) run_bytes(c, direction, &made.y, &made.hidden, &made.content);
    for (int64_t row = 0; row < c.rows && c.w_bytes.empty(); ++row)
      Oracle(c, direction, row).run(&made.y, &made.hidden, &made.content);
  }
  return made;
}

}  // namespace qrt::testing::recurrent

#endif  // QRT_TESTS_SUPPORT_RECURRENT_ORACLE_H_
