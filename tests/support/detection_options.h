// SPDX-License-Identifier: Apache-2.0
// Options of a DetectionPostProcess that a model can be built with: terms of 256 codes as a detector has
// them, scores of a scale of 1/256.
#ifndef QRT_TESTS_SUPPORT_DETECTION_OPTIONS_H_
#define QRT_TESTS_SUPPORT_DETECTION_OPTIONS_H_

#include <cmath>

#include "qrt_model_generated.h"

namespace qrt::testing {

inline fb::DetectionPostProcessOptionsT detection_options(uint32_t classes,
                                                          uint32_t max_detections) {
  fb::DetectionPostProcessOptionsT o;
  for (int i = 0; i < 4; ++i)
    for (int code = 0; code < 256; ++code) {
      const double v = (code - 130) * 0.05 / (i < 2 ? 10 : 5);
      o.box_terms.push_back(i < 2 ? v : 0.5 * std::exp(v));
    }
  for (int code = 0; code < 256; ++code) o.score_values.push_back(static_cast<float>(code) / 256);
  o.classes = classes;
  o.max_detections = o.detections_per_class = max_detections;
  o.max_overlap = 0x3f000000;  // 0.5
  return o;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_DETECTION_OPTIONS_H_
