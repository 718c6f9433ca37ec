// SPDX-License-Identifier: Apache-2.0
// The arena: no two blocks alive at once overlap, and memory is used again.
#include "runtime/arena.h"

#include <gtest/gtest.h>

#include "runtime/op.h"
#include "tests/support/random.h"

namespace qrt::arena_test {
namespace {

constexpr size_t kNoLimit = SIZE_MAX / 2;

bool meet(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first <= b.last && b.first <= a.last;
}

void expect_sound(const ScratchVector<ArenaBlock>& blocks, size_t total) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(blocks[i].offset % kAlignment, 0u);
    ASSERT_LE(blocks[i].offset + blocks[i].bytes, total);
    for (size_t j = 0; j < i; ++j) {
      const bool apart = blocks[i].offset + blocks[i].bytes <= blocks[j].offset ||
                         blocks[j].offset + blocks[j].bytes <= blocks[i].offset;
      ASSERT_TRUE(apart || !meet(blocks[i], blocks[j])) << "blocks " << i << " and " << j;
    }
  }
}

// Returns the largest sum of bytes alive at one step: no placement takes less.
size_t lower_bound(const ScratchVector<ArenaBlock>& blocks, uint32_t steps) {
  size_t most = 0;
  for (uint32_t step = 0; step < steps; ++step) {
    size_t sum = 0;
    for (const ArenaBlock& b : blocks) {
      if (b.first <= step && step <= b.last) sum += (b.bytes + 63) / 64 * 64;
    }
    most = std::max(most, sum);
  }
  return most;
}

TEST(Arena, IsEmptyWithoutBlocks) {
  ScratchVector<ArenaBlock> blocks;
  size_t total = 1;
  ASSERT_TRUE(place_blocks(&blocks, kNoLimit, &total));
  ASSERT_EQ(total, 0u);
}

TEST(Arena, AChainAlternatesBetweenTwoPlaces) {
  ScratchVector<ArenaBlock> blocks;
  for (uint32_t i = 0; i < 10; ++i) blocks.push_back({1000, i, i + 1});
  size_t total = 0;
  ASSERT_TRUE(place_blocks(&blocks, kNoLimit, &total));
  expect_sound(blocks, total);
  ASSERT_EQ(total, 2 * 1024u);
}

TEST(Arena, BlocksThatTouchInTimeDoNotShare) {
  ScratchVector<ArenaBlock> blocks = {{64, 0, 3}, {64, 3, 5}, {64, 4, 6}};
  size_t total = 0;
  ASSERT_TRUE(place_blocks(&blocks, kNoLimit, &total));
  expect_sound(blocks, total);
  ASSERT_EQ(total, 128u);
}

TEST(Arena, PrefersTheTightestGap) {
  // Gaps of 192 and 64 bytes between long-lived blocks; the small block belongs in the second.
  ScratchVector<ArenaBlock> blocks = {{1024, 0, 9}, {192, 0, 1}, {512, 0, 9},
                                      {64, 0, 1},   {256, 0, 9}, {64, 5, 6}};
  size_t total = 0;
  ASSERT_TRUE(place_blocks(&blocks, kNoLimit, &total));
  expect_sound(blocks, total);
  ASSERT_EQ(total, lower_bound(blocks, 10));
}

TEST(Arena, RefusesMoreThanTheLimit) {
  ScratchVector<ArenaBlock> blocks = {{1000, 0, 1}, {1000, 1, 2}};
  size_t total = 0;
  ASSERT_TRUE(place_blocks(&blocks, 2048, &total));
  ASSERT_FALSE(place_blocks(&blocks, 2047, &total));
  blocks = {{SIZE_MAX, 0, 1}};
  ASSERT_FALSE(place_blocks(&blocks, 2048, &total));
}

TEST(Arena, RandomBlocksAreApartAndNearTheBound) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  for (int round = 0; round < 200; ++round) {
    ScratchVector<ArenaBlock> blocks;
    const int n = static_cast<int>(random.integer(1, 60));
    for (int i = 0; i < n; ++i) {
      const uint32_t first = static_cast<uint32_t>(random.integer(0, 49));
      const uint32_t last =
          first + static_cast<uint32_t>(random.integer(0, random.coin() ? 2 : 20));
      blocks.push_back({static_cast<size_t>(random.integer(1, 5000)), first, last});
    }
    size_t total = 0;
    ASSERT_TRUE(place_blocks(&blocks, kNoLimit, &total));
    expect_sound(blocks, total);
    ASSERT_LE(total, 2 * lower_bound(blocks, 80));
  }
}

// Small blocks use memory again, too, where there are more than are searched for the best place.
TEST(Arena, ManyBlocksOfShortLives) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  ScratchVector<ArenaBlock> blocks;
  const auto steps = static_cast<uint32_t>(kMaxSearched + 4000);
  for (uint32_t i = 0; i < steps; ++i) {
    const auto last = static_cast<uint32_t>(random.integer(i, i + 20));
    blocks.push_back({static_cast<size_t>(random.integer(1, 5000)), i, std::min(last, steps - 1)});
  }
  size_t total = 0;
  ASSERT_TRUE(place_blocks(&blocks, kNoLimit, &total));
  expect_sound(blocks, total);
  EXPECT_LE(total, 3 * lower_bound(blocks, steps));
  ASSERT_FALSE(place_blocks(&blocks, total - 64, &total));
}

}  // namespace
}  // namespace qrt::arena_test
