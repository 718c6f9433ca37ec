// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/ops/unary.h"

#include <algorithm>
#include <cmath>

namespace qrt::convert::from_tflite {

int clamp_to(int64_t v, Limits limits) {
  return static_cast<int>(std::clamp<int64_t>(v, limits.lo, limits.hi));
}

std::vector<uint8_t> tabulate(const Quant& in, const Quant& out, const std::function<int(int)>& f) {
  std::vector<uint8_t> table(256);
  for (int stored = 0; stored < 256; ++stored)
    table[static_cast<size_t>(stored)] =
        static_cast<uint8_t>(f(stored - in.offset()) + out.offset());
  return table;
}

std::vector<int16_t> sampled_table(const std::function<float(float)>& f, float in_scale,
                                   int in_zero_point, float out_scale) {
  constexpr int kPieces = 512;
  const float lowest = in_scale * static_cast<float>(INT16_MIN - in_zero_point);
  const float highest = in_scale * static_cast<float>(INT16_MAX - in_zero_point);
  const float step = (highest - lowest) / kPieces, half_step = step / 2;
  const float out_highest = out_scale * static_cast<float>(INT16_MAX);
  const float out_lowest = out_scale * static_cast<float>(INT16_MIN);
  const float inverse = 65536.0f / (out_highest - out_lowest);
  const auto scaled = [&](float x) {
    const float y = f(x);
    return y * inverse;
  };
  // Infinities make no number, which the reference does not define: here the lower limit.
  const auto limited = [](float v) {
    const float above = std::fmax(v, static_cast<float>(INT16_MIN));
    return static_cast<int16_t>(std::fmin(above, static_cast<float>(INT16_MAX)));
  };
  std::vector<int16_t> table;
  for (int i = 0; i < kPieces; ++i) {
    const float at = static_cast<float>(i) * step, next = static_cast<float>(i + 1) * step;
    const float x = lowest + at;
    const float sample = std::round(scaled(x));
    const float line = std::round((scaled(lowest + next) + sample) / 2);
    const float error = line - std::round(scaled(x + half_step));
    table.push_back(limited(sample - std::round(error / 2)));
  }
  table.push_back(limited(std::round(scaled(highest))));
  return table;
}

Status finish_sampled_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                            const std::function<float(float)>& f) {
  if (refuse_int16_zero_points(importer, op, in, out)) return Status();
  const std::vector<int16_t> samples = sampled_table(f, in.scale[0], 0, out.scale[0]);
  return finish_table(importer, op, in, out, [&](int x) {
    const auto i = static_cast<size_t>(256 + (x >> 7));
    const auto slope = static_cast<int16_t>(samples[i + 1] - samples[i]);
    return static_cast<int>(static_cast<int16_t>(samples[i] + ((slope * (x & 127) + 64) >> 7)));
  });
}

Status check_same_shape(const Importer& importer, const Op& op) {
  return check_output_shape(importer, op, importer.input(op, 0).shape);
}

Status finish_table(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                    const std::function<int(int)>& f) {
  QRT_TRY(check_same_shape(importer, op));
  const std::string& name = importer.output(op).name;
  if (!in.is_int16()) {
    importer.set_output(op, importer.builder().lut(op, importer.value(op, 0), tabulate(in, out, f),
                                                   false, name, &out));
  } else {
    std::vector<int32_t> table;
    for (int x = INT16_MIN; x <= INT16_MAX; ++x) table.push_back(f(x));
    importer.set_output(op, importer.builder().int16_lut(op, importer.value(op, 0), table,
                                                         DType::kInt16, name, &out));
  }
  importer.became(op, "Lut", "I0");
  return Status();
}

bool refuse_uint8(Importer& importer, const Op& op, const Quant& in) {
  if (in.type != DType::kUInt8) return false;
  (void)importer.refuse(op, "the input is uint8, which the reference has no form for",
                        importer.input(op, 0).name,
                        "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  return true;
}

bool refuse_int16_zero_points(Importer& importer, const Op& op, const Quant& in, const Quant& out) {
  if (!in.is_int16() || (in.zero_point[0] == 0 && out.zero_point[0] == 0)) return false;
  (void)importer.refuse(op, "an int16 tensor has a zero point other than 0",
                        importer.output(op).name, "quantise 16-bit activations symmetrically");
  return true;
}

bool usable(Importer& importer, const Op& op, int bits,
            std::initializer_list<Multiplier> multipliers) {
  for (const Multiplier& m : multipliers) {
    if (m.exponent() <= 31 - bits) continue;
    (void)importer.refuse(op, "the output's scale is too small beside the input's",
                          importer.output(op).name,
                          "calibrate again with samples in which this tensor takes its usual "
                          "values: qrt_convert --lint names the scales");
    return false;
  }
  return true;
}

Status finish_requantize(Importer& importer, const Op& op, const Quant& in, const Quant& out,
                         Multiplier m, const Below* below, Limits limits) {
  QRT_TRY(check_same_shape(importer, op));
  auto requant = make_requant(importer, op, {m}, out, limits);
  if (!requant) return Status();
  const Shape x = importer.input(op, 0).shape;
  const auto slopes = static_cast<int64_t>(below ? below->slopes.size() : 0);
  // Slopes of every element but for dimension 0: rows of all of these, the slopes of the last axis.
  const bool by_element = slopes > 1 && slopes != x[x.rank() - 1];
  GraphBuilder& builder = importer.builder();
  std::vector<ValueId> inputs = {importer.value(op, 0)};
  if (by_element) inputs[0] = builder.reshape(op, inputs[0], {x[0], slopes});
  if (slopes > 0)
    inputs.push_back(importer.graph().add_constant("", DType::kInt16, {slopes}, below->slopes));
  const ValueId y = by_element ? builder.new_value("", out.stored_type(), {x[0], slopes}, &out)
                               : importer.new_output(op, out);
  auto& o = builder.add<fb::RequantizeOptionsT>(op, inputs, y);
  o.input_zero_point = in.stored_zero_point();
  o.requant = std::move(requant);
  if (below) {
    o.negative = requant_stages({below->multiplier}, importer.rounding());
    o.negate_negative = below->negate;
  }
  if (by_element) importer.set_output(op, builder.reshape(op, y, x, importer.output(op).name));
  importer.became(op, "Requantize", "I0");
  return Status();
}

int reach_bits(const Quant& q) { return q.is_int16() ? 16 : 8; }

}  // namespace qrt::convert::from_tflite
