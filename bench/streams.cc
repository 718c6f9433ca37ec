// SPDX-License-Identifier: Apache-2.0
#include "bench/streams.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>

#include "bench/interrupt.h"
#include "bench/peak.h"
#include "bench/sessions.h"

namespace qrt::bench {
namespace {

Clock::duration milliseconds(double ms) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}

// Waits until `due`. Returns false where it was interrupted before.
bool wait_until(Clock::time_point due) {
  constexpr std::chrono::milliseconds kNap(20);  // a signal does not end a sleep
  for (Clock::time_point now; !interrupted();) {
    if ((now = Clock::now()) >= due) return true;
    std::this_thread::sleep_for(std::min<Clock::duration>(due - now, kNap));
  }
  return false;
}

// The runs that the streams of one model share.
class Requests {
 public:
  explicit Requests(const Extent& extent) : extent_(extent) {}
  void start(Clock::time_point now) { start_ = now; }

  // Takes the next run of a stream that has done `done` runs, and waits until it is due. *due: ms
  // after the start, or -1 for at once. Returns false where none is left.
  bool take(size_t done, double* due) {
    if (interrupted()) return false;
    *due = -1;
    if (extent_.qps > 0 || extent_.runs > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (extent_.runs > 0 && taken_ == extent_.runs) return false;
      ++taken_;
      if (extent_.qps > 0) *due = next_due_ += pause_(random_) * 1e3 / extent_.qps;
    }
    if (*due >= 0 && (*due >= end() || !wait_until(start_ + milliseconds(*due)))) return false;
    if (extent_.runs > 0) return true;
    return (done < extent_.least && *due < 0) || ms_since(start_) < end();
  }
  // Takes at once as many of `wanted` further runs as are left, and returns their number.
  size_t take_more(size_t wanted) {
    if (extent_.runs == 0) return wanted;
    const std::lock_guard<std::mutex> lock(mutex_);
    const size_t taken = std::min(wanted, extent_.runs - taken_);
    taken_ += taken;
    return taken;
  }
  double part() {
    if (extent_.runs == 0) return ms_since(start_) / (extent_.seconds * 1e3 + 1e-3);
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<double>(taken_) / static_cast<double>(extent_.runs);
  }

 private:
  double end() const { return extent_.runs > 0 ? HUGE_VAL : extent_.seconds * 1e3; }

  const Extent extent_;
  Clock::time_point start_;
  std::mutex mutex_;
  size_t taken_ = 0;
  double next_due_ = 0;  // ms
  std::mt19937_64 random_{1};
  std::exponential_distribution<double> pause_{1};
};

// Returns how many runs are timed together after one that took `ms`: asking for the time takes a good
// part of a short run, so that some of these share its cost.
size_t group_size(double ms) {
  constexpr double kShort = 10e-3, kGroup = 100e-3;
  constexpr double kMost = 1000;
  return ms < kShort ? static_cast<size_t>(std::min(kGroup / std::max(ms, 1e-6), kMost)) : 1;
}

void serve(Stream* stream, Requests* requests, bool is_timed_alone, Clock::time_point start,
           const char* step, const Progress& progress) {
  double due, end = 0;
  size_t group = 1;
  while (requests->take(stream->runs.size(), &due)) {
    if (progress) progress(step, requests->part());
    const bool follows = due < 0 && !is_timed_alone;
    const size_t count = 1 + (group > 1 ? requests->take_more(group - 1) : 0);
    const double cpu_begin = is_timed_alone ? thread_ns() : 0;
    const double begin = follows ? end : ms_since(start);
    for (size_t i = 0; i < count; ++i) run(&stream->session);
    end = ms_since(start);
    const double runs = static_cast<double>(count), wall = (end - begin) / runs;
    const double cpu = is_timed_alone ? std::max((thread_ns() - cpu_begin) * 1e-6 / runs, 1e-6) : 0;
    const double wait = due < 0 ? 0 : begin - due;
    for (size_t i = 0; i < count; ++i) {
      const double run_end = i + 1 == count ? end : begin + static_cast<double>(i + 1) * wall;
      stream->runs.push_back({run_end - wall, run_end, std::max(wall + wait, 1e-6), cpu});
    }
    group = is_timed_alone && due < 0 ? group_size(wall) : 1;
  }
}

// A stream and what it shares; what it threw, or its thread's start.
struct Job {
  Stream* stream;
  Requests* requests;
  std::exception_ptr failure;
};

}  // namespace

Status run_streams(const std::vector<std::vector<Stream*>>& groups, const Extent& extent,
                   const char* step, const Progress& progress) {
  std::vector<std::unique_ptr<Requests>> requests;
  std::vector<Job> jobs;
  for (const std::vector<Stream*>& group : groups) {
    requests.push_back(std::make_unique<Requests>(extent));
    for (Stream* stream : group) {
      stream->runs.clear();
      jobs.push_back({stream, requests.back().get(), nullptr});
    }
  }
  std::promise<bool> starts;
  const std::shared_future<bool> started(starts.get_future());
  Clock::time_point start;
  const auto run = [&](Job* job) {
    const bool is_first = job == jobs.data();
    try {
      serve(job->stream, job->requests, is_first && extent.is_timed_alone, start, step,
            is_first ? progress : Progress());
    } catch (...) {
      job->failure = std::current_exception();
    }
  };
  // From here on nothing may throw: threads are to be joined.
  std::vector<std::thread> threads;
  threads.reserve(jobs.size());
  while (threads.size() + 1 < jobs.size()) {
    Job* const job = &jobs[threads.size() + 1];
    try {
      threads.emplace_back([&run, &started, job] {
        if (started.get()) run(job);
      });
    } catch (...) {
      job->failure = std::current_exception();
      break;
    }
  }
  const bool are_all = threads.size() + 1 == jobs.size();
  start = Clock::now();
  for (const auto& r : requests) r->start(start);
  starts.set_value(are_all);
  if (are_all) run(jobs.data());
  for (std::thread& thread : threads) thread.join();
  for (const Job& job : jobs) {
    if (!job.failure) continue;
    try {
      std::rethrow_exception(job.failure);
    } catch (const std::system_error& e) {
      return error(Code::kOutOfMemory, "a thread for a stream cannot be started: %s",
                   e.code().message().c_str());
    }
  }
  return {};
}

}  // namespace qrt::bench
