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
  // limits for these. It is stopped at four times the limits.
  CommandResult run_within_cost(const std::string& tool, const std::vector<std::string>& arguments,
                                const std::vector<std::string>& files) {
    uint64_t bytes = 0;
    for (const std::string& file : files) bytes += std::filesystem::file_size(file);
    const uint64_t memory = (uint64_t{256} << 20) + 16 * bytes;
    const double seconds = (1 + static_cast<double>(bytes) / 1e6) * static_cast<double>(kTimes);
    const Limits stop = {4 * memory + (size_t{1} << 30),
                         static_cast<unsigned>(4 + 4 * bytes / 1000000)};
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
    CommandResult result;
    double took = 0;
    uint64_t kilobytes = 0;
    std::istringstream(read(path("cost.txt"))) >> result.status >> took >> kilobytes;
    result.out = read(path("stdout"));
    result.err = read(path("stderr"));
    EXPECT_LE(took, seconds) << bytes << " bytes: " << result.err.substr(0, 1000);
    if (!QRT_TEST_SANITIZED) {
      EXPECT_LE(kilobytes << 10, memory) << bytes << " bytes: " << result.err.substr(0, 1000);
    }
    if (getenv("QRT_TEST_COSTS") != nullptr)
      printf("%s: %llu bytes, %.2f s, %llu MB, status %d\n", tool.c_str(),
             static_cast<unsigned long long>(bytes), took,
             static_cast<unsigned long long>(kilobytes >> 10), result.status);
    return result;
  }
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_COST_H_
