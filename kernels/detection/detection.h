// SPDX-License-Identifier: Apache-2.0
// Boxes of a single-shot detector, decoded against their anchors and reduced by non-maximum
// suppression, with the bits of TFLite_Detection_PostProcess in TFLite's one-threaded kernel. A box is
// four codes y, x, h, w, and `terms` says what each code stands for (double, IEEE, no FMA):
//
//   center = fl32(terms[y] * anchor.h + anchor.y)     terms[y], [x]: code's value / scale
//   half   = fl32(terms[h] * anchor.h)                terms[h], [w]: exp(code's value / scale) / 2
//   ymin = fl32(center - half), ymax = fl32(center + half); x alike with anchor.x and anchor.w
//
// Overlap of boxes i and j: 0 where an area is not positive, else, each step rounded to float32,
// common / (area_i + area_j - common) with area = (ymax - ymin) * (xmax - xmin). Suppression goes
// through the boxes of a score of at least `least_score` in descending order, equal ones in their own,
// and keeps what overlaps nothing kept by more than `most_overlap`.
//  - By box (per_class false): one pass over all boxes by the best score of each; a kept box gives the
//    `results_per_box` best of its classes.
//  - By class: a pass for each class, which keeps up to `most_per_class`; of all that is kept, the best
//    `most_boxes`, equal ones by class.
// One form for every instruction set. Thread-safe.
#ifndef QRT_KERNELS_DETECTION_DETECTION_H_
#define QRT_KERNELS_DETECTION_DETECTION_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

struct DetectionParams {
  static constexpr size_t kCodes = 256;
  size_t rows;        // boxes, at least 1
  size_t box_stride;  // codes of a box, at least 4; what is behind the fourth is not read
  // Scores of a box: first_class for a background (0 or 1), then those of the classes.
  size_t first_class, classes;
  size_t most_boxes;  // kept, at least 1
  bool per_class;
  size_t most_per_class;   // 1..most_boxes
  size_t results_per_box;  // without per_class: 1..classes
  size_t result_stride;    // results from one box to the next, at least results_per_box
  int least_score;         // a code, 0..256
  float most_overlap;
  double terms[4][kCodes];  // y, x, h, w
  float scores[kCodes];     // ascending
};

// The outputs, with room for `result_stride * most_boxes` results.
struct Detections {
  float* boxes;    // ymin, xmin, ymax, xmax of each
  float* classes;  // the index of each, without the background
  float* scores;
  float* count;  // one number: that of the kept boxes
};

size_t detection_scratch_bytes(const DetectionParams& p);

// Detects in one image: boxes [rows, box_stride], scores [rows, first_class + classes]; anchors [rows,
// 4]: y, x, h, w. Results behind the last are 0. `scratch` is aligned to 16 bytes.
void detect(const DetectionParams& p, const uint8_t* boxes, const uint8_t* scores,
            const float* anchors, uint8_t* scratch, const Detections& y);

}  // namespace qrt

#endif  // QRT_KERNELS_DETECTION_DETECTION_H_
