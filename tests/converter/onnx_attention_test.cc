// SPDX-License-Identifier: Apache-2.0
// Attention and similar operators, with scores so far apart that softmax takes one key, or so equal
// that it takes the mean: exact results.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/onnx_builder.h"

namespace qrt::testing::onnx_attention_test {
namespace {

using Floats = std::vector<float>;

constexpr char kMicrosoft[] = "com.microsoft";

// One head of two numbers for queries, keys and values each, behind a past of two tokens, two sequences.
class GroupQuery {
 public:
  explicit GroupQuery(const std::vector<Attr>& more = {}, int64_t total = 3) {
    b.allow_float = true;
    std::vector<Attr> attributes = {Attr("num_heads", 1), Attr("kv_num_heads", 1),
                                    Attr("scale", 1.0f)};
    attributes.insert(attributes.end(), more.begin(), more.end());
    const std::string y =
        b.node("GroupQueryAttention",
               {b.input({2, 1, 2}), b.input({2, 1, 2}), b.input({2, 1, 2}), b.input({2, 1, 2, 2}),
                b.input({2, 1, 2, 2}), b.input<int32_t>({2}),
                b.scalar<int32_t>(static_cast<int32_t>(total))},
               attributes, kMicrosoft);
    auto* node = b.graph().mutable_node(b.graph().node_size() - 1);
    b.output(y);
    for (const char* name : {"keys", "values"}) {
      node->add_output(name);
      b.output(name);
    }
  }

  std::vector<Bytes> inputs(const std::vector<int32_t>& lengths) const {
    return {to_bytes(Floats{200, 0, 200, 0}),
            to_bytes(Floats{0, 7, 0, 9}),
            to_bytes(Floats{5, 6, 8, 8}),
            to_bytes(Floats{0, 1, 1, 1, 0, 2, 9, 9}),
            to_bytes(Floats{1, 2, 3, 4, 2, 4, 9, 9}),
            to_bytes(lengths)};
  }

