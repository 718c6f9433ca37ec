#include "runtime/team.h"

#include <sched.h>

#include <algorithm>

#include "runtime/float_env.h"
#include "runtime/profile.h"

namespace qrt {
namespace {

// A worker looks for the next job this long, then sleeps; being woken costs it some 50 us. Longer
// than what a session does on one thread between two jobs, shorter than a scheduler's time slice.
// From kYieldNs on it lets others run in between: the caller may be waiting for this very core.
constexpr uint64_t kSpinNs = 200000, kYieldNs = 50000;
// The caller spins this often for the last tasks, then lets others run in between: one of them may
// be the worker that has been interrupted.
constexpr int kSpinsForTasks = 2000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Tasks [begin, end) of a job of `count` tasks belong to thread t.
struct Range {
  size_t begin, end;
};
Range share_of(size_t t, size_t threads, size_t count) {
  const size_t active = std::min(threads, count);
  if (t >= active) return {count, count};
  return {count * t / active, count * (t + 1) / active};
}

constexpr uint64_t tasks_of(uint32_t job, size_t tasks) { return uint64_t{job} << 32 | tasks; }

}  // namespace

std::unique_ptr<Team> Team::create(size_t threads) {
  std::unique_ptr<Team> team(new Team(threads));
  for (size_t i = 0; i + 1 < threads; ++i, ++team->started_) {
    Worker& worker = team->workers_[i];
    worker.team = team.get();
    worker.index = i + 1;
    if (pthread_create(&worker.thread, nullptr, enter, &worker) != 0) return nullptr;
  }
  return team;
}

Team::~Team() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  for (size_t i = 0; i < started_; ++i) pthread_join(workers_[i].thread, nullptr);
}

void Team::run(void (*task)(void*, size_t), void* argument, size_t count) {
  const uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  task_.store(task, std::memory_order_relaxed);
  argument_.store(argument, std::memory_order_relaxed);
  count_.store(count, std::memory_order_relaxed);
  unfinished_.store(count, std::memory_order_relaxed);
  for (size_t t = 0; t < shares_.size(); ++t) {
    const Range range = share_of(t, shares_.size(), count);
    shares_[t].tasks.store(tasks_of(job, range.end - range.begin), std::memory_order_release);
  }
  // In one order with sleepers_: either a worker sees the job before it sleeps, or it is woken.
  job_.store(job, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) {
    { const std::lock_guard<std::mutex> lock(mutex_); }
    wake_.notify_all();
  }
  take_tasks(0, job);
  for (int spins = 0; unfinished_.load(std::memory_order_acquire) > 0; ++spins)
    spins < kSpinsForTasks ? relax() : static_cast<void>(sched_yield());
}

// Tasks of job `job`, own ones first, until none is left to begin.
void Team::take_tasks(size_t self, uint32_t job) {
  const size_t threads = shares_.size();
  const auto task = task_.load(std::memory_order_relaxed);
  void* const argument = argument_.load(std::memory_order_relaxed);
  const size_t count = count_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < threads; ++i) {
    const size_t owner = self + i < threads ? self + i : self + i - threads;
    const size_t end = share_of(owner, threads, count).end;
    std::atomic<uint64_t>& share = shares_[owner].tasks;
    uint64_t tasks = share.load(std::memory_order_acquire);
    while (tasks >> 32 == job && static_cast<uint32_t>(tasks) != 0) {
      // Having claimed a task proves that the job is not over, and so that its fields, read before,
      // are its own.
      if (!share.compare_exchange_weak(tasks, tasks - 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
        continue;
      }
      task(argument, end - static_cast<uint32_t>(tasks));
      unfinished_.fetch_sub(1, std::memory_order_acq_rel);
      tasks = share.load(std::memory_order_acquire);
    }
  }
}

void* Team::enter(void* worker) {
  const Worker& self = *static_cast<const Worker*>(worker);
  self.team->work(self.index);
  return nullptr;
}

void Team::work(size_t self) {
  const ScopedFloatEnv env;
  uint32_t job = 0;
  while (wait_for_job(job, &job)) take_tasks(self, job);
}

// False when the team ends.
bool Team::wait_for_job(uint32_t last, uint32_t* job) {
  uint64_t begin = 0;
  for (uint32_t spins = 1; (*job = job_.load(std::memory_order_acquire)) == last; ++spins) {
    if (stop_.load(std::memory_order_relaxed)) return false;
    relax();
    if (spins % 64 != 0) continue;
    const uint64_t now = now_ns();
    if (begin == 0) {
      begin = now;
    } else if (now - begin > kSpinNs) {
      sleep_until_job(last);
      begin = 0;
    } else if (now - begin > kYieldNs) {
      sched_yield();
    }
  }
  return true;
}

void Team::sleep_until_job(uint32_t last) {
  std::unique_lock<std::mutex> lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  wake_.wait(lock, [&] { return job_.load(std::memory_order_seq_cst) != last || stop_.load(); });
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace qrt
