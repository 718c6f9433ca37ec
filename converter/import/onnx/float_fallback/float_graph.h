// Adds the Float operators of one node to the graph. (Operators between DequantizeLinear and
// QuantizeLinear that have no integer form run in float where the caller allows it, as one Float
// operator for each function. The functions are qrt's own, kernels/float_fallback/float_fallback.h:
// the same bytes everywhere, but not ONNX Runtime's, save a LayerNormalization's over the last
// dimension.)
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_GRAPH_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_GRAPH_H_

#include <vector>

#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

class FloatGraph {
 public:
  FloatGraph(Importer& importer, const NodeView& node) : importer_(importer), node_(node) {}

  Importer& importer() const { return importer_; }
  GraphBuilder& builder() const { return importer_.builder(); }
  const NodeView& node() const { return node_; }
  Shape shape_of(ValueId x) const { return importer_.builder().shape_of(x); }

  // Input i as a float value; false where it is none that a Float operator can read.
  bool read(int i, ValueId* x);
  // Input i: constants, one for each of n channels.
  bool channel_constants(int i, int64_t n, std::vector<float>* values) const;

  ValueId zeros(int64_t n);
  ValueId constant(const Shape& shape, const std::vector<float>& values);
  ValueId add(fb::FloatFunction function, std::vector<ValueId> inputs, const Shape& shape,
              float epsilon = 0);
  // Reshapes v to `from`, transposes it by `order` and reshapes it to `to`; a constant at once.
  ValueId arrange(ValueId v, const Shape& from, const std::vector<int>& order, const Shape& to);
  // Makes a x b + c with one of the ORT_GEMM functions; `block` is ORT_GEMM's.
  ValueId gemm(fb::FloatFunction function, ValueId a, ValueId b, ValueId c, const Shape& shape,
               int64_t block);
  // Adds a function of two operands, broadcast.
  Status binary(fb::FloatFunction function, ValueId a, ValueId b, ValueId* y);
  // `function` over rows made of the marked dimensions, which come out as they were, or as 1.
  Status rows(fb::FloatFunction function, const std::vector<bool>& marked, float epsilon, ValueId x,
              ValueId* y);
  // y = x * scale + bias of one value per channel, dimension 1.
  Status per_channel(const std::vector<float>& scale, const std::vector<float>& bias, ValueId x,
                     ValueId* y);

 private:
  ValueId dequantized(const Tensor& t);

  Importer& importer_;
  const NodeView& node_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_GRAPH_H_
