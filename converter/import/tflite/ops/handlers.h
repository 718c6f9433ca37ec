// SPDX-License-Identifier: Apache-2.0
// The operators of TFLite that have an integer form: one handler each, and what handlers share.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_
#define QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_

#include "converter/import/common/layer_constants.h"
#include "converter/import/common/window.h"
#include "converter/import/tflite/importer.h"
#include "converter/import/tflite/requant.h"

namespace qrt::convert::from_tflite {

struct Handler {
  Status (*handle)(Importer& importer, const Op& op);
  tflite::BuiltinOperator code;
  int inputs;                // the first ones, which must be there
  bool has_state = false;    // takes tensors that keep their content between runs, or their handles
  bool takes_int16 = false;  // activations of 16 bits
  int outputs = 1;           // the least number of outputs
  const char* custom_code = "";  // name of a CUSTOM operator
};

#define QRT_TFLITE_OP(handler, code, ...) Status handler(Importer& importer, const Op& op);
#include "converter/import/tflite/ops/handlers.inc"

// Returns the handler of an operator, or null.
const Handler* find_handler(const Op& op);
// Returns the handler of an operator whose output is float32 (real.h).
const Handler* find_float_handler(const Op& op);

// Places a window on an image by the reference's rule: SAME puts the greater half of the padding
// behind. Checks kernel, stride and dilation and sets the rest. kInvalidModel where they make no
// window; kUnsupported where qrt's fields are too small for them.
Status place_window(int64_t rows, int64_t columns, tflite::Padding padding, Window* window);

// Checks that the file's shape of output 0 is the one that follows from the operator.
Status check_output_shape(const Importer& importer, const Op& op, const Shape& expected);
// Checks that the file's shape of output 0 is that of the first two inputs, broadcast.
Status check_broadcast(const Importer& importer, const Op& op);

// Returns the activation that ADD, SUB, MUL and DIV may have within them.
tflite::ActivationFunctionType fused_activation(const Op& op);

// ops/real.cc: reads input i as a number, or as the result of a DEQUANTIZE or of an operator of
// floats. Returns false where the operator was refused.
bool read_real(Importer& importer, const Op& op, int i, Real* real);
// ops/recurrent.cc: refuses those optional parts of an LSTM that qrt lacks. `form`: how the refusal names the form that lacks them,
// "the reference's integer form lacks". Returns whether the operator was refused.
bool refuse_optional_inputs(Importer& importer, const Op& op, const char* form);
// ops/integers.cc: imports an operator on int32, folded where both are known.
Status import_integers(Importer& importer, const Op& op, fb::IntegerFunction function);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_OPS_HANDLERS_H_
