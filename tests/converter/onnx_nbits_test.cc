// SPDX-License-Identifier: Apache-2.0
// Weights in blocks: MatMulNBits and GatherBlockQuantized as com.microsoft packs them, and a blocked DequantizeLinear in
// front of a MatMul, against the definitions on the source's own bytes; what is refused, and what is damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "kernels/nbits_seq.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/random.h"

namespace qrt::testing::onnx_nbits_test {
namespace {

using Floats = std::vector<float>;

constexpr char kMicrosoft[] = "com.microsoft";
constexpr int kUint4 = 21, kInt4 = 22;

struct Weights {
  int64_t bits, block, k, n;
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t row_bytes() const { return blocks() * block * bits / 8; }
  int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }

  int32_t code(const Bytes& bytes, int64_t row, int64_t each, int64_t i) const {
    return bytes[static_cast<size_t>(row * each + i * bits / 8)] >> (i * bits % 8) &
           ((1 << bits) - 1);
  }
  int32_t weight(int64_t o, int64_t i) const {
    const int32_t zero = zeros.empty() ? 1 << (bits - 1) : code(zeros, o, zero_bytes(), i / block);
    return code(codes, o, row_bytes(), i) - zero;
  }
  float scale(int64_t o, int64_t b) const { return scales[static_cast<size_t>(o * blocks() + b)]; }
  float real(int64_t o, int64_t i) const {
    return static_cast<float>(weight(o, i)) * scale(o, i / block);
  }

  float product(const float* x, int64_t o, bool in_float) const {
    float acc = 0;
    for (int64_t b = 0; b < blocks(); ++b) {
      const int64_t begin = b * block, count = std::min(block, k - begin);
      if (in_float) {
        float sum = 0;
        for (int64_t i = begin; i < begin + count; ++i) sum = std::fma(x[i], real(o, i), sum);
        acc += sum;
        continue;
      }
      std::vector<int8_t> q(static_cast<size_t>(block));
      const NBitsBlock made = nbits_quantize(x + begin, static_cast<size_t>(count), q.data());
      int32_t dot = 0;
      for (int64_t i = 0; i < count; ++i) dot += q[static_cast<size_t>(i)] * weight(o, begin + i);
      acc = nbits_add(acc, dot, made.scale, scale(o, b));
    }
    return acc;
  }
  Floats products(const Floats& x, bool in_float, const Floats& bias) const {
    Floats y;
    for (size_t r = 0; r < x.size() / static_cast<size_t>(k); ++r)
      for (int64_t o = 0; o < n; ++o)
        y.push_back(nbits_end(product(x.data() + r * static_cast<size_t>(k), o, in_float),
                              bias.empty() ? nullptr : &bias[static_cast<size_t>(o)]));
    return y;
  }

