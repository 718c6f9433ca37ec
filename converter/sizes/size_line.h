// Sizes of one open dimension at which a file is compared with its source.
#ifndef QRT_CONVERTER_SIZES_SIZE_LINE_H_
#define QRT_CONVERTER_SIZES_SIZE_LINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert {

// kTooCostly: nothing was compared.
enum class Verdict { kEqual, kRefusedByBoth, kRefused, kWrong, kTooCostly };

// Chooses sizes of one symbol, while the others stay as in the file: small ones, large ones, and those at which the source
// begins to do something else (ir.h, Distance).
class SizeLine {
 public:
  // Compares at a size of the symbol. *distances are those of the source there.
  using Compare =
      std::function<Status(int64_t size, Verdict* verdict, std::vector<Distance>* distances)>;

  // `own` are the distances at the file's own size. The symbol's limits may become narrower.
  SizeLine(Symbol* symbol, std::vector<Distance> own, bool is_large_file, Compare compare);

  // Compares at a few sizes.
  Status try_usual();
  // Compares where the source begins to do something else, and excludes such sizes where that is too costly.
  Status find_turns();
  // Compares at more sizes, as many as can be afforded: around turning points that nothing tells of.
  Status try_more();

  // Returns whether find_turns() has something to do.
  bool has_turns() const;
  // Returns the distances, by number, that differ along the line.
  std::set<size_t> varying() const;
  // Returns the distances of which the sign is another where the file is wrong, or may be.
  std::set<size_t> limiting() const;

  // Returns the sizes at which the file was right, in order.
  const std::set<int64_t>& right() const { return right_; }
  // Raises the least size, lowers the most or raises the step, so that no size is left that is wrong, or not known to be
  // right where the source begins to do something else. Returns a size that cannot be excluded, or 0.
  int64_t exclude_wrong();

 private:
  // *is_compared is false where that was too costly. Does nothing for sizes that the symbol cannot have, or that were compared.
  Status try_at(int64_t size, bool* is_compared);
  Status go_beyond();
  // Returns whether a distance has another sign at a size that was compared than at the file's own.
  bool has_turn_at(int64_t size) const;
  int64_t next_between(std::map<size_t, int>* turns) const;

  Symbol& symbol_;
  const std::vector<Distance> own_;
  const bool is_large_;
  const Compare compare_;
  int tries_left_ = 0;
  std::map<int64_t, std::vector<Distance>> at_;  // by size
  std::map<size_t, int> turns_;                  // sizes tried for a distance
  std::set<size_t> beyond_;                      // distances that are 0 beyond what is tried
  std::set<int64_t> right_, wrong_;              // `wrong_`: or where that is not known
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_SIZE_LINE_H_
