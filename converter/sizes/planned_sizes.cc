// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/planned_sizes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "converter/sizes/probes.h"
#include "runtime/infer.h"
#include "runtime/memory_budget.h"

namespace qrt::convert {
namespace {

// Tells if a model can be planned at some sizes. kTooLarge: it takes too much memory there, or more than is spent here to find out.
enum class Outcome { kPlanned, kTooLarge, kRefused };

class Narrowing {
 public:
  Narrowing(const VerifiedModel& model, Budget* budget, std::vector<Symbol>* symbols)
      : model_(model), budget_(*budget), symbols_(*symbols) {
    for (const Symbol& s : symbols_) own_.push_back(s.value);
  }

  void run() {
    uint64_t left = budget_.steps_left() / kPart;
    uint64_t parts = 1;
    for (size_t s = 0; s < symbols_.size(); ++s) parts += is_open(s) ? 2 : 0;
    // Gives what is next an equal share of what is left.
    const auto begin_part = [&] {
      left += steps_;
      steps_ = left / parts--;
      left -= steps_;
    };
    for (const bool counts_others : {false, true}) {
      counts_others_ = counts_others;
      for (size_t s = 0; s < symbols_.size(); ++s) {
        if (!is_open(s)) continue;
        if (parts > 1) begin_part();
        narrow_alone(s);
      }
    }
    begin_part();
    narrow_together();
  }

 private:
  static constexpr uint64_t kPart = 4;  // of the budget is the most that is taken

  bool is_open(size_t symbol) const {
    return symbols_[symbol].tied_to < 0 && symbols_[symbol].least != symbols_[symbol].most;
  }

  // Takes steps from the budget. Returns whether there were enough.
  bool take(uint64_t steps) {
    if (steps > steps_ || !budget_.charge(steps).ok()) return false;
    steps_ -= steps;
    return true;
  }

  // Plans at sizes, once for the same ones.
  Outcome at(Sizes sizes) {
    for (size_t s = 0; s < sizes.size(); ++s)
      if (const int leader = symbols_[s].tied_to; leader >= 0)
        sizes[s] = sizes[static_cast<size_t>(leader)];
    const auto known = known_.find(sizes);
    if (known == known_.end()) {
      const Outcome outcome = plan_at(sizes);
      known_[std::move(sizes)] = {outcome, why_};
      return outcome;
    }
    why_ = known->second.second;
    return known->second.first;
  }

  Outcome plan_at(const Sizes& sizes) {
    constexpr uint64_t kStepsPerOperator = 200;
    constexpr uint64_t kMostBytes = uint64_t{1} << 26, kBytesPerStep = 2;  // of maps and tables
    if (!take(kStepsPerOperator * model_.file().operators()->size())) return Outcome::kTooLarge;
    qrt::Sizes at = stored_sizes(model_.file());
    for (size_t s = 0; s < sizes.size(); ++s) at.symbols[s] = sizes[s];
    MemoryBudget memory(static_cast<size_t>(std::min(kMostBytes, kBytesPerStep * steps_)));
    InferredTypes inferred;
    const Status status =
        infer_types(model_.file(), model_.tensors(), at, &inferred, &model_.types(), &memory);
    take(std::min<uint64_t>(memory.taken() / kBytesPerStep, steps_));
    if (status.ok()) return Outcome::kPlanned;
    if (status.code() == Code::kOutOfMemory) return Outcome::kTooLarge;
    why_ = status.message();
    return Outcome::kRefused;
  }

  // Returns a size that the symbol can have near one given.
  int64_t legal(size_t symbol, int64_t size) const {
    const Symbol& s = symbols_[symbol];
    size = std::clamp(size, s.least, s.most);
    return size - (size - s.least) % s.step;
  }

  // Returns a size of one symbol together with sizes of the others: their own, their least, equal ones.
  std::vector<Sizes> beside(size_t symbol, int64_t size) const {
    Sizes own = own_, equal = own_, least = own_;
    for (size_t s = 0; s < own_.size(); ++s) {
      equal[s] = legal(s, size);
      least[s] = symbols_[s].least;
    }
    own[symbol] = equal[symbol] = least[symbol] = size;
    return {own, least, equal};
  }

  // Returns whether the model is refused at a size of one symbol, and planned at none of a few sizes of the others.
  bool is_bad(size_t symbol, int64_t size) {
    bool is_refused = false;
    std::string why;
    for (const Sizes& sizes : beside(symbol, size)) {
      const Outcome outcome = at(sizes);
      if (outcome == Outcome::kPlanned || (outcome == Outcome::kTooLarge && !counts_others_))
        return false;
      if (outcome == Outcome::kRefused && !is_refused) is_refused = true, why = why_;
    }
    why_ = why;
    return is_refused;
  }

