// SPDX-License-Identifier: Apache-2.0
// Sessions of different models, a thread for each, for as long as one likes: made with random sizes, threads and instruction
// sets, run, reset, brought to other sizes, destroyed and made again. Every output has the bytes it had at first, and
// memory stays flat.
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
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/soak/models.h"
#include "tests/support/c_api.h"
#include "tests/support/sized_model.h"
#include "tests/support/within_limits.h"

namespace qrt {
namespace {

using Bytes = std::vector<uint8_t>;
using ModelPtr = std::unique_ptr<qrt_model, void (*)(qrt_model*)>;
using SessionPtr = std::unique_ptr<qrt_session, void (*)(qrt_session*)>;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostBatch = 5, kMostThreads = 3, kMostRuns = 6;  // runs between two resets
constexpr int64_t kMostSize = 40;

[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "soak: %s\n", what.c_str());
  _exit(1);
}

void check(qrt_status status, const char* what) {
  if (status != QRT_OK) fail(std::string(what) + ": " + qrt_status_name(status));
}

struct Counts {
  std::atomic<long> loads{0}, sessions{0}, runs{0}, resets{0}, reshapes{0}, resumed{0};
};

ModelPtr load(const Bytes& file) {
  qrt_model* model = nullptr;
  check(testing::load_copy(file.data(), file.size(), &model, nullptr), "load");
  return {model, qrt_model_destroy};
}

// The sizes of open dimensions; none: the model's own.
using Sizes = std::vector<qrt_dim>;

// `most`: what the session has memory for from the start. It then has private plans.
SessionPtr make_session(const qrt_model* model, const Sizes& sizes, size_t threads, const char* isa,
                        const Sizes& most = {}) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.dims = sizes.data();
  options.dim_count = sizes.size();
  options.max_dims = most.data();
  options.max_dim_count = most.size();
  options.private_plans = !most.empty();
  options.threads = threads;
  options.isa = isa;
  qrt_session* session = nullptr;
  check(qrt_session_create(model, &options, &session, nullptr), "session");
  return {session, qrt_session_destroy};
}

// Does run `run` since the last reset: its number alone decides its inputs.
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

// A stream that was left, to go on in any session of its model at its sizes.
struct Parked {
  size_t at = SIZE_MAX, run = 0;
  std::vector<Bytes> states;
};

Parked park(const qrt_session* session, size_t at, size_t run) {
  Parked parked = {at, run, {}};
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
  std::vector<Sizes> sizes;
  Sizes most;                             // of each dimension
  std::vector<std::vector<Bytes>> right;  // outputs by sizes and run, of scalar kernels
};

Subject make_subject(const std::string& name, const Bytes& file, const std::vector<Sizes>& sizes) {
  Subject s = {name, file, sizes, sizes[0], {}};
  for (const Sizes& of_all : sizes)
    for (size_t i = 0; i < of_all.size(); ++i)
      s.most[i].value = std::max(s.most[i].value, of_all[i].value);
  const ModelPtr model = load(file);
  for (const Sizes& at : sizes) {
    const SessionPtr session = make_session(model.get(), at, 1, "scalar");
    s.right.emplace_back();
    for (size_t run = 0; run < kMostRuns; ++run) {
      s.right.back().emplace_back();
      run_once(session.get(), run, &s.right.back().back());
    }
  }
  return s;
}

std::vector<Sizes> batches() {
  std::vector<Sizes> all;
  for (size_t batch = 1; batch <= kMostBatch; ++batch)
    all.push_back({{"batch", static_cast<int64_t>(batch)}});
  return all;
}

// Returns more sizes of testing::SizedModel than a model keeps plans.
std::vector<Sizes> images(unsigned seed) {
  std::mt19937 random(seed);
  const auto from = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  std::vector<Sizes> all;
  for (int i = 0; i < 20; ++i)
    all.push_back({{"h", from(2, kMostSize)}, {"w", from(3, kMostSize)}, {"batch", from(1, 3)}});
  return all;
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
    size_t at = below(subject.sizes.size());
    const char* isa = isas[below(isas.size())];
    const SessionPtr session = make_session(model.get(), subject.sizes[at], 1 + below(kMostThreads),
                                            isa, below(2) == 0 ? subject.most : Sizes());
    ++counts->sessions;
    size_t run = 0;
    for (size_t actions = below(40); actions > 0 && Clock::now() < end; --actions) {
      if (run == kMostRuns || below(8) == 0) {
        check(qrt_session_reset(session.get()), "reset");
        ++counts->resets;
        run = 0;
      }
      if (below(4) == 0) {
        at = below(subject.sizes.size());
        const Sizes& to = subject.sizes[at];
        check(qrt_session_reshape(session.get(), to.data(), to.size(), nullptr), "reshape");
        check(qrt_session_reset(session.get()), "reset");  // of what kept its shape
        ++counts->reshapes;
        run = 0;
      }
      if (below(8) == 0) parked = park(session.get(), at, run);
      if (below(8) == 0 && parked.at == at && parked.run < kMostRuns) {
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
      if (outputs != subject.right[at][run]) {
        std::string where;
        for (const qrt_dim& dim : subject.sizes[at])
          where += std::string(dim.name) + " " + std::to_string(dim.value) + ", ";
        fail(subject.name + ": other bytes at " + where + "run " + std::to_string(run) + ", " +
             isa);
      }
      ++run;
    }
  }
}

// Returns the memory that malloc has of the system, not the resident: an emulator's own would be in that.
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
      make_subject("every operator", testing::every_op_model().build(), batches()),
      make_subject("images", testing::images_model().build(), batches()),
      make_subject("dense", testing::dense_model().build(), batches()),
      make_subject("running sum", testing::running_sum_model().build(), {Sizes()}),
      make_subject("sized", testing::SizedModel(8, 7, true).build(), images(seed))};
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
  // The memory that a quarter of the time has reached is enough for all of it.
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
      "%.0f s, seed %u: %ld sessions, %ld reshapes, %ld runs, %ld resets, %ld resumed streams, %ld "
      "loads; a heap of at most %zu KiB in the second quarter of the time, %zu KiB in the second "
      "half; %zu KiB "
      "in use before, %zu after\n",
      seconds, seed, counts.sessions.load(), counts.reshapes.load(), counts.runs.load(),
      counts.resets.load(), counts.resumed.load(), counts.loads.load(), first, last, used_before,
      used_after);
  if (counts.runs < 100) fail("too few runs");
  if (counts.reshapes < 10) fail("too few reshapes");
  if (QRT_TEST_SANITIZED) return 0;  // another heap
  if (used_after > used_before + 64) fail("memory stays in use");
  // With few sessions the greatest ones at once come when they come.
  constexpr long kSessions = 50;
  constexpr size_t kTolerance = 2048;
  if (counts.sessions >= kSessions && last > first + first / 20 + kTolerance) fail("memory grows");
  return 0;
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::soak_main(argc, argv); }
