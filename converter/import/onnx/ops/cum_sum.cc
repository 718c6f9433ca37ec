// SPDX-License-Identifier: Apache-2.0
// CumSum; of integer constants at once.
#include <cstring>

#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"

namespace qrt::convert::from_onnx {
namespace {

// Writes what the operator CumSum computes (schema/qrt_model.fbs), of unsigned T, whose sums are modulo 2^width.
template <class T>
std::vector<uint8_t> summed(const Constant& x, const Shape& shape, const fb::CumSumOptionsT& o) {
  int64_t n = 1, inner = 1;
  for (int d = static_cast<int>(o.axis); d < shape.rank(); ++d)
    (d == static_cast<int>(o.axis) ? n : inner) *= shape[d];
  std::vector<uint8_t> bytes(x.data.size());
  const int64_t lines = n == 0 ? 0 : shape.elements() / n;
  for (int64_t line = 0; line < lines; ++line) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at =
          line / inner * n * inner + (o.reverse ? n - 1 - i : i) * inner + line % inner;
      const T v = static_cast<T>(x.integer(at)), made = o.exclusive ? sum : static_cast<T>(sum + v);
      memcpy(bytes.data() + static_cast<size_t>(at) * sizeof(T), &made, sizeof(T));
      sum = static_cast<T>(sum + v);
    }
  }
  return bytes;
}

}  // namespace

Status import_cum_sum(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  std::vector<int64_t> axis;
  if (!constant_integers(importer, node, 1, &axis)) return Status();
  QRT_MODEL_CHECK(axis.size() == 1, "its axis has %zu elements, expected 1", axis.size());
  int at;
  QRT_TRY(read_axis(axis[0], x.shape.rank(), &at));
  const bool is_integer = (x.type == kInt32 || x.type == kInt64) && has_type(x, x.type);
  if (!is_integer && is_integer_value(x)) return refuse_types(importer, node, x.type);
  fb::CumSumOptionsT o;
  o.axis = static_cast<uint32_t>(at);
  o.exclusive = node.integer("exclusive", 0) != 0;
  o.reverse = node.integer("reverse", 0) != 0;
  if (!is_integer) {
    FloatGraph f(importer, node);
    ValueId floats;
    if (!f.read(0, &floats)) return importer.refuse_float(node, 0);
    if (!importer.allows_float()) return refuse_float_operator(importer, node);
    o.is_float = true;
    const ValueId y = importer.builder().new_value("", DType::kFloat32, x.shape);
    importer.builder().add<fb::CumSumOptionsT>(node, {floats}, y) = o;
    importer.became(node, "CumSum", "F");
    set_float_output(importer, node, 0, y);
    return Status();
  }
  if (x.is_constant()) {
    importer.tensors().charge(x.constant->data.size());
    QRT_TRY(importer.tensors().check_growth(importer.graph()));
    auto made = std::make_shared<Constant>(*x.constant);
    made->data = x.type == kInt64 ? summed<uint64_t>(*x.constant, x.shape, o)
                                  : summed<uint32_t>(*x.constant, x.shape, o);
    importer.set_output(node, 0, constant_tensor(std::move(made)));
    return Status();
  }
  const ValueId y = importer.builder().new_value("", importer.builder().type_of(x.value), x.shape);
  importer.builder().add<fb::CumSumOptionsT>(node, {x.value}, y) = o;
  importer.became(node, "CumSum", "I0");
  set_value(importer, node, x.type, y);
  return Status();
}

}  // namespace qrt::convert::from_onnx
