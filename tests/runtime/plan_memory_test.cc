// SPDX-License-Identifier: Apache-2.0
// The memory that plans are made in: which pieces come from the block, and where they are given back to.
#include "runtime/plan_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace qrt::plan_memory_test {
namespace {

TEST(PlanMemory, PiecesComeFromTheBlockAndThenFromTheHeap) {
  PlanMemory memory(1024);
  const PlanMemoryScope scope(&memory, nullptr);
  PlanVector<uint8_t> first(600, 1);
  EXPECT_LE(memory.needed(), memory.bytes());
  PlanVector<uint8_t> second(600, 2);
  EXPECT_GT(memory.needed(), memory.bytes());
  for (const uint8_t value : first) ASSERT_EQ(value, 1);
  for (const uint8_t value : second) ASSERT_EQ(value, 2);
  // A block of as many bytes as were needed has room for both.
  PlanMemory larger(memory.needed());
  const PlanMemoryScope inner(&larger, nullptr);
  const PlanVector<uint8_t> third(600), fourth(600);
  EXPECT_EQ(larger.needed(), memory.needed());
}

TEST(PlanMemory, WhatIsGivenBackInOrderIsUsedAgain) {
  PlanMemory memory(4096);
  const PlanMemoryScope scope(nullptr, &memory);
  const ScratchVector<uint8_t> stays(100);
  const size_t before = memory.needed();
  for (int round = 0; round < 1000; ++round) {
    const ScratchVector<uint32_t> numbers(100, 7);
    ASSERT_EQ(numbers[99], 7u);
  }
  EXPECT_LE(memory.needed(), before + 100 * sizeof(uint32_t) + 64);
}

TEST(PlanMemory, IsEmptyAgainWhenAllPiecesAreBack) {
  PlanMemory memory(4096);
  for (int round = 0; round < 100; ++round) {
    const PlanMemoryScope scope(&memory, nullptr);
    PlanVector<uint8_t> a(1000), b(1000);
    a = PlanVector<uint8_t>();  // not the last one
    const PlanVector<uint8_t> c(1000);
    ASSERT_EQ(c.size(), 1000u);
  }
  EXPECT_LE(memory.needed(), memory.bytes());
}

TEST(PlanMemory, PiecesMayBeGivenBackOutsideOfTheScope) {
  PlanMemory memory(4096);
  PlanVector<uint8_t> outside(10, 3);
  PlanVector<uint8_t> inside;
  {
    const PlanMemoryScope scope(&memory, nullptr);
    inside.assign(500, 4);
    const PlanMemoryScope none(nullptr, nullptr);
    const PlanVector<uint8_t> of_the_heap(500);
    EXPECT_LT(memory.needed(), 600u);
  }
  outside.assign(5000, 5);
  EXPECT_LT(memory.needed(), 600u);
  inside = PlanVector<uint8_t>();
  const PlanMemoryScope scope(&memory, nullptr);
  const PlanVector<uint8_t> again(500);
  EXPECT_LT(memory.needed(), 600u);
}

TEST(PlanMemory, PiecesAreAligned) {
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  for (const size_t bytes : {size_t{0}, size_t{300}, size_t{4096}}) {
    PlanMemory memory(bytes);
    const PlanMemoryScope scope(&memory, nullptr);
    const PlanVector<uint8_t> odd(3);
    const PlanVector<Line> lines(2);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(odd.data()) % 16, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(lines.data()) % 64, 0u);
    const std::shared_ptr<Line> one = make_planned<Line>();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(one.get()) % 64, 0u);
  }
}

TEST(PlanMemory, SizesThatOverflowEndInAnException) {
  const PlanAllocator<uint64_t, true> allocator;
  EXPECT_THROW(static_cast<void>(PlanAllocator<uint64_t, true>(allocator).allocate(SIZE_MAX / 8)),
               std::bad_alloc);
}

}  // namespace
}  // namespace qrt::plan_memory_test
