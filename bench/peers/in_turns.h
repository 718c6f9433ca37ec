// SPDX-License-Identifier: Apache-2.0
// Two programs that compute the same, timed in turns in one process: samples of the thread's own
// running time.
#ifndef QRT_BENCH_PEERS_IN_TURNS_H_
#define QRT_BENCH_PEERS_IN_TURNS_H_

#include <cstddef>
#include <vector>

#include "bench/peak.h"

namespace qrt::bench {

// Mean time of `calls` calls.
template <class Run>
double sample_ns(size_t calls, const Run& run) {
  const double start = thread_ns();
  for (size_t i = 0; i < calls; ++i) run();
  return (thread_ns() - start) / static_cast<double>(calls);
}

// Calls that make a sample.
template <class Run>
size_t calls_of(const Run& run) {
  constexpr double kSampleNs = 100e3;
  run();
  size_t calls = 1;
  while (sample_ns(calls, run) * static_cast<double>(calls) < kSampleNs) calls *= 2;
  return calls;
}

struct Times {
  double ours, theirs, ratio;  // medians: ns, ns, theirs / ours
};

template <class Ours, class Theirs>
Times in_turns(const Ours& ours, const Theirs& theirs) {
  constexpr double kTotalNs = 300e6;
  std::vector<double> a, b, ratios;
  const size_t our_calls = calls_of(ours), their_calls = calls_of(theirs);
  const double start = thread_ns();
  const auto is_done = [&] {
    return a.size() >= 101 || (a.size() >= 5 && thread_ns() - start > kTotalNs);
  };
  while (!is_done()) {
    a.push_back(sample_ns(our_calls, ours));
    b.push_back(sample_ns(their_calls, theirs));
    ratios.push_back(b.back() / a.back());
  }
  return {median(a), median(b), median(ratios)};
}

}  // namespace qrt::bench

#endif  // QRT_BENCH_PEERS_IN_TURNS_H_
