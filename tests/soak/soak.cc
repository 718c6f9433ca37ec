// Sessions of different models in four threads for as long as one likes: made with random batches, threads and instruction
// sets, run, reset, destroyed and made again. Every output has the bytes it had at first, and memory stays flat.
//   soak SECONDS [SEED]
#include <malloc.h>
#include <qrt/qrt.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/soak/models.h"
#include "tests/support/c_api.h"
#include "tests/support/within_limits.h"

namespace qrt {
namespace {

using Bytes = std::vector<uint8_t>;
using ModelPtr = std::unique_ptr<qrt_model, void (*)(qrt_model*)>;
using SessionPtr = std::unique_ptr<qrt_session, void (*)(qrt_session*)>;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostBatch = 5, kMostThreads = 3, kMostRuns = 6;  // runs between two resets

[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "soak: %s\n", what.c_str());
  _exit(1);
}

void check(qrt_status status, const char* what) {
  if (status != QRT_OK) fail(std::string(what) + ": " + qrt_status_name(status));
}

struct Counts {
  std::atomic<long> loads{0}, sessions{0}, runs{0}, resets{0}, resumed{0};
};

ModelPtr load(const Bytes& file) {
  qrt_model* model = nullptr;
  check(testing::load_copy(file.data(), file.size(), &model, nullptr), "load");
  return {model, qrt_model_destroy};
}

// `batch` 0: the model's own.
SessionPtr make_session(const qrt_model* model, size_t batch, size_t threads, const char* isa) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.batch = batch;
  options.threads = threads;
  options.isa = isa;
  qrt_session* session = nullptr;
  check(qrt_session_create(model, &options, &session, nullptr), "session");
  return {session, qrt_session_destroy};
}

// Run `run` since the last reset: its inputs are told by its number alone.
void run_once(qrt_session* session, size_t run, Bytes* outputs) {
  qrt_tensor_info info;
  qrt_struct_init(&info);
  for (size_t i = 0; qrt_session_input_info(session, i, &info) == QRT_OK; ++i) {
    auto* data = static_cast<uint8_t*>(qrt_session_input_data(session, i));
    if (info.dtype == QRT_FLOAT32) {
      for (size_t k = 0; k < info.bytes / sizeof(float); ++k) {
        const float value = static_cast<float>((k * 7 + run * 5) % 121) * 0.1f - 6;
        memcpy(data + k * sizeof value, &value, sizeof value);
      }
    } else {
      for (size_t k = 0; k < info.bytes; ++k)
        data[k] = static_cast<uint8_t>(k * 31 + run * 17 + k / 256);
    }
  }
  check(qrt_session_run(session, nullptr), "run");
  outputs->clear();
  for (size_t i = 0; qrt_session_output_info(session, i, &info) == QRT_OK; ++i) {
    const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
    outputs->insert(outputs->end(), data, data + info.bytes);
  }
}

// A stream that was left, to go on in any session of its model at its batch.
struct Parked {
  size_t batch = 0, run = 0;
  std::vector<Bytes> states;
};

Parked park(const qrt_session* session, size_t batch, size_t run) {
  Parked parked = {batch, run, {}};
  qrt_tensor_info info;
  qrt_struct_init(&info);
  for (size_t i = 0; qrt_session_state_info(session, i, &info) == QRT_OK; ++i) {
    parked.states.emplace_back(info.bytes);
    check(qrt_session_get_state(session, i, parked.states[i].data(), info.bytes, nullptr),
          "get state");
  }
  return parked;
}

void resume(const Parked& parked, qrt_session* session) {
  for (size_t i = 0; i < parked.states.size(); ++i)
    check(qrt_session_set_state(session, i, parked.states[i].data(), parked.states[i].size(),
                                nullptr),
          "set state");
}

struct Subject {
  std::string name;
  Bytes file;
  bool is_open;                                // any batch
  std::map<size_t, std::vector<Bytes>> right;  // outputs by batch and run, of scalar kernels
};

Subject make_subject(const std::string& name, const Bytes& file, bool is_open) {
  Subject s = {name, file, is_open, {}};
  const ModelPtr model = load(file);
  for (size_t batch = 1; batch <= (is_open ? kMostBatch : 1); ++batch) {
    const SessionPtr session = make_session(model.get(), is_open ? batch : 0, 1, "scalar");
    for (size_t run = 0; run < kMostRuns; ++run) {
      s.right[batch].emplace_back();
      run_once(session.get(), run, &s.right[batch].back());
    }
  }
  return s;
}

