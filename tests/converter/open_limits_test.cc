// SPDX-License-Identifier: Apache-2.0
// The sizes that a converted model's open dimensions can have, and how they are found: the caller's limits, limits by the model
// itself, the sizes that are tried, and the rules that fit them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "converter/sizes/fit_number.h"
#include "converter/sizes/probes.h"
#include "tests/support/legal_sizes.h"
#include "tests/support/open_model.h"

namespace qrt::open_limits_test {
namespace {

using convert::Imports;
using testing::Bytes;
using testing::Dims;
using testing::OnnxBuilder;
using testing::open_model::Build;
using testing::open_model::Case;
using testing::open_model::convert_whole;
using testing::open_model::model_of;
using testing::open_model::number;
using testing::open_model::size_of;
using testing::open_model::weights;

// A table that depends on the size is refused, and so is a part of one that a pass copied.
TEST(OpenSizesOf, ATableThatFollowsFromTheSize) {
  OnnxBuilder b(17);
  const std::string x = b.qdq<uint8_t>(b.input({1, -1, 4}), 0.05f, 120);
  const std::string n = size_of(&b, x, 1);
  const std::string rows = b.node(
      "Range", {b.scalar<int64_t>(0), b.node("Squeeze", {n, number(&b, 0)}), b.scalar<int64_t>(1)});
  const std::string mixed = b.node("Mod", {b.node("Mul", {rows, number(&b, 7)}), n});
  const std::string stays = b.node("Less", {mixed, b.node("Div", {n, number(&b, 2)})});
  const std::string column = b.node("Unsqueeze", {stays, number(&b, 1)});
  const std::string real = b.node("Cast", {column}, {{"to", 1}});
  b.output(b.q<uint8_t>(b.node("Mul", {x, real}), 0.05f, 120));
  testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  const Status passed = run_passes(&imported.graph, nullptr);
  EXPECT_EQ(passed.code(), Code::kUnsupported);
  EXPECT_NE(std::string(passed.message()).find("cannot stay open"), std::string::npos)
      << passed.message();
}

// A reversed Slice of nothing is empty.
TEST(OpenSizesOf, NothingInReverse) {
  OnnxBuilder b(17);
  const std::string x = b.qdq<uint8_t>(b.input({1, 0, 4}), 0.05f, 120);
  const std::string back = b.node(
      "Slice", {x, number(&b, -1), number(&b, INT64_MIN + 1), number(&b, 1), number(&b, -1)});
  b.output(b.q<uint8_t>(back, 0.05f, 120));
  EXPECT_EQ(b.import().status.code(), Code::kUnsupported);
}

// A model that flattens an image to a fixed size has that size alone, whatever names the file gives
// its dimensions.
TEST(OpenSizesOf, AModelOfOneSize) {
  OnnxBuilder b(17);
  const std::string x = b.qdq<uint8_t>(b.input({-1, 2, -1, -1}), 0.05f, 120);
  b.name_dim(0, 2, "h");
  b.name_dim(0, 3, "w");
  const std::string flat = b.node("Reshape", {x, b.constant<int64_t>({2}, {0, -1})});
  b.output(b.q<uint8_t>(b.node("MatMul", {flat, weights(&b, {2 * 12 * 12, 3})}), 0.25f, 128));
  convert::Graph graph;
  convert_whole(b, &graph);
  ASSERT_EQ(graph.symbols.size(), 3u);
  for (const convert::Symbol& s : graph.symbols) {
    const bool is_one_size = s.least == 12 && s.most == 12;
    EXPECT_EQ(is_one_size, s.name != "N") << s.name;
  }
}

// Every size that a file allows can be planned, but for want of memory.
TEST(OpenSizesOf, FilesAreLegal) {
  struct Model {
    const char* name;
    Build build;
    int64_t least, most;  // of height and width, 0: not known
  };
  const Model models[] = {
      {"a pool larger than a small image",
       [](const Dims& dims, OnnxBuilder* b) {
         const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
         const std::string half =
             b->node("MaxPool", {x}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
         b->output(
             b->node("MaxPool", {half}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}}));
       },
       4, INT32_MAX},
      {"pads that mirror what is not there",
       [](const Dims& dims, OnnxBuilder* b) {
         const std::string x = b->input(dims);
         const std::string pads = b->constant<int64_t>({8}, {0, 0, 5, 5, 0, 0, 2, 2});
         b->output(b->node("Pad", {x, pads}, {{"mode", "reflect"}}));
       },
       6, INT32_MAX},
      {"a mean of more pixels than a sum may have",
       [](const Dims& dims, OnnxBuilder* b) {
         const std::string x = b->qdq<uint8_t>(b->input(dims), 0.05f, 120);
         b->output(b->qdq<uint8_t>(b->node("GlobalAveragePool", {x}), 0.05f, 120));
       },
       1, 0},
  };
  for (const Model& m : models) {
    SCOPED_TRACE(m.name);
    const Case c = {"", {1, 3, -1, -1}, {}, m.build};
    convert::Graph graph;
    const Bytes file = convert_whole(model_of(c, c.open), &graph);
    ASSERT_FALSE(file.empty());
    qrt_model* model = nullptr;
    ASSERT_EQ(qrt_model_load_memory(file.data(), file.size(), nullptr, &model, nullptr), QRT_OK);
    EXPECT_EQ(testing::refused_size(model), "");
    qrt_model_destroy(model);
    for (const convert::Symbol& s : graph.symbols) {
      if (m.least != 0) {
        EXPECT_EQ(s.least, m.least) << s.name << " " << s.limited_by;
      }
      if (m.most != 0) {
        EXPECT_EQ(s.most, m.most) << s.name << " " << s.limited_by;
      }
    }
  }
}

// A model that is right for one sequence only keeps its length open.
TEST(OpenSizesOf, AModelOfOneSequence) {
  OnnxBuilder b(17);
  const std::string x = b.input({-1, -1, 4});
  b.name_dim(0, 1, "frames");
  b.output(b.node("Squeeze", {b.node("Mul", {x, b.scalar(2.0f)}), number(&b, 0)}));
  b.allow_float = true;
  convert::Graph graph;
  convert_whole(b, &graph);
  ASSERT_EQ(graph.symbols.size(), 2u);
  EXPECT_EQ(graph.symbols[0].most, 1);
  EXPECT_NE(graph.symbols[0].limited_by, "");
  EXPECT_EQ(graph.symbols[1].most, INT32_MAX);
}

// A Pad up to 30 columns adds nothing to images of the default width, from which a rule is found that never adds any. The maximum
// over each image hides that this is wrong for narrow ones, unless all elements are below the zeros of the Pad.
TEST(OpenSizesOf, APadThatTheOutputHides) {
  OnnxBuilder b(17);
  const std::string x = b.qdq<uint8_t>(b.input({1, 1, 4, -1}), 0.05f, 120);
  const std::string less = b.node("Sub", {number(&b, 30), size_of(&b, x, 3)});
  const std::string amount = b.node("Max", {less, number(&b, 0)});
  const std::string none = b.constant<int64_t>({3}, {0, 0, 0});
  const std::string pads = b.node("Concat", {none, amount, b.constant<int64_t>({4}, {0, 0, 0, 0})},
                                  {{"axis", int64_t{0}}});
  const std::string padded =
      b.node("Pad", {x, b.node("Slice", {pads, number(&b, 0), number(&b, 8)})});
  b.output(b.q<uint8_t>(b.node("GlobalMaxPool", {padded}), 0.05f, 120));
  convert::Graph graph;
  convert_whole(b, &graph);
  ASSERT_EQ(graph.symbols.size(), 1u);
  EXPECT_EQ(graph.symbols[0].least, 30);
  EXPECT_EQ(graph.symbols[0].most, INT32_MAX);
}

// Imports the model with limits of an open dimension, as --open gives them.
testing::Imported import_with(const OnnxBuilder& b, const std::string& limit) {
  const std::string bytes = b.bytes();
  return testing::import_file(
      bytes.data(), bytes.size(), [&](const std::string& path, testing::Imported* to) {
        convert::SourceEdges edges;
        edges.open = {limit};
        return convert::import_onnx(path, &to->graph, &to->report, false, edges);
      });
}

// A mask as long as a sequence, or of one element, is no longer than the sequence may be.
TEST(OpenSizesOf, ASizeThatFollowsAnother) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string x = b.qdq<uint8_t>(b.input({1, -1, 4}), 0.05f, 120);
  const std::string mask = b.qdq<uint8_t>(b.input({1, -1, 1}), 0.05f, 120);
  b.output(b.qdq<uint8_t>(b.node("Mul", {x, mask}), 0.05f, 120));
  b.name_dim(1, 1, "mask");
  testing::Imported imported = import_with(b, "N=1:50");
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_TRUE(run_passes(&imported.graph, nullptr).ok());
  ASSERT_EQ(imported.graph.symbols.size(), 2u);
  EXPECT_EQ(imported.graph.symbols[1].tied_to, 0);
  for (const convert::Symbol& s : imported.graph.symbols) EXPECT_EQ(s.most, 50) << s.name;
}

