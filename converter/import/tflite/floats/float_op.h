// SPDX-License-Identifier: Apache-2.0
// Operators of float32 tensors in models of TFLite's dynamic range, whose products are of floats with weights of 8 or 4 bits
// (layers.cc) and whose other operators are float by the nature of that form.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_FLOATS_FLOAT_OP_H_
#define QRT_CONVERTER_IMPORT_TFLITE_FLOATS_FLOAT_OP_H_

#include <string>

#include "converter/import/common/float_builder.h"
#include "converter/import/tflite/importer.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {

// Returns whether a model has such products, or weights of float16 behind a DEQUANTIZE: its operators of floats are imported
// then. The floats of other models are the exporter's failure, or the model is float.
bool has_dynamic_range(const Model& model);

// Returns the handler of an operator of floats in a model of dynamic range; null where there is none.
const Handler* find_dynamic_handler(const Op& op);

// One operator of floats on its way into the graph.
class FloatOp : public FloatBuilder {
 public:
  FloatOp(Importer& importer, const Op& op)
      : FloatBuilder(&importer.builder(), op), importer_(importer), op_(op) {}

  Importer& importer() const { return importer_; }
  const Op& op() const { return op_; }
  // Reads input i as floats; it may be a constant. Returns false where the operator was refused.
  bool read(int i, ValueId* x);
  // Returns input i as a constant of floats. Null: it is no constant, or cannot be read; the operator was refused.
  const Value* read_constant(int i);

  // Limits y to lo .. hi; NaN stays NaN.
  Status limit(float lo, float hi, ValueId* y);
  // Applies a fused activation. kUnsupported: one that has no kernel.
  Status activate(tflite::ActivationFunctionType activation, ValueId* y);
  // Makes y, reshaped where the file has it otherwise, output 0. kInvalidModel where its elements are of another number.
  Status finish(ValueId y, const std::string& result = "Float", const std::string& level = "F");

 private:
  Importer& importer_;
  const Op& op_;
};

// The handlers, in the files of their groups.
Status import_dynamic_fully_connected(Importer& importer, const Op& op);
Status import_dynamic_conv_2d(Importer& importer, const Op& op);
Status import_dynamic_depthwise_conv_2d(Importer& importer, const Op& op);
Status import_dynamic_batch_matmul(Importer& importer, const Op& op);
Status import_dynamic_lstm(Importer& importer, const Op& op);
Status import_float_unary(Importer& importer, const Op& op);
Status import_float_binary(Importer& importer, const Op& op);
Status import_float_reduction(Importer& importer, const Op& op);
Status import_float_softmax(Importer& importer, const Op& op);
Status import_float_l2_normalization(Importer& importer, const Op& op);
Status import_float_pool(Importer& importer, const Op& op);
Status import_float_resize_bilinear(Importer& importer, const Op& op);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_FLOATS_FLOAT_OP_H_
