// SPDX-License-Identifier: Apache-2.0
// The custom operator TFLite_Detection_PostProcess: what the importer makes of its options and
// operands. The arithmetic is in tests/ops/detection_post_process_test.cc.
#include <functional>

#include "tests/support/tflite_builder.h"

namespace qrt::tflite_detection_test {
namespace {

using testing::Bytes;
using testing::TfliteBuilder;
using testing::to_bytes;
using B = tflite::BuiltinOperator;
using tflite::TensorType;

const std::vector<float> kAnchors = {0.5f, 0.5f,  1,    1,    0.5f, 0.5f, 1,    1,    0.25f,  0.75f,
                                     0.5f, 0.25f, 0.5f, 0.5f, 1,    1,    0.5f, 0.5f, 0.125f, 1};
const std::vector<int8_t> kBoxes = {0,   0,    0, 0, 10, -20, 3,  -4, -128, 127,
                                    100, -100, 0, 0, 2,  1,   40, 0,  -7,   90};
const std::vector<int8_t> kScores = {-128, 100, -100, 0,  90, -90, 0,  -128,
                                     50,   1,   100,  80, 7,  -50, -60};

struct Detector {
  bool per_class = false;
  TensorType type = TensorType::INT8;  // UINT8: without DEQUANTIZE
  int max_detections = 4, classes = 2;
  float iou = 0.6f, h_scale = 5;
  std::vector<float> anchors = kAnchors;
  std::string code = "TFLite_Detection_PostProcess";

  Bytes options() const {
    std::vector<std::pair<const char*, int>> integers = {{"max_detections", max_detections},
                                                         {"max_classes_per_detection", 1},
                                                         {"num_classes", classes}};
    if (per_class) {
      integers.push_back({"use_regular_nms", 1});
      integers.push_back({"detections_per_class", 2});
    }
    return testing::custom_options(integers, {{"nms_score_threshold", 0.25f},
                                              {"nms_iou_threshold", iou},
                                              {"y_scale", 10},
                                              {"x_scale", 10},
                                              {"h_scale", h_scale},
                                              {"w_scale", 5}});
  }