  Bytes codes, zeros;
  Floats scales;
};

Weights random_weights(int64_t bits, int64_t block, int64_t k, int64_t n, bool has_zeros,
                       Random* random) {
  Weights w = {bits, block, k, n, {}, {}, {}};
  w.codes.resize(static_cast<size_t>(n * w.row_bytes()));
  if (has_zeros) w.zeros.resize(static_cast<size_t>(n * w.zero_bytes()));
  w.scales.resize(static_cast<size_t>(n * w.blocks()));
  random->fill(w.codes, 0, 255);
  random->fill(w.zeros, 0, 255);
  for (float& s : w.scales) s = random->real(0.01f, 0.1f);
  return w;
}

Floats random_floats(size_t count, Random* random) {
  Floats x(count);
  for (float& v : x) v = random->real(-2, 2);
  return x;
}

// Returns the inputs of MatMulNBits behind x.
Names constants_of(const Weights& w, OnnxBuilder* b) {
  Names names = {b->constant<uint8_t>({w.n, w.blocks(), w.block * w.bits / 8}, w.codes),
                 b->constant<float>({w.n * w.blocks()}, w.scales)};
  if (!w.zeros.empty()) names.push_back(b->constant<uint8_t>({w.n * w.zero_bytes()}, w.zeros));
  return names;
}

std::vector<Attr> attributes_of(const Weights& w, std::optional<int> level) {
  std::vector<Attr> attributes = {
      {"K", w.k}, {"N", w.n}, {"bits", w.bits}, {"block_size", w.block}};
  if (level) attributes.push_back({"accuracy_level", *level});
  return attributes;
}

void check(int64_t bits, int64_t block, int64_t k, int64_t n, bool has_zeros, bool has_bias,
           std::optional<int> level) {
  Random random;
  SCOPED_TRACE(random.trace());
  const Weights w = random_weights(bits, block, k, n, has_zeros, &random);
  const Floats x = random_floats(static_cast<size_t>(3 * k), &random);
  const Floats bias = random_floats(has_bias ? static_cast<size_t>(n) : 0, &random);
  OnnxBuilder b;
  Names inputs = {b.input({3, k})};
  for (const std::string& name : constants_of(w, &b)) inputs.push_back(name);
  if (has_bias) {
    inputs.resize(5);
    inputs.push_back(b.constant<float>({n}, bias));
  }
  b.output(b.node("MatMulNBits", inputs, attributes_of(w, level), kMicrosoft));
  // ONNX Runtime has no integer kernels of 2 bits in these blocks.
  const bool in_float = level != 4 || (bits == 2 && (block < 32 || block > 128));
  EXPECT_EQ(b.run_to<float>({to_bytes(x)}), w.products(x, in_float, bias));
}

TEST(OnnxNBits, MatMulNBitsAsItsLevelSays) {
  for (const int64_t bits : {2, 4, 8})
    for (const bool has_zeros : {false, true}) {
      check(bits, 16, 40, 19, has_zeros, false, 4);
      check(bits, 32, 96, 5, has_zeros, true, 4);
      check(bits, 128, 130, 16, has_zeros, true, 0);
      check(bits, 256, 256, 3, has_zeros, false, std::nullopt);
      check(bits, 256, 300, 4, has_zeros, false, 4);
      check(bits, 128, 300, 17, has_zeros, false, 4);
    }
  check(4, 64, 128, 8, true, false, 1);
}

TEST(OnnxNBits, BlocksOverridesTheLevel) {
  Random random;
  const Weights w = random_weights(4, 32, 64, 4, false, &random);
  for (const int level : {0, 4})
    for (const convert::Blocks blocks :
         {convert::Blocks::kAsSource, convert::Blocks::kInt8, convert::Blocks::kFloat}) {
      OnnxBuilder b;
      Names inputs = {b.input({1, 64})};
      for (const std::string& name : constants_of(w, &b)) inputs.push_back(name);
      b.output(b.node("MatMulNBits", inputs, attributes_of(w, level), kMicrosoft));
      const std::string bytes = b.bytes();
      const Imported imported =
          import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* to) {
            return convert::import_onnx(path, &to->graph, &to->report, false, {}, blocks);
          });
      ASSERT_TRUE(imported.status.ok()) << imported.status.message();
      int products = 0;
      for (const convert::Node& node : imported.graph.nodes)
        if (const auto* o = node.options.AsMatMulNBits()) {
          EXPECT_EQ(o->in_float, blocks == convert::Blocks::kAsSource
                                     ? level != 4
                                     : blocks == convert::Blocks::kFloat);
          ++products;
        }
      EXPECT_EQ(products, 1);
    }
}

TEST(OnnxNBits, GatherBlockQuantizedTakesRows) {
  Random random;
  SCOPED_TRACE(random.trace());
  for (const int64_t bits : {4, 8})
    for (const bool has_zeros : {false, true}) {
      const Weights w = random_weights(bits, 16, 64, 9, has_zeros, &random);
      OnnxBuilder b;
      Names inputs = {b.constant<uint8_t>({w.n, w.row_bytes()}, w.codes), b.input<int64_t>({4}),
                      b.constant<float>({w.n, w.blocks()}, w.scales)};
      if (has_zeros) inputs.push_back(b.constant<uint8_t>({w.n, w.zero_bytes()}, w.zeros));
      b.output(b.node("GatherBlockQuantized", inputs,
                      {{"bits", bits}, {"block_size", 16}, {"quantize_axis", 1}}, kMicrosoft));
      Floats y;
      for (const int64_t row : {3, 8, 0, 8})
        for (int64_t i = 0; i < w.k; ++i) y.push_back(w.real(row, i));
      EXPECT_EQ(b.run_to<float>({to_bytes(std::vector<int64_t>{3, -1, 0, 8})}), y);
    }
}

