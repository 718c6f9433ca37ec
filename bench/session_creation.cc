// SPDX-License-Identifier: Apache-2.0
// Measures how long sessions of a model take to be made, and what they hold: session_creation MODEL.qrt ...
//
// For 1, 2 and 8 sessions of each model that live at once: the running time of this thread for the
// first one, for each other (median), and for one at another batch, each the median of several
// models loaded anew; the bytes that belong to one session and those that all share; and by how
// much the process has grown when each session has run.
#include <qrt/qrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace {

constexpr int kRounds = 15;
constexpr size_t kOtherBatch = 4;

double now_ms() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// Returns the resident bytes of this process without those of mapped files.
size_t resident_bytes() {
  size_t all = 0, resident = 0, of_files = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr || fscanf(file, "%zu %zu %zu", &all, &resident, &of_files) != 3) exit(1);
  fclose(file);
  return (resident - of_files) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void check(qrt_status status, const qrt_error& error) {
  if (status == QRT_OK) return;
  fprintf(stderr, "session_creation: %s: %s\n", qrt_status_name(status), error.message);
  exit(1);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

qrt_session* create(const qrt_model* model, size_t batch, double* ms) {
  qrt_session_options options;
  qrt_struct_init(&options);
  options.batch = batch;
  qrt_session* session = nullptr;
  qrt_error error = {};
  const double start = now_ms();
  const qrt_status status = qrt_session_create(model, &options, &session, &error);
  *ms = now_ms() - start;
  check(status, error);
  return session;
}

struct Times {
  std::vector<double> first, other, other_batch;
  size_t own = 0, shared = 0, resident = 0;
};

void measure(const char* path, size_t sessions, Times* times) {
  const size_t before = resident_bytes();
  qrt_model* model = nullptr;
  qrt_error error = {};
  check(qrt_model_load_file(path, nullptr, &model, &error), error);
  std::vector<qrt_session*> made;
  std::vector<double> others;
  double ms;
  for (size_t i = 0; i < sessions; ++i) {
    made.push_back(create(model, 0, &ms));
    (i == 0 ? times->first : others).push_back(ms);
  }
  if (!others.empty()) times->other.push_back(median(others));
  qrt_session_info info;
  qrt_struct_init(&info);
  qrt_session_get_info(made[0], &info);
  times->shared = info.shared_memory;
  times->own = info.memory - times->shared;
  qrt_model_info of_model;
  qrt_struct_init(&of_model);
  qrt_model_get_info(model, &of_model);
  if (of_model.default_batch != 0) {
    qrt_session* other = create(model, kOtherBatch, &ms);
    times->other_batch.push_back(ms);
    qrt_session_destroy(other);
  }
  for (qrt_session* session : made) qrt_session_run(session, nullptr);
  times->resident = resident_bytes() - before;
  for (qrt_session* session : made) qrt_session_destroy(session);
  qrt_model_destroy(model);
}

}  // namespace

int main(int argc, char** argv) {
  printf(
      "| model | sessions | first ms | each other ms | batch %zu ms | own KB | shared KB | grown "
      "by KB |\n"
      "|---|---|---|---|---|---|---|---|\n",
      kOtherBatch);
  for (int i = 1; i < argc; ++i) {
    for (const size_t sessions : {1, 2, 8}) {
      Times times;
      for (int round = 0; round < kRounds; ++round) measure(argv[i], sessions, &times);
      printf("| %s | %zu | %.3f | %.3f | %.3f | %zu | %zu | %zu |\n", argv[i], sessions,
             median(times.first), median(times.other), median(times.other_batch), times.own / 1000,
             times.shared / 1000, times.resident / 1000);
    }
  }
}