  TfliteBuilder build() const {
    TfliteBuilder b;
    const bool is_int8 = type == TensorType::INT8;
    int boxes = b.input(type, {1, 5, 4}, 0.05f, is_int8 ? -3 : 125);
    int scores = b.input(type, {1, 5, 3}, 1.0f / 256, is_int8 ? -128 : 0);
    if (is_int8)
      for (int* x : {&boxes, &scores}) {
        const int real = b.tensor(TensorType::FLOAT32, b.at(*x).shape);
        b.op(B::DEQUANTIZE, {*x}, {real});
        *x = real;
      }
    std::vector<uint8_t> bytes;
    if (!is_int8)
      for (float v : anchors) bytes.push_back(static_cast<uint8_t>(v * 128));
    const int prior = is_int8 ? b.constant(TensorType::FLOAT32, {5, 4}, anchors)
                              : b.constant(TensorType::UINT8, {5, 4}, bytes, {1.0f / 128}, {0});
    std::vector<int> outputs;  // their shapes are left open
    for (int i = 0; i < 4; ++i) outputs.push_back(b.output(TensorType::FLOAT32, {}));
    b.op(B::CUSTOM, {boxes, scores, prior}, outputs).custom_options = options();
    b.model.operator_codes.back()->custom_code = code;
    return b;
  }
};

// Detections are the bytes of TensorFlow Lite Micro's kernel.
TEST(TfliteDetection, BytesOfTheReference) {
  const std::vector<float> first = {-0x1.dcap-13f, -0x1.dcap-13f, 0x1.07bcf8p+0f, 0x1.07bcf8p+0f},
                           second = {-0x1.5c818p-7f, -0x1.624p-8f, 0x1.0a6718p+0f, 0x1.091054p+0f},
                           third = {-0x1.868954p-1f, 0x1.baf04ep-1f, 0x1.468954p-1f,
                                    0x1.eb761ap-1f},
                           fourth = {0x1.de078cp-2f, -0x1.812784p-1f, 0x1.2c815ap-1f,
                                     0x1.c841d6p+0f};
  const auto joined = [](const std::vector<std::vector<float>>& parts) {
    std::vector<float> all;
    for (const std::vector<float>& part : parts) all.insert(all.end(), part.begin(), part.end());
    return to_bytes(all);
  };
  for (const TensorType type : {TensorType::INT8, TensorType::UINT8}) {
    std::vector<Bytes> inputs = {to_bytes(kBoxes), to_bytes(kScores)};
    if (type == TensorType::UINT8)
      for (Bytes& x : inputs)
        for (uint8_t& v : x) v ^= 0x80;
    Detector by_box;
    by_box.type = type;
    EXPECT_EQ(by_box.build().run(inputs),
              (std::vector<Bytes>{
                  joined({first, third, fourth, {0, 0, 0, 0}}), joined({{0, 1, 0, 0}}),
                  joined({{228.0f / 256, 178.0f / 256, 78.0f / 256, 0}}), joined({{3}})}));
    Detector by_class = by_box;
    by_class.per_class = true;
    EXPECT_EQ(by_class.build().run(inputs),
              (std::vector<Bytes>{joined({first, second, third, fourth}), joined({{0, 1, 1, 0}}),
                                  joined({{228.0f / 256, 208.0f / 256, 178.0f / 256, 78.0f / 256}}),
                                  joined({{4}})}));
  }
}

TEST(TfliteDetection, RefusesOptionsWithoutMeaning) {
  const auto expect = [](const std::string& part, const std::function<void(Detector*)>& change) {
    Detector d;
    change(&d);
    const testing::Imported imported = d.build().import();
    EXPECT_EQ(imported.status.code(), Code::kInvalidModel);
    EXPECT_NE(std::string(imported.status.message()).find(part), std::string::npos)
        << imported.status.message();
  };
  expect("max_detections is 0, expected 1 to 65535", [](Detector* d) { d->max_detections = 0; });
  expect("max_detections is -1", [](Detector* d) { d->max_detections = -1; });
  expect("nms_iou_threshold is 1.5", [](Detector* d) { d->iou = 1.5f; });
  expect("h_scale is 0, expected a normal number", [](Detector* d) { d->h_scale = 0; });
  expect("num_classes is 1 of 3 scores", [](Detector* d) { d->classes = 1; });
}

TEST(TfliteDetection, RefusesBytesThatAreNoMap) {
  TfliteBuilder b = Detector().build();
  const Bytes whole = Detector().options();
  Bytes& options = b.graph().operators.back()->custom_options;
  for (size_t n = 0; n < whole.size(); ++n) {
    options.assign(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_FALSE(b.import().status.ok()) << n;
  }
  options = {7, 4, 1};  // a number
  EXPECT_FALSE(b.import().status.ok());
}

TEST(TfliteDetection, NamesWhatItDoesNotTake) {
  Detector other;
  other.code = "Detection_PostProcess";
  const testing::Imported imported = other.build().import();
  EXPECT_EQ(imported.status.code(), Code::kUnsupported);
  EXPECT_NE(imported.report.text(true).find("this custom operator is not supported"),
            std::string::npos);
  const auto rule = [](const std::string& part, const Detector& d,
                       const std::function<void(TfliteBuilder*)>& change) {
    TfliteBuilder b = d.build();
    change(&b);
    const testing::Imported refused = b.import();
    EXPECT_EQ(refused.status.code(), Code::kUnsupported) << refused.status.message();
    EXPECT_NE(refused.report.text(true).find(part), std::string::npos) << refused.report.text(true);
  };
  const auto keep = [](TfliteBuilder*) {};
  rule("is neither uint8 nor float32 that DEQUANTIZE makes", {}, [](TfliteBuilder* b) {
    b->graph().operators.back()->inputs[0] = b->input(TensorType::FLOAT32, {1, 5, 4});
  });
  rule("scores of different codes are the same", {}, [](TfliteBuilder* b) {
    std::vector<int>& inputs = b->graph().operators.back()->inputs;
    const int floor = b->tensor(TensorType::FLOAT32, {1, 5, 3});
    b->op(B::FLOOR, {inputs[1]}, {floor});
    inputs[1] = floor;
    std::swap(b->graph().operators[2], b->graph().operators[3]);
  });
  rule("is not a constant of the boxes' type", {}, [](TfliteBuilder* b) {
    b->graph().operators.back()->inputs[2] = b->input(TensorType::FLOAT32, {5, 4});
  });
  Detector negative;
  negative.anchors[6] = -1;
  rule("anchor 1 has the value -1", negative, keep);
  Detector vast;
  vast.h_scale = 0.01f;
  rule("codes of boxes stand for", vast, keep);
}

}  // namespace
}  // namespace qrt::tflite_detection_test
