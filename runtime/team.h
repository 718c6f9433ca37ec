// A session's own threads. Handing them work costs about 0.3 us while they wait for it, and nobody
// waits for a thread that has not begun: on a machine with other work the caller does its share.
//
// Each thread owns an even share of a job's tasks, the same at every run, so that what it reads
// again (its part of the weights) is in its own caches; whoever is done takes tasks of the others.
//
//   caller   job fields, shares[] = {job number, tasks}, job number ->      <- unfinished == 0
//   worker                                    claims one task of a share, runs it, --unfinished
//
// A share and the number of its job are one word, changed by compare-and-swap: a thread that comes
// late finds another number, or no tasks, and takes nothing.
#ifndef QRT_RUNTIME_TEAM_H_
#define QRT_RUNTIME_TEAM_H_

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace qrt {

// Used by one calling thread at a time, which is the first of the team's threads.
class Team {
 public:
  // Null where the system gives no more threads. REQUIRES: threads >= 1.
  static std::unique_ptr<Team> create(size_t threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // task(argument, i) for every i < count; returns when all are done. Does not allocate. A job may
  // not start another. REQUIRES: count < 2^32.
  void run(void (*task)(void* argument, size_t index), void* argument, size_t count);

 private:
  // Tasks of one thread that nobody has begun; the number of the job in the upper half.
  struct alignas(64) Share {
    std::atomic<uint64_t> tasks{0};
  };
  struct Worker {
    Team* team;
    size_t index;
    pthread_t thread;
  };

  explicit Team(size_t threads) : shares_(threads), workers_(threads - 1) {}

  static void* enter(void* worker);
  void work(size_t self);
  void take_tasks(size_t self, uint32_t job);
  bool wait_for_job(uint32_t last, uint32_t* job);
  void sleep_until_job(uint32_t last);

  std::vector<Share> shares_;  // by thread; 0 is the caller
  std::vector<Worker> workers_;
  size_t started_ = 0;  // of workers_

  // The job. Written by the caller while no task is left of the one before; read by late threads
  // at any time, who then claim nothing.
  std::atomic<void (*)(void*, size_t)> task_{nullptr};
  std::atomic<void*> argument_{nullptr};
  std::atomic<size_t> count_{0};

  alignas(64) std::atomic<uint32_t> job_{0};  // number of the job
  alignas(64) std::atomic<size_t> unfinished_{0};

  alignas(64) std::atomic<size_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of falling asleep
  std::condition_variable wake_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_TEAM_H_
