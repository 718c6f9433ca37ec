// SPDX-License-Identifier: Apache-2.0
// Tables that operators have alike: made once for equal keys, and never mixed up.
#include "runtime/shared_tables.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace qrt::shared_tables_test {
namespace {

TableKey key(const char* kind, int32_t number, float scale) {
  TableKey key(kind);
  key.add(number, scale);
  return key;
}

TEST(SharedTables, AnEqualKeyHasTheTableThatWasMade) {
  SharedTables shared;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  const auto first = shared.get<int>(key("a", 1, 0.5f), make);
  EXPECT_EQ(shared.get<int>(key("a", 1, 0.5f), make), first);
  EXPECT_EQ(made, 1);
  for (const TableKey& other : {key("b", 1, 0.5f), key("a", 2, 0.5f), key("a", 1, 0.25f)})
    EXPECT_NE(shared.get<int>(other, make), first);
  EXPECT_EQ(made, 4);
  EXPECT_EQ(*first, 1);
}

TEST(SharedTables, WhatCouldNotBeMadeIsNotTriedAgain) {
  SharedTables shared;
  int tried = 0;
  const auto fail = [&]() -> std::shared_ptr<int> { return ++tried, nullptr; };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(shared.get<int>(key("a", 1, 0.5f), fail), nullptr);
  EXPECT_EQ(tried, 1);
}

}  // namespace
}  // namespace qrt::shared_tables_test
