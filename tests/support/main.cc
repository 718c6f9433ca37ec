// SPDX-License-Identifier: Apache-2.0
// Runs the tests of a program that several files make: `PROGRAM NAME...` runs those of NAME.cc alone, `PROGRAM` all of
// them. GoogleTest's options, the filter among them, narrow the choice further.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

namespace {

using ::testing::UnitTest;

// Calls f(full name, file without folder and ending) for each test of this program.
template <class F>
void for_each_test(F f) {
  for (int i = 0; i < UnitTest::GetInstance()->total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *UnitTest::GetInstance()->GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      std::string file = test.file();
      file = file.substr(file.find_last_of('/') + 1);
      f(std::string(suite.name()) + "." + test.name(), file.substr(0, file.find('.')));
    }
  }
}

// Returns whether one of the patterns, which stand between colons, is that of a test.
bool matches(const std::string& patterns, const std::string& test) {
  for (size_t begin = 0; begin <= patterns.size();) {
    const size_t end = std::min(patterns.find(':', begin), patterns.size());
    if (fnmatch(patterns.substr(begin, end - begin).c_str(), test.c_str(), 0) == 0) return true;
    begin = end + 1;
  }
  return false;
}

// Narrows GoogleTest's filter to the tests of some files. Returns false if one of them has no test.
bool choose(std::set<std::string> files) {
  std::string& filter = ::testing::GTEST_FLAG(filter);
  const size_t minus = std::min(filter.find('-'), filter.size());
  const std::string wanted = minus == 0 ? "*" : filter.substr(0, minus);
  const std::string unwanted = filter.substr(minus);
  const std::set<std::string> all = files;
  std::string chosen;
  for_each_test([&](const std::string& test, const std::string& file) {
    if (all.count(file) == 0) return;
    files.erase(file);
    if (matches(wanted, test)) chosen += test + ":";
  });
  for (const std::string& file : files)
    fprintf(stderr, "no test of this program is in %s.cc\n", file.c_str());
  filter = chosen.empty() ? "-*" : chosen + unwanted;
  return files.empty();
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && !choose({argv + 1, argv + argc})) return 2;
  return RUN_ALL_TESTS();
}
