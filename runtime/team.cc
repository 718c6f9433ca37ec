#include "runtime/team.h"

#include <algorithm>
#include <thread>

#include "runtime/parallel.h"

namespace qrt {
namespace {

// Job numbers that are none.
constexpr uint64_t kClosed = 0, kNone = UINT32_MAX;

// Waits as long as waits() says so: first in a loop of some 10 to 50 us, as long as the small steps
// between two large ones take, then giving the core to whoever needs it.
constexpr int kPauses = 1000;

// How often a leader that is done gives way to helpers which are not gone yet.
constexpr int kFarewells = 64;

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

template <class F>
inline void wait_while(const F& waits) {
  for (int i = 0; waits(); ++i) {
    if (i < kPauses)
      pause_core();
    else
      std::this_thread::yield();
  }
}

}  // namespace

void Team::open() {
  jobs_ = 0;
  members_.store(0, std::memory_order_relaxed);
  gone_.store(0, std::memory_order_relaxed);
  for (Share& share : shares_) share.state.store(kNone << 32, std::memory_order_relaxed);
}

void Team::close() {
  for (Share& share : shares_) share.state.store(kClosed << 32, std::memory_order_release);
  // The pool waits for its threads next, perhaps for long without giving the core away.
  const size_t helpers = std::min(members_.load(std::memory_order_relaxed), threads_) - 1;
  for (int i = 0; i < kFarewells && gone_.load(std::memory_order_acquire) < helpers; ++i) {
    if (i < kFarewells / 2)
      pause_core();
    else
      std::this_thread::yield();
  }
}

void Team::help(size_t member) {
  const std::atomic<uint64_t>& state = shares_[member % threads_].state;
  uint64_t seen = kNone;
  for (;;) {
    uint64_t job;
    wait_while([&] { return (job = state.load(std::memory_order_acquire) >> 32) == seen; });
    if (job == kClosed) break;
    seen = job;
    work(job, member);
  }
  gone_.fetch_add(1, std::memory_order_release);
}

void Team::run(Task task, void* argument, size_t count) {
  if (++last_job_ == kNone) last_job_ = kClosed + 1;
  given_ += count;
  ++jobs_;
  // The leader's own share comes last: it is written at once, the others have to be fetched.
  for (size_t i = threads_; i-- > 0;) {
    Share& share = shares_[i];
    share.task = task;
    share.argument = argument;
    share.first = part_begin(count, i, threads_);
    const size_t indices = part_begin(count, i + 1, threads_) - share.first;
    share.state.store(last_job_ << 32 | indices, std::memory_order_release);
  }
  work(last_job_, 0);
  wait_while([&] { return finished_.load(std::memory_order_acquire) != given_; });
}

void Team::work(uint64_t job, size_t member) {
  for (size_t i = 0; i < threads_; ++i) {
    Share& share = shares_[(member + i) % threads_];
    uint64_t finished = 0, state = share.state.load(std::memory_order_acquire);
    while (state >> 32 == job && static_cast<uint32_t>(state) != 0) {
      if (!share.state.compare_exchange_weak(state, state - 1, std::memory_order_acquire)) continue;
      // The share stays as it is until this task is finished.
      share.task(share.argument, share.first + static_cast<uint32_t>(state) - 1);
      ++finished;
      state = share.state.load(std::memory_order_acquire);
    }
    if (finished != 0) finished_.fetch_add(finished, std::memory_order_acq_rel);
  }
}

}  // namespace qrt
