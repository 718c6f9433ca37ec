// SPDX-License-Identifier: Apache-2.0
// The entries of schema/parts.inc that a model needs, as qrt_inspect --ops-list tells CMake's QRT_OPS.
#include "runtime/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/sized_model.h"

namespace qrt::parts_test {
namespace {

using testing::ModelBuilder;

std::vector<std::string> names(ModelBuilder& m) {
  const std::vector<uint8_t> file = m.build();
  std::vector<std::string> all;
  for (const Part* part : parts_of(*fb::GetModel(file.data()))) {
    EXPECT_TRUE(part->is_built) << part->name;
    all.push_back(part->name);
  }
  return all;
}

std::vector<std::string> of_types(DType x, DType y) {
  ModelBuilder m;
  const uint32_t from = m.input({1, 3}, x);
  m.op(fb::ReshapeOptionsT(), {from}, {m.output({1, 3}, y)});
  return names(m);
}

std::vector<std::string> of_conv(const Shape& weights, std::pair<uint16_t, uint16_t> strides,
                                 size_t more_inputs = 0, uint32_t groups = 1,
                                 fb::TapLayout layout = fb::TapLayout::PIXEL) {
  ModelBuilder m;
  fb::Conv2DOptionsT conv;
  conv.stride_h = strides.first, conv.stride_w = strides.second;
  conv.groups = groups;
  conv.tap_layout = layout;
  std::vector<uint32_t> inputs = {m.input({1, 8, 8, 4}), m.input(weights), m.input({8})};
  for (size_t i = 0; i < more_inputs; ++i) inputs.push_back(m.input({1}));
  m.op(std::move(conv), inputs, {m.output({1, 8, 8, 8})});
  return names(m);
}

std::vector<std::string> of_product(size_t inputs) {
  ModelBuilder m;
  std::vector<uint32_t> all;
  for (size_t i = 0; i < inputs; ++i) all.push_back(m.input({1}));
  m.op(fb::FullyConnectedOptionsT(), all, {m.output({1})});
  return names(m);
}

std::vector<std::string> of_transpose(const std::vector<uint8_t>& perm) {
  ModelBuilder m;
  fb::TransposeOptionsT o;
  o.perm = perm;
  Shape shape;
  for (size_t i = 0; i < perm.size(); ++i) shape.push_back(3);
  m.op(std::move(o), {m.input(shape)}, {m.output(shape)});
  return names(m);
}

using Names = std::vector<std::string>;

TEST(Parts, TypesOfTensors) {
  EXPECT_EQ(of_types(DType::kUInt8, DType::kFloat32), Names());
  EXPECT_EQ(of_types(DType::kInt16, DType::kUInt16), Names({"Int16"}));
  EXPECT_EQ(of_types(DType::kFloat16, DType::kFloat8E5M2), Names({"SmallFloats"}));
  EXPECT_EQ(of_types(DType::kInt16, DType::kBFloat16), Names({"Int16", "SmallFloats"}));
}

TEST(Parts, Convolutions) {
  EXPECT_EQ(of_conv({8, 3, 3, 4}, {1, 1}), Names({"Winograd", "Narrow"}));
  EXPECT_EQ(of_conv({40, 3, 3, 4}, {1, 1}), Names({"Winograd"}));
  EXPECT_EQ(of_conv({40, 1, 3, 4}, {1, 1}), Names({"Winograd"}));
  EXPECT_EQ(of_conv({40, 3, 1, 4}, {1, 1}), Names({"Winograd"}));
  EXPECT_EQ(of_conv({40, 3, 3, 4}, {2, 1}), Names());
  EXPECT_EQ(of_conv({40, 3, 3, 4}, {1, 2}), Names());
  EXPECT_EQ(of_conv({40, 1, 1, 4}, {1, 1}), Names());
  EXPECT_EQ(of_conv({40, 2, 3, 4}, {1, 1}), Names());
  EXPECT_EQ(of_conv({40, 5, 3, 4}, {1, 1}), Names());
  EXPECT_EQ(of_conv({8, 1, 1, 4}, {1, 1}), Names());
  EXPECT_EQ(of_conv({8, 5, 3, 4}, {1, 1}), Names({"Narrow"}));
  EXPECT_EQ(of_conv({8, 5, 3, 4}, {1, 2}), Names({"Narrow"}));
  EXPECT_EQ(of_conv({8, 5, 3, 4}, {2, 1}), Names());
  EXPECT_EQ(of_conv({8, 5, 3, 4}, {2, 1}, 0, 1, fb::TapLayout::ROW), Names({"Stem"}));
  EXPECT_EQ(of_conv({8, 5, 5, 4}, {2, 1}, 1), Names({"DynamicLayers"}));
  EXPECT_EQ(of_conv({8, 5, 5, 4}, {1, 1}, 0, 2), Names({"Grouped"}));
  EXPECT_EQ(of_conv({8, 3, 3, 4}, {1, 1}, 0, 2), Names({"Grouped"}));
  // A form's may_take() refuses these for what they are beside their size.
  EXPECT_EQ(of_conv({8, 3, 3, 8}, {1, 1}, 0, 2), Names()) << "as many outputs as inputs";
  EXPECT_EQ(of_conv({40, 3, 3, 4}, {1, 1}, 0, 1, fb::TapLayout::ROW), Names({"Stem"}));
}

TEST(Parts, Products) {
  EXPECT_EQ(of_product(3), Names());
  EXPECT_EQ(of_product(4), Names({"DynamicLayers"}));
}

TEST(Parts, Transpositions) {
  EXPECT_EQ(of_transpose({1, 0}), Names());
  EXPECT_EQ(of_transpose({0, 3, 1, 2}), Names());
  EXPECT_EQ(of_transpose({0, 2, 3, 1}), Names());
  EXPECT_EQ(of_transpose({2, 3, 0, 1}), Names());
  EXPECT_EQ(of_transpose({2, 1, 0}), Names({"Permutations"}));
  EXPECT_EQ(of_transpose({0, 2, 1, 3}), Names({"Permutations"}));
  EXPECT_EQ(of_transpose({0, 3, 2, 1}), Names({"Permutations"}));
}

TEST(Parts, OpenDimensions) {
  const auto of = [](const std::vector<uint8_t>& file) {
    const std::vector<const Part*> parts = parts_of(*fb::GetModel(file.data()));
    return std::any_of(parts.begin(), parts.end(),
                       [](const Part* part) { return std::string(part->name) == "OpenDims"; });
  };
  EXPECT_TRUE(of(testing::SizedModel(8, 7, true).build()));
  EXPECT_TRUE(of(testing::sized_counter(3).build()));
  EXPECT_FALSE(of(testing::SizedModel(8, 7, false).build()));
}

}  // namespace
}  // namespace qrt::parts_test
