// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/arithmetic/float_gemm.h"

#include "kernels/float_fallback/float_fallback.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

// Returns the dequantised weights as [in, out], or as [out, in].
std::vector<float> real_weights(const Product& p, bool out_first) {
  std::vector<float> real(static_cast<size_t>(p.in * p.out));
  for (int64_t o = 0; o < p.out; ++o) {
    const size_t at = p.w_quant.per_tensor() ? 0 : static_cast<size_t>(o);
    for (int64_t i = 0; i < p.in; ++i) {
      const int64_t w = p.weights->integer(p.out_first ? o * p.in + i : i * p.out + o);
      real[static_cast<size_t>(out_first ? o * p.in + i : i * p.out + o)] =
          static_cast<float>(static_cast<int32_t>(w) - p.w_quant.zero_point[at]) *
          p.w_quant.scale[at];
    }
  }
  return real;
}

ValueId dequantized_input(Importer& importer, const NodeView& node, const Product& p, ValueId x) {
  const ValueId real =
      importer.builder().new_value("", DType::kFloat32, importer.builder().shape_of(x));
  auto& o = importer.builder().add<fb::DequantizeOptionsT>(node, {x}, real);
  o.scale = {float_bits(p.x_quant.scale[0])};
  o.zero_point = {p.x_quant.stored_zero_point()};
  return real;
}

}  // namespace

Status emit_float_gemm(Importer& importer, const NodeView& node, const Product& p,
                       ValueId* result) {
  GraphBuilder& builder = importer.builder();
  const int64_t rows = p.x_shape.elements() / p.in;
  // ONNX Runtime sums the product of a single row and a matrix in an order of its own, by fours or
  // by eights, unless alpha or beta scales the result.
  const bool is_plain = p.alpha == 1.0f && (p.beta == 0.0f || p.beta == 1.0f);
  const bool x_is_row = is_plain && rows == 1 && !p.transpose_x;
  const bool w_is_row = is_plain && !x_is_row && p.out == 1 && (!p.out_first || p.in == 1);
  const F function = x_is_row   ? (p.out_first ? F::ORT_GEMM_EIGHTS : F::ORT_GEMM_FOURS)
                     : w_is_row ? (p.transpose_x ? F::ORT_GEMM_FOURS : F::ORT_GEMM_EIGHTS)
                                : F::ORT_GEMM;
  Shape shape = p.x_shape;
  shape[shape.rank() - 1] = p.out;
  Shape c_shape = {w_is_row ? rows : p.out};
  const bool adds = !p.addends.empty() && p.beta != 0.0f;
  const Shape& s = p.addends_shape;
  const bool of_rows = adds && s.rank() > 1 && s[s.rank() - 2] > 1;
  const bool of_columns = adds && s.rank() > 0 && s[s.rank() - 1] > 1;
  if (of_rows && !w_is_row) c_shape = shape;
  QRT_TRY(importer.tensors().reserve(
      static_cast<uint64_t>(p.in * p.out + c_shape.elements()) * sizeof(float), importer.graph()));
  ValueId x = p.x;
  if (p.transpose_x && !w_is_row) x = builder.transpose(node, x, {1, 0});
  const Shape read = w_is_row ? (p.transpose_x ? Shape{p.in, rows} : Shape{rows, p.in}) : p.x_shape;
  if (builder.shape_of(x) != read) x = builder.reshape(node, x, read);
  x = dequantized_input(importer, node, p, x);
  const bool by_eights = function == F::ORT_GEMM_EIGHTS;
  const ValueId w =
      importer.graph().add_constant(node.input(1), DType::kFloat32,
                                    by_eights || w_is_row ? Shape{p.out, p.in} : Shape{p.in, p.out},
                                    real_weights(p, by_eights || w_is_row));
  std::vector<float> c(static_cast<size_t>(c_shape.elements()), 0.0f);
  const auto columns = static_cast<size_t>(p.out);
  for (size_t i = 0; adds && i < c.size(); ++i) {
    const size_t row = of_rows ? i / columns : 0, column = of_columns ? i % columns : 0;
    c[i] = p.addends[of_columns ? row * columns + column : row] * p.beta;
  }
  const ValueId bias = importer.graph().add_constant("", DType::kFloat32, c_shape, c);
  if (w_is_row) shape = {1, rows};
  const ValueId y = builder.new_value("", DType::kFloat32, shape);
  auto& o = builder.add<fb::FloatOptionsT>(
      node, w_is_row ? std::vector<ValueId>{w, x, bias} : std::vector<ValueId>{x, w, bias}, y);
  o.function = function;
  if (function == F::ORT_GEMM) {
    o.block = static_cast<uint32_t>(ort_gemm_block(p.out, p.in, p.transpose_x));
    o.alpha = float_bits(p.alpha);
  }
  importer.became(node, "Float", "I1");
  *result = shape == p.result ? y : builder.reshape(node, y, p.result);
  return Status();
}

}  // namespace qrt::convert::from_onnx
