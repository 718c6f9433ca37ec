// SPDX-License-Identifier: Apache-2.0
// Measures how long a session takes to go on at other sizes: reshape_times MODEL.qrt NAME LEAST MOST
//
// The session has memory for the largest size from the start. It goes through all sizes from LEAST to MOST of the
// open dimension NAME, of which the model keeps too few plans for any to be found again, then back and forth
// between two sizes whose plans are kept, and then through all sizes with private plans. Prints the least and
// median microseconds of this thread's time.
#include <qrt/qrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <vector>

namespace {

double now_us() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

void check(qrt_status status, const qrt_error& error) {
  if (status == QRT_OK) return;
  fprintf(stderr, "reshape_times: %s: %s\n", qrt_status_name(status), error.message);
  exit(1);
}

void print(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  printf("%s: least %.1f us, median %.1f us of %zu\n", what, times.front(), times[times.size() / 2],
         times.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: reshape_times MODEL.qrt NAME LEAST MOST\n");
    return 2;
  }
  const char* const name = argv[2];
  const int64_t least = atoll(argv[3]), most = atoll(argv[4]);
  if (least < 0 || most - least < 63) {
    fprintf(stderr, "reshape_times: expected 64 sizes or more\n");
    return 2;
  }
  qrt_error error = {};
  qrt_model* model = nullptr;
  check(qrt_model_load_file(argv[1], nullptr, &model, &error), error);
  qrt_session_options options;
  qrt_struct_init(&options);
  const qrt_dim largest = {name, most};
  options.dims = options.max_dims = &largest;
  options.dim_count = options.max_dim_count = 1;
  qrt_session *session = nullptr, *own = nullptr;
  check(qrt_session_create(model, &options, &session, &error), error);
  options.private_plans = 1;
  check(qrt_session_create(model, &options, &own, &error), error);
  const auto reshape = [&](qrt_session* of, int64_t size) {
    const qrt_dim dim = {name, size};
    const double start = now_us();
    const qrt_status status = qrt_session_reshape(of, &dim, 1, &error);
    const double time = now_us() - start;
    check(status, error);
    return time;
  };
  constexpr int kRounds = 5, kTurns = 200;
  std::vector<double> planned, kept, own_planned;
  for (int round = 0; round < kRounds; ++round)
    for (int64_t size = least; size <= most; ++size) planned.push_back(reshape(session, size));
  for (int turn = 0; turn < kTurns; ++turn) {
    const double time = reshape(session, turn % 2 == 0 ? least : most);
    if (turn > 2) kept.push_back(time);
  }
  for (int round = 0; round < kRounds; ++round)
    for (int64_t size = least; size <= most; ++size) own_planned.push_back(reshape(own, size));
  print("planned", planned);
  print("kept", kept);
  print("planned in private", own_planned);
  qrt_session_destroy(session);
  qrt_session_destroy(own);
  qrt_model_destroy(model);
}
