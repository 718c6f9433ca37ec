#include "runtime/arena.h"

#include <algorithm>

#include "runtime/checked.h"
#include "runtime/op.h"

namespace qrt {
namespace {

bool meet(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The tightest gap between those of `placed` (ascending offsets) that live at the same time, or the
// first byte behind them.
size_t find_offset(const ArenaBlock& block, size_t size,
                   const std::vector<const ArenaBlock*>& placed) {
  size_t best = SIZE_MAX, best_gap = SIZE_MAX;
  size_t end = 0;  // first byte behind all blocks seen
  for (const ArenaBlock* other : placed) {
    if (!meet(block, *other)) continue;
    if (other->offset > end) {
      const size_t gap = other->offset - end;
      if (gap >= size && gap < best_gap) best = end, best_gap = gap;
    }
    end = std::max(end, other->offset + round_up(other->bytes, kAlignment));
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

  std::vector<const ArenaBlock*> placed;  // ascending offsets
  placed.reserve(order.size());
  for (ArenaBlock* block : order) {
    const size_t size = round_up(block->bytes, kAlignment);
    block->offset = find_offset(*block, size, placed);
    if (block->offset > limit || size > limit - block->offset) return false;
    *total = std::max(*total, block->offset + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const ArenaBlock* a, const ArenaBlock* b) {
                                     return a->offset < b->offset;
                                   }),
                  block);
  }
  return true;
}

}  // namespace qrt