  OnnxBuilder b;
};

TEST(OnnxAttention, GroupQueryReadsEverySequencesLength) {
  const GroupQuery g;
  // The first sequence has two tokens of the past, of which the second has the only score that
  // counts; the other sequence has one.
  const std::vector<Bytes> out = g.b.run(g.inputs({2, 1}));
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(from_bytes<float>(out[0]), (Floats{3, 4, 5, 6}));
  EXPECT_EQ(from_bytes<float>(out[1]), (Floats{0, 1, 1, 1, 0, 7, 0, 2, 0, 9, 0, 0}));
  EXPECT_EQ(from_bytes<float>(out[2]), (Floats{1, 2, 3, 4, 5, 6, 2, 4, 8, 8, 0, 0}));
}

TEST(OnnxAttention, GroupQueryTakesAPromptFromTheBeginning) {
  const GroupQuery g;
  // There are no tokens of the past: keys and values of the run come first.
  const std::vector<Bytes> out = g.b.run(g.inputs({0, 0}));
  EXPECT_EQ(from_bytes<float>(out[0]), (Floats{5, 6, 8, 8}));
  EXPECT_EQ(from_bytes<float>(out[1]), (Floats{0, 7, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0}));
}

TEST(OnnxAttention, GroupQuerySeesAWindow) {
  const GroupQuery g({Attr("local_window_size", 1)});
  EXPECT_EQ(from_bytes<float>(g.b.run(g.inputs({2, 1}))[0]), (Floats{5, 6, 8, 8}));
}

TEST(OnnxAttention, GroupQueryEndsARunOfMoreTokensThanThereAre) {
  const GroupQuery g;
  Imported imported = g.b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.report.text(true);
  Bytes file;
  ASSERT_TRUE(convert::run_passes(&imported.graph, nullptr).ok());
  ASSERT_TRUE(convert::write_model(imported.graph, &file).ok());
  EXPECT_EQ(run_model(file, g.inputs({2, 2})).status, QRT_OK);
  EXPECT_EQ(run_model(file, g.inputs({2, 3})).status, QRT_OUT_OF_RANGE);
}

TEST(OnnxAttention, NeedsToBeAllowed) {
  GroupQuery g;
  g.b.allow_float = false;
  const Imported refused = g.b.import();
  EXPECT_EQ(refused.status.code(), Code::kUnsupported);
  ASSERT_EQ(refused.refusals(), 1);
  EXPECT_NE(refused.report.text(true).find("--allow-float"), std::string::npos);
}

TEST(OnnxAttention, NamesTheFormsThatItLacks) {
  for (const char* attribute : {"smooth_softmax", "qk_output"}) {
    const GroupQuery g({Attr(attribute, 1)});
    const Imported refused = g.b.import();
    EXPECT_EQ(refused.status.code(), Code::kUnsupported);
    EXPECT_NE(refused.report.text(true).find(attribute), std::string::npos);
  }
}

// Rotary embedding turns pairs of channels: by a quarter turn at place 1 and not at all at place 0.
TEST(OnnxAttention, RotaryEmbeddingTurnsPairs) {
  for (const int interleaved : {0, 1}) {
    OnnxBuilder b(23);
    b.allow_float = true;
    const std::string x = b.input({1, 2, 4}), cos = b.constant<float>({2, 2}, {1, 1, 0, 0}),
                      sin = b.constant<float>({2, 2}, {0, 0, 1, 1}),
                      places = b.input<int64_t>({1, 2});
    b.output(b.node("RotaryEmbedding", {x, cos, sin, places},
                    {{"num_heads", 1}, {"interleaved", interleaved}}));
    b.output(b.node("RotaryEmbedding", {x, places, cos, sin},
                    {{"num_heads", 1}, {"interleaved", interleaved}}, kMicrosoft));
    const std::vector<Bytes> out =
        b.run({to_bytes(Floats{1, 2, 3, 4, 5, 6, 7, 8}), to_bytes(std::vector<int64_t>{1, 0})});
    const Floats turned =
        interleaved != 0 ? Floats{-2, 1, -4, 3, 5, 6, 7, 8} : Floats{-3, -4, 1, 2, 5, 6, 7, 8};
    ASSERT_EQ(out.size(), 2u);
    for (const Bytes& y : out) EXPECT_EQ(from_bytes<float>(y), turned);
  }
}

TEST(OnnxAttention, MultiHeadAttentionWithBiasMaskAndPast) {
  OnnxBuilder b;
  b.allow_float = true;
  const std::string bias = b.constant<float>({6}, {200, 0, 0, 0, 1, 1});
  const std::string y = b.node(
      "MultiHeadAttention",
      {b.input({1, 1, 2}), b.input({1, 2, 2}), b.input({1, 2, 2}), bias,
       b.constant<int32_t>({1, 3}, {1, 1, 0}), "", b.input({1, 1, 1, 2}), b.input({1, 1, 1, 2})},
      {{"num_heads", 1}, {"scale", 1.0f}}, kMicrosoft);
  auto* node = b.graph().mutable_node(b.graph().node_size() - 1);
  node->add_output("keys");
  node->add_output("values");
  b.output(y);
  b.output("values");
  // The last key has the greatest score, but does not count.
  const std::vector<Bytes> out =
      b.run({to_bytes(Floats{0, 0}), to_bytes(Floats{1, 0, 5, 0}), to_bytes(Floats{10, 20, 30, 40}),
             to_bytes(Floats{0, 3}), to_bytes(Floats{7, 8})});
  EXPECT_EQ(from_bytes<float>(out[0]), (Floats{11, 21}));
  EXPECT_EQ(from_bytes<float>(out[1]), (Floats{7, 8, 11, 21, 31, 41}));
}

TEST(OnnxAttention, UnidirectionalNeedsAsManyQueriesAsKeys) {
  for (const int64_t queries : {1, 2, 3}) {
    OnnxBuilder b;
    b.allow_float = true;
    b.output(b.node("MultiHeadAttention",
                    {b.input({1, queries, 2}), b.input({1, 2, 2}), b.input({1, 2, 2})},
                    {{"num_heads", 1}, {"unidirectional", 1}}, kMicrosoft));
    EXPECT_EQ(b.import().status.code(), queries == 2 ? Code::kOk : Code::kUnsupported) << queries;
  }
}

TEST(OnnxAttention, AttentionIsCausalAndMasked) {
  const auto run = [](bool is_masked) {
    OnnxBuilder b(23);
    b.allow_float = true;
    Names inputs = {b.input({1, 2, 2}), b.input({1, 2, 1}), b.input({1, 2, 1})};
    if (is_masked) {
      const std::string kept = b.constant<uint8_t>({1, 2}, {0, 1});
      inputs.push_back(b.node("Cast", {kept}, {{"to", onnx::TensorProto::BOOL}}));
    }
    std::vector<Attr> attributes = {{"q_num_heads", 2}, {"kv_num_heads", 1}, {"scale", 1.0f}};
    if (!is_masked) attributes.push_back(Attr("is_causal", 1));
    b.output(b.node("Attention", inputs, attributes));
    return b.run_to<float>(
        {to_bytes(Floats{1, -1, 1, -1}), to_bytes(Floats{0, 200}), to_bytes(Floats{3, 5})});
  };
  // The first token sees itself; of the second one head prefers it, the other one the first.
  EXPECT_EQ(run(false), (Floats{3, 3, 5, 3}));
  EXPECT_EQ(run(true), (Floats{5, 5, 5, 5}));
}

// Queries that see no key get zeros, as ONNX Runtime gives them, and no mean of keys that do not count.
TEST(OnnxAttention, AttentionOfAQueryWithoutKeysIsZero) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  for (const bool has_truths : {true, false}) {
    OnnxBuilder b(23);
    b.allow_float = true;
    Names inputs = {b.input({1, 2, 1}), b.input({1, 2, 1}), b.input({1, 2, 1})};
    inputs.push_back(has_truths ? b.node("Cast", {b.constant<uint8_t>({2, 2}, {0, 0, 0, 1})},
                                         {{"to", onnx::TensorProto::BOOL}})
                                : b.constant<float>({2, 2}, {kNone, kNone, kNone, 0}));
    b.output(b.node("Attention", inputs, {{"q_num_heads", 1}, {"kv_num_heads", 1}}));
    EXPECT_EQ(
        b.run_to<float>({to_bytes(Floats{1, 1}), to_bytes(Floats{2, 3}), to_bytes(Floats{4, 5})}),
        (Floats{0, 5}));
  }
}

TEST(OnnxAttention, SimplifiedNormalizations) {
  for (const bool is_skip : {false, true}) {
    OnnxBuilder b(23);
    b.allow_float = true;
    const std::string x = b.input({1, 4}), scale = b.constant<float>({4}, {1, 2, 3, 4});
    if (is_skip) {
      const std::string skip = b.constant<float>({1, 4}, {2, -2, 2, -2});
      b.output(b.node("SkipSimplifiedLayerNormalization", {x, skip, scale}, {{"epsilon", 0.0f}},
                      kMicrosoft));
      auto* node = b.graph().mutable_node(b.graph().node_size() - 1);
      for (const char* name : {"", "", "sum"}) node->add_output(name);
      b.output("sum");
    } else {
      b.output(b.node("RMSNormalization", {x, scale}, {{"axis", -1}, {"epsilon", 0.0f}}));
      b.output(
          b.node("SimplifiedLayerNormalization", {x, scale}, {{"axis", 1}, {"epsilon", 0.0f}}));
    }
    const std::vector<Bytes> out =
        b.run({to_bytes(is_skip ? Floats{1, -1, 1, -1} : Floats{3, -3, 3, -3})});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(from_bytes<float>(out[0]), (Floats{1, -2, 3, -4}));
    EXPECT_EQ(from_bytes<float>(out[1]), is_skip ? (Floats{3, -3, 3, -3}) : (Floats{1, -2, 3, -4}));
  }
}

TEST(OnnxAttention, SkipLayerNormalizationGivesItsSum) {
  OnnxBuilder b;
  b.allow_float = true;
  const std::string ones = b.constant<float>({2}, {1, 1});
  b.output(b.node("SkipLayerNormalization",
                  {b.input({1, 2}), b.input({1, 2}), ones, ones, b.constant<float>({2}, {5, 5})},
                  {}, kMicrosoft));
  auto* node = b.graph().mutable_node(b.graph().node_size() - 1);
  for (const char* name : {"", "", "sum"}) node->add_output(name);
  b.output("sum");
  const std::vector<Bytes> out = b.run({to_bytes(Floats{1, 2}), to_bytes(Floats{4, 7})});
  EXPECT_EQ(from_bytes<float>(out[0]), (Floats{0, 2}));
  EXPECT_EQ(from_bytes<float>(out[1]), (Floats{10, 14}));
}

}  // namespace
}  // namespace qrt::testing::onnx_attention_test