// Where all inputs got one length, a least length that one of them needs is that of all: limits cannot allow 1 and 8, and none between.
TEST(OpenSizesOf, TheLeastSizeOfOneIsThatOfAll) {
  OnnxBuilder b(17);
  b.allow_float = true;
  const std::string x = b.qdq<uint8_t>(b.input({-1, -1, 4}), 0.05f, 120);
  const std::string mask = b.qdq<uint8_t>(b.input({-1, -1, 1}), 0.05f, 120);
  b.output(b.qdq<uint8_t>(b.node("Mul", {x, mask}), 0.05f, 120));
  const std::string other = b.input({1, -1, 3});
  b.output(b.node("Gather", {other, number(&b, 7)}, {{"axis", int64_t{1}}}));
  const char* names[3][2] = {{"n0", "t0"}, {"n1", "t1"}, {nullptr, "t2"}};
  for (int i = 0; i < 3; ++i)
    for (int d = 0; d < 2; ++d)
      if (names[i][d] != nullptr) b.name_dim(i, d, names[i][d]);
  convert::Graph graph;
  convert_whole(b, &graph);
  int tied = 0;
  for (const convert::Symbol& s : graph.symbols) {
    if (s.name[0] != 't') continue;
    EXPECT_EQ(s.least, 8) << s.name;
    tied += s.tied_to >= 0 ? 1 : 0;
  }
  EXPECT_EQ(tied, 2);
}

