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
  Box* boxes;         // [rows]
  uint32_t* order;    // [rows]: of a pass
  uint32_t* chosen;   // [most_boxes]: kept by a pass
  Kept *kept, *next;  // [most_boxes]
  uint8_t* codes;     // [rows]: of a pass
};

// Returns how many bytes it takes; with null for `memory` that is all.
size_t lay_out(const DetectionParams& p, uint8_t* memory, Scratch* s) {
  size_t bytes = 0;
  const auto part = [&](auto** pointer, size_t count) {
    if (memory != nullptr)
      *pointer = reinterpret_cast<std::remove_reference_t<decltype(*pointer)>>(memory + bytes);
    bytes += count * sizeof **pointer;
  };
  part(&s->boxes, p.rows);
  part(&s->order, p.rows);
  part(&s->chosen, p.most_boxes);
  part(&s->kept, p.per_class ? p.most_boxes : 0);
  part(&s->next, p.per_class ? p.most_boxes : 0);
  part(&s->codes, p.rows);
  return bytes;
}

Box decode(const DetectionParams& p, const uint8_t* code, const float* anchor) {
  const double y = static_cast<double>(anchor[0]), x = static_cast<double>(anchor[1]);
  const double h = static_cast<double>(anchor[2]), w = static_cast<double>(anchor[3]);
  const float center_y = static_cast<float>(p.terms[0][code[0]] * h + y);
  const float center_x = static_cast<float>(p.terms[1][code[1]] * w + x);
  const float half_h = static_cast<float>(p.terms[2][code[2]] * h);
  const float half_w = static_cast<float>(p.terms[3][code[3]] * w);
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

// Indices of the rows whose code is at least least_score, the greatest codes first, equal ones in
// their order; returns how many.
size_t sort_rows(const DetectionParams& p, const uint8_t* codes, uint32_t* order) {
  size_t starts[DetectionParams::kCodes + 1] = {};  // of a code's rows, by 255 - code
  for (size_t i = 0; i < p.rows; ++i) ++starts[DetectionParams::kCodes - codes[i]];
  for (size_t i = 1; i <= DetectionParams::kCodes; ++i) starts[i] += starts[i - 1];
  const size_t count = p.least_score > 255
                           ? 0
                           : starts[DetectionParams::kCodes - static_cast<size_t>(p.least_score)];
  for (size_t i = 0; i < p.rows; ++i)
    if (codes[i] >= p.least_score)
      order[starts[DetectionParams::kCodes - 1 - codes[i]]++] = static_cast<uint32_t>(i);
  return count;
}

// Rows that a pass keeps, at most `most`.
size_t suppress(const DetectionParams& p, const uint8_t* codes, size_t most, const Scratch& s) {
  const size_t count = sort_rows(p, codes, s.order);
  size_t kept = 0;
  for (size_t i = 0; i < count && kept < most; ++i) {
    bool is_free = true;
    for (size_t k = 0; k < kept && is_free; ++k)
      is_free = !(overlap(s.boxes[s.chosen[k]], s.boxes[s.order[i]]) > p.most_overlap);
    if (is_free) s.chosen[kept++] = s.order[i];
  }
  return kept;
}

void put(const Detections& y, size_t at, const Box& box, size_t label, float score) {
  memcpy(y.boxes + 4 * at, &box, sizeof box);
  y.classes[at] = static_cast<float>(label);
  y.scores[at] = score;
}

size_t detect_by_box(const DetectionParams& p, const uint8_t* scores, const Scratch& s,
                     const Detections& y) {
  const size_t width = p.first_class + p.classes;
  const size_t kept = suppress(p, s.codes, p.most_boxes, s);
  for (size_t i = 0; i < kept; ++i) {
    const uint8_t* codes = scores + s.chosen[i] * width + p.first_class;
    // The next in descending order, equal ones in their own: behind `last`.
    size_t last = p.classes;
    for (size_t k = 0; k < p.results_per_box; ++k) {
      size_t best = p.classes;
      for (size_t c = 0; c < p.classes; ++c) {
        const bool is_left =
            last == p.classes || codes[c] < codes[last] || (codes[c] == codes[last] && c > last);
        if (is_left && (best == p.classes || codes[c] > codes[best])) best = c;
      }
      last = best;
      put(y, i * p.result_stride + k, s.boxes[s.chosen[i]], best, p.scores[codes[best]]);
    }
  }
  return kept;
}

size_t detect_by_class(const DetectionParams& p, const uint8_t* scores, Scratch s,
                       const Detections& y) {
  const size_t width = p.first_class + p.classes;
  size_t kept = 0;
  for (size_t c = 0; c < p.classes; ++c) {
    for (size_t i = 0; i < p.rows; ++i) s.codes[i] = scores[i * width + p.first_class + c];
    const size_t found = suppress(p, s.codes, p.most_per_class, s);
    size_t old = 0, now = 0, all = std::min(kept + found, p.most_boxes);
    for (size_t i = 0; i < all; ++i) {
      const bool is_old =
          now == found || (old < kept && s.kept[old].code >= s.codes[s.chosen[now]]);
      if (is_old) {
        s.next[i] = s.kept[old++];
      } else {
        s.next[i] = {s.chosen[now], static_cast<uint32_t>(c), s.codes[s.chosen[now]]};
        ++now;
      }
    }
    kept = all;
    std::swap(s.kept, s.next);
  }
  for (size_t i = 0; i < kept; ++i)
    put(y, i, s.boxes[s.kept[i].row], s.kept[i].label, p.scores[s.kept[i].code]);
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
  for (size_t i = 0; i < p.rows; ++i)
    s.boxes[i] = decode(p, boxes + i * p.box_stride, anchors + 4 * i);
  const size_t results = p.most_boxes * p.result_stride;
  std::fill_n(y.boxes, 4 * results, 0.0f);
  std::fill_n(y.classes, results, 0.0f);
  std::fill_n(y.scores, results, 0.0f);
  if (p.per_class) {
    *y.count = static_cast<float>(detect_by_class(p, scores, s, y));
    return;
  }
  const size_t width = p.first_class + p.classes;
  for (size_t i = 0; i < p.rows; ++i)
    s.codes[i] = greatest(scores + i * width + p.first_class, p.classes);
  *y.count = static_cast<float>(detect_by_box(p, scores, s, y));
}

}  // namespace qrt
