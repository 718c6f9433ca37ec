// SPDX-License-Identifier: Apache-2.0
// Tables of a sum from its terms as real numbers. Where a sum is not near a tie these decide; near
// one the definition is asked.
#include "kernels/elementwise/entry.h"
#include "kernels/elementwise/forms_entry.h"
#include "kernels/stage_factor.h"

namespace qrt {
namespace {

constexpr int kBytes = 256;
// The greatest number of pairs near a tie for which value() is asked: there are few, unless the
// scales make every other sum a tie.
constexpr int kMostAsked = 1024;
// The greatest magnitude of terms whose fractions are still exact enough.
constexpr double kGreatest = 0x1p20;

// y = clamp(nearest(a[x] + b[z]), lo, hi); certain where the sum is further than `reach` from a tie,
// else what value() says.
struct Sum {
  double a[kBytes], b[kBytes];
  double reach;
  int32_t lo, hi;
  const void* params;
  void (*value)(const void* params, const ElementwiseArgs& run);
};

int32_t floor_of(double v) {
  const auto i = static_cast<int32_t>(v);
  return i - (v < i ? 1 : 0);
}

class Maker {
 public:
  Maker(const Sum& sum, bool base_is_a, SumTables* tables) : sum_(sum), t_(*tables) {
    const double(&base)[kBytes] = base_is_a ? sum.a : sum.b;
    const double(&change)[kBytes] = base_is_a ? sum.b : sum.a;
    for (int x = 0; x < kBytes; ++x) {
      const double nearest = base[x] + 0.5;
      base_[x] = floor_of(nearest);
      missing_[x] = 1 - (nearest - base_[x]);
      change_[x] = floor_of(change[x]);
      change_fraction_[x] = change[x] - change_[x];
    }
    t_.base_is_a = base_is_a;
    t_.lo = static_cast<uint8_t>(sum.lo);
    t_.hi = static_cast<uint8_t>(sum.hi);
  }

  bool make() {
    if (!split()) return false;
    sort();
    for (int x = 0; x < kBytes; ++x)
      if (!set_rank(x)) return false;
    return true;
  }

 private:
  // Splits both terms into integers and fractions, and moves the integers so that the least is 0.
  // Returns false where they leave a byte.
  bool split() {
    int32_t least = base_[0], most = base_[0];
    for (const int32_t v : base_) least = v < least ? v : least, most = v > most ? v : most;
    if (most - least > 255) return false;
    t_.first_up = 0;
    for (int x = 0; x < kBytes; ++x) {
      t_.base[x] = static_cast<uint8_t>(base_[x] - least);
      const int32_t change = change_[x] + least;
      // Bytes whose change is negative have to come first.
      if (change < 0 && t_.first_up++ != x) return false;
      const int32_t steps = change < 0 ? -change : change;
      t_.steps[x] = static_cast<uint8_t>(steps > 255 ? 255 : steps);
    }
    return true;
  }

  // Returns which of 256 buckets of fractions, greatest first, a fraction belongs to.
  static int bucket_of(double fraction) {
    const int i = kBytes - 1 - static_cast<int>(fraction * kBytes);
    return i < 0 ? 0 : i;
  }

  // Sorts the bytes of the other operand, greatest fraction first: by buckets, then by insertion.
  void sort() {
    int next[kBytes];
    for (const double v : change_fraction_) ++first_[bucket_of(v) + 1];
    for (int i = 0; i < kBytes; ++i) first_[i + 1] += next[i] = first_[i];
    for (int z = 0; z < kBytes; ++z) {
      const double fraction = change_fraction_[z];
      const int bucket = bucket_of(fraction);
      int j = next[bucket]++;
      for (; j > first_[bucket] && fraction_[j - 1] < fraction; --j) {
        fraction_[j] = fraction_[j - 1];
        order_[j] = order_[j - 1];
      }
      fraction_[j] = fraction;
      order_[j] = static_cast<uint8_t>(z);
    }
    for (int i = 0; i < kBytes; ++i) t_.limit[order_[i]] = static_cast<uint8_t>(i);
  }

