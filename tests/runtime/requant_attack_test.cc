// SPDX-License-Identifier: Apache-2.0
// Every number of every requantisation, of every operator, set to what no converter writes: a file is
// refused, or gives the same bytes on every instruction set (and, under the sanitizers, without
// undefined behaviour).
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/every_op_model.h"
#include "tests/support/fields.h"
#include "tests/support/integer_model.h"
#include "tests/support/runner.h"
#include "tests/support/within_limits.h"

namespace qrt::requant_attack_test {
namespace {

using testing::Bytes;
using testing::Field;
using testing::ModelBuilder;

// Writes every field into the file, defaults included.
Bytes build_in_full(ModelBuilder m) {
  flatbuffers::FlatBufferBuilder fbb;
  fbb.ForceDefaults(true);
  fbb.CreateVector(std::vector<uint8_t>(64));
  fb::FinishModelBuffer(fbb, fb::CreateModel(fbb, &m.model()));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

// Numbers that lie about the model's inputs: floats of all sizes, and any bytes.
std::vector<Bytes> inputs_of(const Bytes& file) {
  std::vector<Bytes> inputs;
  const fb::Model& model = *fb::GetModel(file.data());
  for (const uint32_t t : *model.inputs()) {
    size_t n = 1;
    for (const int32_t d : *model.tensors()->Get(t)->shape())
      n *= d < 0 ? 1 : static_cast<size_t>(d);
    const fb::DType dtype = model.tensors()->Get(t)->dtype();
    if (dtype == fb::DType::FLOAT32) {
      const std::vector<int> halves = testing::pattern<int>(n, -400, 400, 5);
      std::vector<float> values;
      for (int v : halves) values.push_back(static_cast<float>(v) / 32);
      inputs.push_back(testing::to_bytes(values));
    } else {
      inputs.push_back(testing::pattern<uint8_t>(dtype == fb::DType::INT16 ? 2 * n : n, 0, 255, 3));
    }
  }
  return inputs;
}

class RequantAttack : public ::testing::TestWithParam<ModelBuilder (*)()> {
 protected:
  RequantAttack() : file_(build_in_full(GetParam()())), inputs_(inputs_of(file_)) {
    const std::vector<const char*> all = testing::machine_isas();
    others_ = {all.back()};
    if (all.size() > 2) others_.push_back(all[1]);
  }

  // Checks that the changed file gives the same bytes everywhere, or is refused.
  void expect_alike(const Bytes& file, const std::string& what) {
    testing::RunOptions options;
    options.isa = "scalar";
    const testing::RunResult expected = testing::run_model(file, inputs_, options);
    ran_ += expected.status == QRT_OK;
    ++tried_;
    if (expected.status != QRT_OK) {
      ASSERT_TRUE(expected.status == QRT_INVALID_MODEL || expected.status == QRT_UNSUPPORTED)
          << what << ": " << expected.message;
      return;
    }
    for (const char* isa : others_) {
      options.isa = isa;
      ASSERT_EQ(testing::run_model(file, inputs_, options).outputs, expected.outputs)
          << what << " on " << isa;
    }
  }

  Bytes file_;
  std::vector<Bytes> inputs_;
  std::vector<const char*> others_;
  size_t tried_ = 0, ran_ = 0;
};

bool is_of(const Field& field, const testing::TypeTable* table) { return field.table == table; }

TEST_P(RequantAttack, NumbersOneByOne) {
  ASSERT_NO_FATAL_FAILURE(expect_alike(file_, "the model itself"));
  ASSERT_EQ(ran_, 1u);
  const auto* stage = fb_types::RequantStageTypeTable();
  const auto* requant = fb_types::RequantTypeTable();
  for (const Field& field : testing::fields_of(file_).numbers) {
    if (!is_of(field, stage) && !is_of(field, requant)) continue;
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{40}, int64_t{-60000},
                                int64_t{100000}, int64_t{INT32_MIN}, int64_t{INT32_MAX}}) {
      Bytes changed = file_;
      testing::set(&changed, field, value);
      ASSERT_NO_FATAL_FAILURE(
          expect_alike(changed, std::string(is_of(field, stage) ? "stage" : "requant") +
                                    " at byte " + std::to_string(field.at) + ", field " +
                                    std::to_string(field.index) + " = " + std::to_string(value)));
    }
  }
  EXPECT_GT(tried_, 500u);
  EXPECT_GT(ran_, tried_ / 5) << "most are numbers that a kernel has to live with";
}

// Clip limits that move everything away from 0, to one value, or nowhere, give the same bytes
// everywhere or are refused.
TEST_P(RequantAttack, ClipLimits) {
  constexpr size_t kClipLo = 3, kClipHi = 4;
  const auto* stage = fb_types::RequantStageTypeTable();
  const testing::Fields fields = testing::fields_of(file_);
  for (size_t i = 0; i < fields.numbers.size(); ++i) {
    const Field& lo = fields.numbers[i];
    if (!is_of(lo, stage) || lo.index != kClipLo) continue;
    const Field& hi = fields.numbers[i + 1];
    ASSERT_EQ(hi.index, kClipHi);
    const std::pair<int32_t, int32_t> kLimits[] = {{-100000, -60000},
                                                   {60000, 100000},
                                                   {5, 5},
                                                   {-7, -7},
                                                   {0, 0},
                                                   {INT32_MIN, INT32_MIN},
                                                   {INT32_MAX, INT32_MAX},
                                                   {100, -100},
                                                   {2000000000, INT32_MAX},
                                                   {INT32_MIN, -2000000000}};
    for (const auto& [least, most] : kLimits) {
      Bytes changed = file_;
      testing::set(&changed, lo, least);
      testing::set(&changed, hi, most);
      ASSERT_NO_FATAL_FAILURE(expect_alike(changed, "clip at byte " + std::to_string(lo.at) + ": " +
                                                        std::to_string(least) + " to " +
                                                        std::to_string(most)));
    }
  }
  EXPECT_GT(ran_, tried_ / 5);
}

INSTANTIATE_TEST_SUITE_P(Models, RequantAttack,
                         ::testing::Values(&testing::every_op_model, &testing::integer_model),
                         [](const auto& info) { return info.index == 0 ? "EveryOp" : "Integer"; });

// Stages of Softmax that move zero are refused: one such file once led to a division by 0.
TEST(SoftmaxStages, ThatMoveZeroAreRefused) {
  ModelBuilder m = testing::integer_model();
  for (auto& op : m.model().operators) {
    auto* o = op->options.AsSoftmax();
    if (o == nullptr || o->kind != fb::SoftmaxKind::INT16) continue;
    o->stages.back()->clip_lo = -100000;
    o->stages.back()->clip_hi = -60000;
  }
  const testing::RunResult r = testing::run_model(m.build(), {});
  EXPECT_EQ(r.status, QRT_INVALID_MODEL);
  EXPECT_NE(r.message.find("-100000 to -60000, expected 0 within them"), std::string::npos)
      << r.message;
}

}  // namespace
}  // namespace qrt::requant_attack_test
