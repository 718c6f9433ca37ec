// SPDX-License-Identifier: Apache-2.0
// Parallel execution of one step over pthreadpool, an application's own pool, or the calling thread
// alone; within a run, by the threads that the pool has given to the whole run (team.h).
#ifndef QRT_RUNTIME_PARALLEL_H_
#define QRT_RUNTIME_PARALLEL_H_

#include <cstddef>
#include <cstdint>

struct pthreadpool;

namespace qrt {

class Team;

// Runs task(argument, i) for every i < count, in any order on any threads; returns when all are
// done.
using ParallelFn = void (*)(void* context, void (*task)(void* argument, size_t index),
                            void* argument, size_t count);

// Returns where the i-th of n nearly equal parts of `count` begins.
constexpr size_t chunk_begin(size_t count, size_t i, size_t n) {
  return static_cast<size_t>(uint64_t{count} * i / n);
}

struct Parallel;

// f(chunk, begin, end) over [0, total) in at most `most` chunks; borders are multiples of `grain`.
// chunk < most: chunks that run at once differ in it, so that it may address scratch of their own.
template <class F>
void for_chunks(const Parallel& parallel, size_t most, size_t total, size_t grain, const F& f);

// The means by which a session runs its tasks. Not owning. A Parallel belongs to one session and is
// used by one run() at a time.
struct Parallel {
  size_t threads = 1;           // number of tasks worth making; 1: no pool is used
  pthreadpool* pool = nullptr;  // pthreadpool_t
  ParallelFn custom = nullptr;  // takes precedence over pool
  void* custom_context = nullptr;
  Team* team = nullptr;  // while it runs a whole run: gets the tasks

  // Calls f(i) for every i < count; does not allocate. The callable may be entered by several threads at once.
  template <class F>
  void run(size_t count, const F& f) const {
    if (count <= 1 || threads <= 1) {
      for (size_t i = 0; i < count; ++i) f(i);
      return;
    }
    dispatch([](void* p, size_t i) { (*static_cast<const F*>(p))(i); }, const_cast<F*>(&f), count);
  }

  // for_chunks() in at most `threads` chunks.
  template <class F>
  void chunks(size_t total, size_t grain, const F& f) const {
    for_chunks(*this, threads, total, grain, f);
  }

  // Calls task(argument, i) for every i < count.
  void dispatch(void (*task)(void*, size_t), void* argument, size_t count) const;
};

template <class F>
void for_chunks(const Parallel& parallel, size_t most, size_t total, size_t grain, const F& f) {
  const size_t units = (total + grain - 1) / grain;
  const size_t n = most < units ? most : units;
  parallel.run(n, [&](size_t i) {
    const size_t begin = chunk_begin(units, i, n) * grain,
                 end = chunk_begin(units, i + 1, n) * grain;
    f(i, begin, end < total ? end : total);
  });
}

}  // namespace qrt

#endif  // QRT_RUNTIME_PARALLEL_H_
