// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/fit_resize.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "runtime/resize_tables.h"

namespace qrt::convert {
namespace {

uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Lengths of an axis, by import.
struct Lengths {
  std::vector<int64_t> in, out;
};

// Scales that may have made the lengths: 0 stands for out / in, and the others are ratios of small numbers.
std::vector<float> scales_of(const Lengths& lengths) {
  constexpr int kMost = 32;
  std::vector<float> scales = {0.0f};
  for (int q = 1; q <= kMost; ++q)
    for (int p = 1; p <= kMost; ++p) {
      if (std::gcd(p, q) != 1) continue;
      const float scale = static_cast<float>(p) / static_cast<float>(q);
      bool gives_all = true;
      for (size_t i = 0; i < lengths.in.size() && gives_all; ++i)
        gives_all =
            static_cast<int64_t>(scale * static_cast<float>(lengths.in[i])) == lengths.out[i];
      if (gives_all) scales.push_back(scale);
    }
  return scales;
}

// Tries all ways to compute coordinates: matches(coordinates, rounding, axis, import) compares one import.
template <class Matches>
bool fit_axis(const Imports& imports, const Lengths& lengths, bool rounds, const Matches& matches,
              fb::SizeRuleT* rule) {
  const auto size = fit_number(imports, lengths.out);
  if (!size) return false;
  const int roundings = rounds ? static_cast<int>(fb::ResizeRounding::MAX) + 1 : 1;
  for (const float scale : scales_of(lengths))
    for (int c = 0; c <= static_cast<int>(fb::ResizeCoordinates::MAX); ++c)
      for (int r = 0; r < roundings; ++r) {
        const auto coordinates = static_cast<fb::ResizeCoordinates>(c);
        const auto rounding = static_cast<fb::ResizeRounding>(r);
        bool gives_all = true;
        for (size_t i = 0; i < imports.size() && gives_all; ++i) {
          const int64_t in = lengths.in[i], out = lengths.out[i];
          gives_all = matches(coordinates, rounding,
                              ResizedAxis{in, out, scale == 0 ? resize_scale(in, out) : scale}, i);
        }
        if (!gives_all) continue;
        rule->size = std::make_unique<fb::SizeT>(size->stored());
        rule->resize = std::make_unique<fb::ResizeRuleT>();
        rule->resize->coordinates = coordinates;
        rule->resize->rounding = rounding;
        rule->resize->scale = scale == 0 ? 0 : bits_of(scale);
        return true;
      }
  return false;
}

}  // namespace

bool fit_nearest(const Imports& imports, const std::vector<int64_t>& in,
                 const std::vector<const std::vector<int32_t>*>& maps, fb::SizeRuleT* rule) {
  Lengths lengths{in, {}};
  for (const auto* map : maps) lengths.out.push_back(static_cast<int64_t>(map->size()));
  const auto matches = [&](auto coordinates, auto rounding, const ResizedAxis& axis,
                           size_t import) {
    for (int64_t i = 0; i < axis.out; ++i)
      if (nearest_index(rounding, axis, resize_coordinate(coordinates, axis, i)) !=
          (*maps[import])[static_cast<size_t>(i)])
        return false;
    return true;
  };
  return fit_axis(imports, lengths, true, matches, rule);
}

bool fit_linear(const Imports& imports, const std::vector<int64_t>& in, fb::ResizeKind kind,
                const std::vector<const fb::ResizeAxisT*>& tables, fb::SizeRuleT* rule) {
  Lengths lengths{in, {}};
  for (const auto* t : tables) lengths.out.push_back(static_cast<int64_t>(t->low.size()));
  const auto matches = [&](auto coordinates, auto, const ResizedAxis& axis, size_t import) {
    const fb::ResizeAxisT& t = *tables[import];
    for (int64_t i = 0; i < axis.out; ++i) {
      const LinearTap tap = linear_tap(kind, axis, resize_coordinate(coordinates, axis, i));
      const auto at = static_cast<size_t>(i);
      if (tap.low != t.low[at] || tap.high != t.high[at] || tap.low_weight != t.low_weight[at] ||
          tap.high_weight != t.high_weight[at])
        return false;
    }
    return true;
  };
  return fit_axis(imports, lengths, false, matches, rule);
}

}  // namespace qrt::convert
