// SPDX-License-Identifier: Apache-2.0
// Adds the Float operators of one node to the graph. (Operators between DequantizeLinear and
// QuantizeLinear that have no integer form run in float where the caller allows it. Their bytes are not
// ONNX Runtime's, save a LayerNormalization's over the last dimension.)
#ifndef QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_GRAPH_H_
#define QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_GRAPH_H_

#include <vector>

#include "converter/import/common/float_builder.h"
#include "converter/import/onnx/importer.h"

namespace qrt::convert::from_onnx {

class FloatGraph : public FloatBuilder {
 public:
  FloatGraph(Importer& importer, const NodeView& node)
      : FloatBuilder(&importer.builder(), node), importer_(importer), node_(node) {}

  Importer& importer() const { return importer_; }
  const NodeView& node() const { return node_; }

  // Reads input i as a float value. Returns false where no Float operator can read it.
  bool read(int i, ValueId* x);
  // Reads a function of stored codes (Tensor::Kind::kTable) as a float value. Returns false for any other tensor.
  bool read_table(const Tensor& t, ValueId* x);
  // Reads input i as constants, one for each of n channels. Returns false where it is something else.
  bool channel_constants(int i, int64_t n, std::vector<float>* values) const;

  // Computes y = x * scale + bias, with one value per channel, dimension 1.
  Status per_channel(const std::vector<float>& scale, const std::vector<float>& bias, ValueId x,
                     ValueId* y);

 private:
  ValueId dequantized(const Tensor& t);

  Importer& importer_;
  const NodeView& node_;
};

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FLOAT_FALLBACK_FLOAT_GRAPH_H_
