// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/probes.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace qrt::convert {
namespace {

struct Scale {
  int64_t unit;                 // of dimensions that are no batch
  std::vector<int64_t> counts;  // of units
  // Counts with many small divisors. Only where a division leaves no rest does a quotient that is rounded up differ from one that
  // is rounded down, plus one.
  std::vector<int64_t> divisible;
};

const std::vector<int64_t>& batches() {
  static const std::vector<int64_t> sizes = {3,  5,  7,  2,  9,  11, 6,  13, 4,  8,  10, 12,
                                             14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25};
  return sizes;
}

// Chooses sizes so that what is apart differs: variant v of a symbol takes other numbers than all others.
class Family {
 public:
  Family(const std::vector<Symbol>& symbols, const Scale& scale)
      : symbols_(symbols), scale_(scale) {
    std::set<int64_t> taken;
    for (size_t variant = 0; variant < kVariants; ++variant)
      for (size_t s = 0; s < symbols.size(); ++s) {
        sizes_of_[variant].push_back(legal_size(symbols[s], usual_size(s, variant), taken));
        taken.insert(sizes_of_[variant].back());
      }
  }

  ProbeFamily make() const {
    const size_t n = symbols_.size();
    ProbeFamily family;
    family.unit = scale_.unit;
    std::vector<size_t> variants(n, 0);
    family.sizes.push_back(sizes_of(variants));
    for (size_t changed = 0; changed < n; ++changed) {
      std::vector<size_t> alone(n, 0);
      alone[changed] = 1;
      if (symbols_[changed].tied_to < 0) family.sizes.push_back(sizes_of(alone));
    }
    for (const size_t variant : {2, 3, 4, 5, 6, 7})
      family.sizes.push_back(sizes_of(std::vector<size_t>(n, variant)));
    for (const auto& [shift, more] : {std::pair<size_t, int64_t>(0, 0), {1, 0}, {0, 1}})
      family.sizes.push_back(divisible_sizes(shift, more));
    return family;
  }

 private:
  static constexpr size_t kVariants = 8;

  // Returns the size that a symbol without limits has.
  int64_t usual_size(size_t symbol, size_t variant) const {
    const std::vector<int64_t>& numbers = symbols_[symbol].is_first ? batches() : scale_.counts;
    const int64_t unit = symbols_[symbol].is_first ? 1 : scale_.unit;
    const size_t at = symbol * 2 + variant * 3;
    // Beyond the list the numbers go on, further apart.
    const auto turns = static_cast<int64_t>(at / numbers.size());
    return unit * (numbers[at % numbers.size()] + turns * (numbers.back() + 2));
  }

  // Returns the legal size that is nearest to `size`, or to another one within the limits where `size` is outside of them. Where limits ask
  // for another size than `size`, it is none of those that are taken, if the symbol has others.
  static int64_t legal_size(const Symbol& limits, int64_t size, const std::set<int64_t>& taken) {
    if (size < limits.least || size > limits.most)
      size = limits.least + size % (limits.most - limits.least + 1);
    else if (limits.step == 1)
      return size;
    const int64_t steps = (limits.most - limits.least) / limits.step;
    const int64_t nearest = std::min(steps, (size - limits.least + limits.step / 2) / limits.step);
    const auto tries = std::min(steps, static_cast<int64_t>(taken.size()));
    for (int64_t i = 0; i <= tries; ++i) {
      const int64_t free = limits.least + (nearest + i) % (steps + 1) * limits.step;
      if (taken.count(free) == 0) return free;
    }
    return limits.least + nearest * limits.step;
  }

  Sizes sizes_of(const std::vector<size_t>& variants) const {
    Sizes sizes;
    for (size_t s = 0; s < symbols_.size(); ++s) sizes.push_back(sizes_of_[variants[s]][s]);
    return tie(std::move(sizes));
  }

  // Returns sizes of count + more units, with counts from Scale::divisible, of which the first symbol has number `shift`. Batches,
  // and symbols whose limits forbid that size, get a size of another variant.
  Sizes divisible_sizes(size_t shift, int64_t more) const {
    Sizes sizes;
    for (size_t s = 0; s < symbols_.size(); ++s) {
      const Symbol& limits = symbols_[s];
      const int64_t size =
          scale_.unit * (scale_.divisible[(s + shift) % scale_.divisible.size()] + more);
      const bool may_have = !limits.is_first && size >= limits.least && size <= limits.most &&
                            (size - limits.least) % limits.step == 0;
      sizes.push_back(may_have ? size : sizes_of_[2 + shift][s]);
    }
    return tie(std::move(sizes));
  }

  Sizes tie(Sizes sizes) const {
    for (size_t s = 0; s < symbols_.size(); ++s)
      if (const int leader = symbols_[s].tied_to; leader >= 0)
        sizes[s] = sizes[static_cast<size_t>(leader)];
    return sizes;
  }

  const std::vector<Symbol>& symbols_;
  const Scale& scale_;
  std::array<Sizes, kVariants> sizes_of_;  // by variant
};

}  // namespace

double growth_between(const Sizes& from, const Sizes& to) {
  double ratio = 1;
  for (size_t s = 0; s < from.size(); ++s)
    ratio = std::max(ratio, static_cast<double>(to[s]) / static_cast<double>(from[s]));
  return ratio * ratio;
}

std::vector<ProbeFamily> probe_families(const std::vector<Symbol>& symbols) {
  // Odd and even numbers; they have to differ much, or other rules would give the same, or little, where a table
  // of positions ends early (the third range stays below 64 for many symbols); signals are long.
  std::vector<Scale> scales = {
      {1,
       {37,  150, 61,  308, 97, 212, 431, 174, 53, 126, 263, 80,
        354, 191, 113, 402, 71, 230, 157, 284, 41, 337, 103, 178},
       {168, 180, 252, 120, 210, 144}},
      {1,
       {37, 90, 23,  112, 59, 70, 47,  102, 53, 30,  97, 42,
        83, 68, 107, 79,  32, 61, 110, 43,  74, 103, 20, 99},
       {84, 60, 72, 90, 42, 48}},
      {1,
       {19, 34, 23, 46, 29, 40, 31, 26, 37, 22, 43, 28, 25, 38, 41, 32, 35, 44, 47, 20,
        27, 24, 33, 30, 49, 58, 53, 62, 55, 50, 59, 52, 61, 56, 48, 63, 51, 60, 57, 54},
       {42, 36, 30, 40, 28, 24}},
      {1,
       {401,  1524, 457,  3614, 779, 2556, 1201, 588,  1013, 2012, 3301, 662,
        1777, 908,  2833, 1362, 523, 3090, 701,  2238, 1103, 2690, 839,  1950},
       {840, 2520, 1680, 1260, 720, 1512}}};
  for (const int64_t unit : {2, 4, 8, 16, 32, 64})
    scales.push_back({unit,
                      {5,  19, 7,  23, 11, 16, 9,  13, 17, 6,  21, 8,
                       14, 25, 10, 18, 12, 22, 15, 20, 24, 26, 27, 28},
                      {12, 14, 20, 18, 10, 24}});
  std::vector<ProbeFamily> families;
  for (const Scale& scale : scales) families.push_back(Family(symbols, scale).make());
  return families;
}

}  // namespace qrt::convert
