// SPDX-License-Identifier: Apache-2.0
// Threads that several sessions share, or that belong to one.
#ifndef QRT_RUNTIME_POOL_H_
#define QRT_RUNTIME_POOL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/platform/threads.h"
#include "runtime/process_mark.h"
#include "runtime/status.h"
#include "runtime/team.h"

struct pthreadpool;

namespace qrt {

constexpr size_t kMaxThreads = 1024;

// The threads of sessions. Several threads may use a Pool at a time: it runs one's work after the other's. A
// child of fork() has none of its threads: there a new session uses the calling thread alone, and the memory
// of the pool is never released, since the locks in it may be held by threads that are not there.
class Pool {
 public:
  // Starts a pool. `threads` counts the thread that leads a run, too; there are fewer where the
  // system starts no more. Fails with kInvalidArgument or kOutOfMemory.
  static Result<std::shared_ptr<Pool>> create(size_t threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  size_t threads() const { return process_.is_inherited() ? 1 : 1 + helpers_.size(); }

  // Runs body() on the calling thread. In it, team()->run() has at most `threads` of the pool's
  // threads, and no more than the process had CPUs when the pool was made.
  template <class F>
  void lead(size_t threads, const F& body) {
    const platform::LockGuard turn(turn_);
    team_.lead(std::min({threads, cpus_, this->threads()}), body);
  }
  Team* team() { return &team_; }

  // Returns a pthreadpool of as many threads, which the steps of a provider take; it is made at the
  // first call. Null for one thread, without memory, or in a build without pthreadpool.
  pthreadpool* pthreads();

 private:
  explicit Pool(size_t threads);
  static void destroy(Pool* pool);

  const ProcessMark process_;
  Team team_;
  const size_t cpus_;  // usable_cpus()
  platform::Mutex turn_;
  std::vector<platform::Thread> helpers_;
  pthreadpool* pthreads_ = nullptr;
};

// kInvalidArgument beyond kMaxThreads.
Status check_threads(size_t threads);

}  // namespace qrt

#endif  // QRT_RUNTIME_POOL_H_