// A pass that leaves out rows of a kernel makes other weights for other images. These are no values that a run could make.
TEST(OpenSizesOf, WeightsThatDiffer) {
  OnnxBuilder b(17);
  const std::string x = b.qdq<uint8_t>(b.input({1, 2, 9, -1}), 0.05f, 120);
  const std::string w =
      b.node("Max", {b.node("Mod", {size_of(&b, x, 3), number(&b, 3)}), number(&b, 1)});
  const std::string sizes =
      b.node("Concat", {b.constant<int64_t>({3}, {1, 2, 9}), w}, {{"axis", int64_t{0}}});
  const std::string narrow = b.qdq<uint8_t>(
      b.node("Resize", {x, "", "", sizes}, {{"mode", "nearest"}, {"nearest_mode", "floor"}}), 0.05f,
      120);
  b.output(b.q<uint8_t>(b.node("Conv", {narrow, weights(&b, {2, 1, 3, 3})},
                               {{"group", int64_t{2}}, {"pads", Dims{1, 1, 1, 1}}}),
                        0.25f, 128));
  testing::Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  const Status passed = run_passes(&imported.graph, nullptr);
  EXPECT_TRUE(passed.ok() || passed.code() == Code::kUnsupported) << passed.message();
}

// Sizes stay within the limits that --open gives.
TEST(OpenSizesOf, LimitsOfTheCaller) {
  OnnxBuilder b(17);
  b.output(b.q<uint8_t>(b.input({1, 2, -1}), 0.05f, 120));
  testing::Imported imported = import_with(b, "N=8:100:8");
  ASSERT_TRUE(imported.status.ok()) << imported.status.message();
  ASSERT_TRUE(run_passes(&imported.graph, nullptr).ok());
  ASSERT_EQ(imported.graph.symbols.size(), 1u);
  EXPECT_EQ(imported.graph.symbols[0].least, 8);
  EXPECT_EQ(imported.graph.symbols[0].most, 96);
  EXPECT_EQ(imported.graph.symbols[0].step, 8);
  // The default is the legal size that is nearest to the one without limits.
  const auto default_with = [&](const std::string& limit) {
    testing::Imported with = import_with(b, limit);
    EXPECT_TRUE(with.status.ok()) << with.status.message();
    EXPECT_TRUE(run_passes(&with.graph, nullptr).ok());
    return with.graph.symbols.at(0).value;
  };
  const int64_t usual = default_with("N");
  EXPECT_EQ(usual, 37);
  for (const auto& [limit, want] : std::vector<std::pair<const char*, int64_t>>{{"N=1:512", usual},
                                                                                {"N=16:512", usual},
                                                                                {"N=1:512:8", 41},
                                                                                {"N=4:512:8", 36},
                                                                                {"N=8:4096:64", 8},
                                                                                {"N=37:37", usual}})
    EXPECT_EQ(default_with(limit), want) << limit;
  EXPECT_STREQ(import_with(b, "M=1:2").status.message(),
               "--open M=1:2: the model's open dimensions are 'N'");
  EXPECT_STREQ(import_with(b, "N=0:64:8").status.message(),
               "--open N=0:64:8: only a step of 1 goes with a least size of 0: begin at 1 or more, "
               "or leave the step out");
  for (const char* wrong : {"N=", "N=5", "N=0:0", "N=4:3", "N=1:2:0", "N=1:2:3:4", "N=a:b"})
    EXPECT_EQ(import_with(b, wrong).status.code(), Code::kInvalidArgument) << wrong;
}

