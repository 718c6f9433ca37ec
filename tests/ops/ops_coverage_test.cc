// SPDX-License-Identifier: Apache-2.0
// Every operator of schema/ops.inc has a definition under its own name and type, and a test file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "runtime/op.h"

namespace qrt::ops_coverage_test {
namespace {

struct Entry {
  const char* name;
  const char* stem;
  fb::OpOptions type;
};

const Entry kEntries[] = {
#define QRT_OP(Name, stem) {#Name, #stem, fb::OpOptions::Name},
#include "schema/ops.inc"
};

const std::string kRoot = QRT_TESTS_DIR "/../";

bool exists(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

TEST(Ops, EveryEntryHasADefinition) {
  for (const Entry& e : kEntries) {
    const OpDef* def = find_op(e.type);
    ASSERT_NE(def, nullptr) << e.name;
    ASSERT_STREQ(def->name, e.name);
    ASSERT_EQ(static_cast<int>(def->type), static_cast<int>(e.type)) << e.name;
    ASSERT_NE(def->infer, nullptr) << e.name;
    ASSERT_NE(def->prepare, nullptr) << e.name;
  }
}

TEST(Ops, EveryEntryTellsWhatItIs) {
  for (const Entry& e : kEntries) {
    const OpTraits& traits = traits_of(e.type);
    EXPECT_NE(traits.level, nullptr) << e.name;
    EXPECT_NE(traits.requant, nullptr) << e.name;
    EXPECT_NE(traits.keeps_images_apart, nullptr) << e.name;
    // Operators whose elements are broadcast accept every layout.
    if (traits.broadcasting == Broadcasting::kElements) {
      EXPECT_EQ(traits.layout, LayoutRule::kAny) << e.name;
    }
    EXPECT_EQ(traits.arithmetic == Arithmetic::kRequant, traits.requant != &no_requant) << e.name;
  }
}

TEST(Ops, EveryTypeOfTheSchemaIsAnEntry) {
  size_t types = 0;
  for (const fb::OpOptions type : fb::EnumValuesOpOptions())
    if (type != fb::OpOptions::NONE) ++types;
  ASSERT_EQ(types, sizeof kEntries / sizeof kEntries[0]);
  ASSERT_EQ(find_op(fb::OpOptions::NONE), nullptr);
}

TEST(Ops, EveryEntryHasItsFiles) {
  for (const Entry& e : kEntries) {
    const std::string stem = e.stem;
    EXPECT_TRUE(exists(kRoot + "runtime/ops/" + stem + ".cc")) << stem;
    EXPECT_TRUE(exists(kRoot + "tests/ops/" + stem + "_test.cc")) << stem;
  }
}

}  // namespace
}  // namespace qrt::ops_coverage_test
