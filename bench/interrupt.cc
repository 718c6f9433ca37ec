#include "bench/interrupt.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace qrt::bench {
namespace {

volatile std::sig_atomic_t caught = 0;

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
