// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/cost.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {
namespace {

constexpr uint64_t kMostNanoseconds = 1000000000, kMostBytes = uint64_t{256} << 20;
constexpr size_t kPowers = 64;

// libFuzzer reads what stands in this section after each input.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[2 * kPowers];

uint64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

// Returns the process's greatest resident memory since reset_peak().
uint64_t peak_bytes() {
  char text[4096] = {};
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  const char* line = n > 0 ? strstr(text, "VmHWM:") : nullptr;
  return line == nullptr ? 0 : strtoull(line + 6, nullptr, 10) << 10;
}

void reset_peak() {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (write(fd, "5", 1) != 1) failed("QRT_FUZZ_COST needs /proc/self/clear_refs");
  close(fd);
}

size_t power_of(uint64_t v) { return v == 0 ? 0 : 63 - static_cast<size_t>(__builtin_clzll(v)); }

}  // namespace

CostWatch* CostWatch::make() {
  const char* wanted = getenv("QRT_FUZZ_COST");
  static CostWatch watch;
  return wanted != nullptr && strcmp(wanted, "1") == 0 ? &watch : nullptr;
}

void CostWatch::begin() {
  reset_peak();
  bytes_ = peak_bytes();
  nanoseconds_ = nanoseconds();
}

void CostWatch::end(size_t size) {
  const uint64_t took = nanoseconds() - nanoseconds_, peak = peak_bytes();
  const uint64_t bytes = peak > bytes_ ? peak - bytes_ : 0;
  if (took > kMostNanoseconds || bytes > kMostBytes)
    failed(std::to_string(size) + " bytes took " + std::to_string(took / 1000000) + " ms and " +
           std::to_string(bytes >> 20) + " MB");
  const uint64_t each = size == 0 ? 1 : size;
  counters[power_of(took / each)] = 1;
  counters[kPowers + power_of(bytes / each)] = 1;
}

}  // namespace qrt::fuzz
