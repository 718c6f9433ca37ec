// SPDX-License-Identifier: Apache-2.0
// Operators of language models: attention, rotary positions, products of weights in blocks.
#include "tests/onnxruntime/sweep/rows.h"

namespace qrt::sweep {
namespace {

constexpr int64_t kHeads = 2, kSize = 16, kTokens = 3, kPast = 4;

// Adds attention with x as the queries of two heads, keys and values of one, and a past of four
// tokens; returns the result alone.
Value group_query(Graph& g, const Value& x, bool is_rotary, std::vector<Attr> more) {
  const Dims kv = {1, kTokens, kSize}, past = {1, 1, kPast, kSize};
  Names inputs = {x.name,
                  g.floats(kv).name,
                  g.floats(kv).name,
                  g.floats(past).name,
                  g.floats(past).name,
                  g.b.constant<int32_t>({1}, {static_cast<int32_t>(kPast + kTokens - 1)}),
                  g.b.constant<int32_t>({}, {static_cast<int32_t>(kPast + kTokens)})};
  more.insert(more.end(), {Attr("num_heads", kHeads), Attr("kv_num_heads", 1)});
  if (is_rotary) {
    inputs.push_back(g.constant({9, kSize / 2}, -1, 1));
    inputs.push_back(g.constant({9, kSize / 2}, -1, 1));
    more.push_back(Attr("do_rotary", 1));
  }
  const std::string y = g.b.node("GroupQueryAttention", inputs, more, kMicrosoft);
  auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
  node->add_output(y + "_keys");
  node->add_output(y + "_values");
  return {y, x.dims, 2};
}

Row group_query_attention() {
  const Dims dims = {1, kTokens, kHeads * kSize};
  return RowBuilder("GroupQueryAttention", kMicrosoft)
      .form("behind a past", dims,
            [](Graph& g, const Value& x) { return group_query(g, x, false, {}); })
      .form("with rotary positions", dims,
            [](Graph& g, const Value& x) { return group_query(g, x, true, {}); })
      .form("with interleaved positions", dims,
            [](Graph& g, const Value& x) {
              return group_query(g, x, true, {Attr("rotary_interleaved", 1)});
            })
      .form("in a window", dims,
            [](Graph& g, const Value& x) {
              return group_query(g, x, true, {Attr("local_window_size", 2)});
            })
      .form("with a soft limit", dims,
            [](Graph& g, const Value& x) {
              return group_query(g, x, false, {Attr("softcap", 2.0f), Attr("scale", 0.5f)});
            })
      .row();
}

Row multi_head_attention() {
  const Dims dims = {2, kTokens, kHeads * kSize}, keys = {2, 5, kHeads * kSize};
  const auto attention = [keys](Graph& g, const Value& x, const Names& more,
                                std::vector<Attr> attributes) {
    Names inputs = {g.floats(keys).name, g.floats(keys).name};
    inputs.insert(inputs.end(), more.begin(), more.end());
    attributes.push_back(Attr("num_heads", kHeads));
    return Graph::sized(g.node("MultiHeadAttention", x, inputs, attributes, kMicrosoft), 2);
  };
  return RowBuilder("MultiHeadAttention", kMicrosoft)
      .form("of other keys", dims,
            [=](Graph& g, const Value& x) { return attention(g, x, {}, {}); })
      .form(
          "with a bias and a mask of keys", dims,
          [=](Graph& g, const Value& x) {
            const std::string mask = g.b.constant<int32_t>({2, 5}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1});
            return attention(g, x, {g.constant({3 * kHeads * kSize}, -1, 1), mask}, {});
          })
      .form("with lengths", dims,
            [=](Graph& g, const Value& x) {
              return attention(g, x, {"", g.b.constant<int32_t>({2}, {3, 5})}, {});
            })
      .form("with added scores", dims,
            [=](Graph& g, const Value& x) {
              return attention(g, x, {"", "", g.constant({1, kHeads, kTokens, 5}, -1, 1)},
                               {Attr("scale", 0.25f)});
            })
      .row();
}

Row attention() {
  const Dims joined = {1, kTokens, kHeads * kSize}, heads = {1, kHeads, kTokens, kSize};
  return RowBuilder("Attention")
      .form(
          "3-D, causal", joined,
          [](Graph& g, const Value& x) {
            const Dims kv = {1, kTokens, kSize};
            return Graph::sized(g.node("Attention", x, {g.floats(kv).name, g.floats(kv).name},
                                       {Attr("q_num_heads", kHeads), Attr("kv_num_heads", 1),
                                        Attr("is_causal", 1)}),
                                2);
          },
          23)
      .form(
          "4-D, masked", heads,
          [heads](Graph& g, const Value& x) {
            const Names more = {g.floats(heads).name, g.floats(heads).name,
                                g.constant({kTokens, kTokens}, -1, 1)};
            return Graph::sized(g.node("Attention", x, more, {Attr("softcap", 3.0f)}), 2);
          },
          23)
      .row();
}

Row packed_attention() {
  const Dims dims = {2, kTokens, 24};
  const auto attention = [](Graph& g, const Value& x, const Names& more,
                            std::vector<Attr> attributes) {
    Names inputs = {g.weights({24, 3 * kHeads * kSize}).name,
                    g.constant({3 * kHeads * kSize}, -1, 1)};
    inputs.insert(inputs.end(), more.begin(), more.end());
    attributes.push_back(Attr("num_heads", kHeads));
    Value y = g.node("Attention", x, inputs, attributes, kMicrosoft);
    y.dims = {2, kTokens, kHeads * kSize};
    return Graph::sized(y, 2);
  };
  return RowBuilder("Attention", kMicrosoft)
      .form("alone", dims, [=](Graph& g, const Value& x) { return attention(g, x, {}, {}); })
      .form("with a mask of keys", dims,
            [=](Graph& g, const Value& x) {
              return attention(g, x, {g.b.constant<int32_t>({2, kTokens}, {1, 1, 0, 1, 0, 1})}, {});
            })
      .form("with lengths", dims,
            [=](Graph& g, const Value& x) {
              return attention(g, x, {g.b.constant<int32_t>({2}, {2, 3})}, {});
            })
      .form("causal", dims,
            [=](Graph& g, const Value& x) {
              return attention(g, x, {}, {Attr("unidirectional", 1)});
            })
      .form("with a mask of every query", dims,
            [=](Graph& g, const Value& x) {
              const std::string mask = g.b.constant<int32_t>(
                  {2, kTokens, kTokens}, {1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1});
              return attention(g, x, {mask}, {Attr("mask_filter_value", -100.0f)});
            })
      .form(
          "causal behind a past", dims,
          [=](Graph& g, const Value& x) {
            const std::string past = g.constant({2, 2, kHeads, kPast, kSize}, -1, 1);
            const std::vector<int32_t> keys = {0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1};
            const std::string mask = g.b.constant<int32_t>({2, kPast + kTokens}, keys);
            const Value y = attention(g, x, {mask, past}, {Attr("unidirectional", 1)});
            g.b.graph().mutable_node(g.b.graph().node_size() - 1)->add_output(y.name + "_present");
            return y;
          })
      .form("with added scores", dims,
            [=](Graph& g, const Value& x) {
              return attention(g, x, {"", "", g.constant({2, kHeads, kTokens, kTokens}, -1, 1)},
                               {Attr("scale", 0.5f)});
            })
      .form("of narrow values", dims,
            [=](Graph& g, const Value& x) {
              const std::vector<int64_t> sizes = {kHeads * kSize, kHeads * kSize, kHeads * 4};
              const Names more = {g.weights({24, 2 * kHeads * kSize + kHeads * 4}).name,
                                  g.constant({2 * kHeads * kSize + kHeads * 4}, -1, 1)};
              Value y =
                  g.node("Attention", x, more,
                         {Attr("num_heads", kHeads), Attr("qkv_hidden_sizes", sizes)}, kMicrosoft);
              y.dims = {2, kTokens, kHeads * 4};
              return Graph::sized(y, 2);
            })
      .row();
}

// Adds QAttention of what DynamicQuantizeLinear makes of x, with these inputs behind the zero points.
Value quantized_attention_of(Graph& g, const Value& x, const std::string& mask, const Names& more,
                             std::vector<Attr> attributes) {
  const std::string code = g.b.node("DynamicQuantizeLinear", {x.name});
  auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
  node->add_output(code + "_scale");
  node->add_output(code + "_zero");
  std::vector<int8_t> w(24 * 3 * kHeads * kSize);
  for (int8_t& v : w) v = static_cast<int8_t>(g.dice.integer(-kMostWeight, kMostWeight));
  const std::string weights = g.b.constant<int8_t>({24, 3 * kHeads * kSize}, w);
  Names inputs = {code,
                  weights,
                  g.constant({3 * kHeads * kSize}, -1, 1),
                  code + "_scale",
                  g.b.scalar(0.008f),
                  mask,
                  code + "_zero",
                  g.b.constant<int8_t>({}, {0})};
  inputs.insert(inputs.end(), more.begin(), more.end());
  attributes.push_back(Attr("num_heads", kHeads));
  const std::string y = g.b.node("QAttention", inputs, attributes, kMicrosoft);
  return {y, {2, kTokens, kHeads * kSize}, 2};
}

Row quantized_attention() {
  const Dims dims = {2, kTokens, 24};
  return RowBuilder("QAttention", kMicrosoft)
      .form("of a dynamic scale", dims,
            [](Graph& g, const Value& x) { return quantized_attention_of(g, x, "", {}, {}); })
      .form("with a mask of keys", dims,
            [](Graph& g, const Value& x) {
              const std::string mask = g.b.constant<int32_t>({2, kTokens}, {1, 1, 0, 1, 0, 1});
              return quantized_attention_of(g, x, mask, {}, {});
            })
      .form(
          "causal behind a past", dims,
          [](Graph& g, const Value& x) {
            const std::string past = g.constant({2, 2, kHeads, kPast, kSize}, -1, 1);
            const Value y = quantized_attention_of(g, x, "", {past}, {Attr("unidirectional", 1)});
            g.b.graph().mutable_node(g.b.graph().node_size() - 1)->add_output(y.name + "_present");
            return y;
          })
      .row();
}

Row embed_norm() {
  return RowBuilder("EmbedLayerNormalization", kMicrosoft)
      .form("added", {2, kTokens, 8},
            [](Graph& g, const Value& x) {
              const std::string ids = g.b.constant<int32_t>({2, kTokens}, {4, 0, 9, 1, 1, 8});
              const std::string segments = g.b.constant<int32_t>({2, kTokens}, {0, 0, 1, 0, 1, 1});
              const Names inputs = {ids,
                                    segments,
                                    g.constant({10, 8}, -1, 1),
                                    g.constant({5, 8}, -1, 1),
                                    g.constant({2, 8}, -1, 1),
                                    g.constant({8}, 0.5, 1.5),
                                    g.constant({8}, -1, 1)};
              const std::string y = g.b.node("EmbedLayerNormalization", inputs, {}, kMicrosoft);
              auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
              node->add_output(y + "_lengths");
              return Graph::sized(g.node("Add", x, {y}), x.amplitude + 2);
            })
      .form("with positions and a mask, added", {2, kTokens, 8},
            [](Graph& g, const Value& x) {
              const Names inputs = {g.b.constant<int32_t>({2, kTokens}, {4, 0, 9, 1, 1, 8}),
                                    "",
                                    g.constant({10, 8}, -1, 1),
                                    g.constant({5, 8}, -1, 1),
                                    "",
                                    g.constant({8}, 0.5, 1.5),
                                    g.constant({8}, -1, 1),
                                    g.b.constant<int32_t>({2, kTokens}, {1, 1, 0, 1, 1, 1}),
                                    g.b.constant<int32_t>({2, kTokens}, {4, 3, 2, 0, 1, 2})};
              const std::string y =
                  g.b.node("EmbedLayerNormalization", inputs, {Attr("epsilon", 1e-5f)}, kMicrosoft);
              auto* node = g.b.graph().mutable_node(g.b.graph().node_size() - 1);
              node->add_output(y + "_lengths");
              node->add_output(y + "_sum");
              const std::string lengths =
                  g.b.node("Cast", {y + "_lengths"}, {Attr("to", kFloatType)});
              const std::string rows = g.b.node("Reshape", {lengths, g.numbers({2, 1, 1})});
              const std::string sum = g.b.node("Add", {y, g.b.node("Add", {y + "_sum", rows})});
              return Graph::sized(g.node("Add", x, {sum}), x.amplitude + 8);
            })
      .row();
}

// `has_segments`: false leaves ids and table of segments out, and uses integers of int8 in place of uint8.
Value quantized_embed_norm(Graph& g, const Value& x, bool has_segments) {
  const auto codes = [&](const Dims& dims, uint32_t step) {
    size_t count = 1;
    for (const int64_t d : dims) count *= static_cast<size_t>(d);
    std::vector<uint8_t> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(i * step + 5);
    if (has_segments) return g.b.constant<uint8_t>(dims, values);
    return g.b.constant<int8_t>(dims, std::vector<int8_t>(values.begin(), values.end()));
  };
  const auto zero_point = [&](int value) {
    return has_segments ? g.b.scalar(static_cast<uint8_t>(value + 128))
                        : g.b.scalar(static_cast<int8_t>(value));
  };
  Names inputs = {g.b.constant<int32_t>({2, kTokens}, {4, 0, 9, 1, 1, 8}),
                  has_segments ? g.b.constant<int32_t>({2, kTokens}, {0, 0, 1, 0, 1, 1}) : "",
                  codes({10, 8}, 37),
                  codes({5, 8}, 53),
                  has_segments ? codes({2, 8}, 91) : "",
                  codes({8}, 29),
                  codes({8}, 71),
                  ""};
  for (const float scale : {0.01f, 0.013f, 0.007f, 0.009f, 0.02f})
    inputs.push_back(g.b.scalar(scale));
  for (const int zero : {3, -7, 0, -90, 11}) inputs.push_back(zero_point(zero));
  if (!has_segments) inputs[10] = inputs[15] = "";
  const std::string y =
      g.b.node("QEmbedLayerNormalization", inputs, {Attr("epsilon", 1e-5f)}, kMicrosoft);
  g.b.graph().mutable_node(g.b.graph().node_size() - 1)->add_output(y + "_lengths");
  return Graph::sized(g.node("Add", x, {y}), x.amplitude + 8);
}

Row quantized_embed_norm_row() {
  return RowBuilder("QEmbedLayerNormalization", kMicrosoft)
      .form("with segments, added", {2, kTokens, 8},
            [](Graph& g, const Value& x) { return quantized_embed_norm(g, x, true); })
      .form("of int8, added", {2, kTokens, 8},
            [](Graph& g, const Value& x) { return quantized_embed_norm(g, x, false); })
      .row();
}

Row rotary_embedding(const char* domain, int64_t opset) {
  const bool is_microsoft = std::string(domain) == kMicrosoft;
  RowBuilder row("RotaryEmbedding", domain);
  for (const int interleaved : {0, 1})
    row.form(
        interleaved ? "interleaved" : "in halves", {1, kTokens, kHeads * kSize},
        [=](Graph& g, const Value& x) {
          const std::string cos = g.constant({9, kSize / 2}, -1, 1),
                            sin = g.constant({9, kSize / 2}, -1, 1),
                            places = g.b.constant<int64_t>({1, kTokens}, {4, 0, 8});
          const Names more = is_microsoft ? Names{places, cos, sin} : Names{cos, sin, places};
          return Graph::sized(
              g.node("RotaryEmbedding", x, more,
                     {Attr("num_heads", kHeads), Attr("interleaved", interleaved)}, domain),
              4);
        },
        opset);
  return row.row();
}

std::string bytes_of(Graph& g, const Dims& dims) {
  std::vector<uint8_t> values(static_cast<size_t>(elements(dims)));
  for (uint8_t& v : values) v = static_cast<uint8_t>(g.dice.integer(0, 255));
  return g.b.constant<uint8_t>(dims, values);
}

// Products of weights in float, which ONNX Runtime sums in another order: small ones, so that the sums agree.
Row matmul_nbits() {
  constexpr int64_t kK = 32, kN = 6;
  RowBuilder row("MatMulNBits", kMicrosoft);
  for (const int64_t bits : {4, 8})
    for (const int64_t block : {16, 32})
      for (const bool has_zeros : {false, true})
        row.form(std::to_string(bits) + " bits in blocks of " + std::to_string(block) +
                     (has_zeros ? ", zero points" : ""),
                 {2, 3, kK}, [=](Graph& g, const Value& x) {
                   const int64_t blocks = kK / block;
                   Names more = {bytes_of(g, {kN, blocks, block * bits / 8}),
                                 g.constant({kN * blocks}, 0.001f, 0.01f)};
                   if (has_zeros) more.push_back(bytes_of(g, {kN * ((blocks * bits + 7) / 8)}));
                   const std::vector<Attr> attributes = {
                       Attr("K", kK), Attr("N", kN), Attr("bits", bits), Attr("block_size", block)};
                   Value y = g.node("MatMulNBits", x, more, attributes, kMicrosoft);
                   y.dims = {2, 3, kN};
                   return Graph::sized(y, 2);
                 });
  return row.row();
}

Row gather_block_quantized() {
  RowBuilder row("GatherBlockQuantized", kMicrosoft);
  for (const int64_t bits : {4, 8})
    row.form(std::to_string(bits) + " bits, added", {3, 32}, [=](Graph& g, const Value& x) {
      const Names inputs = {bytes_of(g, {6, 32 * bits / 8}), g.numbers({5, 0, 2}),
                            g.constant({6, 2}, 0.001f, 0.01f), bytes_of(g, {6, bits / 4})};
      const std::string rows = g.b.node("GatherBlockQuantized", inputs,
                                        {Attr("bits", bits), Attr("block_size", 16)}, kMicrosoft);
      return g.node("Add", x, {rows});
    });
  return row.row();
}

}  // namespace

std::vector<Row> attention_rows() {
  return {group_query_attention(),
          multi_head_attention(),
          attention(),
          packed_attention(),
          quantized_attention(),
          embed_norm(),
          quantized_embed_norm_row(),
          rotary_embedding("", 23),
          rotary_embedding(kMicrosoft, 21),
          matmul_nbits(),
          gather_block_quantized()};
}

}  // namespace qrt::sweep