  // Sets t_.rank[x], the number of fractions that make 1 or more with that of x.
  bool set_rank(int x) {
    const double missing = missing_[x];
    int begin = first_[bucket_of(missing)], end = first_[bucket_of(missing) + 1];
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (fraction_[middle] >= missing)
        begin = middle + 1;
      else
        end = middle;
    }
    // Finds the fractions near a tie, the first of which have to carry.
    while (begin > 0 && fraction_[begin - 1] - missing <= sum_.reach) --begin;
    while (end < kBytes && missing - fraction_[end] <= sum_.reach) ++end;
    while (begin < end && holds(x, begin, 1)) ++begin;
    const int rank = begin;
    for (; begin < end; ++begin)
      if (!holds(x, begin, 0)) return false;
    // Sums near a tie on the other side: fractions that make almost 0, or almost 2.
    for (int i = kBytes; i-- > 0 && fraction_[i] - missing <= sum_.reach - 1;)
      if (!holds(x, i, i < rank)) return false;
    for (int i = 0; i < kBytes && fraction_[i] - missing >= 1 - sum_.reach; ++i)
      if (!holds(x, i, i < rank)) return false;
    if (asked_ > kMostAsked || (t_.base[x] == 255 && rank > 0)) return false;
    // All of them: a rank of 256 is another step of the base.
    t_.base[x] = static_cast<uint8_t>(t_.base[x] + rank / kBytes);
    t_.rank[x] = static_cast<uint8_t>(rank);
    return true;
  }

  // Returns whether the sum of x and the i-th fraction is right with this carry.
  bool holds(int x, int i, int32_t carry) {
    const int z = order_[i], base = t_.base[x] + carry;
    const int64_t v = clamp_int(z < t_.first_up ? base - t_.steps[z] : base + t_.steps[z], 0, 255);
    ++asked_;
    const auto byte = static_cast<uint8_t>(x), other = static_cast<uint8_t>(z);
    uint8_t y;
    sum_.value(sum_.params,
               {t_.base_is_a ? &byte : &other, t_.base_is_a ? &other : &byte, false, false, &y, 1});
    return clamp_int(v, t_.lo, t_.hi) == y;
  }

  const Sum& sum_;
  SumTables& t_;
  int32_t base_[kBytes], change_[kBytes];  // the integers below
  // missing_: what the exact number lacks to base_ + 1.
  double missing_[kBytes], change_fraction_[kBytes];
  int first_[kBytes + 1] = {};  // of each bucket
  uint8_t order_[kBytes];
  double fraction_[kBytes];
  int asked_ = 0;
};

bool make(const Sum& sum, SumTables* tables) {
  for (int i = 0; i < kBytes; ++i)
    if (!(std::fabs(sum.a[i]) < kGreatest && std::fabs(sum.b[i]) < kGreatest)) return false;
  for (int i = 0; i < 2; ++i)
    if (Maker(sum, /*base_is_a=*/i == 0, tables).make()) return true;
  return false;
}

}  // namespace

bool make_sum_tables(const AddParams& p, SumTables* tables) {
  Sum sum;
  const double a_scale = static_cast<double>(p.a_scale), b_scale = static_cast<double>(p.b_scale);
  const double constant = static_cast<double>(p.constant);
  for (int i = 0; i < kBytes; ++i) {
    sum.a[i] = (i + p.a_offset) * a_scale + constant + p.output_offset;
    sum.b[i] = (i + p.b_offset) * b_scale;
  }
  // Four roundings, each of at most 2^-24 of the greatest value.
  const double greatest =
      kBytes * (std::fabs(a_scale) + std::fabs(b_scale)) + std::fabs(constant) + 1;
  sum.reach = 0x1p-22 * greatest;
  sum.lo = p.lo;
  sum.hi = p.hi;
  sum.params = &p;
  sum.value = [](const void* params, const ElementwiseArgs& run) {
    elementwise_add_scalar(*static_cast<const AddParams*>(params), run);
  };
  return make(sum, tables);
}

bool make_sum_tables_of_integers(const AddIntParams& p, SumTables* tables) {
  Sum sum;
  const Requant& r = p.requant;
  const double unit = factor_of_stages(r.stages, r.stage_count);
  const int64_t one = int64_t{1} << p.left_shift;
  for (int i = 0; i < kBytes; ++i) {
    const int64_t a = apply_stages(p.a_stages, p.a_stage_count, (i - p.a_zero_point) * one, 0);
    const int64_t b = apply_stages(p.b_stages, p.b_stage_count, (i - p.b_zero_point) * one, 0);
    sum.a[i] = static_cast<double>(a) * unit + r.zero_point;
    sum.b[i] = static_cast<double>(p.subtract ? -b : b) * unit;
  }
  sum.reach = error_of_stages(r) + 0x1p-24;
  if (sum.reach > 0x1p-8) return false;
  sum.lo = r.lo;
  sum.hi = r.hi;
  sum.params = &p;
  sum.value = [](const void* params, const ElementwiseArgs& run) {
    elementwise_add_int_scalar(*static_cast<const AddIntParams*>(params), run);
  };
  return make(sum, tables);
}

}  // namespace qrt
