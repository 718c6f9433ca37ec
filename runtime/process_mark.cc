// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_mark.h"

#include <atomic>
#if !defined(_WIN32) && !defined(__wasi__)
#include <pthread.h>
#endif

namespace qrt {
namespace {

// The number of forks between this process and the one that loaded the library. Process numbers would
// not do: the system gives them again.
std::atomic<unsigned> generation{0};

unsigned current() { return generation.load(std::memory_order_relaxed); }

// Returns current(), and has forks counted from the first call on. Windows and WASI have none.
unsigned counted() {
#if !defined(_WIN32) && !defined(__wasi__)
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
#endif
  return current();
}

}  // namespace

ProcessMark::ProcessMark() : generation_(counted()) {}

bool ProcessMark::is_inherited() const { return generation_ != current(); }

}  // namespace qrt
