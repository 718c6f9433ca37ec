// SPDX-License-Identifier: Apache-2.0
// Accumulators at which a requantisation can go wrong. requantize() is a monotone function of the
// accumulator, so a kernel that is monotone too and equals it on both sides of every output step
// equals it everywhere.
#ifndef QRT_TESTS_SUPPORT_REQUANT_WALK_H_
#define QRT_TESTS_SUPPORT_REQUANT_WALK_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/affine/affine.h"
#include "kernels/requant.h"
#include "tests/support/random.h"

namespace qrt::testing {

// Constants of one channel.
struct ChannelConstants {
  float scale = 1;
  int32_t multiplier[kMaxStages] = {1, 1};
  uint8_t shift[kMaxStages] = {0, 0};
};

// A requantisation with one accumulator for every channel.
class RequantWalk {
 public:
  // `requant` without arrays. Only accumulators from `least` to `most`, these two included.
  RequantWalk(std::string name, const Requant& requant, int32_t least = INT32_MIN,
              int32_t most = INT32_MAX)
      : name_(std::move(name)), requant_(requant), least_(least), most_(most) {}

  // Channels with these constants: each accumulator where the output takes a new value, those
  // beside it, and the ends of the ranges of int32 and of float's integers.
  void add(const ChannelConstants& k) {
    std::vector<int32_t> values = {0, 1, -1, INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1};
    for (int32_t d = -1; d <= 1; ++d) {
      values.push_back((1 << 24) + d);
      values.push_back(-(1 << 24) + d);
    }
    Requant r = requant_;
    r.scale = &k.scale;
    for (int i = 0; i < kMaxStages; ++i) {
      r.stages[i].multiplier = &k.multiplier[i];
      r.stages[i].shift = &k.shift[i];
    }
    const int32_t last = requantize(r, INT32_MAX, 0);
    for (int32_t y = requantize(r, INT32_MIN, 0) + 1; y <= last; ++y) {
      int64_t below = INT32_MIN, at = INT32_MAX;  // outputs < y, >= y
      while (at - below > 1) {
        const int64_t middle = (below + at) >> 1;
        (requantize(r, static_cast<int32_t>(middle), 0) < y ? below : at) = middle;
      }
      for (int64_t v = below - 1; v <= at + 1; ++v)
        if (v >= INT32_MIN && v <= INT32_MAX) values.push_back(static_cast<int32_t>(v));
    }
    values.insert(values.end(), {least_, least_ + 1, most_ - 1, most_});
    for (int32_t v : values) {
      if (v < least_ || v > most_) continue;
      acc_.push_back(v);
      scale_.push_back(k.scale);
      for (int i = 0; i < kMaxStages; ++i) {
        multiplier_[i].push_back(k.multiplier[i]);
        shift_[i].push_back(k.shift[i]);
      }
    }
  }

  // Closes the arrays: pads them as a Requant's arrays are.
  void close() {
    channels_ = acc_.size();
    const size_t padded = (channels_ + 63) / 64 * 64 + 64;
    acc_.resize(padded);
    scale_.resize(padded, scale_.empty() ? 1 : scale_.back());
    for (int i = 0; i < kMaxStages; ++i) {
      multiplier_[i].resize(padded, 1);
      shift_[i].resize(padded);
    }
    requant_.scale = scale_.data();
    for (int i = 0; i < kMaxStages; ++i) {
      requant_.stages[i].multiplier = multiplier_[i].data();
      requant_.stages[i].shift = shift_[i].data();
    }
  }

  // Lines, where all channels have one. REQUIRES: closed.
  bool add_affine() {
    slope_.assign(acc_.size(), 0);
    intercept_ = slope_;
    for (size_t c = 0; c < channels_; ++c)
      if (!requant_affine(requant_, c, &slope_[c], &intercept_[c])) return false;
    requant_.slope = slope_.data();
    requant_.intercept = intercept_.data();
    return true;
  }

  const std::string& name() const { return name_; }
  const Requant& requant() const { return requant_; }
  size_t channels() const { return channels_; }
  const std::vector<int32_t>& acc() const { return acc_; }
  int32_t expected(size_t c) const { return requantize(requant_, acc_[c], c); }
  std::string describe(size_t c) const {
    return name_ + ", acc " + std::to_string(acc_[c]) + ", multiplier " +
           std::to_string(multiplier_[0][c]) + " shift " + std::to_string(shift_[0][c]) + ", " +
           std::to_string(multiplier_[1][c]) + " shift " + std::to_string(shift_[1][c]) +
           ", scale " + std::to_string(scale_[c]);
  }

