// SPDX-License-Identifier: Apache-2.0
// Elementwise operators, Softmax and Concat.
#include <cmath>
#include <functional>

#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

std::string tiny_clip(BitsModel& m, const std::string& x) {
  return m.b.node("Clip", {x, m.b.scalar(-3e-9f), m.b.scalar(4e-9f)});
}

std::string clip_at_tiny_scale(BitsModel& m) {
  return tiny_clip(m, m.b.qdq<uint8_t>(m.real({1, 12}, 1e-8f), 1e-10f, 128));
}

void clip_at_tiny_scales_is_dropped(BitsModel& m) { m.stored(clip_at_tiny_scale(m), 1e-10f); }

void clip_before_identity_is_dropped(BitsModel& m) {
  m.stored(m.b.node("Identity", {clip_at_tiny_scale(m)}), 1e-10f);
}

void clip_before_what_changes_nothing_is_dropped(BitsModel& m) {
  m.stored(m.b.node("Mul", {clip_at_tiny_scale(m), m.b.scalar(1.0f)}), 1e-10f);
  m.stored(m.b.node("Add", {m.b.scalar(0.0f), clip_at_tiny_scale(m)}), 1e-10f);
  m.stored(m.b.node("Cast", {clip_at_tiny_scale(m)}, {{"to", 1}}), 1e-10f);
}

void add_in_float_before_what_is_not_seen_through(BitsModel& m) {
  const Dims dims = {1, 4, 4, 4};
  const std::string x = m.image(dims), y = m.image(dims, 1.0f / 128);
  m.stored(m.b.node("Flatten", {m.b.node("Add", {x, y})}), 3.0f / 256, 100);
  m.stored(m.b.node("Relu", {m.b.node("Add", {x, y})}), 3.0f / 256, 100);
  m.stored(m.b.node("Relu", {m.b.node("Mul", {x, y})}), 3.0f / 256, 100);
}

void concat_to_float(BitsModel& m) {
  m.b.output(m.b.node("Concat",
                      {m.image({1, 2, 3}), m.b.node("Sigmoid", {m.image({1, 2, 3}, 0.03f, 100)})},
                      {{"axis", 1}}));
}

// Joins an empty part, which does not change the others, whatever its scale.
void concat_of_an_empty_part(BitsModel& m) {
  const std::string x = m.image({2, 1, 3}),
                    none = m.b.dq<uint8_t>(m.b.constant<uint8_t>({2, 0, 3}, {}), 0.5f, 7);
  m.stored(m.b.node("Concat", {x, none}, {{"axis", 1}}), 1.0f / 50, 100);
  m.stored(m.b.node("Concat", {none, x, m.image({2, 2, 3}, 0.03f, 90)}, {{"axis", 1}}), 0.02f, 99);
  m.b.output(m.b.node("Concat", {none, x}, {{"axis", 1}}));
}

void softmax_of_one_element(BitsModel& m) {
  for (const float scale : {1.0f / 256, 1.0f / 128, 1.5f})
    m.stored(m.b.node("Softmax", {m.image({2, 3, 1})}, {{"axis", -1}}), scale, 30);
}

void gelu_by_tanh(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(20);
  m.stored(m.b.node("Gelu", {m.image({8, 16})}, {{"approximate", "tanh"}}), 1.0f / 128, 30);
}

void constant_along_several_axes(BitsModel& m) {
  m.stored(m.b.node("Mul", {m.image({1, 3, 4, 5}), m.floats({3, 4, 5})}));
  m.stored(m.b.node("Sub", {m.floats({4, 5}), m.image({1, 3, 4, 5})}));
}

// what cameras deliver
void integers_cast_to_float(BitsModel& m) {
  const std::string x = m.b.node("Cast", {m.pixels({1, 3, 4, 4})}, {{"to", 1}});
  m.stored(m.b.node("Mul", {x, m.b.scalar(1.0f / 255)}), 1.0f / 64, 0);
}

void batch_normalization(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(15);
  m.stored(m.b.node("BatchNormalization",
                    {m.image({2, 6, 3, 5}), m.floats({6}, 1.7f), m.floats({6}), m.floats({6}, 0.3f),
                     m.b.constant<float>({6}, {0.7f, 1.3f, 0.02f, 2.1f, 0.9f, 3.3f})}));
}

// Adds Relus and tables in front of Clips of tiny scales. A Relu becomes part of the Clip behind
// it; tables are one for each channel.
void relus_and_tables_before_clips_of_tiny_scales(BitsModel& m) {
  const std::string x = m.b.qdq<uint8_t>(m.real({1, 2, 2, 3}, 1e-8f), 1e-10f, 128);
  m.stored(tiny_clip(m, m.b.node("Relu", {x})), 1e-10f, 100);
  const std::string y = m.b.node("BatchNormalization",
                                 {x, m.b.constant<float>({2}, {0.5f, 4.0f}), m.floats({2}, 1e-10f),
                                  m.floats({2}, 1e-10f), m.b.constant<float>({2}, {1.0f, 1.0f})});
  m.stored(tiny_clip(m, y), 4e-10f, 128);
}

void where_of_a_constant(BitsModel& m) {
  const std::string condition =
      m.b.node("Cast", {m.b.constant<uint8_t>({1, 3, 2}, {1, 0, 0, 1, 1, 0})}, {{"to", 9}});
  const auto where = [&](const std::string& a, const std::string& b) {
    return m.b.node("Where", {condition, a, b});
  };
  for (const float c : {0.9945331f, -0.3333333f, 0.0f})
    m.stored(where(m.image({1, 3, 2}), m.b.scalar(c)), c == 0 ? 0.01f : std::fabs(c / 2.5f));
  m.stored(where(m.b.scalar(0.7777777f), m.image({1, 3, 2})), 0.7777777f / 2.5f, 20);
}

}  // namespace

std::vector<BitsCase> elementwise_cases() {
  return {
      {"ClipAtTinyScalesIsDropped", clip_at_tiny_scales_is_dropped},
      {"ClipBeforeIdentityIsDropped", clip_before_identity_is_dropped},
      {"ClipBeforeWhatChangesNothingIsDropped", clip_before_what_changes_nothing_is_dropped},
      {"AddInFloatBeforeWhatIsNotSeenThrough", add_in_float_before_what_is_not_seen_through},
      {"ConcatToFloat", concat_to_float},
      {"ConcatOfAnEmptyPart", concat_of_an_empty_part},
      {"SoftmaxOfOneElement", softmax_of_one_element},
      {"GeluByTanh", gelu_by_tanh},
      {"ConstantAlongSeveralAxes", constant_along_several_axes},
      {"IntegersCastToFloat", integers_cast_to_float},
      {"BatchNormalization", batch_normalization},
      {"RelusAndTablesBeforeClipsOfTinyScales", relus_and_tables_before_clips_of_tiny_scales},
      {"WhereOfAConstant", where_of_a_constant},
  };
}

}  // namespace qrt::testing
