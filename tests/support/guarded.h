// SPDX-License-Identifier: Apache-2.0
// Memory whose end is a guard page: a byte read or written past the allowance is a fault, on every
// compiler. WebAssembly has no pages to protect: there bytes past the allowance are watched, and one that was written
// ends the program.
#ifndef QRT_TESTS_SUPPORT_GUARDED_H_
#define QRT_TESTS_SUPPORT_GUARDED_H_

#if defined(__wasi__)
#include <cstdio>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace qrt::testing {

// n elements, then `slack_bytes` readable bytes, then the guard page. The first element is aligned
// as far as the sizes allow. Bytes start as 0xA5.
template <class T>
class Guarded {
 public:
#if defined(__wasi__)
  explicit Guarded(size_t n, size_t slack_bytes = 0) : n_(n) {
    const size_t used = n * sizeof(T) + slack_bytes;
    body_ = (used + kGuard - 1) / kGuard * kGuard;
    base_ = static_cast<uint8_t*>(aligned_alloc(kGuard, body_ + kGuard));
    if (base_ == nullptr) abort();
    memset(base_, 0xA5, body_ + kGuard);
    data_ = reinterpret_cast<T*>(base_ + body_ - used);
  }
  ~Guarded() {
    for (size_t i = 0; i < kGuard; ++i) {
      if (base_[body_ + i] == 0xA5) continue;
      fprintf(stderr, "byte %zu past the allowance was written\n", i);
      abort();
    }
    free(base_);
  }
#else
  explicit Guarded(size_t n, size_t slack_bytes = 0) : n_(n) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = n * sizeof(T) + slack_bytes;
    body_ = (used + page - 1) / page * page;
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, body_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + body_, page, PROT_NONE) != 0) abort();
    mapped_ = body_ + page;
    memset(base_, 0xA5, body_);
    data_ = reinterpret_cast<T*>(base_ + body_ - used);
  }
  ~Guarded() { munmap(base_, mapped_); }
#endif
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return n_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + n_; }

 private:
  static constexpr size_t kGuard = 4096;

  size_t n_, body_ = 0, mapped_ = 0;
  uint8_t* base_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_GUARDED_H_
