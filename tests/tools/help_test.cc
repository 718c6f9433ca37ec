// SPDX-License-Identifier: Apache-2.0
// --help of every tool: it fits a terminal, says what stands for each value, and shows commands that the tool
// knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/command.h"

namespace qrt::help_test {
namespace {

using testing::CommandResult;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

class Help : public testing::CommandTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // Returns the lines between the title and the next empty line.
  static std::vector<std::string> section(const std::vector<std::string>& lines,
                                          const std::string& title) {
    auto at = std::find(lines.begin(), lines.end(), title);
    std::vector<std::string> found;
    for (; at != lines.end() && ++at != lines.end() && !at->empty();) found.push_back(*at);
    return found;
  }
};

TEST_P(Help, FitsEveryWidth) {
  for (const size_t width : {40u, 60u, 80u, 132u}) {
    setenv("COLUMNS", std::to_string(width).c_str(), 1);
    const CommandResult help = run(GetParam(), {"--help"});
    unsetenv("COLUMNS");
    ASSERT_EQ(help.status, 0) << help.err;
    EXPECT_EQ(help.err, "");
    for (const std::string& line : lines_of(help.out)) {
      // A command stays on its line.
      const bool is_command = line.rfind("  " + std::string(GetParam()) + " ", 0) == 0 ||
                              line.rfind("      --", 0) == 0;
      EXPECT_LE(line.size(), is_command ? std::max<size_t>(width, 80) : width) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << "'" << line << "'";
    }
  }
}

TEST_P(Help, NamesTheProgramAndNotItsFolder) {
  const CommandResult help = run(GetParam(), {"--help"});
  EXPECT_NE(help.out.find("\nUsage: " + std::string(GetParam()) + " [OPTIONS] MODEL"),
            std::string::npos)
      << help.out;
  EXPECT_EQ(help.out.find(QRT_BIN_DIR), std::string::npos);
  EXPECT_EQ(help.out.find("./" + std::string(GetParam())), std::string::npos);
}

TEST_P(Help, SaysWhatStandsForEachValue) {
  const std::regex option(
      "  (-[a-z], )?--[a-z][a-z0-9-]*(\\[=FORMAT\\]| "
      "(FILE|DIR|NAME|SIZES|DIM|STEM|FORMAT|SHAPE|ORDER|LEVEL|CPUS|"
      "INPUT|DB|NODE|COMMAND|PATTERN=BITS|TENSOR=LOW:HIGH|HEX|SIZE|NUMBERS?|COUNT|BYTES|MINUTES|"
      "POINTS|N,"
      "N\\.\\.\\.|Q,Q\\.\\.\\.))?(  .*)?");
  size_t options = 0;
  for (const std::string& line : lines_of(run(GetParam(), {"--help"}).out)) {
    if (line.rfind("  -", 0) != 0) continue;
    ++options;
    EXPECT_TRUE(std::regex_match(line, option)) << line;
  }
  EXPECT_GE(options, 6u);
}

TEST_P(Help, ShowsThreeCommandsOfKnownOptions) {
  const std::vector<std::string> lines = lines_of(run(GetParam(), {"--help"}).out);
  std::set<std::string> known;
  const std::regex name("--?[a-z][a-z0-9-]*");
  for (const std::string& line : lines)
    if (line.rfind("  -", 0) == 0)
      for (std::sregex_iterator at(
               line.begin(),
               line.begin() + std::min<ptrdiff_t>(26, static_cast<ptrdiff_t>(line.size())), name),
           end;
           at != end; ++at)
        known.insert(at->str());
  size_t commands = 0;
  const std::regex used(" (--?[a-z][a-z0-9-]*)");
  for (std::string line : section(lines, "Examples:")) {
    commands += line.rfind("  " + std::string(GetParam()) + " ", 0) == 0;
    // The line may go on with another program of a pipe, and with the purpose of the command.
    line = line.substr(0, line.find(" | "));
    const size_t words = line.find("  ", 6);
    line = line.substr(0, words);
    for (std::sregex_iterator at(line.begin(), line.end(), used), end; at != end; ++at)
      EXPECT_EQ(known.count((*at)[1].str()), 1u) << (*at)[1] << " of " << line;
  }
  EXPECT_GE(commands, 3u);
}

TEST_P(Help, IsWholeWithoutAnyEnvironment) {
  const std::string usual = run(GetParam(), {"-h"}).out;
  for (const char* name : {"LC_ALL", "LANG", "LC_NUMERIC"}) setenv(name, "de_DE.UTF-8", 1);
  EXPECT_EQ(run(GetParam(), {"--help"}).out, usual);
  for (const char* name : {"LC_ALL", "LANG", "LC_NUMERIC"}) unsetenv(name);
}

INSTANTIATE_TEST_SUITE_P(All, Help,
                         ::testing::Values("qrt_run", "qrt_bench", "qrt_inspect", "qrt_convert",
                                           "qrt_quantize", "qrt_diff", "qrt_doctor"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace qrt::help_test
