// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess against the steps that kernels/detection/detection.h names; models it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "tests/support/detection_options.h"
#include "tests/support/op_tester.h"
#include "tests/support/random.h"

namespace qrt::detection_post_process_test {
namespace {

using testing::Bytes;
using testing::bytes_of;
using Options = fb::DetectionPostProcessOptionsT;
using Floats = std::vector<float>;

struct Size {
  int64_t images, rows, codes, classes, background;
};

struct Result {
  Floats boxes, classes, scores, count;
};

// One image after the other, every score a float, every step on its own.
class Reference {
 public:
  Reference(const Options& o, const Size& size, const Floats& anchors)
      : o_(o), size_(size), anchors_(anchors) {
    memcpy(&most_overlap_, &o.max_overlap, sizeof most_overlap_);
  }

  void image(const uint8_t* boxes, const uint8_t* scores, Result* y) {
    corners_.clear();
    for (int64_t i = 0; i < size_.rows; ++i) {
      const uint8_t* code = boxes + i * size_.codes;
      const float* anchor = &anchors_[static_cast<size_t>(4 * i)];
      const auto term = [&](size_t k) { return o_.box_terms[256 * k + code[k]]; };
      const float cy = static_cast<float>(term(0) * double{anchor[2]} + double{anchor[0]});
      const float cx = static_cast<float>(term(1) * double{anchor[3]} + double{anchor[1]});
      const float h = static_cast<float>(term(2) * double{anchor[2]});
      const float w = static_cast<float>(term(3) * double{anchor[3]});
      corners_.push_back({cy - h, cx - w, cy + h, cx + w});
    }
    const auto score = [&](int64_t row, int64_t c) {
      return o_
          .score_values[scores[row * (size_.classes + size_.background) + size_.background + c]];
    };
    const size_t results = o_.max_detections * o_.classes_per_detection;
    Found found(results, {-1, 0});
    size_t kept = 0;
    if (o_.per_class) {
      Found all;
      for (int64_t c = 0; c < size_.classes; ++c)
        for (int64_t row : pass([&](int64_t i) { return score(i, c); }, o_.detections_per_class))
          all.push_back({row, c});
      std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return score(a.first, a.second) > score(b.first, b.second);
      });
      kept = std::min<size_t>(all.size(), o_.max_detections);
      std::copy_n(all.begin(), kept, found.begin());
    } else {
      const auto order = [&](int64_t row) {
        std::vector<int64_t> classes(static_cast<size_t>(size_.classes));
        std::iota(classes.begin(), classes.end(), 0);
        std::stable_sort(classes.begin(), classes.end(),
                         [&](int64_t a, int64_t b) { return score(row, a) > score(row, b); });
        return classes;
      };
      for (int64_t row :
           pass([&](int64_t i) { return score(i, order(i)[0]); }, o_.max_detections)) {
        const std::vector<int64_t> best = order(row);
        for (size_t k = 0; k < o_.classes_per_detection && k < best.size(); ++k)
          found[kept * o_.classes_per_detection + k] = {row, best[k]};
        ++kept;
      }
    }
    for (const auto& [row, c] : found) {
      for (size_t k = 0; k < 4; ++k)
        y->boxes.push_back(row < 0 ? 0 : corners_[static_cast<size_t>(row)][k]);
      y->classes.push_back(row < 0 ? 0 : static_cast<float>(c));
      y->scores.push_back(row < 0 ? 0 : score(row, c));
    }
    y->count.push_back(static_cast<float>(kept));
  }

 private:
  using Found = std::vector<std::pair<int64_t, int64_t>>;  // row, class

  float area(size_t i) const {
    return (corners_[i][2] - corners_[i][0]) * (corners_[i][3] - corners_[i][1]);
  }
  bool overlap(int64_t a, int64_t b) const {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    if (area(i) <= 0 || area(j) <= 0) return false;
    float side[2];
    for (size_t k = 0; k < 2; ++k)
      side[k] = std::max(std::min(corners_[i][k + 2], corners_[j][k + 2]) -
                             std::max(corners_[i][k], corners_[j][k]),
                         0.0f);
    const float common = side[0] * side[1];
    return common / (area(i) + area(j) - common) > most_overlap_;
  }
  std::vector<int64_t> pass(const std::function<float(int64_t)>& score, size_t most) const {
    std::vector<int64_t> left;
    for (int64_t i = 0; i < size_.rows; ++i)
      if (o_.least_score < 256 && score(i) >= o_.score_values[o_.least_score]) left.push_back(i);
    std::stable_sort(left.begin(), left.end(),
                     [&](int64_t a, int64_t b) { return score(a) > score(b); });
    std::vector<int64_t> kept;
    while (!left.empty() && kept.size() < most) {
      kept.push_back(left[0]);
      left.erase(
          std::remove_if(left.begin(), left.end(),
                         [&](int64_t i) { return i == kept.back() || overlap(kept.back(), i); }),
          left.end());
    }
    return kept;
  }

  const Options& o_;
  const Size size_;
  const Floats anchors_;
  float most_overlap_;
  std::vector<std::array<float, 4>> corners_;
};

