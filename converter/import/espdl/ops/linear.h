// SPDX-License-Identifier: Apache-2.0
// The common part of Conv, Gemm and MatMul: sums of products, plus a bias at the products' exponent, shifted to the
// output's.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_OPS_LINEAR_H_
#define QRT_CONVERTER_IMPORT_ESPDL_OPS_LINEAR_H_

#include <memory>
#include <string>
#include <vector>

#include "converter/import/espdl/layout.h"
#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {

// Weights and bias in the order the graph takes, with what the requantisation needs.
struct Linear {
  Format in, out;
  FilterShape shape;
  std::vector<int16_t> weights;
  std::vector<int64_t> bias;
  std::vector<int> exponents, shifts;  // the weights': one, or one for each output channel
  bool relu = false;
};

// The fused activation. False: refused.
bool read_activation(Importer& importer, const Node& node, bool* relu);
// Weights and bias of inputs 1 and 2, as constants of the graph. REQUIRES: in, out and shape are set.
struct LinearConstants {
  ValueId weights = kNoValue, bias = kNoValue;
  std::string note;  // says of the layer's result whether the ESP32-S3 sums exactly
};
// Reads the layer, whose weights get the shape `shape`. *known stays false where it was refused.
Status read_linear(Importer& importer, const Node& node, const Shape& shape, Linear* linear,
                   LinearConstants* constants, bool* known);
std::unique_ptr<fb::RequantT> requant_of(Importer& importer, const Linear& linear);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_OPS_LINEAR_H_
