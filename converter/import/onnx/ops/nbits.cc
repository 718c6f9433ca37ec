// SPDX-License-Identifier: Apache-2.0
// MatMulNBits and GatherBlockQuantized of com.microsoft, and products with a blocked DequantizeLinear.
#include "converter/import/onnx/ops/nbits.h"

#include <string>

#include "converter/import/common/block_weights.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 30;  // of n and k: their products stay within 64 bits

// Returns code i of `bits` bits each, low bits first.
uint32_t code_at(const uint8_t* codes, int64_t bits, int64_t i) {
  const auto at = static_cast<uint64_t>(i * bits);
  return codes[at / 8] >> (at % 8) & ((1u << bits) - 1);
}

// Counts the work of making weights. Fails where they would outgrow the source.
Status reserve_weights(Importer& importer, int64_t n, int64_t k, int64_t bits, int64_t block) {
  return importer.tensors().reserve(BlockWeights::bytes_of(n, k, bits, block), importer.graph());
}

// Reads the scales, one for each block, or refuses the node. *known tells which.
Status read_scales(Importer& importer, const NodeView& node, int i, int64_t count,
                   std::vector<float>* scales, bool* known) {
  const Tensor& t = importer.input(node, i);
  *known = t.is_plain_constant() && constant_floats(t, scales);
  if (!*known)
    return refuse_form(importer, node, "its scales '" + node.input(i) + "' are no constant floats");
  QRT_MODEL_CHECK(static_cast<int64_t>(scales->size()) == count,
                  "there are %zu scales, expected %lld", scales->size(),
                  static_cast<long long>(count));
  return Status();
}

// Refuses bits and blocks that the runtime does not have, or an input that is no constant of uint8.
Status check_form(Importer& importer, const NodeView& node, int codes, int64_t bits, int64_t block,
                  bool* known) {
  *known = BlockWeights::has_form(bits, block);
  if (!*known)
    return refuse_form(importer, node,
                       std::to_string(bits) + " bits in blocks of " + std::to_string(block) +
                           ": qrt has 2, 4 and 8 bits in blocks of 16 to 256, multiples of 16");
  const Tensor& t = importer.input(node, codes);
  *known = t.is_plain_constant();
  if (!*known)
    return refuse_form(importer, node, "its weights '" + node.input(codes) + "' are no constant");
  return Status();
}

}  // namespace

bool blocks_in_float(const Importer& importer, int64_t accuracy_level, int64_t bits,
                     int64_t block) {
  const Blocks blocks = importer.model().blocks();
  if (blocks != Blocks::kAsSource) return blocks == Blocks::kFloat;
  return accuracy_level != 4 || (bits == 2 && (block < 32 || block > 128));
}

Status multiply_by_blocks(FloatGraph* f, ValueId x, ValueId b, ValueId* y) {
  // Looks for the DequantizeLinear in the source first, which is found by its tensor's name; for
  // the operator in the graph, all nodes have to be searched.
  const NodeView* dequantize = f->importer().producer(f->node().input(1));
  if (dequantize == nullptr || dequantize->op() != "DequantizeLinear") return Status();
  const Graph& graph = f->importer().graph();
  const int producer = graph.producer(b);
  const auto* o =
      producer < 0 ? nullptr : graph.nodes[static_cast<size_t>(producer)].options.AsDequantize();
  if (o == nullptr || o->block_size == 0 || o->axis != 0) return Status();
  const std::vector<ValueId> inputs = graph.nodes[static_cast<size_t>(producer)].inputs;
  for (const ValueId v : inputs)
    if (!graph.values[v].is_constant) return Status();
  const Shape shape = f->shape_of(b), of_x = f->shape_of(x);
  if (inputs.size() < 2 || shape.rank() != 2 || of_x.rank() < 1 ||
      of_x[of_x.rank() - 1] != shape[0] || f->builder().type_of(inputs[1]) != DType::kFloat32)
    return Status();
  // uint8 holds int8 less -128. The two's complement of 4 and 2 bits differs from such codes in its high bit.
  int64_t bits = 0;
  uint32_t flip = 0;
  switch (f->builder().type_of(inputs[0])) {
    case DType::kUInt8: bits = 8; break;
    case DType::kInt4: bits = 4, flip = 8; break;
    case DType::kUInt4: bits = 4; break;
    case DType::kInt2: bits = 2, flip = 2; break;
    case DType::kUInt2: bits = 2; break;
    default: return Status();
  }
  const int64_t k = shape[0], n = shape[1], block = o->block_size;
  if (!BlockWeights::has_form(bits, block)) return Status();
  QRT_TRY(reserve_weights(f->importer(), n, k, bits, block));
  BlockWeights w(n, k, bits, block);
  const Value& codes = graph.values[inputs[0]];
  const auto* scales = graph.values[inputs[1]].as<float>();
  const uint8_t* zeros = inputs.size() > 2 ? graph.values[inputs[2]].data.data() : nullptr;
  for (int64_t o = 0; o < n; ++o)
    w.set_row(o, [&](int64_t i) { return code_at(codes.data.data(), bits, i * n + o) ^ flip; });
  for (int64_t i = 0; i < w.blocks() * n; ++i) {
    w.set_scale(i % n, i / n, scales[i]);
    w.set_zero_point(i % n, i / n, (zeros != nullptr ? code_at(zeros, bits, i) : 0) ^ flip);
  }
  *y = w.multiply(f, x, {}, blocks_in_float(f->importer(), 0, bits, block));
  return Status();
}