// The simplest of the expressions that fit a few imports is chosen.
TEST(FitNumber, FindsWhatIsMeant) {
  Imports imports;
  std::vector<int64_t> halves, rest, products;
  for (const int64_t n : {37, 150, 61, 308, 97, 212, 431}) {
    imports.at.push_back({{n, 2 * n + 1}, {}});
    halves.push_back((n + 1) / 2 + 3);
    rest.push_back(n % 2);
    products.push_back(n * (2 * n + 1) / 1);
  }
  for (const auto& values : {halves, rest, products}) {
    const auto found = convert::fit_number(imports, values);
    ASSERT_TRUE(found.has_value());
    const convert::SizesAt elsewhere{{1000, 2001}, {}};
    const int64_t n = 1000, value = evaluate(*found, elsewhere);
    const int64_t want = values == halves ? 503 : values == rest ? 0 : n * 2001;
    EXPECT_EQ(value, want);
  }
  EXPECT_FALSE(convert::fit_number(imports, {1, 5, 2, 9, 4, 77, 3}).has_value());
}

std::vector<convert::Symbol> three_symbols() {
  std::vector<convert::Symbol> symbols;
  for (const char* name : {"batch", "past", "seq"}) {
    convert::Symbol symbol;
    symbol.name = name;
    symbol.is_first = symbols.empty();
    symbols.push_back(symbol);
  }
  return symbols;
}

// In an import of the first family no two open dimensions have the same size.
TEST(ProbeFamilies, KeepDimensionsApart) {
  const std::vector<convert::Symbol> symbols = three_symbols();
  const std::vector<convert::ProbeFamily> families = convert::probe_families(symbols);
  for (const convert::ProbeFamily& family : families) ASSERT_GE(family.sizes.size(), 8u);
  for (const convert::Sizes& s : families[0].sizes) {
    EXPECT_NE(s[0], s[1]);
    EXPECT_NE(s[0], s[2]);
    EXPECT_NE(s[1], s[2]);
  }
}

// Sizes are legal, and differ as far as the limits allow, even where few of them are near to the usual ones.
TEST(ProbeFamilies, KeepLimits) {
  std::vector<convert::Symbol> symbols = three_symbols();
  for (convert::Symbol* s : {&symbols[1], &symbols[2]}) s->least = 64, s->most = 4096, s->step = 64;
  symbols[0].most = 2;
  for (const convert::ProbeFamily& family : convert::probe_families(symbols))
    for (const convert::Sizes& sizes : family.sizes) {
      EXPECT_NE(sizes[1], sizes[2]);
      for (size_t s = 0; s < sizes.size(); ++s) {
        EXPECT_GE(sizes[s], symbols[s].least);
        EXPECT_LE(sizes[s], symbols[s].most);
        EXPECT_EQ((sizes[s] - symbols[s].least) % symbols[s].step, 0);
      }
    }
}

}  // namespace
}  // namespace qrt::open_limits_test
