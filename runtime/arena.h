// SPDX-License-Identifier: Apache-2.0
// Places blocks of memory with lifetimes in one arena. A pure function: no allocation happens here.
#ifndef QRT_RUNTIME_ARENA_H_
#define QRT_RUNTIME_ARENA_H_

#include <cstddef>
#include <cstdint>

#include "runtime/plan_memory.h"

namespace qrt {

struct ArenaBlock {
  size_t bytes;          // including slack; <= kMaxMemory
  uint32_t first, last;  // steps during which it holds its content, both included
  size_t offset = 0;     // out: a multiple of kAlignment
};

// Blocks whose lifetimes meet do not overlap. Greedy: the largest first, each into the tightest gap
// that holds it, which takes the square of their number. Beyond kMaxSearched, more than any real model
// has, smaller ones go behind them, in their order of time. *total: bytes of the arena. False if that
// exceeds `limit`.
constexpr size_t kMaxSearched = 8192;
bool place_blocks(ScratchVector<ArenaBlock>* blocks, size_t limit, size_t* total);

}  // namespace qrt

#endif  // QRT_RUNTIME_ARENA_H_
