// SPDX-License-Identifier: Apache-2.0
// PRelu, which each chip's runtime computes with code of its own: see the table in ../README.md.
#include <algorithm>

#include "converter/import/espdl/layout.h"
#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

// The C code shifts an int32; the vector code of int8 has a field of 5 bits.
constexpr int kMostPReluShift = 31;
constexpr int kMostPReluShiftS3Int16 = 62;  // its field has 6 bits
constexpr int kMostPReluLeft = 6;  // the vector code of int8 keeps the factor 2^n in an int8

struct PReluCase {
  Target target = Target::kC;
  bool is_int16 = false;
  // The specification that --reference espdl-* follows, without the limits of any chip's code.
  bool is_plain = false;
  // The vector code for int8 rounds both sides and brings both to the output's exponent; all else rounds the
  // negative side down and leaves the other as it is.
  bool is_vector8 = false;
  int shift = 0;           // of a negative number times its slope, to the right
  int positive_shift = 0;  // the exponents' difference, to the right
};

PReluCase prelu_case(const Importer& importer, const Format& in, const Format& out,
                     int alpha_exponent) {
  PReluCase c;
  c.target = importer.target();
  c.is_int16 = in.is_int16();
  c.is_plain = importer.is_plain();
  c.positive_shift = out.exponent - in.exponent;
  c.shift = c.positive_shift - alpha_exponent;
  // The vector code of the S3 counts only where the C code does not compute the operator: ESP-DL's
  // reference values are those of the C code wherever that does.
  c.is_vector8 =
      !c.is_int16 && (c.target == Target::kEsp32P4 ||
                      (c.target == Target::kEsp32S3 && !c.is_plain && c.positive_shift != 0));
  return c;
}

// Returns why the runtime's code for the chip cannot compute the case, or "".
std::string unsupported_because(const PReluCase& c, const std::vector<int16_t>& slopes) {
  if (c.is_plain) return "";
  const auto extremes = std::minmax_element(slopes.begin(), slopes.end());
  const int64_t least = *extremes.first, most = *extremes.second;
  if (c.is_vector8 && c.positive_shift < -kMostPReluLeft)
    return "the output's exponent is " + std::to_string(-c.positive_shift) +
           " less than the input's, and the chip's factor for it has 8 bits";
  if (c.is_vector8 && c.positive_shift > kMostPReluShift)
    return "the output's exponent is " + std::to_string(c.positive_shift) +
           " greater than the input's, and the chip shifts by at most " +
           std::to_string(kMostPReluShift);
  if (least == 0 && most == 0) return "";
  const bool is_s3_int16 = c.is_int16 && c.target == Target::kEsp32S3;
  const int most_shift = is_s3_int16 ? kMostPReluShiftS3Int16 : kMostPReluShift;
  if (c.shift > most_shift)
    return "the product of input and slope is to be shifted by " + std::to_string(c.shift) +
           " to the right, and the runtime shifts by at most " + std::to_string(most_shift);
  if (c.shift < 0 && (c.is_vector8 || is_s3_int16))
    return "the product of input and slope is to be shifted to the left, by " +
           std::to_string(-c.shift) + ", and the chip shifts to the right only";
  if (!c.is_int16) {
    if (c.shift < -15) return "the product of input and slope leaves the runtime's 16 bits";
    return "";
  }
  // The product of the least input has the greatest magnitude of all.
  const int64_t a = least * INT16_MIN, b = most * INT16_MIN;
  if (is_s3_int16) {
    const int64_t hi = a >> c.shift, lo = b >> c.shift;
    if (hi > INT16_MAX || lo < INT16_MIN)
      return "the greatest product of input and slope leaves 16 bits, of which the chip keeps the "
             "low "
             "ones alone";
  } else if (c.shift < 0) {
    const int64_t factor = int64_t{1} << std::min(-c.shift, 32);
    if (a * factor > INT32_MAX || b * factor < INT32_MIN)
      return "the greatest product of input and slope leaves the runtime's 32 bits";
  }
  return "";
}

// Returns what int8 q becomes.
int prelu_int8(const PReluCase& c, int q, int slope) {
  if (q == 0) return 0;
  if (q > 0) return c.is_vector8 ? shift_to(c.target, q, c.positive_shift, kInt8Limits) : q;
  const int product = q * slope;
  if (c.is_vector8 || (c.is_plain && c.shift < 0))
    return shift_to(c.target, product, c.shift, kInt8Limits);
  // The C code keeps what it has shifted in an int16.
  const int v = c.shift >= 0 ? product >> std::min(c.shift, kMostPReluShift)
                             : static_cast<int16_t>(product * (1 << -c.shift));
  return std::clamp(v, -128, 127);
}

