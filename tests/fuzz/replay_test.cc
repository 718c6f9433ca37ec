// Runs the fuzzers' seeds, the inputs that are kept for what they reach (corpus/TARGET/) and every input that
// once was a finding (regressions/TARGET/) through the fuzzers' entry functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/generator.h"
#include "tests/fuzz/mutate_tflite.h"
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

// False: there is no such folder.
bool replay(const char* kind, const Target& target) {
  const std::filesystem::path folder =
      std::filesystem::path(QRT_TESTS_DIR) / "fuzz" / kind / target.name;
  if (!std::filesystem::exists(folder)) return false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    fprintf(stderr, "%s\n", entry.path().c_str());  // stands last if it ends the process
    const std::vector<uint8_t> bytes = read_file(entry.path());
    target.run(bytes.data(), bytes.size());
  }
  return true;
}

TEST_P(Replay, Corpus) {
  if (!replay("corpus", GetParam())) GTEST_SKIP() << "none is kept yet";
}

TEST_P(Replay, Regressions) {
  if (!replay("regressions", GetParam())) GTEST_SKIP() << "no findings yet";
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

// Files changed again and again: importing any of them ends well, and some still are models.
TEST(TfliteMutator, ChangesModelsIntoOthers) {
  constexpr unsigned kChanges = 400;
  int changed = 0, whole = 0;
  for (const std::vector<uint8_t>& seed : seeds("fuzz_tflite")) {
    std::vector<uint8_t> file = seed;
    for (unsigned n = 0; n < kChanges; ++n) {
      std::vector<uint8_t> next = mutate_tflite(file, n);
      changed += next != file;
      whole += !next.empty();
      file = next.empty() ? seed : std::move(next);
      fuzz_tflite(file.data(), file.size());
    }
  }
  EXPECT_GT(whole, changed / 2);
  EXPECT_GT(changed, static_cast<int>(kChanges) / 2);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, ::testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::fuzz
