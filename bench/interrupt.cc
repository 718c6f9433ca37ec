// SPDX-License-Identifier: Apache-2.0
#include "bench/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace qrt::bench {
namespace {

// Read by the threads of all streams.
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "for a signal handler");

void handle(int signal) {
  caught = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

bool interrupted() { return caught != 0; }

void end_interrupted() {
  fflush(stdout);
  std::signal(caught, SIG_DFL);
  std::raise(caught);
  abort();
}

}  // namespace qrt::bench
