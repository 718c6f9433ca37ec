// SPDX-License-Identifier: Apache-2.0
#include "runtime/ops/line_fit.h"

#include <string.h>

#include <algorithm>

namespace qrt {
namespace {

constexpr int kEntries = 256;
constexpr float kFree = 1e6f;  // beyond every line: no bound

// Entries of the table, by their x.
struct Range {
  int begin, end;
};

// The upper and lower bound that a line must keep at every x.
struct Bounds {
  alignas(16) float upper[kEntries], lower[kEntries];
};

// The entries at which lines of a slope touch the bounds first, and the heights of these lines at x = 0.
struct Touch {
  int upper, lower;
  float least, greatest;
};

// Vectors of the baseline instruction set. A session looks for thousands of lines, so entries go in
// blocks of four, and each lane keeps the best of its own.
typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
constexpr int kLanes = 4, kParts = 4, kBlock = kLanes * kParts;

inline Floats min(Floats a, Floats b) { return a < b ? a : b; }

// The least of bound[x] - slope * x, for every lane, and the block that has it.
struct Least {
  Floats value = Floats{} + 4 * kFree;
  Ints block = {};

  void add(const Floats (&v)[kParts], int first) {
    const Floats best = min(min(v[0], v[1]), min(v[2], v[3]));
    block = best < value ? Ints{} + first : block;
    value = min(best, value);
  }
  int at(const float* bound, float sign, float slope, float* least) const {
    int lane = 0;
    for (int i = 1; i < kLanes; ++i) lane = value[i] < value[lane] ? i : lane;
    *least = sign * value[lane];
    int x = block[lane] + lane;
    for (int part = 1, other = x; part < kParts; ++part) {
      other += kLanes;
      const auto height = [&](int i) { return sign * (bound[i] - slope * static_cast<float>(i)); };
      if (height(other) < height(x)) x = other;
    }
    return x;
  }
};

Touch touch(const Bounds& bounds, float slope) {
  Least upper, lower;
  Floats x = {0, 1, 2, 3};
  for (int i = 0; i < kEntries; i += kBlock) {
    Floats u[kParts], l[kParts];
    for (int part = 0; part < kParts; ++part, x += static_cast<float>(kLanes)) {
      memcpy(&u[part], bounds.upper + i + part * kLanes, sizeof u[part]);
      memcpy(&l[part], bounds.lower + i + part * kLanes, sizeof l[part]);
      const Floats line = slope * x;
      u[part] = u[part] - line;
      l[part] = line - l[part];
    }
    upper.add(u, i);
    lower.add(l, i);
  }
  Touch t;
  t.upper = upper.at(bounds.upper, 1, slope, &t.least);
  t.lower = lower.at(bounds.lower, -1, slope, &t.greatest);
  return t;
}

// Finds a line within bounds. How far a line of one slope may be moved up and down is a concave
// function of the slope: the least of what all pairs of an upper and a lower bound leave. A pair
// that is the tightest for one slope limits all others, too, so the next slope to try is where the
// two pairs meet that were found on either side.
bool find_line(const Bounds& bounds, bool ties, double slope, double step, double* found,
               double* intercept) {
  constexpr double kEnough = 1e-4, kSteepest = 512;
  const double tie = ties ? 1e-3 : -kEnough;
  struct Bound {
    bool known;
    double height, rise;  // room = height + rise * slope
  } rising = {}, falling = {};
  double limit = 1;
  // Twenty tries or so find a line if there is one. The limit keeps roundings of touch() from
  // making the search go in circles.
  for (int tries = 0; tries < 64 && slope > -kSteepest && slope < kSteepest; ++tries) {
    const Touch t = touch(bounds, static_cast<float>(slope));
    const double upper = bounds.upper[t.upper], lower = bounds.lower[t.lower];
    const double room = static_cast<double>(t.least) - static_cast<double>(t.greatest);
    // Enough room, or as much as there can be: lines of a slope like 1/4 meet entries that were
    // halfway between two bytes.
    if (room >= std::min(kEnough, limit - tie)) {
      *found = slope;
      *intercept = (upper + lower - slope * (t.upper + t.lower)) / 2;
      return true;
    }
    const int run = t.lower - t.upper;
    if (run == 0) return false;
    (run > 0 ? rising : falling) = {true, upper - lower, static_cast<double>(run)};
    if (rising.known && falling.known) {
      const double next = (falling.height - rising.height) / (rising.rise - falling.rise);
      limit = rising.height + rising.rise * next;
      if (limit < -tie || next == slope) return false;
      slope = next;
    } else {
      slope += run > 0 ? step : -step;
      step *= 2;
    }
  }
  return false;
}

class Fit {
 public:
  Fit(const uint8_t table[kEntries], int lo, int hi) : table_(table), lo_(lo), hi_(hi) {}

