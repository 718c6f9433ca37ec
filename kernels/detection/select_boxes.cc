// SPDX-License-Identifier: Apache-2.0
#include "kernels/detection/select_boxes.h"

#include <algorithm>

namespace qrt {
namespace {

struct Box {
  float ymin, xmin, ymax, xmax, area;
};

Box box_of(const float* b, bool is_centered) {
  if (is_centered) {
    const float half_w = b[2] / 2, half_h = b[3] / 2;
    return {b[1] - half_h, b[0] - half_w, b[1] + half_h, b[0] + half_w, b[2] * b[3]};
  }
  Box box = {b[2], b[3], b[0], b[1], 0};
  if (!(b[0] >= b[2])) std::swap(box.ymin, box.ymax);
  if (!(b[1] >= b[3])) std::swap(box.xmin, box.xmax);
  box.area = (box.ymax - box.ymin) * (box.xmax - box.xmin);
  return box;
}

bool overlaps(const Box& a, const Box& kept, float most) {
  const float xmin = std::max(a.xmin, kept.xmin), xmax = std::min(a.xmax, kept.xmax);
  if (xmax <= xmin) return false;
  const float ymin = std::max(a.ymin, kept.ymin), ymax = std::min(a.ymax, kept.ymax);
  if (ymax <= ymin) return false;
  const float common = (xmax - xmin) * (ymax - ymin);
  return !(common <= 0) && common / (a.area + kept.area - common) > most;
}

size_t most_kept(const BoxSelection& p) { return std::min(p.rows, p.most); }

}  // namespace

// The kept boxes, their rows, and the rows in the order of their scores.
size_t select_boxes_scratch_bytes(const BoxSelection& p) {
  return most_kept(p) * (sizeof(Box) + sizeof(uint32_t)) + p.rows * sizeof(uint32_t);
}

size_t select_boxes(const BoxSelection& p, const float* boxes, const float* scores,
                    uint8_t* scratch, const uint32_t** chosen) {
  Box* const kept_boxes = reinterpret_cast<Box*>(scratch);
  uint32_t* const kept_rows = reinterpret_cast<uint32_t*>(kept_boxes + most_kept(p));
  uint32_t* const order = kept_rows + most_kept(p);
  size_t count = 0;
  for (size_t row = 0; row < p.rows; ++row)
    if (!p.has_least_score || scores[row] > p.least_score)
      order[count++] = static_cast<uint32_t>(row);
  std::sort(order, order + count, [scores](uint32_t i, uint32_t j) {
    const float u = scores[i], v = scores[j];
    if (u > v || v > u) return u > v;
    const bool u_is_number = u == u, v_is_number = v == v;
    return u_is_number != v_is_number ? u_is_number : i < j;
  });
  size_t kept = 0;
  for (size_t i = 0; i < count && kept < most_kept(p); ++i) {
    const Box box = box_of(boxes + 4 * size_t{order[i]}, p.is_centered);
    bool is_free = true;
    for (size_t k = 0; k < kept && is_free; ++k)
      is_free = !overlaps(box, kept_boxes[k], p.most_overlap);
    if (!is_free) continue;
    kept_rows[kept] = order[i];
    kept_boxes[kept++] = box;
  }
  *chosen = kept_rows;
  return kept;
}

}  // namespace qrt
