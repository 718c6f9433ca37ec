// SPDX-License-Identifier: Apache-2.0
// differential [MODELS [SEED]]: random models, each on every instruction set of the machine with one to
// three threads, in every floating-point state of the caller's at every call, in a child of fork() and on a
// small stack: everywhere the bytes of the scalar kernels on one thread. `./dev test differential` runs
// it at length.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/differential/case.h"
#include "tests/differential/models.h"
#include "tests/differential/small_stack.h"
#include "tests/support/c_api.h"

namespace qrt::differential {
namespace {

constexpr size_t kMostThreads = 3;
constexpr uint64_t kForkEvery = 8;  // models

// The stack that qrt.h promises to be enough. The rest is for the system's data of a thread, for signals and for the
// program's own frames.
constexpr size_t kStack = 64 << 10, kMostStack = 48 << 10;

struct Counts {
  uint64_t models = 0, onnx = 0, refused = 0, large = 0, ways = 0, modes = 0, forks = 0, stacks = 0;
  size_t stack[kCallCount] = {};
};

std::vector<const char*> machine_isas() {
  std::vector<const char*> isas;
  for (size_t i = 0; qrt_isa(i) != nullptr; ++i) isas.push_back(qrt_isa(i));
  return isas;
}

void compare(const Result& expected, const Result& actual, const Case& c) {
  if (actual.memory != actual.needed_memory)
    failed("a session takes " + std::to_string(actual.memory) + " bytes, told were " +
           std::to_string(actual.needed_memory) + ", with " + describe(c));
  if (actual.outputs == expected.outputs) return;
  size_t i = 0, different = 0;
  for (size_t at = expected.outputs.size(); at-- > 0;)
    if (actual.outputs[at] != expected.outputs[at]) i = at, ++different;
  failed(std::to_string(different) + " of " + std::to_string(expected.outputs.size()) +
         " bytes of the outputs differ, the first is byte " + std::to_string(i) + ", with " +
         describe(c));
}

class Driver {
 public:
  void run(const RandomModel& model, uint64_t seed) {
    file_ = &model.file;
    seed_ = seed;
    expected_ = run_case(*file_, {}, seed_);
    compare_ways();
    compare_modes();
    measure_stack();
    if (counts_.models % kForkEvery == 0) run_in_child();
    ++counts_.models;
  }
  Counts* counts() { return &counts_; }
  size_t isa_count() const { return isas_.size(); }

 private:
  void compare_ways() {
    for (const char* isa : isas_)
      for (size_t threads = 1; threads <= kMostThreads; ++threads) {
        Case c;
        c.isa = isa;
        c.threads = threads;
        c.binds = false;
        compare(expected_, run_case(*file_, c, seed_), c);
        ++counts_.ways;
      }
  }

  // Compares every floating-point state at every call; the instruction sets and numbers of threads take turns.
  void compare_modes() {
    const std::vector<FloatMode> modes = float_modes();
    for (size_t mode = 1; mode < modes.size(); ++mode)
      for (int call = 0; call < kCallCount; ++call) {
        Case c;
        c.isa = next_isa();
        c.threads = 1 + counts_.modes / isas_.size() % kMostThreads;
        c.modes[call] = modes[mode];
        compare(expected_, run_case(*file_, c, seed_), c);
        ++counts_.modes;
      }
  }

  void measure_stack() {
    const char* isa = next_isa();
    const size_t scale = strcmp(isa, "amx") == 0 ? 2 : 1;
    ModelPtr model;
    SessionPtr session;
    const auto measure = [&](Call call, const std::function<void()>& body) {
      const size_t used = stack_used(scale * kStack, body);
      if (used > scale * kMostStack)
        failed(std::string(call_name(call)) + " uses " + std::to_string(used) +
               " bytes of stack with " + isa + ", the limit is " +
               std::to_string(scale * kMostStack));
      counts_.stack[call] = std::max(counts_.stack[call], used);
    };
    measure(kLoad, [&] { model = load(*file_, {}); });
    measure(kCreate, [&] { session = create(model.get(), isa, 1, {}); });
    measure(kRun, [&] { qrt_session_run(session.get(), nullptr); });
    measure(kReset, [&] { qrt_session_reset(session.get()); });
    ++counts_.stacks;
  }