  // Finds a line below the entries of one range and above those of another, except where these are at the
  // limits of a byte. With `ties` it may meet what is halfway between two bytes. Returns whether there is one.
  bool line(Range below, Range above, bool ties, double* slope, double* intercept) const {
    Bounds bounds;
    const int lo = lo_, hi = hi_;
    for (int x = 0; x < kEntries; ++x) {
      const int t = table_[x];
      const float height = static_cast<float>(t);
      bounds.upper[x] = height + (t < hi ? 0.5f : kFree);
      bounds.lower[x] = height - (t > lo ? 0.5f : kFree);
    }
    free_outside(below, bounds.upper, kFree);
    free_outside(above, bounds.lower, -kFree);
    int first = std::max(below.begin, above.begin), last = std::min(below.end, above.end) - 1;
    while (first < last && (table_[first] == lo_ || table_[first] == hi_)) ++first;
    while (first < last && (table_[last] == lo_ || table_[last] == hi_)) --last;
    const double run = std::max(last - first, 1);
    const double start = first < last ? (table_[last] - table_[first]) / run : 0;
    return find_line(bounds, ties, start, 1 / run, slope, intercept);
  }

 private:
  static void free_outside(Range range, float (&bounds)[kEntries], float free) {
    std::fill(bounds, bounds + range.begin, free);
    std::fill(bounds + range.end, bounds + kEntries, free);
  }

  const uint8_t* const table_;
  const int lo_, hi_;
};

// Fits lines of the kind that is asked for. Where the function is the greater of two lines (not
// `lesser`), each line must lie below every entry, and above the entries on its side of the kink.
bool fit_kind(const Fit& fit, TableLines* lines) {
  constexpr Range kAll = {0, kEntries};
  if (!lines->two) return fit.line(kAll, kAll, true, &lines->slope[0], &lines->intercept[0]);
  const Range sides[] = {{0, lines->kink}, {lines->kink, kEntries}};
  for (int i = 0; i < 2; ++i) {
    const Range below = lines->lesser ? sides[i] : kAll, above = lines->lesser ? kAll : sides[i];
    if (!fit.line(below, above, true, &lines->slope[i], &lines->intercept[i])) return false;
  }
  return true;
}

// Finds the entry at which two lines meet: midway between the last up to which the first line fits and the
// first from which on the second one does. Returns false where these ranges leave entries between them.
bool find_kink(const Fit& fit, bool ties, TableLines* lines) {
  constexpr Range kAll = {0, kEntries};
  const auto reaches = [&](Range side) {
    return fit.line(lines->lesser ? side : kAll, lines->lesser ? kAll : side, ties,
                    &lines->slope[0], &lines->intercept[0]);
  };
  int last = 0, first = kEntries;
  for (int step = kEntries / 2; step > 0; step /= 2) {
    if (reaches({0, last + step})) last += step;
    if (reaches({first - step, kEntries})) first -= step;
  }
  lines->kink = (first + last) / 2;
  return first <= last;
}

}  // namespace

bool fit_lines(const uint8_t table[kEntries], const std::function<bool(const TableLines&)>& gives,
               int* searches, TableLines* lines) {
  uint8_t lo = 255, hi = 0;
  for (int x = 0; x < kEntries; ++x) {
    lo = table[x] < lo ? table[x] : lo;
    hi = table[x] > hi ? table[x] : hi;
  }
  lines->lo = lo;
  lines->hi = hi;
  const Fit fit(table, lo, hi);
  if (fit_kind(fit, lines) && gives(*lines)) return true;
  TableLines other = *lines;
  const auto take = [&](bool two, bool lesser, const auto& find) {
    other.two = two;
    other.lesser = lesser;
    if (!find() || !fit_kind(fit, &other) || !gives(other)) return false;
    *lines = other;
    return true;
  };
  const auto as_it_is = [] { return true; };
  if (take(false, false, as_it_is) || take(true, false, as_it_is) || take(true, true, as_it_is))
    return true;
  if (*searches == 0) return false;
  --*searches;
  for (const bool ties : {false, true})
    for (const bool lesser : {false, true})
      if (take(true, lesser, [&] { return find_kink(fit, ties, &other); })) return true;
  return false;
}

}  // namespace qrt
