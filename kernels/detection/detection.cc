// SPDX-License-Identifier: Apache-2.0
#include "kernels/detection/detection.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace qrt {
namespace {

struct Box {
  float ymin, xmin, ymax, xmax;
};

// A box kept by a class's pass.
struct Kept {
  uint32_t row, label;
  uint8_t code;
};

// Parts of the scratch.
struct Scratch {
  Box* chosen_boxes;  // [most_boxes]: kept by a pass
  Kept *kept, *next;  // [most_boxes]
  uint32_t* chosen;   // [most_boxes]: rows of chosen_boxes
  uint32_t* rows;     // [rows]: of a pass, in their order
  uint32_t* order;    // [rows]: the same in descending order of their codes
  uint8_t* codes;     // [rows]: of `rows`
  uint8_t* best;      // [rows]: code of a row's best class
};

// Returns how many bytes it takes; with null for `memory` that is all.
size_t lay_out(const DetectionParams& p, uint8_t* memory, Scratch* s) {
  size_t bytes = 0;
  const auto part = [&](auto** pointer, size_t count) {
    if (memory != nullptr)
      *pointer = reinterpret_cast<std::remove_reference_t<decltype(*pointer)>>(memory + bytes);
    bytes += count * sizeof **pointer;
  };
  part(&s->chosen_boxes, p.most_boxes);
  part(&s->kept, p.per_class ? p.most_boxes : 0);
  part(&s->next, p.per_class ? p.most_boxes : 0);
  part(&s->chosen, p.most_boxes);
  part(&s->rows, p.rows);
  part(&s->order, p.rows);
  part(&s->codes, p.rows);
  part(&s->best, p.rows);
  return bytes;
}

struct Image {
  const uint8_t *boxes, *scores;
  const float* anchors;
};

Box decode(const DetectionParams& p, const Image& x, uint32_t row) {
  const uint8_t* code = x.boxes + row * p.box_stride;
  const float* anchor = x.anchors + 4 * size_t{row};
  const double ay = static_cast<double>(anchor[0]), ax = static_cast<double>(anchor[1]);
  const double ah = static_cast<double>(anchor[2]), aw = static_cast<double>(anchor[3]);
  const float center_y = static_cast<float>(p.terms[0][code[0]] * ah + ay);
  const float center_x = static_cast<float>(p.terms[1][code[1]] * aw + ax);
  const float half_h = static_cast<float>(p.terms[2][code[2]] * ah);
  const float half_w = static_cast<float>(p.terms[3][code[3]] * aw);
  return {center_y - half_h, center_x - half_w, center_y + half_h, center_x + half_w};
}

float area(const Box& b) { return (b.ymax - b.ymin) * (b.xmax - b.xmin); }

float overlap(const Box& a, const Box& b) {
  const float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin);
  const float width = std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin);
  const float common = std::max(height, 0.0f) * std::max(width, 0.0f);
  return common / (area_a + area_b - common);
}

uint8_t greatest(const uint8_t* x, size_t n) {
  constexpr size_t kLanes = 16;  // compilers make a vector of them
  uint8_t lanes[kLanes] = {}, most = 0;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = std::max(lanes[k], x[i + k]);
  for (; i < n; ++i) most = std::max(most, x[i]);
  for (const uint8_t lane : lanes) most = std::max(most, lane);
  return most;
}

// Sorts the first `count` of rows and codes into s.order: the greatest codes first, equal ones in their order.
void sort_rows(size_t count, const Scratch& s) {
  uint32_t starts[256] = {};  // of a code's rows
  for (size_t i = 0; i < count; ++i) ++starts[s.codes[i]];
  uint32_t start = 0;
  for (size_t code = 256; code-- > 0;) {
    const uint32_t rows = starts[code];
    starts[code] = start;
    start += rows;
  }
  for (size_t i = 0; i < count; ++i) s.order[starts[s.codes[i]]++] = s.rows[i];
}

// Returns how many of the first `count` of rows and codes are kept and chosen, at most `most`.
size_t suppress(const DetectionParams& p, const Image& x, size_t count, size_t most,
                const Scratch& s) {
  sort_rows(count, s);
  size_t kept = 0;
  for (size_t i = 0; i < count && kept < most; ++i) {
    const Box box = decode(p, x, s.order[i]);
    bool is_free = true;
    for (size_t k = 0; k < kept && is_free; ++k)
      is_free = !(overlap(s.chosen_boxes[k], box) > p.most_overlap);
    if (!is_free) continue;
    s.chosen[kept] = s.order[i];
    s.chosen_boxes[kept++] = box;
  }
  return kept;
}

