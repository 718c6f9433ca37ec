// SPDX-License-Identifier: Apache-2.0
// One of qrt's tensors against one of another system.
#ifndef QRT_CONVERTER_DIFF_COMPARE_H_
#define QRT_CONVERTER_DIFF_COMPARE_H_

#include <string>

#include "runtime/tools/elements.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/source_tensors.h"

namespace qrt::diff {

// Compares a tensor with a reference. False where they cannot be compared; `why` says it then. They can where their
// shapes differ in dimensions of 1 at most, and the reference's elements are
//   - of the same type: bit by bit
//   - int8, and qrt's uint8: an int8 graph is kept as uint8, 128 greater (or the other way round)
//   - float32, and qrt's integers with one scale: real numbers, (q - zero_point) * scale.
bool compare(const tool::SourceTensor& ours, const tool::NpyArray& reference,
             tool::Difference* difference, std::string* why);

}  // namespace qrt::diff

#endif  // QRT_CONVERTER_DIFF_COMPARE_H_
