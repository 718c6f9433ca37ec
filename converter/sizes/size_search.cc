// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/size_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace qrt::convert {
namespace {

constexpr int64_t kMostSize = 1 << 14, kMostTried = 2048;
constexpr int kMostTurns = 16;

int sign(int64_t d) { return d < 0 ? -1 : d > 0 ? 1 : 0; }

// Returns whether the source does different things at the two sizes at which it has these distances.
bool has_turn_between(const std::vector<Distance>& a, const std::vector<Distance>& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (i >= a.size() || i >= b.size() || sign(a[i].distance) != sign(b[i].distance)) return true;
  return false;
}

}  // namespace

SizeSearch::SizeSearch(Symbol* symbol, int64_t size, std::vector<Distance> own, bool is_large_file,
                       Compare compare)
    : symbol_(*symbol),
      own_(std::move(own)),
      is_large_(is_large_file),
      compare_(std::move(compare)) {
  at_[size] = own_;
  right_.insert(size);
}

Status SizeSearch::try_usual() {
  bool is_compared;
  const int64_t least = std::max<int64_t>(symbol_.least, 1), step = symbol_.step;
  for (const int64_t steps : {0, 1, 2, 6}) QRT_TRY(try_at(least + steps * step, &is_compared));
  // Batches are seldom more than a number of rows, and large ones are costly. Sizes of a tied symbol are compared with the one
  // that it is tied to.
  if (symbol_.is_first || symbol_.tied_to >= 0) return Status();
  const int64_t large = symbol_.most < INT32_MAX ? symbol_.most : 4 * symbol_.value + 1;
  for (const int64_t size : {int64_t{16}, int64_t{33}, large}) QRT_TRY(try_at(size, &is_compared));
  return Status();
}

Status SizeSearch::find_turns() {
  if (symbol_.tied_to >= 0) return Status();
  // A rule that is wrong at one size may be wrong at all of its multiples.
  const std::set<int64_t> wrong = wrong_;
  for (const int64_t size : wrong)
    for (int64_t times = 2; times <= 4; ++times) {
      bool is_compared;
      QRT_TRY(try_at(times * size, &is_compared));
    }
  tries_left_ = is_large_ ? 12 : 60;
  QRT_TRY(go_beyond());
  while (tries_left_ > 0) {
    const int64_t size = next_between(&turns_);
    if (size < 0) break;
    bool is_compared;
    QRT_TRY(try_at(size, &is_compared));
    if (is_compared) continue;
    // An import at this size is too costly, so nothing is known of the source's results there: it
    // is excluded.
    wrong_.insert(size);
    break;
  }
  return Status();
}

Status SizeSearch::try_more() {
  if (is_large_ || symbol_.tied_to >= 0) return Status();
  const std::vector<int64_t> sizes =
      symbol_.is_first ? std::vector<int64_t>{16, 70, 150, 523}
                       : std::vector<int64_t>{64, 127, 4,  5,  6,   8,   9,   10,  12,
                                              15, 17,  31, 32, 100, 259, 523, 1042};
  bool is_compared;
  for (const int64_t size : sizes) QRT_TRY(try_at(size, &is_compared));
  return find_edge();
}

// Compares at sizes between the largest wrong one below the symbol's own and the next one that is not, until none is left between.
Status SizeSearch::find_edge() {
  constexpr int kMostTries = 12;
  for (int i = 0; i < kMostTries; ++i) {
    const auto above = wrong_.lower_bound(symbol_.value);
    if (above == wrong_.begin()) break;
    const int64_t wrong = *std::prev(above), next = at_.upper_bound(wrong)->first;
    const int64_t size = wrong + (next - wrong) / symbol_.step / 2 * symbol_.step;
    const size_t count = at_.size();
    bool is_compared;
    QRT_TRY(try_at(size, &is_compared));
    if (at_.size() == count) break;
  }
  return Status();
}

