// SPDX-License-Identifier: Apache-2.0
// Runs the fuzzers' seeds, the inputs that are kept for what they reach (corpus/TARGET/) and every input that
// once was a finding (regressions/TARGET/) through the fuzzers' entry functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>

#include "converter/quantize/float/float_model.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/cost.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/generator.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/fields.h"
#include "tests/support/tflite_builder.h"
#include "tflite_types.h"

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

// Runs all files of a folder. Returns false where there is no such folder.
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

// The generator makes every operator, and nearly all its models load.
TEST(Generator, MakesEveryOperatorInModelsThatLoad) {
  constexpr int kModels = 800;
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

// Seeds of float networks are read and simplified, so that mutations of them begin behind the reader.
TEST(Seeds, OfFloatNetworksAreTaken) {
  for (const std::vector<uint8_t>& seed : seeds("fuzz_float")) {
    const std::string path = ::testing::TempDir() + "qrt_replay_test.onnx";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
    quantize::FloatModel model;
    Status status = quantize::read_float_model(path, &model);
    std::filesystem::remove(path);
    ASSERT_TRUE(status.ok()) << status.message();
    quantize::Dims shape = model.inputs[0].shape;
    shape[0] = 1;
    status = quantize::fix_input_shapes({{{model.inputs[0].name, shape}}}, &model);
    if (status.ok()) status = quantize::simplify(&model);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_GT(model.nodes.size(), 5u);
  }
}

// Files changed again and again: importing any of them ends well, and some still are models.
void change_again_and_again(const Target& target, decltype(mutate_tflite)* mutate) {
  constexpr unsigned kChanges = 400;
  int changed = 0, whole = 0;
  for (const std::vector<uint8_t>& seed : seeds(target.name)) {
    std::vector<uint8_t> file = seed;
    for (unsigned n = 0; n < kChanges; ++n) {
      std::vector<uint8_t> next = mutate(file, n);
      changed += next != file;
      whole += !next.empty();
      file = next.empty() || n % 16 == 15 ? seed : std::move(next);
      target.run(file.data(), file.size());
    }
  }
  EXPECT_GT(whole, changed / 2);
  EXPECT_GT(changed, static_cast<int>(kChanges) / 2);
}

TEST(Mutators, ChangeModelsIntoOthers) {
  change_again_and_again({"fuzz_tflite", fuzz_tflite}, mutate_tflite);
  change_again_and_again({"fuzz_espdl", fuzz_espdl}, mutate_espdl);
  change_again_and_again({"fuzz_cvm", fuzz_cvm}, mutate_cvm);
}

// Sets the types of every union of these tables; returns how many there are.
int set_union_types(std::vector<uint8_t>* file, const flatbuffers::TypeTable* root,
                    const flatbuffers::TypeTable* table, int64_t type) {
  int count = 0;
  for (const testing::Field& field : testing::fields_of(*file, root).numbers) {
    if (field.table != table || table->type_codes[field.index].base_type != flatbuffers::ET_UTYPE)
      continue;
    testing::set(file, field, type);
    ++count;
  }
  return count;
}

// Mutators take a union's type without its table, and the greatest zero points: a verifier lets them pass, and
// a sanitizer sees what they do to a mutator. A type that the schema does not have is written without a table.
TEST(Mutators, TakeAUnionWithoutItsTable) {
  testing::ModelBuilder m;
  auto& options = m.op(fb::LutOptionsT(), {m.input({4})}, {m.output({4})}).options;
  options.Reset();
  options.type = static_cast<fb::OpOptions>(255);
  std::vector<uint8_t> model = m.build();
  ASSERT_EQ(set_union_types(&model, fb_types::ModelTypeTable(), fb_types::OperatorTypeTable(),
                            static_cast<int>(fb::OpOptions::Lut)),
            1);
  for (unsigned n = 0; n < 100; ++n) ASSERT_FALSE(mutate_model(model, n).empty());

  using tflite::TensorType;
  testing::TfliteBuilder b;
  const int x = b.input(TensorType::INT8, {4}, 0.5f, 0);
  const int y = b.output(TensorType::INT8, {4}, 0.5f, 0);
  b.op(tflite::BuiltinOperator::RELU, {x}, {y});
  for (const int tensor : {x, y}) {
    b.at(tensor).quantization->zero_point = {INT64_MAX};
    b.at(tensor).quantization->details.type = static_cast<tflite::QuantizationDetails>(255);
  }
  std::vector<uint8_t> source = b.build();
  ASSERT_EQ(set_union_types(&source, tflite_types::ModelTypeTable(),
                            tflite_types::QuantizationParametersTypeTable(), 1),
            2);
  for (unsigned n = 0; n < 1000; ++n) ASSERT_FALSE(mutate_tflite(source, n).empty());
}

// Mutators take numbers that are not aligned: a vector of int64 that begins four bytes late, so
// that its first number becomes its length.
TEST(Mutators, TakeNumbersThatAreNotAligned) {
  testing::TfliteBuilder b;
  const int x = b.input(tflite::TensorType::INT8, {4}, 0.5f, 0);
  b.at(x).quantization->zero_point = {1, 7};
  std::vector<uint8_t> file = b.build();
  int moved = 0;
  for (const testing::Reference& reference :
       testing::fields_of(file, tflite_types::ModelTypeTable()).references) {
    if (reference.element != flatbuffers::ET_LONG) continue;
    const auto offset = static_cast<uint32_t>(reference.to + 4 - reference.at);
    memcpy(file.data() + reference.at, &offset, sizeof offset);
    ++moved;
  }
  ASSERT_EQ(moved, 1);
  for (unsigned n = 0; n < 100; ++n) ASSERT_FALSE(mutate_tflite(file, n).empty());
}

// A process that exceeds the limits is ended: QRT_FUZZ_COST=1 calls begin() and end() around each input.
TEST(CostWatch, EndsTheProcessBeyondItsLimits) {
  CostWatch watch;
  watch.begin();
  watch.end(1);
  const auto take_memory = [&] {
    watch.begin();
    const std::vector<char> block(size_t{300} << 20, 1);
    watch.end(1);
  };
  EXPECT_DEATH(take_memory(), "1 bytes took [0-9]+ ms and (29|3[0-9])[0-9] MB");
  const auto take_time = [&] {
    watch.begin();
    for (const clock_t start = clock(); clock() - start < CLOCKS_PER_SEC * 5 / 4;) {
    }
    watch.end(1);
  };
  EXPECT_DEATH(take_time(), "1 bytes took 1[0-9][0-9][0-9] ms");
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, ::testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace qrt::fuzz
