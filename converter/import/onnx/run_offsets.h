// SPDX-License-Identifier: Apache-2.0
// Numbers of a run that are known up to one unknown: x + 3, where only the run knows x.
#ifndef QRT_CONVERTER_IMPORT_ONNX_RUN_OFFSETS_H_
#define QRT_CONVERTER_IMPORT_ONNX_RUN_OFFSETS_H_

#include <cstdint>
#include <string>

namespace qrt::convert::from_onnx {

class Importer;

// An element of an integer tensor as the sum of an element that only the run knows and a number.
struct RunOffset {
  std::string base;     // the tensor, "" where nothing is unknown
  int64_t element = 0;  // index of the element in `base`
  int64_t offset = 0;

  bool operator==(const RunOffset& other) const {
    return base == other.base && element == other.element && offset == other.offset;
  }
};

// Follows element `element` of a tensor through what adds numbers to it or moves it. Returns false
// where that leads beyond what is followed.
bool find_run_offset(Importer& importer, const std::string& tensor, int64_t element,
                     RunOffset* found);

// Follows the element in the same way, through tensors that are known, too: to the shape that it is a dimension of.
bool find_origin(Importer& importer, const std::string& tensor, int64_t element, RunOffset* found);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_RUN_OFFSETS_H_
