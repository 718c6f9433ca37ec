// SPDX-License-Identifier: Apache-2.0
// Memory that plans are made in: containers take it from a block that is there already, so that a session can go on at
// other sizes without asking the system for memory.
#ifndef QRT_RUNTIME_PLAN_MEMORY_H_
#define QRT_RUNTIME_PLAN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qrt {

// Gives pieces of one block, each behind the piece before. The memory of a piece that is given back is used again where
// it was the last piece, and otherwise when all pieces have been given back. Pieces for which the block has no room
// come from the heap. Used by one thread at a time; it has to outlive its pieces.
class PlanMemory {
 public:
  // The bytes that a piece takes beside its own.
  static constexpr size_t kPieceBytes = 16;

  // Has no block: every piece comes from the heap, and needed() tells how large a block would have been enough.
  PlanMemory() = default;
  // Allocates a block. Throws std::bad_alloc where there is no memory.
  explicit PlanMemory(size_t bytes);
  PlanMemory(const PlanMemory&) = delete;
  PlanMemory& operator=(const PlanMemory&) = delete;

  // Returns the bytes of the block.
  size_t bytes() const { return bytes_; }
  // Returns the bytes of a block from which all pieces so far could have come.
  size_t needed() const { return needed_; }

 private:
  friend class PlanMemoryScope;
  friend void* take_plan_memory(bool, size_t, size_t);
  friend void return_plan_memory(void*, size_t, size_t) noexcept;
  struct Delete {
    void operator()(uint8_t* block) const;
  };

  std::unique_ptr<uint8_t, Delete> block_;
  size_t bytes_ = 0, top_ = 0, pieces_ = 0, needed_ = 0;
};

// While it lives, containers with a PlanAllocator that allocate on this thread take what a plan keeps from `kept`,
// and what is gone when the plan is made from `scratch`. Null: from the heap. Scopes may be nested.
class PlanMemoryScope {
 public:
  PlanMemoryScope(PlanMemory* kept, PlanMemory* scratch);
  ~PlanMemoryScope();
  PlanMemoryScope(const PlanMemoryScope&) = delete;
  PlanMemoryScope& operator=(const PlanMemoryScope&) = delete;

 private:
  PlanMemory* const kept_;
  PlanMemory* const scratch_;
};

// Returns a piece of the memory that the innermost scope of the calling thread names. Throws std::bad_alloc where
// there is no memory. REQUIRES: `alignment` is a power of two up to 64.
void* take_plan_memory(bool is_kept, size_t bytes, size_t alignment);
// Gives a piece back to where it came from. It may be called outside of the scope. REQUIRES: the numbers of the call
// that gave it.
void return_plan_memory(void* piece, size_t bytes, size_t alignment) noexcept;

// The allocator of what a plan keeps (`is_kept`), or of what only its making needs.
template <class T, bool is_kept>
struct PlanAllocator {
  static_assert(alignof(T) <= 64);
  using value_type = T;
  template <class U>
  struct rebind {
    using other = PlanAllocator<U, is_kept>;
  };

  PlanAllocator() = default;
  template <class U>
  PlanAllocator(const PlanAllocator<U, is_kept>&) {}

  T* allocate(size_t count) {
    if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(take_plan_memory(is_kept, count * sizeof(T), alignof(T)));
  }
  void deallocate(T* piece, size_t count) noexcept {
    return_plan_memory(piece, count * sizeof(T), alignof(T));
  }
  template <class U>
  bool operator==(const PlanAllocator<U, is_kept>&) const {
    return true;
  }
  template <class U>
  bool operator!=(const PlanAllocator<U, is_kept>&) const {
    return false;
  }
};

// Lives as long as the plan in whose making it was filled.
template <class T>
using PlanVector = std::vector<T, PlanAllocator<T, true>>;
// Lives only while a plan is made.
template <class T>
using ScratchVector = std::vector<T, PlanAllocator<T, false>>;
using ScratchString = std::basic_string<char, std::char_traits<char>, PlanAllocator<char, false>>;

// Makes an object that a plan keeps.
template <class T, class... Arguments>
std::shared_ptr<T> make_planned(Arguments&&... arguments) {
  return std::allocate_shared<T>(PlanAllocator<T, true>(), std::forward<Arguments>(arguments)...);
}

}  // namespace qrt

#endif  // QRT_RUNTIME_PLAN_MEMORY_H_
