// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/fit_map.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "converter/sizes/fit_resize.h"

namespace qrt::convert {
namespace {

using Map = std::vector<int32_t>;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// A progression of a map: filled, or indices that are floor((begin + i * step) / divisor).
struct Progression {
  bool is_fill = false;
  int64_t count = 0, begin = 0, step = 1, divisor = 1;
};

bool continues(const Progression& progression, int32_t index) {
  if (progression.is_fill || index < 0) return progression.is_fill && index < 0;
  return floor_div(progression.begin + progression.count * progression.step, progression.divisor) ==
         index;
}

// Cuts a map into the fewest progressions of one step.
std::vector<Progression> progressions_of(const Map& map) {
  std::vector<Progression> progressions;
  for (size_t i = 0; i < map.size(); ++i) {
    if (!progressions.empty() && progressions.back().count > 1 &&
        continues(progressions.back(), map[i])) {
      ++progressions.back().count;
      continue;
    }
    Progression* last = progressions.empty() ? nullptr : &progressions.back();
    if (last && last->count == 1 && last->is_fill == (map[i] < 0)) {
      if (!last->is_fill) last->step = map[i] - last->begin;
      ++last->count;
      continue;
    }
    progressions.push_back({map[i] < 0, 1, map[i], 1, 1});
  }
  return progressions;
}

// Returns whether floor((begin + i * step) / divisor) gives the whole map.
bool is_progression(const Map& map, int64_t begin, int64_t step, int64_t divisor) {
  for (size_t i = 0; i < map.size(); ++i)
    if (floor_div(begin + static_cast<int64_t>(i) * step, divisor) != map[i]) return false;
  return true;
}

std::unique_ptr<fb::SizeT> stored(const Expression& e) {
  return std::make_unique<fb::SizeT>(e.stored());
}

// Numbers of one progression of every import as a piece.
bool add_index_piece(const Imports& imports, const std::vector<Progression>& progressions,
                     fb::SizeRuleT* rule) {
  std::vector<int64_t> counts, begins;
  int64_t step = 1;
  bool has_step = false;
  for (const Progression& progression : progressions) {
    counts.push_back(progression.count);
    begins.push_back(progression.begin);
    if (progression.is_fill != progressions.front().is_fill ||
        progression.divisor != progressions.front().divisor)
      return false;
    if (progression.count < 2 || progression.is_fill) continue;
    if (has_step && progression.step != step) return false;
    step = progression.step;
    has_step = true;
  }
  auto piece = std::make_unique<fb::IndexPieceT>();
  const auto count = fit_number(imports, counts);
  if (!count) return false;
  piece->count = stored(*count);
  piece->is_fill = progressions.front().is_fill;
  if (!piece->is_fill) {
    const auto begin = fit_number(imports, begins);
    if (!begin) return false;
    piece->begin = stored(*begin);
    piece->step = static_cast<int32_t>(step);
    piece->divisor = static_cast<int32_t>(progressions.front().divisor);
  }
  rule->pieces.push_back(std::move(piece));
  return true;
}

// Finds a rule floor((begin + i * step) / divisor) that gives every map, such as those of enlarged
// axes. Returns whether there is one.
bool fit_quotient(const Imports& imports, const std::vector<const Map*>& maps,
                  fb::SizeRuleT* rule) {
  constexpr int64_t kMostDivisor = 32, kMostStep = 4;
  for (int64_t divisor = 2; divisor <= kMostDivisor; ++divisor)
    for (int64_t step = 1; step <= kMostStep && step < divisor; ++step)
      for (int64_t begin = -divisor; begin < 2 * divisor; ++begin) {
        if (!std::all_of(maps.begin(), maps.end(),
                         [&](const Map* m) { return is_progression(*m, begin, step, divisor); }))
          continue;
        std::vector<Progression> progressions;
        for (const Map* m : maps)
          progressions.push_back({false, static_cast<int64_t>(m->size()), begin, step, divisor});
        return add_index_piece(imports, progressions, rule);
      }
  return false;
}

// Puts empty fills around the only progression of indices where there are none. Returns false for other progressions.
bool surround(std::vector<Progression>* progressions) {
  const Progression none{true, 0, -1, 1, 1};
  if (progressions->empty() || !progressions->front().is_fill)
    progressions->insert(progressions->begin(), none);
  if (!progressions->back().is_fill || progressions->size() == 1) progressions->push_back(none);
  return progressions->size() == 3 && !(*progressions)[1].is_fill;
}

// A window that moves over an axis: row r, tap i reads begin + r * row_step + i * step.
struct Taps {
  int64_t count, begin = 0, row_step = 1, step = 1;
};

// Returns whether the map, of an axis of `size` indices, has these taps, -1 outside the axis.
bool has_taps(const Map& map, int64_t size, const Taps& taps) {
  for (size_t at = 0; at < map.size(); ++at) {
    const auto r = static_cast<int64_t>(at) / taps.count, i = static_cast<int64_t>(at) % taps.count;
    const int64_t index = taps.begin + r * taps.row_step + i * taps.step;
    if (map[at] != (index >= 0 && index < size ? index : -1)) return false;
  }
  return true;
}

// Returns the taps that the first neighbours within the axis have, if each row has `count`.
Taps taps_of(const std::vector<const Map*>& maps, int64_t count) {
  Taps taps{count};
  bool has_begin = false, has_step = count == 1, has_row_step = false;
  const Map* first = nullptr;
  int64_t first_at = 0;
  for (const Map* map : maps)
    for (size_t at = 0; at < map->size() && !(has_begin && has_step && has_row_step); ++at) {
      const int64_t index = (*map)[at], place = static_cast<int64_t>(at) % count;
      if (index < 0) continue;
      if (!has_begin) {
        first = map;
        first_at = static_cast<int64_t>(at);
        has_begin = true;
      }
      if (const size_t next = at + 1; !has_step && place + 1 < count && (*map)[next] >= 0) {
        taps.step = (*map)[next] - index;
        has_step = true;
      }
      const size_t below = at + static_cast<size_t>(count);
      if (!has_row_step && below < map->size() && (*map)[below] >= 0) {
        taps.row_step = (*map)[below] - index;
        has_row_step = true;
      }
    }
  if (first != nullptr)
    taps.begin = (*first)[static_cast<size_t>(first_at)] - first_at / count * taps.row_step -
                 first_at % count * taps.step;
  return taps;
}

// Finds a rule for maps that list the taps of a window that moves over the axis, one position after
// the other. Returns whether there is one.
bool fit_taps(const Imports& imports, const std::vector<const Map*>& maps, int axis,
              fb::SizeRuleT* rule) {
  int64_t common = 0;
  for (const Map* m : maps) common = std::gcd(common, static_cast<int64_t>(m->size()));
  for (int64_t count = 1; count <= common; ++count) {
    if (common % count != 0) continue;
    const Taps taps = taps_of(maps, count);
    if (taps.step < 1 || taps.row_step < 1) continue;
    std::vector<int64_t> rows;
    for (size_t i = 0; i < maps.size(); ++i) {
      if (!has_taps(*maps[i], imports.at[i].inputs[0][axis], taps)) break;
      rows.push_back(static_cast<int64_t>(maps[i]->size()) / count);
    }
    if (rows.size() != maps.size()) continue;
    const auto number = fit_number(imports, rows);
    if (!number) return false;
    auto piece = std::make_unique<fb::IndexPieceT>();
    piece->count = stored(Expression(count));
    piece->begin = stored(Expression(taps.begin));
    piece->step = static_cast<int32_t>(taps.step);
    piece->rows = stored(*number);
    piece->row_step = static_cast<int32_t>(taps.row_step);
    piece->is_clipped = true;
    rule->pieces.push_back(std::move(piece));
    return true;
  }
  return false;
}

bool fit_progressions(const Imports& imports, const std::vector<const Map*>& maps,
                      fb::SizeRuleT* rule) {
  constexpr size_t kMostRuns = 16;
  std::vector<std::vector<Progression>> all;
  for (const Map* m : maps) all.push_back(progressions_of(*m));
  const auto has_other_number = [&](const std::vector<Progression>& progressions) {
    return progressions.size() > kMostRuns || progressions.size() != all.front().size();
  };
  if (std::any_of(all.begin(), all.end(), has_other_number))
    for (std::vector<Progression>& progressions : all)
      if (!surround(&progressions)) return false;
  for (size_t k = 0; k < all.front().size(); ++k) {
    std::vector<Progression> progressions;
    for (const auto& of_import : all) progressions.push_back(of_import[k]);
    if (!add_index_piece(imports, progressions, rule)) return false;
  }
  return true;
}

// An axis of `size` indices with so many more in front and behind: its own mirrored at both ends (step -1), or its first and last
// ones repeated (step 0).
struct Padding {
  int64_t before = 0, after = 0;
};

// Returns whether the map is the axis with this padding.
bool has_padding(const Map& map, int64_t size, int64_t step, Padding* padding) {
  const auto length = static_cast<int64_t>(map.size());
  if (size < 1 || length < size) return false;
  // The first index is as far from 0 as the padding is long, or there are as many zeros.
  const auto zeros = std::find_if(map.begin(), map.end(), [](int32_t index) { return index != 0; });
  padding->before = step == 0 ? zeros - map.begin() - 1 : map[0];
  padding->after = length - size - padding->before;
  if (padding->before < 0 || padding->after < 0) return false;
  for (int64_t i = 0; i < length; ++i) {
    int64_t index = i - padding->before;
    if (index < 0) index *= step;
    if (index >= size) index = size - 1 + (index - size + 1) * step;
    if (map[static_cast<size_t>(i)] != index) return false;
  }
  return true;
}

bool fit_padding(const Imports& imports, const std::vector<const Map*>& maps, int axis,
                 fb::SizeRuleT* rule) {
  for (const int step : {-1, 0}) {
    std::vector<int64_t> before, after;
    for (size_t i = 0; i < maps.size(); ++i) {
      Padding padding;
      if (!has_padding(*maps[i], imports.at[i].inputs[0][axis], step, &padding)) break;
      before.push_back(padding.before);
      after.push_back(padding.after);
    }
    if (after.size() != maps.size()) continue;
    const auto front = fit_number(imports, before), back = fit_number(imports, after);
    if (!front || !back) return false;
    const Expression size = Expression::dimension(0, axis);
    const auto add = [&](const Expression& count, const Expression& begin, int by) {
      auto piece = std::make_unique<fb::IndexPieceT>();
      piece->count = stored(count);
      piece->begin = stored(begin);
      piece->step = by;
      rule->pieces.push_back(std::move(piece));
    };
    add(*front, step == 0 ? Expression(0) : *front, step);
    add(size, Expression(0), 1);
    add(*back, size - Expression(step == 0 ? 1 : 2), step);
    return true;
  }
  return false;
}

}  // namespace

bool fit_map(const Imports& imports, const std::vector<const Map*>& maps, int axis,
             fb::SizeRuleT* rule) {
  if (fit_progressions(imports, maps, rule)) return true;
  rule->pieces.clear();
  if (fit_taps(imports, maps, axis, rule)) return true;
  rule->pieces.clear();
  if (fit_padding(imports, maps, axis, rule)) return true;
  rule->pieces.clear();
  // A fill is no index that could be computed.
  for (const Map* m : maps)
    if (std::find(m->begin(), m->end(), -1) != m->end()) return false;
  if (fit_quotient(imports, maps, rule)) return true;
  rule->pieces.clear();
  std::vector<int64_t> lengths;
  for (const SizesAt& at : imports.at) lengths.push_back(at.inputs[0][axis]);
  return fit_nearest(imports, lengths, maps, rule);
}

}  // namespace qrt::convert