bool SizeSearch::has_turns() const {
  std::map<size_t, int> none;
  return symbol_.tied_to < 0 && next_between(&none) >= 0;
}

std::set<size_t> SizeSearch::varying() const {
  std::set<size_t> found;
  for (const auto& [size, distances] : at_)
    for (size_t i = 0; i < std::min(distances.size(), own_.size()); ++i)
      if (distances[i].distance != own_[i].distance) found.insert(i);
  return found;
}

std::set<size_t> SizeSearch::limiting() const {
  std::set<size_t> found = beyond_;
  for (const int64_t size : wrong_) {
    const auto known = at_.find(size);
    if (known == at_.end()) continue;  // too costly to be compared
    const std::vector<Distance>& distances = known->second;
    for (size_t i = 0; i < std::min(distances.size(), own_.size()); ++i)
      if (sign(distances[i].distance) != sign(own_[i].distance)) found.insert(i);
  }
  return found;
}

Status SizeSearch::try_at(int64_t size, bool* is_compared) {
  *is_compared = true;
  if (size < symbol_.least || size > symbol_.most || (size - symbol_.least) % symbol_.step != 0 ||
      size > kMostSize || at_.count(size) != 0)
    return Status();
  --tries_left_;
  Verdict verdict;
  std::vector<Distance> distances;
  QRT_TRY(compare_(size, &verdict, &distances));
  *is_compared = verdict != Verdict::kTooCostly;
  if (!*is_compared) return Status();
  at_[size] = std::move(distances);
  if (verdict == Verdict::kEqual) right_.insert(size);
  if (verdict == Verdict::kWrong) wrong_.insert(size);
  return Status();
}

// Extrapolates, from the two largest sizes that were compared, where the next distance reaches 0, or leaves it, and compares just
// beyond that size, up to four times. The size counts as wrong where that is too costly; where it is too large to be tried, the symbol's most
// becomes a size below it.
Status SizeSearch::go_beyond() {
  for (int rounds = 0; rounds < 4 && at_.size() > 1; ++rounds) {
    const auto last = std::prev(at_.end()), before = std::prev(last);
    const int64_t b = last->first, a = before->first;
    const std::vector<Distance>&near = before->second, &far = last->second;
    int64_t nearest = INT64_MAX;
    size_t nearest_distance = 0;
    for (size_t i = 0; i < std::min(near.size(), far.size()); ++i) {
      const int64_t d = far[i].distance, by = d - near[i].distance;
      if (near[i].node != far[i].node || by == 0 || (d != 0 && (d < 0) == (by < 0))) continue;
      const double left = d == 0 ? 1.0 : static_cast<double>(d);
      const double at = static_cast<double>(b) +
                        static_cast<double>(b - a) * std::abs(left / static_cast<double>(by));
      if (at >= INT32_MAX || static_cast<int64_t>(at) + 2 >= nearest) continue;
      nearest = static_cast<int64_t>(at) + 2;
      nearest_distance = i;
    }
    if (nearest == INT64_MAX) break;
    nearest -= (nearest - symbol_.least) % symbol_.step;
    if (nearest > symbol_.most) break;
    if (nearest > kMostTried) {
      beyond_.insert(nearest_distance);
      symbol_.most = std::min(
          symbol_.most, std::max(b, nearest - 3 - (nearest - 3 - symbol_.least) % symbol_.step));
      break;
    }
    const size_t count = at_.size();
    bool is_compared;
    QRT_TRY(try_at(nearest, &is_compared));
    if (!is_compared) wrong_.insert(nearest);
    if (at_.size() == count) break;
  }
  return Status();
}

