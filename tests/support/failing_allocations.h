// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of a program through operator new, and fails one of them on demand. Replaces
// the program's operators: include it in one file of a test.
#ifndef QRT_TESTS_SUPPORT_FAILING_ALLOCATIONS_H_
#define QRT_TESTS_SUPPORT_FAILING_ALLOCATIONS_H_

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> fail_at{-1};  // allocations until one fails; negative: none does
std::atomic<long> live{0};      // blocks in use
std::atomic<long> made{0};      // allocations so far
std::atomic<long> bytes{0};     // in use

void* allocate(size_t size, size_t alignment) {
  if (fail_at >= 0 && fail_at-- == 0) return nullptr;
  void* p = nullptr;
  if (posix_memalign(&p, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) != 0) {
    return nullptr;
  }
  ++live;
  ++made;
  bytes += static_cast<long>(malloc_usable_size(p));
  return p;
}

void* allocate_or_throw(size_t size, size_t alignment) {
  void* p = allocate(size, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void release(void* p) {
  if (p != nullptr) {
    --live;
    bytes -= static_cast<long>(malloc_usable_size(p));
  }
  free(p);
}

}  // namespace

void* operator new(size_t n) { return allocate_or_throw(n, 16); }
void* operator new[](size_t n) { return allocate_or_throw(n, 16); }
void* operator new(size_t n, std::align_val_t a) { return allocate_or_throw(n, size_t(a)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return allocate(n, 16); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, size_t(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, size_t) noexcept { release(p); }
void operator delete[](void* p, size_t) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }

#endif  // QRT_TESTS_SUPPORT_FAILING_ALLOCATIONS_H_
