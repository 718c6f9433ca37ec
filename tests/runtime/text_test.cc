// SPDX-License-Identifier: Apache-2.0
// Checks which characters of a file's names reach a terminal.
#include "runtime/text.h"

#include <gtest/gtest.h>

namespace qrt::text_test {
namespace {

using namespace std::string_literals;

TEST(Escaped, LeavesLettersOfAllScripts) {
  for (const std::string& text : {""s, "conv1/Relu:0"s, "a\\b \"c\""s, "\xc3\xa9"s, "\xe6\x97\xa5"s,
                                  "\xf0\x9f\x98\x80"s, "\xc2\xa0"s})
    EXPECT_EQ(escaped(text), text);
}

TEST(Escaped, ShowsControlCharacters) {
  EXPECT_EQ(escaped("a\x1b[2J\a\0\n\r\t\x7f"s), "a\\x1b[2J\\x07\\x00\\x0a\\x0d\\x09\\x7f");
  EXPECT_EQ(escaped("\xc2\x80\xc2\x9b\xc2\x9f"), "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f") << "C1";
  EXPECT_EQ(escaped("\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf"),
            "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xef\\xbb\\xbf")
      << "line separator, right-to-left override, isolate, byte order mark";
}

TEST(Escaped, ShowsWhatIsNoUtf8) {
  EXPECT_EQ(escaped("\xff"), "\\xff");
  EXPECT_EQ(escaped("x\xc3"), "x\\xc3") << "cut off";
  EXPECT_EQ(escaped("\xc0\x9b"), "\\xc0\\x9b") << "longer than need be";
  EXPECT_EQ(escaped("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "C1, longer than need be";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(escaped("\xe6\x97"
                    "a"),
            "\\xe6\\x97"
            "a");
}

TEST(Escaped, IsCutBetweenCharacters) {
  EXPECT_EQ(escaped("\xe6\x97\xa5\xe6\x9c\xac", 4), "\xe6\x97\xa5");
  EXPECT_EQ(escaped("abc", 2), "ab");
  EXPECT_EQ(escaped("\x1b\x1b", 1), "\\x1b");
}

}  // namespace
}  // namespace qrt::text_test
