// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "runtime/checked.h"
#include "runtime/op.h"

namespace qrt {
namespace {

// The blocks that have places, by ascending offset. Each fact has an array of its own: comparing all lifetimes is what
// planning a deep model costs.
class PlacedBlocks {
 public:
  explicit PlacedBlocks(size_t most) : is_near_(round_up(most, kGroup)) {
    first_.reserve(most), last_.reserve(most), extents_.reserve(most);
  }

  // Returns the offset of the tightest gap of `size` bytes between those that live at the same time as the block,
  // or of the first byte behind them.
  size_t find_offset(const ArenaBlock& block, size_t size) {
    const size_t count = first_.size();
    for (size_t i = 0; i < count; ++i)
      is_near_[i] = uint8_t{first_[i] <= block.last} & uint8_t{last_[i] >= block.first};
    size_t best = SIZE_MAX, best_gap = SIZE_MAX;
    size_t end = 0;  // first byte behind all blocks seen
    for (size_t group = 0; group < count; group += kGroup) {
      // Each byte of `near` is 0 or 1; the lowest is that of the group's first block.
      uint64_t near;
      memcpy(&near, is_near_.data() + group, sizeof near);
      for (; near != 0; near &= near - 1) {
        const Extent& other = extents_[group + static_cast<size_t>(__builtin_ctzll(near)) / 8];
        if (other.offset > end) {
          const size_t gap = other.offset - end;
          if (gap >= size && gap < best_gap) best = end, best_gap = gap;
        }
        end = std::max(end, other.end);
      }
    }
    return best != SIZE_MAX ? best : end;
  }

  void add(const ArenaBlock& block, size_t size) {
    const Extent extent = {block.offset, block.offset + size};
    const auto at =
        std::upper_bound(extents_.begin(), extents_.end(), extent,
                         [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
    const auto i = at - extents_.begin();
    extents_.insert(at, extent);
    first_.insert(first_.begin() + i, block.first);
    last_.insert(last_.begin() + i, block.last);
  }

 private:
  struct Extent {
    size_t offset, end;
  };
  static constexpr size_t kGroup = sizeof(uint64_t);

  ScratchVector<uint32_t> first_, last_;
  ScratchVector<Extent> extents_;
  ScratchVector<uint8_t> is_near_;  // 0 behind the last block
};

// Places blocks in the order in which they come into use: each gets the smallest free piece that is
// large enough, or else new memory at the end. Takes O(n log n) time for n blocks.
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
    }  // top(): the one that ends first
  };

  // Releases a piece, joining it with the free pieces on both sides.
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
  std::priority_queue<Alive, ScratchVector<Alive>> alive_;
  // The free pieces: their ends by where they begin, and where they begin by their bytes.
  std::map<size_t, size_t, std::less<>, PlanAllocator<std::pair<const size_t, size_t>, false>>
      by_offset_;
  std::set<std::pair<size_t, size_t>, std::less<>, PlanAllocator<std::pair<size_t, size_t>, false>>
      by_size_;
};

// Puts the larger block first, or the earlier one and of several the larger. Both orders are total, so that every
// sorting algorithm gives the same places.
struct Order {
  bool is_by_time;
  bool operator()(const ArenaBlock* a, const ArenaBlock* b) const {
    if (is_by_time && a->first != b->first) return a->first < b->first;
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  }
};

}  // namespace

bool place_blocks(ScratchVector<ArenaBlock>* blocks, size_t limit, size_t* total) {
  *total = 0;
  ScratchVector<ArenaBlock*> order;
  order.reserve(blocks->size());
  for (ArenaBlock& block : *blocks) {
    if (block.bytes > limit) return false;
    order.push_back(&block);
  }
  std::sort(order.begin(), order.end(), Order{false});

  const size_t searched = std::min(order.size(), kMaxSearched);
  PlacedBlocks placed(searched);
  for (size_t i = 0; i < searched; ++i) {
    ArenaBlock* block = order[i];
    const size_t size = round_up(block->bytes, kAlignment);
    block->offset = placed.find_offset(*block, size);
    if (block->offset > limit || size > limit - block->offset) return false;
    *total = std::max(*total, block->offset + size);
    placed.add(*block, size);
  }
  // The remaining blocks, any number of small ones, go behind those placed so far.
  std::sort(order.begin() + static_cast<ptrdiff_t>(searched), order.end(), Order{true});
  Succession rest(*total);
  for (size_t i = searched; i < order.size(); ++i) {
    rest.place(order[i]);
    if (rest.end() > limit) return false;
  }
  *total = rest.end();
  return true;
}

}  // namespace qrt
