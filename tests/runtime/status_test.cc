// SPDX-License-Identifier: Apache-2.0
#include "runtime/status.h"

#include <gtest/gtest.h>

namespace qrt::status_test {
namespace {

TEST(Status, SuccessCostsOneNullPointer) {
  ASSERT_EQ(sizeof(Status), sizeof(void*));
  ASSERT_TRUE(Status().ok());
  ASSERT_EQ(Status().code(), Code::kOk);
  ASSERT_STREQ(Status().message(), "");
}

TEST(Status, AtNamesThePlaceOfAnErrorAndLeavesSuccessAlone) {
  Status status = error(Code::kInvalidModel, "%d dimensions", 7);
  status = std::move(status).at("tensor 3");
  ASSERT_STREQ(status.message(), "tensor 3: 7 dimensions");
  ASSERT_EQ(status.code(), Code::kInvalidModel);
  ASSERT_TRUE(Status().at("tensor 3").ok());
}

// A path may have 4096 bytes, and what follows it says what is wrong.
TEST(Status, LongMessagesAreCutInTheirMiddle) {
  const Status whole = error(Code::kInternal, "%s: is damaged", std::string(4096, 'x').c_str());
  ASSERT_EQ(std::string(whole.message()), std::string(4096, 'x') + ": is damaged");
  const Status cut = error(Code::kInternal, "a %s: is damaged", std::string(10000, 'x').c_str());
  const std::string message = cut.message();
  ASSERT_LE(message.size(), 8192u);
  ASSERT_EQ(message.substr(0, 4), "a xx");
  ASSERT_EQ(message.substr(message.size() - 14), "xx: is damaged");
}

Status needs_positive(int v) {
  QRT_MODEL_CHECK(v > 0, "%d is not positive", v);
  return {};
}

Result<int> doubled(int v) {
  QRT_TRY(needs_positive(v));
  return 2 * v;
}

TEST(Result, HoldsAValueOrTheStatusThatPreventedIt) {
  Result<int> good = doubled(4);
  ASSERT_TRUE(good.ok());
  ASSERT_EQ(*good, 8);
  Result<int> bad = doubled(-1);
  ASSERT_FALSE(bad.ok());
  ASSERT_STREQ(bad.status().message(), "-1 is not positive");
}

}  // namespace
}  // namespace qrt::status_test