Status import_int8(Importer& importer, const Node& node, const Activation& x, const Format& out,
                   const PReluCase& c, const std::vector<int16_t>& slopes) {
  std::vector<uint8_t> table;
  for (const int16_t slope : slopes)
    for (int q = -128; q < 128; ++q)
      table.push_back(static_cast<uint8_t>(prelu_int8(c, q, slope) + 128));
  const bool per_channel = slopes.size() > 1;
  const Shape tables = per_channel ? Shape{static_cast<int64_t>(slopes.size()), 256} : Shape{256};
  const ValueId constant = importer.graph().add_constant("", DType::kUInt8, tables, table);
  const ValueId y = importer.builder().new_value("", out, importer.builder().shape_of(x.value));
  importer.builder().add<fb::LutOptionsT>(node, {x.value, constant}, y).per_channel = per_channel;
  importer.finish(node, y, out);
  std::string note;
  if (c.target == Target::kEsp32S3 && !c.is_plain) {
    importer.note_s3(c.is_vector8);
    note =
        c.is_vector8
            ? ", S3-exact"
            : ", not proven S3-exact: the negative side is rounded down as by ESP-DL's C code, the "
              "chip's vector code rounds it half up";
  }
  importer.became(node, "Lut" + note, "I0");
  return Status();
}

Status import_int16(Importer& importer, const Node& node, const Activation& x, const Format& out,
                    const PReluCase& c, const std::string& name,
                    const std::vector<int16_t>& slopes) {
  const ValueId slope = importer.graph().add_constant(
      name, DType::kInt16, {static_cast<int64_t>(slopes.size())}, slopes);
  const ValueId y = importer.builder().new_value("", out, importer.builder().shape_of(x.value));
  auto& o = importer.builder().add<fb::RequantizeOptionsT>(node, {x.value, slope}, y);
  o.requant = importer.builder().requant({0}, 0, out);
  o.negative.push_back(shift_stage({c.shift}, fb::Rounding::FLOOR, kMostLeft64));
  importer.finish(node, y, out);
  importer.became(node, "Requantize", "I0");
  return Status();
}

}  // namespace

Status import_prelu(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  std::vector<int16_t> values;
  bool has_lut;
  if (!importer.read_pair(node, &x, &out)) return Status();
  QRT_TRY(read_lut(importer, node, x.format, out, &values, &has_lut));
  if (has_lut) return finish_table(importer, node, x, values, out);
  const Tensor& alpha = importer.input(node, 1);
  const Shape& shape = importer.builder().shape_of(x.value);
  if (!alpha.is_constant || alpha.type != x.format.type || !alpha.problem.empty() ||
      alpha.exponents.size() != 1)
    return importer.refuse(
        node,
        importer.quoted_input(node, 1) + " is not a constant of the input's type with one exponent",
        alpha.name, "store alpha as a constant of the input's type with one exponent");
  // One slope for all channels: the runtime repeats it of int16 only.
  const bool is_one = alpha.shape.elements() == 1 && (x.format.is_int16() || importer.is_plain());
  QRT_MODEL_CHECK(shape.rank() >= 1 && alpha.bytes > 0 &&
                      (is_one || alpha.shape.elements() == shape[shape.rank() - 1]),
                  "%lld slopes for an input of shape %s",
                  static_cast<long long>(alpha.shape.elements()), shape.to_string().c_str());
  std::vector<int16_t> slopes;
  for (int64_t c = 0; c < shape[shape.rank() - 1]; ++c)
    slopes.push_back(value_at(alpha, is_one ? 0 : c));
  const PReluCase c = prelu_case(importer, x.format, out, alpha.exponents[0]);
  const std::string reason = unsupported_because(c, slopes);
  if (!reason.empty())
    return importer.refuse(
        node, reason, importer.output(node).name,
        "export the model again with a calibration that brings the exponents of input, "
        "output and alpha nearer to each other");
  return c.is_int16 ? import_int16(importer, node, x, out, c, alpha.name, slopes)
                    : import_int8(importer, node, x, out, c, slopes);
}

}  // namespace qrt::convert::from_espdl