void put(const Detections& y, size_t at, const Box& box, size_t label, float score) {
  memcpy(y.boxes + 4 * at, &box, sizeof box);
  y.classes[at] = static_cast<float>(label);
  y.scores[at] = score;
}

size_t detect_by_box(const DetectionParams& p, const Image& x, const Scratch& s,
                     const Detections& y) {
  size_t count = 0;
  for (size_t i = 0; i < p.rows; ++i) {
    if (s.best[i] < p.least_score) continue;
    s.rows[count] = static_cast<uint32_t>(i);
    s.codes[count++] = s.best[i];
  }
  const size_t width = p.first_class + p.classes;
  const size_t kept = suppress(p, x, count, p.most_boxes, s);
  for (size_t i = 0; i < kept; ++i) {
    const uint8_t* codes = x.scores + s.chosen[i] * width + p.first_class;
    // Chooses the next class in descending order of scores, equal ones in ascending order of class:
    // the best one behind `last`.
    size_t last = p.classes;
    for (size_t k = 0; k < p.results_per_box; ++k) {
      size_t best = p.classes;
      for (size_t c = 0; c < p.classes; ++c) {
        const bool is_left =
            last == p.classes || codes[c] < codes[last] || (codes[c] == codes[last] && c > last);
        if (is_left && (best == p.classes || codes[c] > codes[best])) best = c;
      }
      last = best;
      put(y, i * p.result_stride + k, s.chosen_boxes[i], best, p.scores[codes[best]]);
    }
  }
  return kept;
}

// Merges the `found` chosen rows of class c into the `kept` ones, behind those of equal codes.
// Returns how many there are then.
size_t merge(const DetectionParams& p, const uint8_t* class_scores, uint32_t c, size_t found,
             size_t kept, Scratch* s) {
  const size_t width = p.first_class + p.classes, all = std::min(kept + found, p.most_boxes);
  size_t old = 0, now = 0;
  for (size_t i = 0; i < all; ++i) {
    const uint8_t code = now < found ? class_scores[s->chosen[now] * width] : uint8_t{0};
    if (now == found || (old < kept && s->kept[old].code >= code))
      s->next[i] = s->kept[old++];
    else
      s->next[i] = {s->chosen[now++], c, code};
  }
  std::swap(s->kept, s->next);
  return all;
}

size_t detect_by_class(const DetectionParams& p, const Image& x, Scratch s, const Detections& y) {
  const size_t width = p.first_class + p.classes;
  size_t kept = 0;
  for (size_t c = 0; c < p.classes; ++c) {
    // Once enough boxes are chosen, a further box has to score better than the last of them. A box
    // that does not cannot suppress one that does.
    const int least =
        kept < p.most_boxes ? p.least_score : std::max(p.least_score, s.kept[kept - 1].code + 1);
    const uint8_t* scores = x.scores + p.first_class + c;
    size_t count = 0;
    for (size_t i = 0; i < p.rows; ++i) {
      if (s.best[i] < least) continue;
      const uint8_t code = scores[i * width];
      if (code < least) continue;
      s.rows[count] = static_cast<uint32_t>(i);
      s.codes[count++] = code;
    }
    const size_t found = suppress(p, x, count, p.most_per_class, s);
    kept = merge(p, scores, static_cast<uint32_t>(c), found, kept, &s);
  }
  for (size_t i = 0; i < kept; ++i)
    put(y, i, decode(p, x, s.kept[i].row), s.kept[i].label, p.scores[s.kept[i].code]);
  return kept;
}

}  // namespace

size_t detection_scratch_bytes(const DetectionParams& p) {
  Scratch s{};
  return lay_out(p, nullptr, &s);
}

void detect(const DetectionParams& p, const uint8_t* boxes, const uint8_t* scores,
            const float* anchors, uint8_t* scratch, const Detections& y) {
  Scratch s{};
  lay_out(p, scratch, &s);
  const Image x = {boxes, scores, anchors};
  const size_t results = p.most_boxes * p.result_stride, width = p.first_class + p.classes;
  std::fill_n(y.boxes, 4 * results, 0.0f);
  std::fill_n(y.classes, results, 0.0f);
  std::fill_n(y.scores, results, 0.0f);
  for (size_t i = 0; i < p.rows; ++i)
    s.best[i] = greatest(scores + i * width + p.first_class, p.classes);
  const size_t kept = p.per_class ? detect_by_class(p, x, s, y) : detect_by_box(p, x, s, y);
  *y.count = static_cast<float>(kept);
}

}  // namespace qrt
