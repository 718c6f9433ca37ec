// SPDX-License-Identifier: Apache-2.0
// The custom operator TFLite_Detection_PostProcess: a detector's boxes, decoded and reduced by
// non-maximum suppression.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/tflite/ops/handlers.h"
#include "converter/import/tflite/option_map.h"
#include "converter/portable_math.h"

namespace qrt::convert::from_tflite {
namespace {

// Reads input i as a function of the bytes of one tensor: uint8, or float32 that a DEQUANTIZE, and
// elementwise operators behind it, make of such bytes. Returns false where the operator was refused.
bool read_codes(Importer& importer, const Op& op, int i, Real* codes) {
  const Tensor& t = importer.input(op, i);
  if (t.type == TensorType::UINT8 && !t.is_constant) {
    Quant quant;
    if (!importer.read_quant(op, t, &quant)) return false;
    *codes = dequantized(importer.value(op, i), quant.scale[0], quant.stored_zero_point());
    return true;
  }
  if (const Real* real = importer.real(op, i); real && !real->is_pair() && !real->is_constant()) {
    *codes = *real;
    GraphBuilder& builder = importer.builder();
    if (builder.shape_of(real->a) != t.shape) codes->a = builder.reshape(op, real->a, t.shape);
    return true;
  }
  (void)importer.refuse(op,
                        importer.quoted_input(op, i) +
                            " is neither uint8 nor float32 that DEQUANTIZE makes of 8 bits",
                        t.name, "quantise the boxes and scores to 8 bits");
  return false;
}

// Reads the anchors, which the reference takes in the boxes' type: uint8 or float32.
bool read_anchors(Importer& importer, const Op& op, std::vector<float>* anchors) {
  const Tensor& t = importer.input(op, 2);
  const TensorType type = importer.input(op, 0).type;
  if (!t.is_constant || t.type != type) {
    (void)importer.refuse(op,
                          importer.quoted_input(op, 2) + " is not a constant of the boxes' type",
                          t.name, "store it as a constant of the model");
    return false;
  }
  anchors->resize(static_cast<size_t>(t.shape.elements()));
  if (type == TensorType::FLOAT32) {
    memcpy(anchors->data(), t.data, anchors->size() * sizeof(float));
  } else {
    Quant quant;
    if (!importer.read_quant(op, t, &quant)) return false;
    for (size_t i = 0; i < anchors->size(); ++i)
      (*anchors)[i] = static_cast<float>(t.data[i] - quant.zero_point[0]) * quant.scale[0];
  }
  for (size_t i = 0; i < anchors->size(); ++i) {
    const float v = (*anchors)[i];
    if (std::isfinite(v) && std::fabs(v) <= 0x1p60f && (i % 4 < 2 || v >= 0)) continue;
    (void)importer.refuse(op,
                          "anchor " + std::to_string(i / 4) + " has the value " +
                              std::to_string(v) + ", which makes no box",
                          t.name, "give anchors finite centers and sizes of at least 0");
    return false;
  }
  return true;
}

struct Options {
  int64_t max_detections = 0, classes_per_detection = 0, detections_per_class = 100, classes = 0;
  bool per_class = false;
  float least_score = 0, max_overlap = 0;
  float scale[4] = {};  // y, x, h, w
};

// Reads the options by the reference's rules: a missing key is 0, except detections_per_class.
Status read_options(const Op& op, Options* o) {
  const auto* bytes = op.table->custom_options();
  OptionMap map;
  QRT_TRY(OptionMap::open(bytes ? bytes->data() : nullptr, bytes ? bytes->size() : 0, &map));
  QRT_TRY(map.read("max_detections", &o->max_detections));
  QRT_TRY(map.read("max_classes_per_detection", &o->classes_per_detection));
  QRT_TRY(map.read("detections_per_class", &o->detections_per_class));
  QRT_TRY(map.read("use_regular_nms", &o->per_class));
  QRT_TRY(map.read("num_classes", &o->classes));
  QRT_TRY(map.read("nms_score_threshold", &o->least_score));
  QRT_TRY(map.read("nms_iou_threshold", &o->max_overlap));
  const char* const names[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  for (int i = 0; i < 4; ++i) QRT_TRY(map.read(names[i], &o->scale[i]));
  const auto in = [](const char* what, int64_t v, int64_t lo, int64_t hi) {
    QRT_MODEL_CHECK(v >= lo && v <= hi, "%s is %lld, expected %lld to %lld", what,
                    static_cast<long long>(v), static_cast<long long>(lo),
                    static_cast<long long>(hi));
    return Status();
  };
  QRT_TRY(in("max_detections", o->max_detections, 1, 65535));
  QRT_TRY(in("max_classes_per_detection", o->classes_per_detection, 1, 65535));
  QRT_TRY(in("detections_per_class", o->detections_per_class, 1, INT32_MAX));
  QRT_MODEL_CHECK(o->max_overlap > 0 && o->max_overlap <= 1,
                  "nms_iou_threshold is %g, expected above 0, at most 1",
                  static_cast<double>(o->max_overlap));
  QRT_MODEL_CHECK(std::isfinite(o->least_score), "nms_score_threshold is not finite");
  for (int i = 0; i < 4; ++i)
    QRT_MODEL_CHECK(std::isnormal(o->scale[i]), "%s is %g, expected a normal number", names[i],
                    static_cast<double>(o->scale[i]));
  return Status();
}

}  // namespace

Status import_detection_post_process(Importer& importer, const Op& op) {
  Options options;
  QRT_TRY(read_options(op, &options));
  const Shape &x = importer.input(op, 0).shape, &s = importer.input(op, 1).shape,
              &a = importer.input(op, 2).shape;
  QRT_MODEL_CHECK(x.rank() == 3 && s.rank() == 3 && a.rank() == 2 && x[2] >= 4 && x[0] == s[0] &&
                      x[1] == s[1] && a == Shape({x[1], 4}) && x[0] == 1,
                  "its inputs have shapes %s, %s and %s, expected [1, n, 4], [1, n, classes] and "
                  "[n, 4]",
                  x.to_string().c_str(), s.to_string().c_str(), a.to_string().c_str());
  QRT_MODEL_CHECK(options.classes >= 1 && (s[2] == options.classes || s[2] == options.classes + 1),
                  "num_classes is %lld of %lld scores, expected all or all but one",
                  static_cast<long long>(options.classes), static_cast<long long>(s[2]));
  Real boxes, scores;
  std::vector<float> anchors;
  if (!read_codes(importer, op, 0, &boxes) || !read_codes(importer, op, 1, &scores) ||
      !read_anchors(importer, op, &anchors))
    return Status();

  fb::DetectionPostProcessOptionsT o;
  for (int i = 0; i < 4; ++i) {
    for (const float box : boxes.table) {
      const double v = static_cast<double>(box) / static_cast<double>(options.scale[i]);
      if (!(std::fabs(v) <= (i < 2 ? 0x1p60 : 40.0)))
        return importer.refuse(op,
                               "codes of boxes stand for centers above 2^60 or sizes above e^40",
                               importer.input(op, 0).name,
                               "calibrate again with samples in which this tensor takes its usual "
                               "values: qrt_convert --lint names the scales");
      o.box_terms.push_back(i < 2 ? v : 0.5 * portable_exp(v));
    }
  }
  o.score_values = scores.table;
  for (size_t i = 0; i < 256; ++i)
    if (!std::isfinite(scores.table[i]) || (i > 0 && scores.table[i] <= scores.table[i - 1]))
      return importer.refuse(
          op, "scores of different codes are the same, or in another order",
          importer.input(op, 1).name,
          "let DETECTION_POSTPROCESS read the quantised scores, or a DEQUANTIZE of them");
  o.least_score = static_cast<uint32_t>(
      std::lower_bound(scores.table.begin(), scores.table.end(), options.least_score) -
      scores.table.begin());
  o.classes = static_cast<uint32_t>(options.classes);
  o.max_detections = static_cast<uint32_t>(options.max_detections);
  o.classes_per_detection = static_cast<uint32_t>(options.classes_per_detection);
  o.detections_per_class =
      static_cast<uint32_t>(std::min(options.detections_per_class, options.max_detections));
  o.max_overlap = float_bits(options.max_overlap);
  o.per_class = options.per_class;

  // The file leaves the outputs' shapes open.
  const int64_t results = options.max_detections * options.classes_per_detection;
  const Shape shapes[] = {{1, results, 4}, {1, results}, {1, results}, {1}};
  std::vector<ValueId> outputs;
  for (int i = 0; i < 4; ++i) {
    outputs.push_back(
        importer.builder().new_value(importer.output(op, i).name, DType::kFloat32, shapes[i]));
    importer.set_output(op, outputs.back(), i);
  }
  const ValueId prior =
      importer.graph().add_constant(importer.input(op, 2).name, DType::kFloat32, a, anchors);
  auto& made = importer.builder().add<fb::DetectionPostProcessOptionsT>(
      op, {boxes.a, scores.a, prior}, outputs[0]);
  made = std::move(o);
  importer.graph().nodes.back().outputs = outputs;
  importer.became(op, "DetectionPostProcess", "edge");
  return Status();
}

}  // namespace qrt::convert::from_tflite
