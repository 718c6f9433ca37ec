// SPDX-License-Identifier: Apache-2.0
// Ten small ESP-DL files, one of them a pack, that together use most of what the importer reads:
// what tests of damaged files and the fuzzer start from.
#ifndef QRT_TESTS_SUPPORT_ESPDL_MODELS_H_
#define QRT_TESTS_SUPPORT_ESPDL_MODELS_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/support/espdl_builder.h"

namespace qrt::testing {

namespace espdl_models {

// -90, -89, ... in a cycle.
template <class T>
std::vector<T> ramp(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<int>(i * 7 % 181) - 90);
  return values;
}

inline EspdlBuilder conv() {
  EspdlBuilder b("esp32p4");
  b.constant("w", EspdlType::INT8, {3, 3, 3, 18}, ramp<int8_t>(486), std::vector<int64_t>(18, -8),
             "(N/16)HWC16_UNALIGNED");
  b.constant("b", EspdlType::INT32, {18}, ramp<int32_t>(18), std::vector<int64_t>(18, -12));
  auto& c = b.op("Conv", {b.input("x", EspdlType::INT8, {1, 5, 5, 3}, -4), "w", "b"},
                 {b.value("h", EspdlType::INT8, {1, 5, 5, 18}, -3)});
  set(c, "pads", {1, 1, 1, 1});
  set(c, "activation", "Relu");
  auto& p = b.op("AveragePool", {"h"}, {b.output("y", EspdlType::INT8, {1, 2, 2, 18}, -4)});
  set(p, "kernel_shape", {3, 3});
  set(p, "strides", {2, 2});
  return b;
}

inline EspdlBuilder int16_model() {
  EspdlBuilder b("esp32s3");
  b.constant("w", EspdlType::INT16, {3, 3, 8, 1}, ramp<int16_t>(72), {-12}, "(N/8)HWC8");
  b.constant("b", EspdlType::INT64, {8}, ramp<int64_t>(8), {-16});
  auto& c = b.op("Conv", {b.input("x", EspdlType::INT16, {1, 4, 4, 8}, -4), "w", "b"},
                 {b.value("h", EspdlType::INT16, {1, 2, 2, 8}, -8)});
  set(c, "group", int64_t{8});
  b.op("Sigmoid", {"h"}, {b.value("s", EspdlType::INT16, {1, 2, 2, 8}, -14)});
  b.op("Mul", {"h", "s"}, {b.value("m", EspdlType::INT16, {1, 2, 2, 8}, -8)});
  b.op("GlobalAveragePool", {"m"}, {b.value("g", EspdlType::INT16, {1, 1, 1, 8}, -8)});
  b.op("RequantizeLinear", {"g"}, {b.output("y", EspdlType::INT8, {1, 1, 1, 8}, -3)});
  return b;
}

inline EspdlBuilder products() {
  EspdlBuilder b("c");
  b.constant("w", EspdlType::INT8, {1, 1, 8, 5}, ramp<int8_t>(40), {-7}, "NHWC");
  b.op("Gemm", {b.input("x", EspdlType::INT8, {4, 8}, -4), "w"},
       {b.value("h", EspdlType::INT8, {4, 5}, -3)});
  b.op("MatMul", {"h", b.input("m", EspdlType::INT8, {5, 6}, -5)},
       {b.output("y", EspdlType::INT8, {4, 6}, -2)});
  return b;
}

inline EspdlBuilder computed() {
  EspdlBuilder b("esp32p4");
  b.op(
      "MatMul",
      {b.input("x", EspdlType::INT8, {2, 3, 4}, -4), b.input("w", EspdlType::INT8, {2, 4, 18}, -5)},
      {b.value("h", EspdlType::INT8, {2, 3, 18}, -2)});
  b.op("Softmax", {"h"}, {b.output("y", EspdlType::FLOAT, {2, 3, 18}, 0)});
  return b;
}

inline EspdlBuilder moves() {
  EspdlBuilder b("esp32s3");
  b.constant("starts", EspdlType::INT64, {1}, std::vector<int64_t>{1});
  b.constant("ends", EspdlType::INT64, {1}, std::vector<int64_t>{3});
  b.constant("axes", EspdlType::INT64, {1}, std::vector<int64_t>{2});
  b.constant("pads", EspdlType::INT64, {6}, std::vector<int64_t>{0, 1, 0, 0, 1, 2});
  b.constant("shape", EspdlType::INT64, {2}, std::vector<int64_t>{5, -1});
  b.op("Slice", {b.input("x", EspdlType::INT8, {1, 3, 5}, -4), "starts", "ends", "axes"},
       {b.value("s", EspdlType::INT8, {1, 3, 2}, -4)});
  b.op("Pad", {"s", "pads"}, {b.value("p", EspdlType::INT8, {1, 5, 4}, -4)});
  set(b.op("Transpose", {"p"}, {b.value("t", EspdlType::INT8, {1, 4, 5}, -4)}), "perm", {0, 2, 1});
  b.op("Reshape", {"t", "shape"}, {b.output("y", EspdlType::INT8, {5, 4}, -4)});
  return b;
}

inline EspdlBuilder stream() {
  EspdlBuilder b("esp32p4");
  auto& cache = b.op("StreamingCache", {b.input("x", EspdlType::INT8, {1, 2, 4}, -4)},
                     {b.value("h", EspdlType::INT8, {1, 4, 4}, -4)});
  set(cache, "window_size", int64_t{3});
  set(cache, "frame_axis", int64_t{1});
  b.constant("w", EspdlType::INT8, {3, 4, 16}, ramp<int8_t>(192), {-8}, "(N/16)WC16");
  b.op("Conv", {"h", "w"}, {b.output("y", EspdlType::INT8, {1, 2, 16}, -3)});
  return b;
}

inline EspdlBuilder resize() {
  EspdlBuilder b("esp32s3");
  b.constant("scales", EspdlType::FLOAT, {4}, std::vector<float>{1, 1, 1.5f, 2});
  auto& r = b.op("Resize", {b.input("x", EspdlType::INT8, {1, 4, 3, 2}, -4), "", "scales"},
                 {b.value("h", EspdlType::INT8, {1, 6, 6, 2}, -4)});
  set(r, "mode", "linear");
  set(r, "coordinate_transformation_mode", "half_pixel");
  b.constant("t", EspdlType::INT8, {256}, ramp<int8_t>(256));
  set(b.op("Swish", {"h"}, {b.output("y", EspdlType::INT8, {1, 6, 6, 2}, -5)}), "lut", "t");
  return b;
}

inline EspdlBuilder elements() {
  EspdlBuilder b("esp32p4");
  const std::string x = b.input("x", EspdlType::INT8, {2, 4}, -4),
                    y = b.input("y", EspdlType::INT8, {4}, -4);
  b.op("Add", {x, y}, {b.value("a", EspdlType::INT8, {2, 4}, -4)});
  b.op("Div", {"a", y}, {b.value("d", EspdlType::INT8, {2, 4}, -3)});
  b.op("Greater", {"d", x}, {b.output("g", EspdlType::BOOL, {2, 4}, 0)});
  b.op("DequantizeLinear", {"d"}, {b.value("f", EspdlType::FLOAT, {2, 4}, 0)});
  b.op("Exp", {"f"}, {b.output("e", EspdlType::FLOAT, {2, 4}, 0)});
  return b;
}

}  // namespace espdl_models

