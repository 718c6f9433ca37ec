// SPDX-License-Identifier: Apache-2.0
// Limits what a tool may cost with a file from outside: 256 MB + 16 times the file, and a second + a second for
// each megabyte of it.
#ifndef QRT_TESTS_SUPPORT_COST_H_
#define QRT_TESTS_SUPPORT_COST_H_

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace qrt::testing {

class CostTest : public CommandTest {
 protected:
  // Runs a tool on arguments, of which `files` are the hostile ones, and expects it to keep within the
  // limits for these. It is stopped at four times the limits. A run that takes longer than its limit is
  // repeated up to four times, and the shortest one counts: other programs on the machine make a run
  // longer (by a factor of three on a busy host), and nothing makes it shorter than its work.
  CommandResult run_within_cost(const std::string& tool, const std::vector<std::string>& arguments,
                                const std::vector<std::string>& files) {
    constexpr int kAttempts = 5;
    uint64_t bytes = 0;
    for (const std::string& file : files) bytes += std::filesystem::file_size(file);
    const uint64_t memory = (uint64_t{256} << 20) + 16 * bytes;
    const double seconds = (1 + static_cast<double>(bytes) / 1e6) * static_cast<double>(kTimes);
    const Limits stop = {4 * memory + (size_t{1} << 30),
                         static_cast<unsigned>(4 + 4 * bytes / 1000000)};
    Cost cost = measure(tool, arguments, stop);
    for (int attempt = 1; attempt < kAttempts && cost.seconds > seconds; ++attempt) {
      const Cost again = measure(tool, arguments, stop);
      if (again.seconds < cost.seconds) cost = again;
    }
    EXPECT_LE(cost.seconds, seconds) << bytes << " bytes: " << cost.result.err.substr(0, 1000);
    if (!QRT_TEST_SANITIZED) {
      EXPECT_LE(cost.kilobytes << 10, memory)
          << bytes << " bytes: " << cost.result.err.substr(0, 1000);
    }
    if (getenv("QRT_TEST_COSTS") != nullptr)
      printf("%s: %llu bytes, %.2f s, %llu MB, status %d\n", tool.c_str(),
             static_cast<unsigned long long>(bytes), cost.seconds,
             static_cast<unsigned long long>(cost.kilobytes >> 10), cost.result.status);
    return cost.result;
  }

 private:
  struct Cost {
    CommandResult result;
    double seconds = 0;      // of the CPU
    uint64_t kilobytes = 0;  // the most memory at any time
  };

  // Runs the tool in a process of its own, so that its children's use is the tool's alone.
  Cost measure(const std::string& tool, const std::vector<std::string>& arguments,
               const Limits& stop) {
    const int ended = run_within(stop, [&] {
      const CommandResult r = run(tool, arguments);
      rusage used;
      getrusage(RUSAGE_CHILDREN, &used);
      const double took = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                          static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
      write("cost.txt", std::to_string(r.status) + " " + std::to_string(took) + " " +
                            std::to_string(used.ru_maxrss));
      return true;
    });
    EXPECT_EQ(ended, 0);
    Cost cost;
    std::istringstream(read(path("cost.txt"))) >> cost.result.status >> cost.seconds >>
        cost.kilobytes;
    cost.result.out = read(path("stdout"));
    cost.result.err = read(path("stderr"));
    return cost;
  }
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_COST_H_
