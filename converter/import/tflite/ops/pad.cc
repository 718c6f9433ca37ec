// SPDX-License-Identifier: Apache-2.0
// Operators that put elements around a tensor.
#include <cstring>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Reads the pairs [rank][2] of paddings, as maps.
Status read_paddings(Importer& importer, const Op& op, PadMode mode, IndexMaps* maps, bool* known) {
  std::vector<int32_t> pads;
  *known = importer.read_integers(op, 1, &pads);
  if (!*known) return Status();
  const Shape& from = maps->from();
  QRT_MODEL_CHECK(pads.size() == 2 * static_cast<size_t>(from.rank()),
                  "%zu paddings for %d dimensions", pads.size(), from.rank());
  for (int d = 0; d < from.rank(); ++d) {
    const int64_t before = pads[2 * static_cast<size_t>(d)];
    const int64_t after = pads[2 * static_cast<size_t>(d) + 1];
    const int64_t most = mode == PadMode::kReflect     ? from[d] - 1
                         : mode == PadMode::kSymmetric ? from[d]
                                                       : kMaxIndices;
    QRT_MODEL_CHECK(before >= 0 && after >= 0, "a padding is negative");
    QRT_MODEL_CHECK(mode == PadMode::kConstant || (before <= most && after <= most),
                    "padding %lld and %lld mirrors %lld indices", static_cast<long long>(before),
                    static_cast<long long>(after), static_cast<long long>(from[d]));
    QRT_TRY(check_index_count(from[d] + before + after));
    if (before + after > 0) maps->set(d, padded(from[d], before, after, mode));
  }
  return Status();
}

// Pads. `fill`: an element's bits as the graph stores it, or the `number` of a float32 tensor.
Status pad_with(Importer& importer, const Op& op, int64_t fill, float number) {
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  IndexMaps maps(x.shape());
  bool known;
  QRT_TRY(read_paddings(importer, op, PadMode::kConstant, &maps, &known));
  if (!known) return Status();
  const bool is_float = importer.output(op).type == TensorType::FLOAT32;
  QRT_TRY(is_float ? x.gather_floats(maps, number) : x.gather(maps, fill));
  return x.finish();
}

}  // namespace

Status import_pad(Importer& importer, const Op& op) {
  const Tensor& y = importer.output(op);
  Quant quant;
  int64_t fill = 0;
  if (y.type == TensorType::INT8 || y.type == TensorType::UINT8) {
    if (!importer.read_quant(op, y, &quant)) return Status();
    fill = quant.stored_zero_point();
  }
  return pad_with(importer, op, fill, 0);
}

Status import_pad_v2(Importer& importer, const Op& op) {
  const Tensor &value = importer.input(op, 2), &y = importer.output(op);
  if (value.type == TensorType::INT32) {
    int32_t fill;
    if (!read_integer(importer, op, 2, &fill)) return Status();
    return pad_with(importer, op, fill, 0);
  }
  if (!value.is_constant || value.type != y.type || value.shape.elements() != 1 ||
      value.bytes > sizeof(int64_t))
    return importer.refuse(
        op, importer.quoted_input(op, 2) + " is not one constant number of the output's type",
        value.name, "store the padding value as a constant of the output's type");
  int64_t fill = 0;
  float number = 0;
  memcpy(&fill, value.data, value.bytes);
  if (y.type == TensorType::FLOAT32) memcpy(&number, value.data, sizeof(number));
  if (y.type == TensorType::INT8) fill = (fill + 128) & 255;
  if (y.type == TensorType::BOOL) fill = fill != 0;
  return pad_with(importer, op, fill, number);
}

Status import_mirror_pad(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::MirrorPadOptions>();
  QRT_MODEL_CHECK(
      o.mode == tflite::MirrorPadMode::REFLECT || o.mode == tflite::MirrorPadMode::SYMMETRIC,
      "its mode is %d, expected 0 or 1", static_cast<int>(o.mode));
  Moving x(importer, op, 0);
  if (!x.is_good()) return Status();
  IndexMaps maps(x.shape());
  bool known;
  QRT_TRY(read_paddings(
      importer, op,
      o.mode == tflite::MirrorPadMode::REFLECT ? PadMode::kReflect : PadMode::kSymmetric, &maps,
      &known));
  if (!known) return Status();
  QRT_TRY(x.gather(maps));
  return x.finish();
}

}  // namespace qrt::convert::from_tflite
