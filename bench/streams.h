// SPDX-License-Identifier: Apache-2.0
// Streams: sessions that run at the same time, each on a thread of its own, as a server has them run
// for its requests.
#ifndef QRT_BENCH_STREAMS_H_
#define QRT_BENCH_STREAMS_H_

#include <vector>

#include "bench/clock.h"
#include "qrt/qrt.hpp"
#include "runtime/status.h"

namespace qrt::bench {

// All in ms.
struct RunTime {
  double begin, end;  // since the streams started
  double latency;     // positive; from when the run was due
  double cpu;         // that its thread was running, positive; 0: not measured
};

struct Stream {
  Session session;
  std::vector<RunTime> runs;  // of the last run_streams()
};

// The duration of a measurement: the streams of one model run until `seconds` have passed and at
// least `least` times each, or `runs` times together where that is not 0.
struct Extent {
  double seconds;
  size_t least, runs = 0;
  // Requests a second. 0: a stream's next run is due when the one before has ended. Else requests come
  // at random, as those of independent users do (a Poisson process), and each waits for a stream that
  // is free; requests that still wait when the time is over are not run.
  double qps = 0;
  // Times each run of one stream by itself, without the time that passes between runs, and its running
  // time, too, for which the system is asked. Runs of less than 10 us are timed in groups of about
  // 100 us, in which all count the same.
  bool is_timed_alone = false;
};

// Runs the streams of each group as `extent` says, all groups at once, the first stream on the calling
// thread. Fewer runs where interrupted(). kOutOfMemory where the system starts no more threads. Throws
// what a session throws, when all have ended.
Status run_streams(const std::vector<std::vector<Stream*>>& groups, const Extent& extent,
                   const char* step, const Progress& progress);

}  // namespace qrt::bench

#endif  // QRT_BENCH_STREAMS_H_
