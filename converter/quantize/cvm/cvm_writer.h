// SPDX-License-Identifier: Apache-2.0
// A float model as an MRT/CVM model: symmetric integers, bytes in front of layers, 16 bits in front of
// sums, products and averages, and between them only what CVM has operators for.
#ifndef QRT_CONVERTER_QUANTIZE_CVM_CVM_WRITER_H_
#define QRT_CONVERTER_QUANTIZE_CVM_CVM_WRITER_H_

#include <string>
#include <vector>

#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/schemes/parameters.h"

namespace qrt::quantize {

struct CvmModel {
  std::string symbol, params;  // the two files
  // real = integer * step; names of the float model's.
  struct Edge {
    std::string name;
    double step = 1;
  };
  Edge input;
  std::vector<Edge> outputs;
};

// Writes a CVM model. `interpreter`, of the model, computes tables. Fails with kUnsupported for a
// node that CVM has no form of, and says what to do.
Status write_cvm(const FloatModel& model, const Placement& placement, const Parameters& parameters,
                 const Interpreter& interpreter, CvmModel* cvm);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_CVM_CVM_WRITER_H_