// Returns a size between two that were tried, of which the source does different things; -1 where there is none.
int64_t SizeSearch::next_between(std::map<size_t, int>* turns) const {
  for (auto lower = at_.begin(); lower != at_.end(); ++lower) {
    const auto upper = std::next(lower);
    if (upper == at_.end()) break;
    const int64_t a = lower->first, b = upper->first;
    if (b - a <= symbol_.step) continue;
    const std::vector<Distance>&near = lower->second, &far = upper->second;
    for (size_t i = 0; i < std::max(near.size(), far.size()); ++i) {
      const bool has_both = i < near.size() && i < far.size();
      const int64_t x = has_both ? near[i].distance : -1, y = has_both ? far[i].distance : 1;
      if (sign(x) == sign(y)) continue;
      int& tries = (*turns)[i];
      if (tries >= kMostTurns) continue;  // it turns again and again
      ++tries;
      // By the line through both first, then halfway, so that there is an end.
      const double part =
          (x < 0) != (y < 0) && tries % 2 == 1
              ? std::abs(static_cast<double>(x)) /
                    (std::abs(static_cast<double>(x)) + std::abs(static_cast<double>(y)))
              : 0.5;
      int64_t size = a + static_cast<int64_t>(std::lround(part * static_cast<double>(b - a)));
      size -= (size - symbol_.least) % symbol_.step;
      if (size <= a) size = a + symbol_.step;
      if (size >= b) size -= symbol_.step;
      return size;
    }
  }
  return -1;
}

bool SizeSearch::has_turn_at(int64_t size) const { return has_turn_between(own_, at_.at(size)); }

// Returns the nearest size above a wrong one, or below it, that was compared and is not wrong, and that not only by luck: where the
// source does something else at the wrong size than at its own, it does something else than there. Returns the symbol's own size where
// there is none.
int64_t SizeSearch::nearest_not_wrong(int64_t wrong, bool is_above) const {
  const auto known = at_.find(wrong);
  const bool has_reason = known != at_.end() && has_turn_at(wrong);
  const auto is_sure = [&](const auto& entry) {
    return wrong_.count(entry.first) == 0 &&
           (!has_reason || has_turn_between(known->second, entry.second));
  };
  if (is_above) {
    const auto found = std::find_if(at_.upper_bound(wrong), at_.end(), is_sure);
    return found == at_.end() ? symbol_.value : found->first;
  }
  const auto found =
      std::find_if(std::make_reverse_iterator(at_.lower_bound(wrong)), at_.rend(), is_sure);
  return found == at_.rend() ? symbol_.value : found->first;
}

int64_t SizeSearch::exclude_wrong() {
  if (wrong_.empty()) return 0;
  // A rule that is wrong amid sizes at which it is right, for no known reason, may be wrong again and again.
  for (const int64_t size : wrong_)
    if (at_.count(size) != 0 && *right_.begin() < size && size < *right_.rbegin() &&
        !has_turn_at(size))
      return size;
  const auto exclude = [&](int64_t least, int64_t most, int64_t step) {
    const auto allows = [&](int64_t size) {
      return size >= least && size <= most && (size - least) % step == 0;
    };
    if (std::any_of(wrong_.begin(), wrong_.end(), allows) || !allows(symbol_.value)) return false;
    symbol_.least = least;
    symbol_.most = most;
    symbol_.step = step;
    return true;
  };
  if (exclude(std::max(symbol_.least, nearest_not_wrong(*wrong_.rbegin(), true)), symbol_.most,
              symbol_.step))
    return 0;
  // The sizes below the first wrong one above the file's own, if all others are below it.
  const auto above = wrong_.upper_bound(symbol_.value);
  if (above != wrong_.end()) {
    const int64_t most = nearest_not_wrong(*above, false);
    const int64_t least =
        above == wrong_.begin() ? symbol_.least : nearest_not_wrong(*std::prev(above), true);
    if (symbol_.step == 1 && exclude(least, most, 1)) return 0;
  }
  for (const int64_t step : {2, 4, 8, 16, 32, 64})
    if (symbol_.value % step == 0 &&
        exclude((symbol_.least + step - 1) / step * step, symbol_.most, step))
      return 0;
  return *wrong_.begin();
}

}  // namespace qrt::convert