Status import_matmul_nbits(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  const int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 0);
  const int64_t n = node.integer("N", 0), k = node.integer("K", 0);
  bool known;
  QRT_TRY(check_form(importer, node, 1, bits, block, &known));
  if (!known) return Status();
  if (node.has_input(4)) return refuse_form(importer, node, "it has a g_idx");
  QRT_MODEL_CHECK(n >= 1 && n <= kMostSize && k >= 1 && k <= kMostSize,
                  "N is %lld and K %lld, expected 1 to 2^30", static_cast<long long>(n),
                  static_cast<long long>(k));
  const Tensor& x = importer.input(node, 0);
  QRT_MODEL_CHECK(x.shape.rank() >= 1 && x.shape[x.shape.rank() - 1] == k,
                  "its input has shape %s, expected a last dimension of K = %lld",
                  x.shape.to_string().c_str(), static_cast<long long>(k));
  const int64_t blocks = (k + block - 1) / block, row_bits = blocks * block * bits;
  const Constant& codes = *importer.input(node, 1).constant;
  QRT_MODEL_CHECK(codes.type == kUint8 && codes.elements() == n * (row_bits / 8),
                  "its weights are %lld elements of type %s, expected %lld of uint8",
                  static_cast<long long>(codes.elements()), element_type_name(codes.type),
                  static_cast<long long>(n * (row_bits / 8)));
  std::vector<float> scales, bias;
  QRT_TRY(read_scales(importer, node, 2, n * blocks, &scales, &known));
  if (!known) return Status();
  const int64_t zero_bytes = (blocks * bits + 7) / 8;
  const uint8_t* zeros = nullptr;
  if (node.has_input(3)) {
    const Tensor& z = importer.input(node, 3);
    if (!z.is_plain_constant() || z.type != kUint8)
      return refuse_form(importer, node,
                         "its zero points '" + node.input(3) + "' are no constant of uint8");
    QRT_MODEL_CHECK(
        z.shape.elements() == n * zero_bytes, "there are %lld bytes of zero points, expected %lld",
        static_cast<long long>(z.shape.elements()), static_cast<long long>(n * zero_bytes));
    zeros = z.constant->data.data();
  }
  if (node.has_input(5)) {
    const Tensor& b = importer.input(node, 5);
    if (!b.is_plain_constant() || !constant_floats(b, &bias))
      return refuse_form(importer, node, "its bias '" + node.input(5) + "' is no constant");
    QRT_MODEL_CHECK(static_cast<int64_t>(bias.size()) == n,
                    "its bias has %zu values, expected %lld", bias.size(),
                    static_cast<long long>(n));
  }
  FloatGraph f(importer, node);
  ValueId value;
  if (!f.read(0, &value)) return importer.refuse_float(node, 0);
  QRT_TRY(reserve_weights(importer, n, k, bits, block));
  BlockWeights w(n, k, bits, block);
  for (int64_t o = 0; o < n; ++o) {
    const uint8_t* row = codes.data.data() + o * (row_bits / 8);
    w.set_row(o, [&](int64_t i) { return code_at(row, bits, i); });
    for (int64_t b = 0; b < blocks; ++b) {
      w.set_scale(o, b, scales[static_cast<size_t>(o * blocks + b)]);
      if (zeros != nullptr) w.set_zero_point(o, b, code_at(zeros + o * zero_bytes, bits, b));
    }
  }
  const bool in_float = blocks_in_float(importer, node.integer("accuracy_level", 0), bits, block);
  const ValueId y = w.multiply(&f, value, bias, in_float);
  importer.became(node, "MatMulNBits", "F");
  set_float_output(importer, node, 0, y);
  return Status();
}

