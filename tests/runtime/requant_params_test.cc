// SPDX-License-Identifier: Apache-2.0
// From the file's requantisation to the kernels': what is repeated, padded and carried over.
// (What is refused: verify_test.)
#include "runtime/requant_params.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/model_builder.h"

namespace qrt::requant_params_test {
namespace {

// Owns the flatbuffer of one Requant table.
class Stored {
 public:
  explicit Stored(const fb::RequantT& requant) {
    fbb_.Finish(fb::CreateRequant(fbb_, &requant));
    table_ = flatbuffers::GetRoot<fb::Requant>(fbb_.GetBufferPointer());
  }
  const fb::Requant& operator*() const { return *table_; }

 private:
  flatbuffers::FlatBufferBuilder fbb_;
  const fb::Requant* table_;
};

TEST(RequantParams, RepeatsAPerTensorScaleForEveryChannelAndBeyond) {
  const Stored stored(*testing::requant_f32({0.25f}, 7));
  for (size_t channels : {1, 63, 64, 65, 200}) {
    ASSERT_TRUE(check_requant(&*stored, channels, false).ok());
    const RequantParams p = make_requant(*stored, channels);
    ASSERT_EQ(p.requant.kind, RequantKind::kF32);
    ASSERT_EQ(p.requant.zero_point, 7);
    ASSERT_EQ(p.requant.stage_count, 0);
    ASSERT_EQ(p.requant.scale, p.scale.data());
    // Whole registers of 64 from any multiple of 16 on.
    ASSERT_GE(p.scale.size(), (channels + 15) / 16 * 16 + 48);
    for (float scale : p.scale) ASSERT_EQ(scale, 0.25f);
  }
}

TEST(RequantParams, KeepsPerChannelScalesAndPadsWithTheLast) {
  const std::vector<float> scale = {0.5f, 0.25f, 0.125f};
  const Stored stored(*testing::requant_f32(scale));
  ASSERT_TRUE(check_requant(&*stored, 3, false).ok());
  ASSERT_FALSE(check_requant(&*stored, 4, false).ok());
  const RequantParams p = make_requant(*stored, 3);
  for (size_t i = 0; i < p.scale.size(); ++i) {
    ASSERT_EQ(p.scale[i], scale[i < 3 ? i : 2]);
  }
}

TEST(RequantParams, StaysInTheFileWhereWholeRegistersCanBeRead) {
  for (size_t channels : {15, 16, 32, 33}) {
    fb::RequantT source = *testing::requant_int(1 << 30, 31, 9);
    source.stages[0]->multiplier.assign(channels, 1 << 30);
    source.stages[0]->shift.assign(channels, 31);
    const Stored stored(source);
    const auto& stage = *(*stored).stages()->Get(0);
    const uint8_t *const multiplier = stage.multiplier()->Data(), *const shift =
                                                                      stage.shift()->Data();
    const size_t registers = (channels + 15) / 16 * 16 + 48;
    const uint8_t* const end =
        std::max(multiplier + registers * sizeof(int32_t), shift + registers);
    const bool stays = channels % 16 == 0;
    const RequantParams p = make_requant(*stored, channels, end);
    EXPECT_EQ(p.requant.stages[0].multiplier == static_cast<const void*>(multiplier), stays);
    EXPECT_EQ(p.requant.stages[0].shift == static_cast<const void*>(shift), stays);
    EXPECT_EQ(p.multiplier[0].empty(), stays);
    const uint8_t* const early = multiplier + registers * sizeof(int32_t) - 1;
    const RequantParams copied = make_requant(*stored, channels, early);
    EXPECT_EQ(copied.requant.stages[0].multiplier, copied.multiplier[0].data());
    EXPECT_EQ(copied.multiplier[0].back(), 1 << 30);
  }
}

TEST(RequantParams, CarriesEveryFieldOver) {
  fb::RequantT source = *testing::requant_f32({1.0f}, -100);
  source.rounding = fb::Rounding::HALF_UP;
  source.zero_point_before = true;
  source.fused = true;
  source.offset = 128;
  source.lo = 3;
  source.hi = 250;
  const Stored stored(source);
  ASSERT_TRUE(check_requant(&*stored, 1, false).ok());
  const Requant r = make_requant(*stored, 1).requant;
  ASSERT_EQ(r.round, Round::kHalfUp);
  ASSERT_TRUE(r.zero_point_before);
  ASSERT_TRUE(r.fused);
  ASSERT_EQ(r.zero_point, -100);
  ASSERT_EQ(r.offset, 128);
  ASSERT_EQ(r.lo, 3);
  ASSERT_EQ(r.hi, 250);
}

TEST(RequantParams, TwoStagesPointAtTheirOwnArraysAfterAMove) {
  fb::RequantT source = *testing::requant_int(1 << 30, 31, 9);
  source.stages.push_back(std::make_unique<fb::RequantStageT>());
  source.stages[1]->multiplier = {1, 2};
  source.stages[1]->shift = {0, 62};
  source.stages[1]->rounding = fb::Rounding::FLOOR;
  source.stages[1]->clip_lo = -5;
  source.stages[1]->clip_hi = 5;
  const Stored stored(source);
  ASSERT_TRUE(check_requant(&*stored, 2, false).ok());
  RequantParams first = make_requant(*stored, 2);
  const RequantParams p = std::move(first);
  ASSERT_EQ(p.requant.kind, RequantKind::kInt);
  ASSERT_EQ(p.requant.stage_count, 2);
  ASSERT_EQ(p.requant.scale, nullptr);
  for (int s = 0; s < 2; ++s) {
    ASSERT_EQ(p.requant.stages[s].multiplier, p.multiplier[s].data());
    ASSERT_EQ(p.requant.stages[s].shift, p.shift[s].data());
  }
  ASSERT_EQ(p.multiplier[0][1], 1 << 30);
  ASSERT_EQ(p.multiplier[1][1], 2);
  ASSERT_EQ(p.shift[1][1], 62);
  ASSERT_EQ(p.requant.stages[1].round, Round::kFloor);
  ASSERT_EQ(p.requant.stages[1].clip_lo, -5);
  ASSERT_EQ(p.requant.stages[1].clip_hi, 5);
}

TEST(RequantParams, AccumulatorsAreAcceptedOnlyWhereAsked) {
  const Stored stored(*testing::requant_acc());
  ASSERT_TRUE(check_requant(&*stored, 5, true).ok());
  ASSERT_FALSE(check_requant(&*stored, 5, false).ok());
  ASSERT_EQ(make_requant(*stored, 5).requant.kind, RequantKind::kAcc);
}

}  // namespace
}  // namespace qrt::requant_params_test
