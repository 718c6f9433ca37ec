// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/pictures.h"

#include <algorithm>
#include <cmath>

#include "converter/quantize/report/comparison.h"

namespace qrt::quantize {
namespace {

constexpr int64_t kLeastSide = 8;    // of a picture
constexpr int64_t kMostShown = 160;  // pixels of a side

// The dimensions of a tensor that is a picture.
struct Form {
  int64_t channels = 0, height = 0, width = 0;
  bool is_planar = true;
};

bool has_form(const Tensor& t, Form* form) {
  const Dims& d = t.shape;
  if (!t.is_real() || d.size() != 4 || d[0] != 1) return false;
  const auto is_colour = [](int64_t n) { return n == 1 || n == 3; };
  *form = is_colour(d[1]) ? Form{d[1], d[2], d[3], true} : Form{d[3], d[1], d[2], false};
  return is_colour(form->channels) && form->height >= kLeastSide && form->width >= kLeastSide;
}

// Draws a picture, black at `lo` and white at `hi`: every so many pixels where it is large.
PictureFinding::Image drawn(const Tensor& t, float lo, float hi) {
  Form f;
  if (!has_form(t, &f)) return {};
  const int64_t step = (std::max(f.height, f.width) + kMostShown - 1) / kMostShown;
  PictureFinding::Image image = {f.width / step, f.height / step, {}};
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < image.width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t channel = std::min(c, f.channels - 1), pixel = y * step * f.width + x * step;
        const float v = t.reals[static_cast<size_t>(
            f.is_planar ? channel * f.height * f.width + pixel : pixel * f.channels + channel)];
        const float part = hi > lo ? (v - lo) / (hi - lo) : 0;
        image.rgb.push_back(static_cast<uint8_t>(part > 0 ? std::min(part, 1.0f) * 255 : 0));
      }
  return image;
}

void find_range(const Tensor& t, float* lo, float* hi) {
  *lo = HUGE_VALF, *hi = -HUGE_VALF;
  for (const float v : t.reals) {
    if (!std::isfinite(v)) continue;
    *lo = std::min(*lo, v);
    *hi = std::max(*hi, v);
  }
}

int64_t best_of(const Tensor& t) {
  return std::max_element(t.reals.begin(), t.reals.end()) - t.reals.begin();
}

}  // namespace

bool is_picture(const Tensor& t) {
  Form form;
  return has_form(t, &form);
}

PictureFinding picture_finding(const Tensor& input, const Tensor& real, const Tensor& got) {
  PictureFinding finding;
  float lo, hi;
  find_range(input, &lo, &hi);
  finding.input = drawn(input, lo, hi);
  Comparison comparison;
  comparison.add(real, got);
  finding.sqnr = comparison.decibels();
  if (is_picture(real) && got.shape == real.shape) {
    find_range(real, &lo, &hi);
    finding.real = drawn(real, lo, hi);
    finding.got = drawn(got, lo, hi);
  }
  if (comparison.is_classes()) {
    finding.real_class = best_of(real);
    finding.got_class = best_of(got);
  }
  return finding;
}

}  // namespace qrt::quantize
