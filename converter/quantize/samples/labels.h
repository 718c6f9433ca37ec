// SPDX-License-Identifier: Apache-2.0
// The right classes of the calibration samples.
#ifndef QRT_CONVERTER_QUANTIZE_SAMPLES_LABELS_H_
#define QRT_CONVERTER_QUANTIZE_SAMPLES_LABELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::quantize {

// Reads a .npy of `count` integers, or a text of one a line; none of them is negative. An empty path has
// none. kInvalidModel.
Status read_labels(const std::string& path, size_t count, std::vector<int64_t>* labels);

// Returns kInvalidModel where a label is no class of a model that tells so many apart.
Status check_labels(const std::string& path, const std::vector<int64_t>& labels, int64_t classes);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SAMPLES_LABELS_H_