// Checks [k, n] of int4, uint4 or int8, in blocks along axis 0.
void check_dequantized(int type, int64_t k, int64_t n, int64_t block, bool has_zeros) {
  Random random;
  SCOPED_TRACE(random.trace());
  const int64_t bits = type == kInt4 || type == kUint4 ? 4 : 8, blocks = (k + block - 1) / block;
  const int64_t low = type == kUint4 ? 0 : bits == 4 ? -8 : -128;
  const auto stored = [&](const Dims& dims, const std::vector<int64_t>& values, OnnxBuilder* b) {
    Bytes bytes(static_cast<size_t>((static_cast<int64_t>(values.size()) * bits + 7) / 8));
    for (size_t i = 0; i < values.size(); ++i) {
      const auto code = static_cast<uint32_t>(values[i]) & ((1u << bits) - 1);
      uint8_t& byte = bytes[i * static_cast<size_t>(bits) / 8];
      byte = static_cast<uint8_t>(byte | code << (i * static_cast<size_t>(bits) % 8));
    }
    auto* t = b->graph().add_initializer();
    t->set_name("stored" + std::to_string(b->graph().initializer_size()));
    t->set_data_type(type);
    for (const int64_t d : dims) t->add_dims(d);
    t->set_raw_data(bytes.data(), bytes.size());
    return t->name();
  };
  std::vector<int64_t> codes(static_cast<size_t>(k * n)), zeros(static_cast<size_t>(blocks * n), 0);
  for (int64_t& v : codes) v = random.integer(low, low + (1 << bits) - 1);
  if (has_zeros)
    for (int64_t& v : zeros) v = random.integer(low, low + (1 << bits) - 1);
  const Floats scales = random_floats(zeros.size(), &random);
  OnnxBuilder b(21);
  b.allow_float = true;
  const std::string x = b.input({2, k});
  Names inputs = {stored({k, n}, codes, &b), b.constant<float>({blocks, n}, scales)};
  if (has_zeros) inputs.push_back(stored({blocks, n}, zeros, &b));
  const std::string w = b.node("DequantizeLinear", inputs, {{"axis", 0}, {"block_size", block}});
  b.output(b.node("MatMul", {x, w}));
  const Imported imported = b.import();
  ASSERT_TRUE(imported.status.ok()) << imported.status.message() << imported.rule();
  const auto& nodes = imported.graph.nodes;
  EXPECT_TRUE(std::any_of(nodes.begin(), nodes.end(), [](const convert::Node& node) {
    return node.options.AsMatMulNBits() != nullptr;
  }));
  const Floats values = random_floats(static_cast<size_t>(2 * k), &random);
  Floats y;
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t o = 0; o < n; ++o) {
      float acc = 0, sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<size_t>(i / block * n + o);
        const float real =
            static_cast<float>(codes[static_cast<size_t>(i * n + o)] - zeros[at]) * scales[at];
        sum = std::fma(values[static_cast<size_t>(r * k + i)], real, sum);
        if ((i + 1) % block == 0 || i + 1 == k) acc += std::exchange(sum, 0.0f);
      }
      y.push_back(acc);
    }
  EXPECT_EQ(b.run_to<float>({to_bytes(values)}), y);
}

TEST(OnnxNBits, MultipliesABlockedDequantizeLinear) {
  constexpr int kInt8 = 3;
  for (const int type : {kInt4, kUint4, kInt8})
    for (const bool has_zeros : {false, true}) {
      check_dequantized(type, 64, 18, 32, has_zeros);
      check_dequantized(type, 40, 5, 16, has_zeros);
    }
}

// A MatMulNBits of 4 bits, changed, and why it is refused, or the import's error.
std::string refusal(const std::function<void(OnnxBuilder&, Names&, std::vector<Attr>&)>& change,
                    const char* op = "MatMulNBits") {
  Random random;
  const Weights w = random_weights(4, 32, 64, 4, true, &random);
  OnnxBuilder b;
  Names inputs = {b.input({1, 64})};
  for (const std::string& name : constants_of(w, &b)) inputs.push_back(name);
  std::vector<Attr> attributes = attributes_of(w, 4);
  change(b, inputs, attributes);
  b.output(b.node(op, inputs, attributes, kMicrosoft));
  const Imported imported = b.import();
  EXPECT_FALSE(imported.status.ok());
  return imported.refusals() > 0 ? imported.rule() : imported.status.message();
}

TEST(OnnxNBits, RefusesOtherForms) {
  using B = OnnxBuilder;
  using A = std::vector<Attr>;
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal([](B& b, Names& in, A&) {
        in.push_back(b.constant<int32_t>({64}, std::vector<int32_t>(64)));
      }),
      "it has a g_idx");
  for (const int64_t block : {1, 8, 24, 512})
    has(refusal([=](B&, Names&, A& a) {
          a[3] = {"block_size", block};
        }),
        "qrt has 2, 4 and 8 bits in blocks of 16 to 256");
  has(refusal([](B&, Names&, A& a) {
        a[3] = {"block_size", int64_t{1} << 31};
      }),
      "4 bits in blocks of 2147483648");
  has(refusal([](B&, Names&, A& a) { a[2] = {"bits", 3}; }), "3 bits in blocks of 32");
  has(refusal([](B& b, Names& in, A&) {
        in[3] = b.constant<float>({4, 2}, Floats(8));
      }),
      "are no constant of uint8");
  has(refusal([](B& b, Names& in, A&) {
        in[1] = b.input<uint8_t>({4, 2, 16});
      }),
      "are no constant");
  has(refusal([](B&, Names&, A&) {}, "MatMulBnb4"), "the values of a table (FP4, NF4)");
}

TEST(OnnxNBits, FailsForDamagedModels) {
  using B = OnnxBuilder;
  using A = std::vector<Attr>;
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal([](B&, Names&, A& a) { a[0] = {"K", 63}; }), "expected a last dimension of K = 63");
  has(refusal([](B&, Names&, A& a) { a[1] = {"N", 5}; }), "expected 160 of uint8");
  has(refusal([](B&, Names&, A& a) { a[1] = {"N", int64_t{1} << 40}; }), "expected 1 to 2^30");
  has(refusal([](B& b, Names& in, A&) { in[2] = b.constant<float>({7}, Floats(7)); }),
      "there are 7 scales, expected 8");
  has(refusal([](B& b, Names& in, A&) {
        in[3] = b.constant<uint8_t>({3}, {1, 2, 3});
      }),
      "there are 3 bytes of zero points, expected 4");
}

}  // namespace
}  // namespace qrt::testing::onnx_nbits_test
