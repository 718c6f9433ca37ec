// SPDX-License-Identifier: Apache-2.0
// Settings that the user gives for single nodes and tensors are read from options and files, or refused.
#include "converter/quantize/overrides/overrides.h"

#include <gtest/gtest.h>

#include "tests/support/command.h"

namespace qrt::quantize::overrides_test {
namespace {

class OverridesFile : public testing::CommandTest {
 protected:
  Status read(const std::string& text, Overrides* overrides) {
    return read_overrides(write("config.json", text), overrides);
  }
};

TEST(Patterns, StandForNames) {
  EXPECT_TRUE(matches("Conv_1", "Conv_1"));
  EXPECT_FALSE(matches("Conv_1", "Conv_12"));
  EXPECT_TRUE(matches("/head/*", "/head/conv/Conv"));
  EXPECT_TRUE(matches("*Conv", "/head/conv/Conv"));
  EXPECT_TRUE(matches("a*b*c", "a__b_b_c"));
  EXPECT_FALSE(matches("a*b*c", "a__b_b_"));
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("x[0]", "x[0]"));
  // Matching takes a time that does not grow exponentially with the number of stars.
  std::string stars;
  for (int i = 0; i < 100; ++i) stars += "*a";
  EXPECT_FALSE(matches(stars + "b", std::string(10000, 'a')));
}

TEST(OverrideTexts, SayBitsAndRanges) {
  Overrides o;
  ASSERT_TRUE(add_bits("/head/*=16", &o).ok());
  ASSERT_TRUE(add_bits("a=b=8", &o).ok());
  EXPECT_EQ(o.bits[0], std::make_pair(std::string("/head/*"), 16));
  EXPECT_EQ(o.bits[1], std::make_pair(std::string("a=b"), 8));
  ASSERT_TRUE(add_range("x=-1.5:2e3", &o).ok());
  EXPECT_EQ(o.ranges.at("x").range.lo, -1.5f);
  EXPECT_EQ(o.ranges.at("x").range.hi, 2000.0f);
  for (const char* text : {"x", "=8", "x=7", "x=", "x=16b"})
    EXPECT_EQ(add_bits(text, &o).code(), Code::kInvalidArgument) << text;
  for (const char* text :
       {"x", "x=1", "x=1:", "x=:1", "x=2:1", "x=1:1", "x=nan:1", "x=0:inf", "x=0:1z"})
    EXPECT_EQ(add_range(text, &o).code(), Code::kInvalidArgument) << text;
}

TEST_F(OverridesFile, HoldsAllOfThem) {
  Overrides o;
  ASSERT_TRUE(
      read(R"({"exclude": ["a", "Softmax"], "bits": {"b*": 16}, "ranges": {"c": [-1, 2]}})", &o)
          .ok());
  EXPECT_EQ(o.exclude, (std::vector<std::string>{"a", "Softmax"}));
  EXPECT_EQ(o.bits[0], std::make_pair(std::string("b*"), 16));
  EXPECT_EQ(o.ranges.at("c").range.lo, -1);
  EXPECT_FALSE(o.ranges.at("c").has_coding);
}

TEST_F(OverridesFile, GivesBackWhatWasSaved) {
  const Scheme& u8 = *find_scheme("ort-u8");
  const std::map<std::string, Coding> codings = {{"x", coding_for(u8, 8, {-0.37f, 1.91f})},
                                                 {"y", coding_for(u8, 16, {0, 3})}};
  Overrides o;
  ASSERT_TRUE(read(save_ranges(codings, true), &o).ok());
  EXPECT_TRUE(o.is_equalised);
  for (const auto& [name, coding] : codings) {
    EXPECT_TRUE(coding_of(o.ranges.at(name), u8, coding.bits) == coding) << name;
    // Another scheme has a coding of its own for the range.
    const Coding other = coding_of(o.ranges.at(name), *find_scheme("espdl-s8"), 8);
    EXPECT_EQ(other.zero_point, 0);
    EXPECT_EQ(other.bits, 8);
  }
}

TEST_F(OverridesFile, IsRefusedWhereItIsNone) {
  for (
      const char* text :
      {"", "[]", "{", R"({"exclud": []})", R"({"exclude": "a"})", R"({"exclude": [1]})",
       R"({"bits": {"a": 4}})", R"({"bits": [8]})", R"({"ranges": {"a": [1]}})",
       R"({"ranges": {"a": [2, 1]}})", R"({"ranges": {"a": {"low": 0}}})",
       R"({"ranges": {"a": {"low": 0, "high": 1, "scale": 0, "bits": 8, "signed": false, "zero_point": 0}}})",
       R"({"ranges": {"a": {"low": 0, "high": 1, "scale": 1, "bits": 8, "signed": false, "zero_point": 256}}})",
       R"({"ranges": {"a": [0, 1e60]}})", R"({"equalised": 1})"}) {
    Overrides o;
    EXPECT_EQ(read(text, &o).code(), Code::kInvalidArgument) << text;
  }
  Overrides o;
  EXPECT_EQ(read_overrides(path("none.json"), &o).code(), Code::kIoError);
}

}  // namespace
}  // namespace qrt::quantize::overrides_test
