// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression of the boxes of one image and class, with the choices of ONNX Runtime 1.30's NonMaxSuppression. Every
// step is rounded to float32. A box of opposite corners y, x, y, x has the area height * width; one of a middle x, y, a width and a
// height lies half of each to both sides, and its area is their product.
//
//   common  = width * height of what two boxes share; they do not overlap where either, or the product, is not positive
//   overlap = common / ((area + area of the kept one) - common)
//
// Boxes are taken in descending order of their scores, equal ones by rows, a NaN last. One form for every instruction set.
// Thread-safe.
#ifndef QRT_KERNELS_DETECTION_SELECT_BOXES_H_
#define QRT_KERNELS_DETECTION_SELECT_BOXES_H_

#include <cstddef>
#include <cstdint>

namespace qrt {

struct BoxSelection {
  size_t rows;  // at least 1
  size_t most;  // boxes kept, at least 1
  float most_overlap;
  bool has_least_score;
  float least_score;  // boxes up to it are left out
  bool is_centered;
};

size_t select_boxes_scratch_bytes(const BoxSelection& p);

// Returns how many boxes [rows, 4] are kept; *chosen, within the scratch, are their rows. `scratch` is aligned to 16 bytes.
size_t select_boxes(const BoxSelection& p, const float* boxes, const float* scores,
                    uint8_t* scratch, const uint32_t** chosen);

}  // namespace qrt

#endif  // QRT_KERNELS_DETECTION_SELECT_BOXES_H_
