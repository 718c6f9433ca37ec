// SPDX-License-Identifier: Apache-2.0
// A quantised model as standard ONNX: float operators between QuantizeLinear and DequantizeLinear,
// integer weights and biases.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_QDQ_WRITER_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_QDQ_WRITER_H_

#include <string>

#include "converter/quantize/schemes/parameters.h"
#include "runtime/status.h"

namespace qrt::quantize {

// Writes the bytes of a ModelProto. Fails with kUnsupported beyond protobuf's 2 GB.
Status write_qdq(const FloatModel& model, const Placement& placement, const Parameters& parameters,
                 std::string* bytes);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_QDQ_WRITER_H_
