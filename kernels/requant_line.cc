#include "kernels/requant_line.h"

#include <cmath>

namespace qrt {
namespace {

constexpr int kSteps = 255;
constexpr int kMaxShift = 10;  // beyond, float32 is too coarse for the steps to be met

// y = floor((acc * multiplier + addend) / 2^shift) for acc >= 0, at most 0 below.
struct Line {
  int64_t multiplier, addend;
  int shift;
};

bool as_line(const Requant& r, size_t c, Line* line) {
  if (!is_fixed_point(r) || r.zero_point != 0 || r.lo != 0 || r.hi != 255) return false;
  const RequantStage &first = r.stages[0], &second = r.stages[1];
  const bool two = r.stage_count == 2;
  if (two && (first.shift[c] != 31 || second.multiplier[c] != 1)) return false;
  line->multiplier = first.multiplier[c];
  line->shift = first.shift[c] + (two ? second.shift[c] : 0);
  if (line->shift < 32 || line->shift > 31 + kMaxShift) return false;
  line->addend = (int64_t{1} << (line->shift - 1)) + (two ? int64_t{1} << 30 : 0);
  return line->multiplier == 0 || line->multiplier >= int64_t{1} << 30;
}

// Steps in kChains chains, each a step ahead of the one before: a session finds thousands of lines,
// and one chain would wait for every addition and comparison of it.
constexpr int kChains = 4, kRounds = (kSteps + kChains - 1) / kChains;
struct Steps {
  double at[kRounds][kChains];  // of output 1 + kChains * round + chain
};

// The smallest accumulators with these outputs: ceil((k * 2^shift - addend) / multiplier).
void find_steps(const Line& line, Steps* steps) {
  const int64_t m = line.multiplier, whole = int64_t{1} << line.shift;
  const int64_t advance = kChains * whole / m, rest_advance = kChains * whole % m;
  int64_t t[kChains], rest[kChains];
  for (int j = 0; j < kChains; ++j) {
    const int64_t first = (j + 1) * whole - line.addend + m - 1;
    t[j] = first / m;
    rest[j] = first % m;
  }
  for (auto& round : steps->at) {
    for (int j = 0; j < kChains; ++j) {
      round[j] = static_cast<double>(t[j]);
      rest[j] += rest_advance;
      const bool carries = rest[j] >= m;
      t[j] += advance + carries;
      rest[j] -= carries ? m : 0;
    }
  }
}

// Every product and difference here is exact in double: steps have 19 bits, slopes 24. The last
// round is of 256, too: a step that outputs do not show, but that lines have as well.
bool find_intercept(const Steps& steps, float slope, float* intercept) {
  const double a = static_cast<double>(slope);
  double least[kChains], most[kChains];  // of the intercept
  for (int j = 0; j < kChains; ++j) least[j] = most[j] = j + 1 - a * steps.at[0][j];
  double k = 1;
  for (const auto& round : steps.at) {
    for (int j = 0; j < kChains; ++j) {
      const double v = k + j - a * round[j];
      least[j] = v > least[j] ? v : least[j];
      most[j] = v < most[j] ? v : most[j];
    }
    k += kChains;
  }
  for (int j = 1; j < kChains; ++j) {
    least[0] = least[j] > least[0] ? least[j] : least[0];
    most[0] = most[j] < most[0] ? most[j] : most[0];
  }
  most[0] += a;
  *intercept = static_cast<float>((least[0] + most[0]) / 2);
  const double b = static_cast<double>(*intercept);
  return b >= least[0] && b < most[0];
}

}  // namespace

bool requant_line(const Requant& r, size_t c, float* slope, float* intercept) {
  Line line;
  if (kIntegerOnly || !as_line(r, c, &line)) return false;
  if (line.multiplier == 0) {
    *slope = *intercept = 0;
    return true;
  }
  Steps steps;
  find_steps(line, &steps);
  const float nearest =
      static_cast<float>(line.multiplier) / static_cast<float>(int64_t{1} << line.shift);
  const float slopes[] = {nearest, std::nextafter(nearest, 1.0f), std::nextafter(nearest, 0.0f)};
  for (float a : slopes) {
    if (!find_intercept(steps, a, intercept)) continue;
    *slope = a;
    return true;
  }
  return false;
}

}  // namespace qrt
