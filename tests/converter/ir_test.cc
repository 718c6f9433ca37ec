// SPDX-License-Identifier: Apache-2.0
// The converter's graph: lookups, permutations and the text form.
#include "converter/ir.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace qrt::ir_test {
namespace {

using convert::carry_through_reshape;
using convert::compose;
using convert::is_identity;
using convert::moves_only_units;
using convert::Perm;
using convert::permuted;
using convert::ValueId;
using testing::GraphBuilder;

TEST(Graph, FindsProducersAndConsumers) {
  GraphBuilder b;
  const ValueId x = b.input({1, 4}), y = b.lut(x), z = b.add(y, y);
  b.output(z);
  EXPECT_EQ(b.graph.producer(x), -1);
  EXPECT_EQ(b.graph.producer(z), 1);
  EXPECT_EQ(b.graph.consumers(y), (std::vector<int>{1, 1}));
  EXPECT_TRUE(b.graph.is_output(z));
  EXPECT_FALSE(b.graph.is_output(y));
}

TEST(Graph, DumpNamesEveryNodeAndValue) {
  GraphBuilder b;
  const ValueId x = b.input({1, 4});
  b.output(b.fully_connected(b.reshape(x, {1, 4}), 3));
  const std::string text = dump(b.graph);
  for (const char* part :
       {"input %0 'v0' uint8[1, 4] scale 0.5 zero 117", "Reshape [1, 4] 'n0' (%0)",
        "FullyConnected", "int16[3, 4] constant", "outputs %4"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Permutation, ComposesAndInverts) {
  const Perm a = {2, 0, 1}, b = {1, 0, 2};
  EXPECT_EQ(compose(a, b), (Perm{0, 2, 1}));
  EXPECT_TRUE(is_identity(compose(a, convert::inverse(a))));
  EXPECT_EQ(permuted({5, 6, 7}, a), (Shape{7, 5, 6}));
  EXPECT_EQ(convert::permuted_axis(1, a), 2);
}

TEST(Permutation, TransposesConstants) {
  GraphBuilder b;
  const ValueId id = b.graph.add_constant<int16_t>("c", DType::kInt16, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto t = transposed_constant(b.graph.values[id], {1, 0});
  EXPECT_EQ(t.type.shape, (Shape{3, 2}));
  EXPECT_EQ(std::vector<int16_t>(t.as<int16_t>(), t.as<int16_t>() + 6),
            (std::vector<int16_t>{1, 4, 2, 5, 3, 6}));
}

TEST(Permutation, DimensionZeroIsNeverAUnit) {
  EXPECT_TRUE(moves_only_units({0, 3, 1, 2}, {1, 1, 1, 8}));
  EXPECT_TRUE(moves_only_units({0, 2, 3, 1}, {4, 8, 1, 1}));
  EXPECT_FALSE(moves_only_units({0, 2, 3, 1}, {4, 8, 2, 1}));
  EXPECT_FALSE(moves_only_units({1, 0}, {1, 8}));
}

TEST(Permutation, CarriesThroughReshapes) {
  const Perm nhwc = {0, 2, 3, 1};
  EXPECT_EQ(carry_through_reshape({1, 8, 5, 6}, nhwc, {1, 2, 4, 5, 6}), (Perm{0, 3, 4, 1, 2}));
  EXPECT_EQ(carry_through_reshape({1, 8, 5, 6}, nhwc, {1, 8, 30}), (Perm{0, 2, 1}));
  EXPECT_EQ(carry_through_reshape({1, 8, 1, 6}, nhwc, {1, 8, 6}), (Perm{0, 2, 1}));
  EXPECT_EQ(carry_through_reshape({1, 8, 6}, {0, 2, 1}, {1, 8, 1, 6}), nhwc);
  EXPECT_EQ(carry_through_reshape({1, 8, 5, 6}, nhwc, {1, 240}), std::nullopt);
  EXPECT_EQ(carry_through_reshape({2, 3}, {1, 0}, {3, 2}), std::nullopt);
  EXPECT_EQ(carry_through_reshape({1, 8, 1, 1}, {0, 1, 2, 3}, {1, 8}), (Perm{0, 1}));
}

}  // namespace
}  // namespace qrt::ir_test
