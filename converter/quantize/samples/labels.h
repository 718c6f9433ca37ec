// The right classes of the calibration samples.
#ifndef QRT_CONVERTER_QUANTIZE_SAMPLES_LABELS_H_
#define QRT_CONVERTER_QUANTIZE_SAMPLES_LABELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::quantize {

// A .npy of `count` integers, or a text of one a line. An empty path has none.
Status read_labels(const std::string& path, size_t count, std::vector<int64_t>* labels);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SAMPLES_LABELS_H_