 private:
  std::string name_;
  Requant requant_;
  int32_t least_, most_;
  size_t channels_ = 0;
  std::vector<int32_t> acc_;
  std::vector<float> scale_;
  std::vector<int32_t> multiplier_[kMaxStages];
  std::vector<uint8_t> shift_[kMaxStages];
  std::vector<float> slope_, intercept_;
};

inline Requant int_requant(Round first, Round second, int stages, int zero_point) {
  Requant r = {};
  r.kind = RequantKind::kInt;
  r.zero_point = zero_point;
  r.hi = 255;
  r.stage_count = stages;
  r.stages[0] = {nullptr, nullptr, first, INT32_MIN, INT32_MAX};
  r.stages[1] = {nullptr, nullptr, second, INT32_MIN, INT32_MAX};
  return r;
}

// Calls check(walk) for every kind of requantisation: shifts, multipliers, both, two stages, clips,
// and the orders of the float kind; with equal constants in all channels, and with different ones.
template <class Check>
void for_all_requantisations(Random& random, const Check& check) {
  const Round rounds[] = {Round::kHalfEven, Round::kHalfUp, Round::kHalfAway, Round::kFloor};
  const auto run = [&](const std::string& name, const Requant& r,
                       const std::vector<ChannelConstants>& constants) {
    RequantWalk all(name + ", mixed", r);
    for (const ChannelConstants& k : constants) {
      RequantWalk one(name, r);
      one.add(k);
      one.close();
      check(one);
      if (one.add_affine()) check(one);
      all.add(k);
    }
    all.close();
    check(all);
    if (all.add_affine()) check(all);
  };
  for (Round round : rounds) {
    const std::string name = "rounding " + std::to_string(static_cast<int>(round));
    const int zero_point = static_cast<int>(random.integer(0, 255));
    std::vector<ChannelConstants> shifts, narrow, high, wide;
    for (int s : {0, 1, 2, 7, 8, 15, 24, 30, 31})
      shifts.push_back({1, {1, 1}, {static_cast<uint8_t>(s), 0}});
    for (int s : {31, 32, 33, 38, 40, 47, 55, 62}) {
      for (int32_t m :
           {1 << 30, INT32_MAX, static_cast<int32_t>(random.integer(1 << 30, INT32_MAX))})
        (s > 31 ? high : narrow).push_back({1, {m, 1}, {static_cast<uint8_t>(s), 0}});
    }
    for (int s : {1, 4, 12, 22, 30}) {
      for (int32_t m : {0, 1, 3, 1 << s, (1 << s) - 1})
        if (m <= 1 << s) narrow.push_back({1, {m, 1}, {static_cast<uint8_t>(s), 0}});
    }
    narrow.insert(narrow.end(), high.begin(), high.end());
    wide = narrow;
    for (int s : {0, 1, 5, 20, 30}) {
      for (int32_t m : {3, 1 << 20, INT32_MAX, static_cast<int32_t>(random.integer(2, INT32_MAX))})
        wide.push_back({1, {m, 1}, {static_cast<uint8_t>(s), 0}});
    }
    Requant r = int_requant(round, Round::kHalfAway, 1, zero_point);
    run("shift, " + name, r, shifts);
    run("high, " + name, r, high);
    run("narrow, " + name, r, narrow);
    run("wide, " + name, r, wide);
    r.lo = 3;
    r.hi = 250;
    r.stages[0].clip_lo = -100;
    r.stages[0].clip_hi = 90;
    run("clipped shift, " + name, r, shifts);
    run("clipped wide, " + name, r, wide);

    // Two stages: gemmlowp's double rounding, and any.
    std::vector<ChannelConstants> q31, any;
    for (uint8_t s : {0, 1, 2, 5, 9, 14, 24, 31}) {
      q31.push_back({1, {static_cast<int32_t>(random.integer(1 << 30, INT32_MAX)), 1}, {31, s}});
      q31.push_back({1, {INT32_MAX, 1}, {31, s}});
    }
    for (int i = 0; i < 40; ++i) {
      ChannelConstants k;
      for (int stage = 0; stage < 2; ++stage) {
        k.multiplier[stage] =
            static_cast<int32_t>(random.integer(1, int64_t{1} << random.integer(0, 30)));
        k.shift[stage] = static_cast<uint8_t>(random.integer(0, 40));
      }
      any.push_back(k);
    }
    run("double rounding, then " + name, int_requant(Round::kHalfUp, round, 2, zero_point), q31);
    run("floor, then " + name, int_requant(Round::kFloor, round, 2, zero_point), q31);
    for (Round second : rounds) {
      Requant two = int_requant(round, second, 2, zero_point);
      run("two stages, " + name, two, any);
      two.stages[0].clip_lo = -20000;
      two.stages[0].clip_hi = 15000;
      run("two stages with a clip, " + name, two, any);
    }
  }

  // Fixed point with the shifts that float32 has digits for: TFLite's, and one rounding half up.
  for (int stages : {1, 2}) {
    for (int zero_point : {0, static_cast<int>(random.integer(1, 255))}) {
      for (const auto& [lo, hi] : {std::pair<int, int>{0, 255}, {7, 244}}) {
        Requant r = int_requant(Round::kHalfUp, Round::kHalfAway, stages, zero_point);
        r.lo = lo;
        r.hi = hi;
        std::vector<ChannelConstants> fixed;
        for (int s = 1; s <= 14; ++s) {
          const auto first = static_cast<uint8_t>(stages == 1 ? 31 + s : 31);
          const auto second = static_cast<uint8_t>(stages == 1 ? 0 : s);
          const auto any = static_cast<int32_t>(random.integer(1 << 30, INT32_MAX));
          for (int32_t m :
               {1 << 30, (1 << 30) + 127, 3 << 29, INT32_MAX - 127, INT32_MAX, any, any | 127, 0})
            fixed.push_back({1, {m, 1}, {first, second}});
        }
        run("fixed point, stages " + std::to_string(stages), r, fixed);
        run("coarse fixed point, stages " + std::to_string(stages), r,
            {fixed.begin(), fixed.begin() + 40});
      }
    }
  }

  for (int form = 0; form < 6; ++form) {
    for (int signed_output : {0, 1}) {
      Requant r = {};
      r.kind = RequantKind::kF32;
      r.round = form % 2 ? Round::kHalfUp : Round::kHalfEven;
      r.zero_point_before = form >= 2;
      r.fused = form >= 4;
      r.offset = r.zero_point_before && signed_output ? 128 : 0;
      r.zero_point = static_cast<int32_t>(random.integer(0, 255)) - r.offset;
      r.lo = signed_output ? 5 : 0;
      r.hi = signed_output ? 249 : 255;
      std::vector<ChannelConstants> scales;
      for (int e : {-126, -60, -31, -24, -20, -12, -8, -3, -1, 0, 1, 5, 40, 127}) {
        scales.push_back({std::ldexp(1.0f, e), {}, {}});
        scales.push_back({random.scale(e), {}, {}});
      }
      run("float form " + std::to_string(form), r, scales);
    }
  }

  // As behind a ReLU, nothing below the zero point: sums that are known to stay below 2^23, the
  // products of four k included, may take a form of their own.
  Requant relu = {};
  relu.kind = RequantKind::kF32;
  relu.round = Round::kHalfEven;
  relu.hi = 255;
  for (const auto& [zero_point, hi] :
       {std::pair<int, int>{0, 255}, {128, 255}, {128, 190}, {7, 249}, {0, 131}, {255, 255}}) {
    Requant above = relu;
    above.zero_point = above.lo = zero_point;
    above.hi = hi;
    for (int e : {-126, -60, -31, -24, -20, -16, -12, -8, -5, -3, -1}) {
      for (int i = 0; i < 8; ++i) {
        const float scale = i == 0 ? std::ldexp(1.0f, e) : random.scale(e);
        for (int32_t least : {-(1 << 30) + 1, -(1 << 30), INT32_MIN}) {
          RequantWalk walk("ReLU", above, least, (1 << 23) - 4 * 32640 - (i < 6 ? 1 : 0));
          walk.add({scale, {}, {}});
          walk.close();
          check(walk);
        }
      }
    }
  }

  // Sums of either sign within 2^23, or 2^22, may take that form, too, if their outputs are within 16 bits.
  for (int zero_point : {0, 113}) {
    Requant within = relu;
    within.zero_point = zero_point;
    within.lo = zero_point == 0 ? 0 : 5;
    within.hi = zero_point == 0 ? 255 : 249;
    for (int e : {-126, -60, -24, -20, -16, -14, -12, -11, -10, -9, -8, -5, -4}) {
      for (int i = 0; i < 4; ++i) {
        const float scale = i == 0 ? std::ldexp(1.0f, e) : random.scale(e);
        const double sums = zero_point == 0 ? 1 << 23 : 1 << 22;
        const double most = std::min(sums, 31990 / static_cast<double>(scale)) - 4 * 32640 - 1;
        const int32_t end = static_cast<int32_t>(most);
        RequantWalk walk("within 16 bits", within, -end, end);
        walk.add({scale, {}, {}});
        walk.close();
        check(walk);
      }
    }
  }
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_REQUANT_WALK_H_
