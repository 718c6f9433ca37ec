// SPDX-License-Identifier: Apache-2.0
// Runs a piece of a test in a process of its own that may take so much memory and time and no more.
#ifndef QRT_TESTS_SUPPORT_WITHIN_LIMITS_H_
#define QRT_TESTS_SUPPORT_WITHIN_LIMITS_H_

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

// 1 where a sanitizer stands in for the C library's functions and takes addresses by terabytes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QRT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define QRT_TEST_SANITIZED 1
#endif
#endif
#ifndef QRT_TEST_SANITIZED
#define QRT_TEST_SANITIZED 0
#endif

namespace qrt::testing {

// The factor by which a sanitizer or an emulator may be slower than a processor.
#ifdef QRT_TEST_EMULATED
constexpr rlim_t kTimes = 4;
#else
constexpr rlim_t kTimes = QRT_TEST_SANITIZED ? 20 : 1;
#endif

// Ends this process, or the program that it becomes, by SIGALRM when even the slowest of tests has ended: a
// process that waits takes no processor time.
inline void end_if_asleep() { alarm(300); }

struct Limits {
  size_t memory = size_t{1} << 30;  // of addresses, beside those that the test program has already
  unsigned cpu_seconds = 5;
};

// Returns the exit status in waitpid()'s number, or 128 and the signal that ended the process.
inline int exit_status(int waited) {
  if (WIFEXITED(waited)) return WEXITSTATUS(waited);
  const int signal = WTERMSIG(waited);
  fprintf(stderr, "%s: %s\n", signal == SIGALRM ? "it hangs" : "a signal ends it",
          strsignal(signal));
  return 128 + signal;
}

// Returns 0 if f() returned true within the limits and before end_if_asleep(), 1 if it returned
// false, else 128 and the signal that ended it. With a sanitizer only a generous time counts.
template <class F>
int run_within(const Limits& limits, const F& f) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t seconds = limits.cpu_seconds * kTimes;
    const rlimit cpu = {seconds, seconds + 1}, core = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    end_if_asleep();
    if (!QRT_TEST_SANITIZED) {
      const rlimit memory = {limits.memory, limits.memory};
      setrlimit(RLIMIT_AS, &memory);
    }
    _exit(f() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return exit_status(status);
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_WITHIN_LIMITS_H_
