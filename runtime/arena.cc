#include "runtime/arena.h"

#include <algorithm>

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

}  // namespace

bool place_blocks(std::vector<ArenaBlock>* blocks, size_t limit, size_t* total) {
  *total = 0;
  std::vector<ArenaBlock*> order;
  for (ArenaBlock& block : *blocks) {
    if (block.bytes > limit) return false;
    order.push_back(&block);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->bytes > b->bytes; });

  std::vector<Placed> placed;  // ascending offsets
  placed.reserve(order.size());
  for (ArenaBlock* block : order) {
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
  return true;
}

}  // namespace qrt
