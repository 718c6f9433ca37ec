// The threads of a run. A pool takes microseconds to wake its threads and to see them all done, too
// much for each of a model's steps. So it is asked once per run: the thread that comes first leads
// and walks the steps, the others help with the tasks that these hand out here, which costs a few
// hundred nanoseconds a step.
//
// Nobody waits for a thread to come: a leader alone does everything, and so a pool may run its
// calls in any order, on as few threads as it likes. All that is waited for is a task that another
// thread has begun.
#ifndef QRT_RUNTIME_TEAM_H_
#define QRT_RUNTIME_TEAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qrt {

class Team {
 public:
  using Task = void (*)(void* argument, size_t index);

  explicit Team(size_t threads) : threads_(threads), shares_(threads) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Before a pool's threads call enter(). REQUIRES: all calls of the last run have returned.
  void open();

  // Calls body() on one thread, in which it may call run(). `threads` calls of enter() make a run;
  // those after body()'s end return at once. Helpers keep the floating-point state they come with.
  template <class F>
  void enter(const F& body) {
    const size_t member = members_.fetch_add(1, std::memory_order_relaxed);
    if (member > 0) return help(member);
    leads_ = true;
    body();
    leads_ = false;
    close();
  }

  // Whether body() is running. For the thread that runs it, or outside of a run.
  bool leads() const { return leads_; }

  // Calls of run() since open(). For the thread that called open().
  size_t jobs() const { return jobs_; }

  // task(argument, i) for every i < count. REQUIRES: leads(), count < 2^32, no task calls run().
  void run(Task task, void* argument, size_t count);

 private:
  // A job is cut into a share for each member, who takes it first, so as to find in its caches what
  // it wrote a step before, then what others have left of theirs. One line of memory holds all that
  // a member needs, and its change wakes it. The leader writes it while no task of the last job is
  // running; all but the state is read by who has taken an index.
  struct alignas(64) Share {
    std::atomic<uint64_t> state{0};  // number of the job; lower half: indices left, the first ones
    Task task = nullptr;
    void* argument = nullptr;
    size_t first = 0;  // index
  };

  void help(size_t member);
  void close();
  void work(uint64_t job, size_t member);

  const size_t threads_;
  std::vector<Share> shares_;
  bool leads_ = false;
  size_t jobs_ = 0;
  uint64_t last_job_ = 0;  // below 2^32
  uint64_t given_ = 0;     // tasks of all jobs

  alignas(64) std::atomic<uint64_t> finished_{0};  // of these
  std::atomic<size_t> members_{0};                 // who came
  std::atomic<size_t> gone_{0};                    // helpers who left
};

}  // namespace qrt

#endif  // QRT_RUNTIME_TEAM_H_
