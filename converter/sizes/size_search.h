// SPDX-License-Identifier: Apache-2.0
// Sizes of one open dimension at which a file is compared with its source.
#ifndef QRT_CONVERTER_SIZES_SIZE_SEARCH_H_
#define QRT_CONVERTER_SIZES_SIZE_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert {

// The outcome of comparing the file with its source at one size: equal results; no result of either; none of the file; other results,
// or a result of the file alone; or nothing, because it would cost too much.
enum class Verdict { kEqual, kRefusedByBoth, kRefused, kWrong, kTooCostly };

// Chooses sizes of one symbol, while the others stay as in the file: small ones, large ones, and those at which the source
// begins to do something else (ir.h, Distance).
class SizeSearch {
 public:
  // Compares at a size of the symbol. *distances are those of the source there.
  using Compare =
      std::function<Status(int64_t size, Verdict* verdict, std::vector<Distance>* distances)>;

  // Takes a size at which the file is right, with the distances there. Only find_turns() and exclude_wrong() change the symbol, to narrower limits.
  SizeSearch(Symbol* symbol, int64_t size, std::vector<Distance> own, bool is_large_file,
             Compare compare);

  // Compares at a few sizes.
  Status try_usual();
  // Compares at multiples of wrong sizes, and where the source begins to do something else. A size of the latter kind counts as
  // wrong where comparing it is too costly.
  Status find_turns();
  // Compares at more sizes, as many as can be afforded, since the source may change its behaviour without any distance that
  // shows it.
  Status try_more();

  // Returns whether two neighbouring sizes that were compared have a turning point and a size that can still be tried between
  // them. Always false for a tied symbol.
  bool has_turns() const;
  // Returns the indices of the distances that are not the same at all sizes that were compared.
  std::set<size_t> varying() const;
  // Returns the indices of the distances that restrict the symbol: those whose sign at a wrong size differs from that at the
  // file's own size, and those that reach 0 at a size too large to be tried.
  std::set<size_t> limiting() const;

  // Returns the sizes at which the file was right, in order.
  const std::set<int64_t>& right() const { return right_; }
  // Narrows the symbol's limits so that they exclude all wrong sizes and keep the file's own one. Returns 0 where that succeeds.
  // Otherwise, and where a wrong size lies amid right ones for no known reason, changes nothing and returns a wrong size.
  int64_t exclude_wrong();

 private:
  // Compares at a size and records the result. Skips sizes that the symbol cannot have, that are too large to be tried, or that
  // were compared before. *is_compared is false only where the comparison was too costly.
  Status try_at(int64_t size, bool* is_compared);
  Status go_beyond();
  // Returns whether the sign of a distance at a compared size differs from that at the file's own size.
  bool has_turn_at(int64_t size) const;
  int64_t next_between(std::map<size_t, int>* turns) const;
  int64_t nearest_not_wrong(int64_t wrong, bool is_above) const;
  Status find_edge();

  Symbol& symbol_;
  const std::vector<Distance> own_;
  const bool is_large_;
  const Compare compare_;
  int tries_left_ = 0;
  std::map<int64_t, std::vector<Distance>> at_;  // size -> distances of its import
  std::map<size_t, int> turns_;                  // sizes tried for a distance
  std::set<size_t> beyond_;          // distances that reach 0 only at sizes too large to be tried
  std::set<int64_t> right_, wrong_;  // wrong_ has sizes that were too costly, too
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_SIZE_SEARCH_H_