// [PDL1, count, {offset, name, name length}, names, models]; the models start at odd offsets.
inline Bytes espdl_pack(const std::string& mark,
                        const std::vector<std::pair<std::string, Bytes>>& models) {
  const size_t count_at = mark == "PDL3" ? 56 : 4;
  Bytes file(count_at + 4 + 12 * models.size(), 0);
  memcpy(file.data(), mark.data(), 4);
  const auto put = [&](size_t at, size_t value) {
    const auto word = static_cast<uint32_t>(value);
    memcpy(file.data() + at, &word, 4);
  };
  put(count_at, models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    const size_t row = count_at + 4 + 12 * i;
    put(row + 4, file.size());
    put(row + 8, models[i].first.size());
    file.insert(file.end(), models[i].first.begin(), models[i].first.end());
    if (file.size() % 2 == 0) file.push_back(0);
    put(row, file.size());
    file.insert(file.end(), models[i].second.begin(), models[i].second.end());
  }
  return file;
}

inline std::vector<Bytes> sample_espdl_models() {
  using namespace espdl_models;
  std::vector<Bytes> files;
  for (const EspdlBuilder& b :
       {conv(), int16_model(), products(), computed(), moves(), stream(), resize(), elements()})
    files.push_back(b.build());
  files.push_back(conv().build("EDL1"));
  files.push_back(
      espdl_pack("PDL2", {{"first", elements().build()}, {"second", products().build("EDL1")}}));
  return files;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_ESPDL_MODELS_H_