void soak(const Subject& subject, Clock::time_point end, unsigned seed, Counts* counts) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return random() % n; };
  std::vector<const char*> isas;
  for (size_t i = 0; qrt_isa(i) != nullptr; ++i) isas.push_back(qrt_isa(i));
  ModelPtr model = load(subject.file);
  Bytes outputs;
  Parked parked;
  while (Clock::now() < end) {
    if (below(16) == 0) model = load(subject.file), ++counts->loads;
    const size_t batch = subject.is_open ? 1 + below(kMostBatch) : 1;
    const char* isa = isas[below(isas.size())];
    const SessionPtr session =
        make_session(model.get(), subject.is_open ? batch : 0, 1 + below(kMostThreads), isa);
    ++counts->sessions;
    size_t run = 0;
    for (size_t actions = below(40); actions > 0 && Clock::now() < end; --actions) {
      if (run == kMostRuns || below(8) == 0) {
        check(qrt_session_reset(session.get()), "reset");
        ++counts->resets;
        run = 0;
      }
      if (below(8) == 0) parked = park(session.get(), batch, run);
      if (below(8) == 0 && parked.batch == batch && parked.run < kMostRuns) {
        resume(parked, session.get());
        ++counts->resumed;
        run = parked.run;
      }
      if (below(8) == 0) {
        qrt_session_cancel(session.get());
        if (qrt_session_run(session.get(), nullptr) != QRT_CANCELLED)
          fail("a run was not cancelled");
      }
      run_once(session.get(), run, &outputs);
      ++counts->runs;
      if (outputs != subject.right.at(batch)[run])
        fail(subject.name + ": other bytes at batch " + std::to_string(batch) + ", run " +
             std::to_string(run) + ", " + isa);
      ++run;
    }
  }
}

// What malloc has of the system, not what is resident: an emulator's own memory would be in that.
size_t heap_kib() {
  const struct mallinfo2 heap = mallinfo2();
  return (heap.arena + heap.hblkhd) / 1024;
}

size_t used_kib() {
  const struct mallinfo2 heap = mallinfo2();
  return (heap.uordblks + heap.hblkhd) / 1024;
}

int soak_main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(atol(argv[2])) : 1;
  if (seconds <= 0) {
    fprintf(stderr, "usage: soak SECONDS [SEED]\n");
    return 2;
  }
  mallopt(M_ARENA_MAX, 2);  // else memory grows with the threads that happened to need an arena
  const std::vector<Subject> subjects = {
      make_subject("every operator", testing::every_op_model().build(), true),
      make_subject("images", testing::images_model().build(), true),
      make_subject("dense", testing::dense_model().build(), true),
      make_subject("running sum", testing::running_sum_model().build(), false)};
  const size_t used_before = used_kib();
  const auto start = Clock::now();
  const auto at = [&](double s) {
    return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  Counts counts;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < subjects.size(); ++i)
    threads.emplace_back(soak, std::cref(subjects[i]), at(seconds),
                         seed * 1000 + static_cast<unsigned>(i), &counts);
  // What a quarter of the time has reached is enough for all of it.
  std::this_thread::sleep_until(at(seconds / 4));
  size_t first = 0, last = 0;
  while (Clock::now() < at(seconds)) {
    const double part = std::chrono::duration<double>(Clock::now() - start).count() / seconds;
    size_t& most = part < 0.5 ? first : last;
    most = std::max(most, heap_kib());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (std::thread& t : threads) t.join();
  const size_t used_after = used_kib();
  printf(
      "%.0f s, seed %u: %ld sessions, %ld runs, %ld resets, %ld resumed streams, %ld loads; a heap "
      "of at most %zu KiB in the second quarter of the time, %zu KiB in the second half; %zu KiB "
      "in "
      "use before, %zu after\n",
      seconds, seed, counts.sessions.load(), counts.runs.load(), counts.resets.load(),
      counts.resumed.load(), counts.loads.load(), first, last, used_before, used_after);
  if (counts.runs < 100) fail("too few runs");
  if (QRT_TEST_SANITIZED) return 0;  // another heap
  if (used_after > used_before + 64) fail("memory stays in use");
  // Of few sessions the greatest four at once come when they come.
  constexpr long kSessions = 50;
  constexpr size_t kTolerance = 2048;
  if (counts.sessions >= kSessions && last > first + first / 20 + kTolerance) fail("memory grows");
  return 0;
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::soak_main(argc, argv); }