Status import_gather_block_quantized(Importer& importer, const NodeView& node) {
  const Tensor& data = importer.input(node, 0);
  const bool is_packed = data.type == kUint8;
  const int64_t bits = is_packed ? node.integer("bits", 4) : 4;
  const int64_t block = node.integer("block_size", 128);
  bool known;
  QRT_TRY(check_form(importer, node, 0, bits, block, &known));
  if (!known) return Status();
  const int64_t rank = data.shape.rank(), axis = node.integer("quantize_axis", 1);
  if (rank != 2 || (axis != 1 && axis != -1) || node.integer("gather_axis", 0) != 0)
    return refuse_form(importer, node,
                       "its data has shape " + data.shape.to_string() +
                           ": qrt takes rows of a matrix that are quantised along themselves");
  if (!is_packed && data.type != kInt4 && data.type != kUint4)
    return refuse_form(importer, node, std::string("its data is ") + element_type_name(data.type));
  const Tensor& index = importer.input(node, 1);
  if (!is_integer_value(index)) return importer.refuse_float(node, 1);
  const int64_t n = data.shape[0], k = data.shape[1] * (is_packed ? 8 / bits : 1);
  QRT_MODEL_CHECK(n >= 1 && k >= 1 && k <= kMostSize, "its data has shape %s",
                  data.shape.to_string().c_str());
  const int64_t blocks = (k + block - 1) / block;
  std::vector<float> scales;
  QRT_TRY(read_scales(importer, node, 2, n * blocks, &scales, &known));
  if (!known) return Status();
  const Constant* zeros = nullptr;
  const int64_t zero_bytes = (blocks * bits + 7) / 8;
  if (node.has_input(3)) {
    const Tensor& z = importer.input(node, 3);
    if (!z.is_plain_constant() || z.type != data.type)
      return refuse_form(importer, node, "its zero points are no constant of its data's type");
    const int64_t expected = n * (is_packed ? zero_bytes : blocks);
    QRT_MODEL_CHECK(z.shape.elements() == expected, "there are %lld zero points, expected %lld",
                    static_cast<long long>(z.shape.elements()), static_cast<long long>(expected));
    zeros = z.constant.get();
  }
  // Constants hold each element of int4 and uint4 in a byte.
  const uint32_t flip = data.type == kInt4 ? 8 : 0;
  const auto code = [&](const Constant& c, int64_t row, int64_t row_bytes, int64_t i) {
    const uint8_t* bytes = c.data.data() + row * row_bytes;
    return is_packed ? code_at(bytes, bits, i) : (bytes[i] & 15u) ^ flip;
  };
  FloatGraph f(importer, node);
  QRT_TRY(reserve_weights(importer, n, k, bits, block));
  BlockWeights w(n, k, bits, block);
  for (int64_t o = 0; o < n; ++o) {
    w.set_row(o, [&](int64_t i) { return code(*data.constant, o, data.shape[1], i); });
    for (int64_t b = 0; b < blocks; ++b) {
      w.set_scale(o, b, scales[static_cast<size_t>(o * blocks + b)]);
      if (zeros != nullptr)
        w.set_zero_point(o, b, code(*zeros, o, is_packed ? zero_bytes : blocks, b));
      else if (!is_packed)
        w.set_zero_point(o, b, flip);
    }
  }
  const ValueId rows =
      w.gather(&f, RunIntegers(importer, node).to_int64(integer_value(importer, node, 1)));
  importer.became(node, "GatherNBits", "I1");
  set_float_output(importer, node, 0, rows);
  return Status();
}

}  // namespace qrt::convert::from_onnx