  // Returns whether the model is planned at a size of one symbol and one of a few sizes of the others.
  bool is_planned(size_t symbol, int64_t size) {
    const std::vector<Sizes> all = beside(symbol, size);
    return std::any_of(all.begin(), all.end(),
                       [this](const Sizes& sizes) { return at(sizes) == Outcome::kPlanned; });
  }

  // Returns sizes of a symbol: the first ones, those around its own, and ever larger ones.
  std::set<int64_t> sizes_to_try(size_t symbol) const {
    constexpr int64_t kFirst = 40, kAround = 4, kLarge = 4096;
    const Symbol& s = symbols_[symbol];
    std::set<int64_t> sizes = {s.value, legal(symbol, s.most)};
    const int64_t own = (s.value - s.least) / s.step, last = (s.most - s.least) / s.step;
    const auto add = [&](int64_t steps) {
      if (steps >= 0 && steps <= last) sizes.insert(s.least + steps * s.step);
    };
    for (int64_t steps = 0; steps < kFirst; ++steps) add(steps);
    for (int64_t steps = -kAround; steps <= kAround; ++steps) add(own + steps);
    for (int64_t steps = kFirst; steps <= std::min(last, kLarge); steps += steps / 2)
      add(steps), add(steps + 1);
    for (int64_t steps = kLarge; steps <= last; steps *= 2) add(steps);
    return sizes;
  }

  // Excludes bad sizes of one symbol: by the step that keeps most of the good ones that were tried, and the limits around its own
  // size at which there are none.
  void narrow_alone(size_t symbol) {
    Symbol& s = symbols_[symbol];
    std::map<int64_t, bool> tried;  // whether it is bad
    bool has_bad = false;
    for (const int64_t size : sizes_to_try(symbol)) {
      tried[size] = size != s.value && is_bad(symbol, size);
      has_bad |= tried[size];
    }
    if (!has_bad) return;
    struct Range {
      int64_t step = 0, least = 0, most = 0;  // least and most are good
      int64_t below = -1, above = -1;         // the nearest bad sizes, or -1
      int good = 0;
    } best;
    for (int64_t step = s.step; step <= 64 * s.step; step *= 2) {
      Range range = {step, s.value, s.value, -1, -1, 0};
      for (const auto& [size, is_bad] : tried) {
        if ((size - s.value) % step != 0) continue;
        if (is_bad && size < s.value) range.below = size, range.least = s.value, range.good = 0;
        if (is_bad && size > s.value) {
          range.above = size;
          break;
        }
        if (is_bad) continue;
        range.least = std::min(range.least, size);
        range.most = std::max(range.most, size);
        ++range.good;
      }
      if (range.good > best.good) best = range;
    }
    // Where hardly any size is good, it has to fit those of other symbols.
    constexpr int kFewest = 3;
    if (best.good < kFewest && symbols_.size() > 1) return;
    // A size of which too little is known counts as bad.
    const auto search = [&](int64_t good, int64_t bad) {
      while (std::abs(good - bad) > best.step) {
        const int64_t middle = good + (bad - good) / best.step / 2 * best.step;
        (is_planned(symbol, middle) ? good : bad) = middle;
      }
      return good;
    };
    const int64_t least = best.below >= 0 ? search(best.least, best.below)
                                          : s.value - (s.value - s.least) / best.step * best.step;
    const int64_t most = best.above >= 0 ? search(best.most, best.above)
                                         : s.value + (s.most - s.value) / best.step * best.step;
    if (best.below >= 0) explain(symbol, least - best.step);
    if (best.above >= 0) explain(symbol, most + best.step);
    if (best.step != s.step) explain(symbol, s.value + s.step);
    s.least = least;
    s.most = most;
    s.step = best.step;
  }

  // Says why the limits of a symbol exclude a size.
  void explain(size_t symbol, int64_t size) {
    if (!is_bad(symbol, size)) return;
    Symbol& s = symbols_[symbol];
    add_reason("at " + s.name + " = " + std::to_string(size) + ": " + why_, &s);
  }

  static void add_reason(const std::string& why, Symbol* symbol) {
    symbol->limited_by += (symbol->limited_by.empty() ? "" : "; ") + why;
  }