testing::ModelBuilder model(const Options& o, const Size& s, const Floats& anchors) {
  testing::ModelBuilder m;
  const int64_t results = int64_t{o.max_detections} * o.classes_per_detection;
  const uint32_t boxes = m.input({-1, s.rows, s.codes});
  const uint32_t scores = m.input({-1, s.rows, s.classes + s.background});
  m.op(o, {boxes, scores, m.constant({s.rows, 4}, DType::kFloat32, anchors)},
       {m.output({-1, results, 4}, DType::kFloat32), m.output({-1, results}, DType::kFloat32),
        m.output({-1, results}, DType::kFloat32), m.output({-1}, DType::kFloat32)});
  return m;
}

// Checks random boxes. `greatest`: the greatest code of the scores; few codes make many equal scores.
void check(const Options& o, const Size& s, int greatest) {
  testing::Random random;
  SCOPED_TRACE(random.trace());
  Floats anchors;
  for (int64_t i = 0; i < 4 * s.rows; ++i)
    anchors.push_back(static_cast<float>(random.integer(i % 4 < 2 ? -50 : 0, 100)) / 100);
  Bytes boxes(static_cast<size_t>(s.images * s.rows * s.codes));
  Bytes scores(static_cast<size_t>(s.images * s.rows * (s.classes + s.background)));
  random.fill(boxes, 0, 255);
  random.fill(scores, 0, greatest);
  Result y;
  Reference reference(o, s, anchors);
  for (int64_t i = 0; i < s.images; ++i)
    reference.image(&boxes[static_cast<size_t>(i * s.rows * s.codes)],
                    &scores[static_cast<size_t>(i * s.rows * (s.classes + s.background))], &y);
  testing::expect_outputs(
      model(o, s, anchors), s.images, {boxes, scores},
      {bytes_of(y.boxes), bytes_of(y.classes), bytes_of(y.scores), bytes_of(y.count)});
}

const Size kSizes[] = {{1, 1, 4, 1, 0}, {3, 7, 4, 3, 1}, {2, 100, 6, 20, 1}, {1, 61, 4, 91, 0}};

TEST(DetectionPostProcess, ByBox) {
  for (const Size& s : kSizes)
    for (const uint32_t per_box : {1, 2, 5})
      for (const int greatest : {0, 3, 255}) {
        Options o = testing::detection_options(static_cast<uint32_t>(s.classes), 12);
        o.classes_per_detection = per_box;
        o.least_score = greatest == 3 ? 2 : 0;
        check(o, s, greatest);
      }
}

TEST(DetectionPostProcess, ByClass) {
  for (const Size& s : kSizes)
    for (const uint32_t per_class : {1, 3, 20})
      for (const int greatest : {0, 3, 255}) {
        Options o = testing::detection_options(static_cast<uint32_t>(s.classes), 20);
        o.per_class = true;
        o.detections_per_class = per_class;
        o.classes_per_detection = per_class == 3 ? 2 : 1;  // the results behind stay 0
        o.least_score = greatest == 3 ? 2 : 0;
        check(o, s, greatest);
      }
}

TEST(DetectionPostProcess, ThresholdsAtTheirLimits) {
  for (const bool per_class : {false, true})
    for (const uint32_t least : {0, 1, 255, 256})
      for (const uint32_t overlap : {1u, 0x3f800000u}) {  // the least number above 0, and 1
        Options o = testing::detection_options(3, 30);
        o.per_class = per_class;
        o.least_score = least;
        o.max_overlap = overlap;
        check(o, {2, 40, 4, 3, 1}, 255);
      }
}

TEST(DetectionPostProcess, RefusesBadModels) {
  const auto reject = [](const std::string& part, const std::function<void(Options*)>& change,
                         Size s = {1, 5, 4, 3, 1}, float anchor = 1) {
    Options o = testing::detection_options(3, 4);
    change(&o);
    testing::expect_rejected(model(o, s, Floats(static_cast<size_t>(4 * s.rows), anchor)), part);
  };
  const auto keep = [](Options*) {};
  reject("box_terms has 1023 values, expected 1024", [](Options* o) { o->box_terms.pop_back(); });
  reject("box_terms has 0 values", [](Options* o) { o->box_terms.clear(); });
  reject("expected at most 2^60", [](Options* o) { o->box_terms[700] = 0x1p61; });
  reject("expected at most 2^60", [](Options* o) { o->box_terms[0] = NAN; });
  reject("score_values has 255 values", [](Options* o) { o->score_values.pop_back(); });
  reject("score_values[7] is", [](Options* o) { o->score_values[7] = o->score_values[6]; });
  reject("score_values[255] is inf", [](Options* o) { o->score_values[255] = INFINITY; });
  reject("max_detections is 65536, expected 1 to 65535",
         [](Options* o) { o->max_detections = 65536; });
  reject("classes_per_detection is 65536", [](Options* o) { o->classes_per_detection = 65536; });
  reject("detections_per_class is 5, expected 1 to 4",
         [](Options* o) { o->detections_per_class = 5; });
  reject("least_score is 257", [](Options* o) { o->least_score = 257; });
  reject("max_overlap is 0, expected above 0", [](Options* o) { o->max_overlap = 0; });
  reject("max_overlap is nan", [](Options* o) { o->max_overlap = 0x7fc00000; });
  reject("classes is 3, expected 4 to 5", keep, {1, 5, 4, 4, 1});
  reject("classes is 3, expected 1 to 2", keep, {1, 5, 4, 2, 0});
  reject("boxes have 3 values, expected at least 4", keep, {1, 5, 3, 3, 1});
  reject("anchors have inf", keep, {1, 5, 4, 3, 1}, INFINITY);
}

}  // namespace
}  // namespace qrt::detection_post_process_test