  // Runs, in a child process, the parent's session of several threads, which is alone there, and
  // new ones with threads of their own, and destroys everything.
  void run_in_child() {
    const char* isa = next_isa();
    const ModelPtr model = load(*file_, {});
    qrt_pool* made = nullptr;
    if (qrt_pool_create(kMostThreads, &made, nullptr) != QRT_OK) failed("qrt_pool_create");
    PoolPtr pool(made);
    SessionPtr own = create(model.get(), isa, kMostThreads, {});
    SessionPtr pooled = create(model.get(), isa, 0, {}, pool.get());
    Buffers inputs = make_inputs(own.get(), seed_);
    const Bytes expected = run_with_copies(own.get(), {}, &inputs);
    if (run_with_copies(pooled.get(), {}, &inputs) != expected) failed("a pool's session differs");
    for (const SessionPtr* s : {&own, &pooled}) qrt_session_reset(s->get());
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      for (SessionPtr* s : {&own, &pooled}) {
        if (testing::threads_of(s->get()) != 1) failed("a child's inherited session has threads");
        if (run_with_copies(s->get(), {}, &inputs) != expected)
          failed("an inherited session differs");
        s->reset();
      }
      for (qrt_pool* inherited : {static_cast<qrt_pool*>(nullptr), pool.get()}) {
        const SessionPtr session = create(model.get(), isa, kMostThreads, {}, inherited);
        if (run_with_copies(session.get(), {}, &inputs) != expected)
          failed("a child's new session differs");
      }
      pool.reset();
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0)
      failed("a child ends with status " + std::to_string(status) + " (14: it hangs)");
    if (run_with_copies(own.get(), {}, &inputs) != expected)
      failed("the parent differs after a fork");
    ++counts_.forks;
  }

  const char* next_isa() { return isas_[turn_++ % isas_.size()]; }

  const std::vector<const char*> isas_ = machine_isas();
  const Bytes* file_ = nullptr;
  uint64_t seed_ = 0;
  Result expected_;
  Counts counts_;
  size_t turn_ = 0;
};

int main(uint64_t models, uint64_t seed) {
  Driver driver;
  Counts& n = *driver.counts();
  for (uint64_t number = 0; n.models < models; ++number) {
    const RandomModel model = random_model(seed, number);
    set_current_model(model.name + " of seed " + std::to_string(seed), &model.file);
    const ModelPtr loaded = model.file.empty() ? nullptr : load(model.file, {});
    if (loaded == nullptr)
      ++n.refused;
    else if (!is_small(loaded.get()))
      ++n.large;
    else
      driver.run(model, number), n.onnx += number % 2;
  }
  const auto count = [](uint64_t x) { return static_cast<unsigned long long>(x); };
  printf(
      "differential: seed %llu: %llu models (%llu from ONNX; %llu refused, %llu too large beside "
      "them), "
      "%zu instruction sets, 0 differences:\n"
      "  %llu times an instruction set and a number of threads, %llu times a floating-point state "
      "at a "
      "call, %llu forks\n"
      "  %llu times a stack of %zu bytes: load used %zu, create %zu, run %zu, reset %zu at most\n",
      count(seed), count(n.models), count(n.onnx), count(n.refused), count(n.large),
      driver.isa_count(), count(n.ways), count(n.modes), count(n.forks), count(n.stacks), kStack,
      n.stack[kLoad], n.stack[kCreate], n.stack[kRun], n.stack[kReset]);
  return 0;
}

}  // namespace
}  // namespace qrt::differential

int main(int argc, char** argv) {
  const uint64_t models = argc > 1 ? strtoull(argv[1], nullptr, 0) : 300;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
  return qrt::differential::main(models, seed);
}