  // Returns a size of the symbol: its least or own one, a small or a large one.
  int64_t random_size(size_t symbol) {
    const Symbol& s = symbols_[symbol];
    const auto one_of = [this](uint64_t n) { return static_cast<int64_t>(random_() % n); };
    switch (one_of(4)) {
      case 0: return s.least;
      case 1: return s.value;
      case 2: return legal(symbol, s.least + one_of(8) * s.step);
      default: return legal(symbol, s.value << one_of(24));
    }
  }

  // Looks for sizes of several symbols that are refused only together, and narrows these so that none is.
  void narrow_together() {
    constexpr int kTries = 60;
    std::set<std::set<size_t>> dependent;  // symbols whose sizes have to fit each other
    for (int i = 0; i < kTries; ++i) {
      Sizes sizes = own_;
      for (size_t s = 0; s < sizes.size(); ++s)
        sizes[s] = i == 0 ? symbols_[s].least : random_size(s);
      if (at(sizes) != Outcome::kRefused) continue;
      const std::set<size_t> needed = find_needed(&sizes);
      if (dependent.count(needed) != 0) continue;
      const std::vector<Symbol> before = symbols_;
      at(sizes);
      const std::string why = why_;
      narrow_towards_own(sizes, needed);
      if (!is_narrow_enough(needed)) {
        symbols_ = before;
        dependent.insert(needed);
        continue;
      }
      std::string where;
      for (const size_t s : needed)
        where +=
            (where.empty() ? "at " : ", ") + symbols_[s].name + " = " + std::to_string(sizes[s]);
      for (const size_t s : needed) add_reason(where + ": " + why, &symbols_[s]);
    }
  }

  // Gives symbols their own sizes as long as the sizes are still refused, and returns those that are needed for a refusal.
  std::set<size_t> find_needed(Sizes* sizes) {
    std::set<size_t> needed;
    for (size_t s = 0; s < sizes->size(); ++s) {
      if (symbols_[s].tied_to >= 0 || (*sizes)[s] == own_[s]) continue;
      Sizes without = *sizes;
      without[s] = own_[s];
      if (at(without) == Outcome::kRefused)
        *sizes = without;
      else
        needed.insert(s);
    }
    return needed;
  }

  // Moves symbols together from their limits on the side of refused sizes towards their own sizes until they are planned, and makes
  // these sizes their limits.
  void narrow_towards_own(Sizes refused, const std::set<size_t>& needed) {
    constexpr int kSteps = 40;
    for (const size_t s : needed)
      refused[s] = refused[s] < own_[s] ? symbols_[s].least : symbols_[s].most;
    const auto on_the_way = [&](double part) {
      Sizes sizes = refused;
      for (const size_t s : needed) {
        const double from = static_cast<double>(refused[s]) + 1,
                     to = static_cast<double>(own_[s]) + 1;
        const int64_t size = std::llround(from * std::pow(to / from, part)) - 1;
        const int64_t step = symbols_[s].step;
        const int64_t away = (size - own_[s]) / step * step;  // rounds towards its own size
        sizes[s] = own_[s] + away;
      }
      return sizes;
    };
    double bad = 0, good = 1;
    for (int i = 0; i < kSteps; ++i) {
      const double middle = (bad + good) / 2;
      (at(on_the_way(middle)) == Outcome::kPlanned ? good : bad) = middle;
    }
    const Sizes limits = on_the_way(good);
    for (const size_t s : needed)
      (refused[s] < own_[s] ? symbols_[s].least : symbols_[s].most) = limits[s];
  }

  // Returns whether no sizes of these symbols within their limits are refused, as far as a few tries tell.
  bool is_narrow_enough(const std::set<size_t>& needed) {
    constexpr int kTries = 24;
    for (int i = 0; i < kTries; ++i) {
      Sizes sizes = own_;
      for (const size_t s : needed) sizes[s] = random_size(s);
      if (at(sizes) == Outcome::kRefused) return false;
    }
    return true;
  }

  const VerifiedModel& model_;
  Budget& budget_;
  uint64_t steps_ = 0;  // that the present part may still take from it
  std::vector<Symbol>& symbols_;
  Sizes own_;
  std::string why_;                                         // the model was refused last
  std::map<Sizes, std::pair<Outcome, std::string>> known_;  // with why_
  // A size that is too large beside one size of the others is bad where it is refused beside another, which needs limits of these
  // that are right.
  bool counts_others_ = false;
  std::mt19937 random_{1};
};

}  // namespace

void narrow_to_planned(const VerifiedModel& model, Budget* budget, std::vector<Symbol>* symbols) {
  Narrowing(model, budget, symbols).run();
}

}  // namespace qrt::convert
