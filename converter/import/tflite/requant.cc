// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/requant.h"

namespace qrt::convert::from_tflite {
namespace {

// Returns whether all exponents are at most `greatest` and, if `positive` says so, no value is negative.
bool check(Importer& importer, const Op& op, const std::vector<Multiplier>& multipliers,
           int greatest, bool positive) {
  for (const Multiplier& m : multipliers) {
    if (m.exponent() <= greatest && !(positive && m.value < 0)) continue;
    (void)importer.refuse(op, "the scales make a multiplier beyond 2^" + std::to_string(greatest),
                          importer.output(op).name,
                          "calibrate again with samples in which this tensor takes its usual "
                          "values: qrt_convert --lint names the scales");
    return false;
  }
  return true;
}

Limits stored(Limits limits, const Quant& q) {
  return {limits.lo + q.offset(), limits.hi + q.offset()};
}

}  // namespace

std::unique_ptr<fb::RequantT> make_requant(Importer& importer, const Op& op,
                                           const std::vector<Multiplier>& multipliers,
                                           const Quant& out, Limits limits) {
  if (!check(importer, op, multipliers, 30, true)) return nullptr;
  return int_requant(out.stored_zero_point(), stored(limits, out),
                     requant_stages(multipliers, importer.rounding()));
}

std::unique_ptr<fb::RequantT> make_requant_64(Importer& importer, const Op& op,
                                              const std::vector<Multiplier>& multipliers,
                                              const Quant& out, Limits limits) {
  if (!check(importer, op, multipliers, 7, false)) return nullptr;
  return int_requant(out.stored_zero_point(), stored(limits, out), requant_stages_64(multipliers));
}

ValueId limit(Importer& importer, const Op& op, ValueId x, const Quant& quant, Limits limits) {
  GraphBuilder& builder = importer.builder();
  const ValueId y =
      builder.new_value(importer.output(op).name, DType::kInt16, builder.shape_of(x), &quant);
  builder.add<fb::RequantizeOptionsT>(op, {x}, y).requant =
      int_requant(0, limits, make_stage({{1, 0}}, fb::Rounding::HALF_UP));
  return y;
}

}  // namespace qrt::convert::from_tflite
