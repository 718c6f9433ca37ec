// Starts threads to see whether they start; see threads.h.
#include "runtime/threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <vector>

namespace qrt {
namespace {

struct Probe {
  pthread_t thread;
  pthread_mutex_t* gate;  // held until all have started
  long id = 0;            // of the system
};

void* wait_at_gate(void* argument) {
  auto* probe = static_cast<Probe*>(argument);
#if defined(__linux__)
  probe->id = syscall(SYS_gettid);
#endif
  pthread_mutex_lock(probe->gate);
  pthread_mutex_unlock(probe->gate);
  return nullptr;
}

// A joined thread still counts against limits for a moment.
void wait_until_gone([[maybe_unused]] const Probe& probe) {
#if defined(__linux__)
  constexpr int kMostTries = 100000;
  for (int i = 0; i < kMostTries && syscall(SYS_tgkill, getpid(), probe.id, 0) == 0; ++i)
    sched_yield();
#endif
}

}  // namespace

size_t startable_threads(size_t wanted) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  std::vector<Probe> probes(wanted);
  size_t started = 0;
  pthread_mutex_lock(&gate);
  for (Probe& probe : probes) {
    probe.gate = &gate;
    if (pthread_create(&probe.thread, nullptr, wait_at_gate, &probe) != 0) break;
    ++started;
  }
  pthread_mutex_unlock(&gate);
  for (size_t i = 0; i < started; ++i) pthread_join(probes[i].thread, nullptr);
  for (size_t i = 0; i < started; ++i) wait_until_gone(probes[i]);
  pthread_mutex_destroy(&gate);
  return started;
}

}  // namespace qrt
