// Runs the fuzzers' seeds and every input that once was a finding (regressions/TARGET/) through the
// fuzzers' entry functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/generator.h"
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

// The models of fuzz_graph: nearly all load, and no operator is missing.
TEST(Generator, MakesEveryOperatorInModelsThatLoad) {
  constexpr int kModels = 600;
  std::mt19937 random(1);
  std::vector<int> seen(static_cast<size_t>(fb::OpOptions::MAX) + 1);
  int loaded = 0, narrow = 0;
  for (int i = 0; i < kModels; ++i) {
    std::vector<uint8_t> choices(20 + random() % 300);
    for (uint8_t& c : choices) c = static_cast<uint8_t>(random() >> 8);
    const std::vector<uint8_t> file = Generator(choices.data(), choices.size()).run();
    Status status;
    const ModelPtr model = load(file.data(), file.size(), &status);
    if (model == nullptr) continue;
    ++loaded;
    narrow += model->unpacked().bytes() != 0;
    for (const fb::Operator* op : *model->file().operators())
      ++seen[static_cast<size_t>(op->options_type())];
  }
  EXPECT_GT(loaded, kModels * 9 / 10);
  EXPECT_GT(narrow, kModels / 20);
  for (size_t type = 1; type < seen.size(); ++type)
    EXPECT_GT(seen[type], 10) << fb::EnumNameOpOptions(static_cast<fb::OpOptions>(type));
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, ::testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::fuzz
