#include "runtime/arena.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "runtime/checked.h"
#include "runtime/op.h"

namespace qrt {
namespace {

// A block with its place, by value: the scan below is what planning a deep model costs.
struct Placed {
  size_t offset, end;
  uint32_t first, last;
};

// The tightest gap between those of `placed` (ascending offsets) that live at the same time, or the
// first byte behind them.
size_t find_offset(const ArenaBlock& block, size_t size, const std::vector<Placed>& placed) {
  size_t best = SIZE_MAX, best_gap = SIZE_MAX;
  size_t end = 0;  // first byte behind all blocks seen
  for (const Placed& other : placed) {
    if (block.first > other.last || other.first > block.last) continue;
    if (other.offset > end) {
      const size_t gap = other.offset - end;
      if (gap >= size && gap < best_gap) best = end, best_gap = gap;
    }
    end = std::max(end, other.end);
  }
  return best != SIZE_MAX ? best : end;
}

// Blocks one after the other as they come to life, in memory that those before them have left: the
// smallest piece that is large enough, or new memory behind all. O(n log n).
class Succession {
 public:
  explicit Succession(size_t begin) : end_(begin) {}

  // REQUIRES: calls with ascending `first`.
  void place(ArenaBlock* block) {
    while (!alive_.empty() && alive_.top().last < block->first) {
      release(alive_.top().offset, alive_.top().end);
      alive_.pop();
    }
    const size_t size = round_up(block->bytes, kAlignment);
    const auto piece = by_size_.lower_bound({size, 0});
    if (piece == by_size_.end()) {
      block->offset = end_;
      end_ += size;
    } else {
      const auto [bytes, offset] = *piece;
      block->offset = offset;
      take(offset, offset + bytes);
      if (bytes > size) give(offset + size, offset + bytes);
    }
    alive_.push({block->last, block->offset, block->offset + size});
  }
  size_t end() const { return end_; }

 private:
  struct Alive {
    uint32_t last;
    size_t offset, end;
    bool operator<(const Alive& other) const {
      return last > other.last;
    }  // the first to end on top
  };

  // Joined with the free pieces on both sides.
  void release(size_t begin, size_t end) {
    if (const auto next = by_offset_.find(end); next != by_offset_.end()) {
      const size_t behind = next->second;
      take(end, behind);
      end = behind;
    }
    if (auto before = by_offset_.lower_bound(begin); before != by_offset_.begin()) {
      --before;
      if (before->second == begin) {
        const size_t from = before->first;
        take(from, begin);
        begin = from;
      }
    }
    give(begin, end);
  }
  void give(size_t begin, size_t end) {
    by_offset_.emplace(begin, end);
    by_size_.emplace(end - begin, begin);
  }
  void take(size_t begin, size_t end) {
    by_offset_.erase(begin);
    by_size_.erase({end - begin, begin});
  }

  size_t end_;
  std::priority_queue<Alive> alive_;
  std::map<size_t, size_t> by_offset_;           // free pieces: begin, end
  std::set<std::pair<size_t, size_t>> by_size_;  // the same: bytes, begin
};

// Orders of blocks of one array, total, so that any sort gives the same places.
bool is_larger(const ArenaBlock* a, const ArenaBlock* b) {
  return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
}
bool is_earlier(const ArenaBlock* a, const ArenaBlock* b) {
  return a->first != b->first ? a->first < b->first : is_larger(a, b);
}

}  // namespace

bool place_blocks(std::vector<ArenaBlock>* blocks, size_t limit, size_t* total) {
  *total = 0;
  std::vector<ArenaBlock*> order;
  for (ArenaBlock& block : *blocks) {
    if (block.bytes > limit) return false;
    order.push_back(&block);
  }
  std::sort(order.begin(), order.end(), is_larger);

  std::vector<Placed> placed;  // ascending offsets
  const size_t searched = std::min(order.size(), kMaxSearched);
  placed.reserve(searched);
  for (size_t i = 0; i < searched; ++i) {
    ArenaBlock* block = order[i];
    const size_t size = round_up(block->bytes, kAlignment);
    block->offset = find_offset(*block, size, placed);
    if (block->offset > limit || size > limit - block->offset) return false;
    const Placed place = {block->offset, block->offset + size, block->first, block->last};
    *total = std::max(*total, place.end);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), place,
                         [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
        place);
  }
  // Any number of small ones: behind all those.
  std::sort(order.begin() + static_cast<ptrdiff_t>(searched), order.end(), is_earlier);
  Succession rest(*total);
  for (size_t i = searched; i < order.size(); ++i) {
    rest.place(order[i]);
    if (rest.end() > limit) return false;
  }
  *total = rest.end();
  return true;
}

}  // namespace qrt
