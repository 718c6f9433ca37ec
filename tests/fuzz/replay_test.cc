// Runs the fuzzers' seeds and every input that once was a finding (regressions/TARGET/) through the
// fuzzers' entry functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

namespace qrt::fuzz {
namespace {

class Replay : public ::testing::TestWithParam<Target> {};

TEST_P(Replay, Seeds) {
  for (const std::vector<uint8_t>& seed : seeds(GetParam().name))
    GetParam().run(seed.data(), seed.size());
}

TEST_P(Replay, NothingAndNoise) {
  GetParam().run(nullptr, 0);
  const std::vector<uint8_t> zeros(4096), ones(4096, 255);
  GetParam().run(zeros.data(), zeros.size());
  GetParam().run(ones.data(), ones.size());
}

TEST_P(Replay, Regressions) {
  const std::filesystem::path folder =
      std::filesystem::path(QRT_TESTS_DIR) / "fuzz/regressions" / GetParam().name;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no findings yet";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    fprintf(stderr, "%s\n", entry.path().c_str());  // stands last if it ends the process
    const std::vector<uint8_t> bytes = read_file(entry.path());
    GetParam().run(bytes.data(), bytes.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, ::testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::fuzz
