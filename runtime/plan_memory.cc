// SPDX-License-Identifier: Apache-2.0
// Memory that plans are made in; see plan_memory.h.
#include "runtime/plan_memory.h"

#include <algorithm>
#include <new>

#include "runtime/checked.h"

namespace qrt {
namespace {

// Stands before each piece. The bytes that are taken for a piece are padding, the header and the piece.
struct alignas(16) Header {
  PlanMemory* memory;  // null: the heap, outside of any scope
  // The offset of these bytes in the block. If they would end behind the block's end, they are on the heap instead.
  uint64_t begin : 56;
  uint64_t shift : 8;  // bytes of padding
};
constexpr size_t kAligned = alignof(Header);
static_assert(sizeof(Header) == PlanMemory::kPieceBytes);

struct Current {
  PlanMemory *kept = nullptr, *scratch = nullptr;
};
thread_local Current current;

// Returns what is taken for a piece, from an address that is aligned to kAligned.
size_t bytes_to_take(size_t bytes, size_t alignment) {
  return sizeof(Header) + round_up(bytes, kAligned) + std::max(alignment, kAligned) - kAligned;
}

// Allocates `bytes` bytes. Only the system's allocator may align them to less than a header needs.
void* allocate(size_t bytes) { return ::operator new (bytes, std::align_val_t{kAligned}); }
void release(void* memory) { ::operator delete (memory, std::align_val_t{kAligned}); }

}  // namespace

PlanMemory::PlanMemory(size_t bytes)
    : block_(static_cast<uint8_t*>(allocate(bytes))), bytes_(bytes) {}

void PlanMemory::Delete::operator()(uint8_t* block) const { release(block); }

PlanMemoryScope::PlanMemoryScope(PlanMemory* kept, PlanMemory* scratch)
    : kept_(current.kept), scratch_(current.scratch) {
  current = {kept, scratch};
}

PlanMemoryScope::~PlanMemoryScope() { current = {kept_, scratch_}; }

void* take_plan_memory(bool is_kept, size_t bytes, size_t alignment) {
  PlanMemory* const memory = is_kept ? current.kept : current.scratch;
  const size_t all = bytes_to_take(bytes, alignment);
  const size_t begin = memory != nullptr ? memory->top_ : 0;
  const bool fits = memory != nullptr && begin <= memory->bytes_ && all <= memory->bytes_ - begin;
  auto* const taken = fits ? memory->block_.get() + begin : static_cast<uint8_t*>(allocate(all));
  if (memory != nullptr) {
    ++memory->pieces_;
    memory->top_ = begin + all;
    memory->needed_ = std::max(memory->needed_, memory->top_);
  }
  const auto address = reinterpret_cast<uintptr_t>(taken) + sizeof(Header);
  const size_t shift = round_up(address, alignment) - address;
  auto* const header = reinterpret_cast<Header*>(taken + shift);
  header->memory = memory;
  header->begin = begin;
  header->shift = shift;
  return header + 1;
}

void return_plan_memory(void* piece, size_t bytes, size_t alignment) noexcept {
  Header* const header = static_cast<Header*>(piece) - 1;
  PlanMemory* const memory = header->memory;
  const size_t begin = header->begin, end = begin + bytes_to_take(bytes, alignment);
  if (memory == nullptr || end > memory->bytes_)
    release(reinterpret_cast<uint8_t*>(header) - header->shift);
  if (memory == nullptr) return;
  if (end == memory->top_) memory->top_ = begin;
  if (--memory->pieces_ == 0) memory->top_ = 0;
}

}  // namespace qrt
