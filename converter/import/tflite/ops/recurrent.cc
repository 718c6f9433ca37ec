// SPDX-License-Identifier: Apache-2.0
// SVDF of int8 activations and UNIDIRECTIONAL_SEQUENCE_LSTM of int8 and int16 ones: layers with
// state between runs.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Reads a constant of int8, or of int16 where that is allowed, with one usual scale. Returns false
// where the operator was refused.
bool read_weights(Importer& importer, const Op& op, int i, bool allow_int16, const Shape& shape,
                  std::vector<int16_t>* weights, float* scale) {
  const Tensor& w = importer.input(op, i);
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(op, importer.quoted_input(op, i) + " " + rule, w.name, remedy);
    return false;
  };
  if (w.type != TensorType::INT8 && !(allow_int16 && w.type == TensorType::INT16))
    return no(std::string("is ") + type_name(w.type),
              "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  if (!w.is_constant) return no("is not a constant", "store the weights as constants of the model");
  if (w.shape != shape)
    return no("has shape " + w.shape.to_string() + ", expected " + shape.to_string(),
              "convert the model with the shapes that its operators need, none of them 0");
  if (w.scale.size() != 1 || !std::isnormal(w.scale[0]))
    return no("has no usual scale per tensor", "quantise the weights per tensor");
  const auto count = static_cast<size_t>(shape.elements());
  for (size_t k = 0; k < count; ++k) {
    int16_t v;
    if (w.type == TensorType::INT16)
      __builtin_memcpy(&v, w.data + 2 * k, 2);
    else
      v = static_cast<int8_t>(w.data[k]);
    weights->push_back(v);
  }
  *scale = w.scale[0];
  return true;
}

// Reads a bias of type T, int32_t or int64_t. Returns false where the operator was refused.
template <class T>
bool read_bias(Importer& importer, const Op& op, int i, int64_t channels,
               std::vector<int64_t>* bias) {
  const Tensor& b = importer.input(op, i);
  const TensorType type = sizeof(T) == 8 ? TensorType::INT64 : TensorType::INT32;
  if (!b.is_constant || b.type != type || b.shape.elements() != channels) {
    (void)importer.refuse(op,
                          importer.quoted_input(op, i) + " is not an " + type_name(type) +
                              " constant of " + std::to_string(channels) + " elements",
                          b.name, std::string("quantise the bias to ") + type_name(type));
    return false;
  }
  std::vector<T> values(static_cast<size_t>(channels));
  __builtin_memcpy(values.data(), b.data, b.bytes);
  bias->insert(bias->end(), values.begin(), values.end());
  return true;
}

// Reads a state tensor's scale and zero point, and checks its type and shape. Returns false where
// the operator was refused.
bool read_state(Importer& importer, const Op& op, int i, std::initializer_list<TensorType> types,
                const Shape& shape, float* scale, int* zero_point) {
  const Tensor& t = importer.input(op, i);
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(op, importer.quoted_input(op, i) + " " + rule, t.name, remedy);
    return false;
  };
  if (std::find(types.begin(), types.end(), t.type) == types.end())
    return no(std::string("is ") + type_name(t.type) + ", which this operator's state is not",
              "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  if (t.shape != shape)
    return no("has shape " + t.shape.to_string() + ", expected " + shape.to_string(),
              "convert the model with the shapes that its operators need, none of them 0");
  if (t.scale.size() != 1 || !std::isnormal(t.scale[0]))
    return no("has no usual scale", "quantise the state per tensor");
  const bool is_int16 = t.type == TensorType::INT16;
  if (t.zero_point[0] < (is_int16 ? 0 : -128) || t.zero_point[0] > (is_int16 ? 0 : 127))
    return no("has the zero point " + std::to_string(t.zero_point[0]),
              "quantise int16 states with the zero point 0");
  *scale = t.scale[0];
  *zero_point = static_cast<int>(t.zero_point[0]);
  return true;
}

// Checks that a sum of at most `bound`, shifted left by the multiplier as the reference does, stays
// within int32. Returns false where the operator was refused.
bool stays_defined(Importer& importer, const Op& op, const char* what, int64_t bound,
                   Multiplier m) {
  const bool shifts = m.exponent() > 0 && importer.rounding() == Rounding::kDouble;
  const int left = shifts ? std::min(m.exponent(), 31) : 0;
  if (m.exponent() <= 30 && bound >> (31 - left) == 0) return true;
  (void)importer.refuse(op,
                        std::string("its ") + what + " may reach " + std::to_string(bound) +
                            ", beyond what the reference kernels define",
                        importer.output(op).name,
                        "calibrate again with samples in which this tensor takes its usual values: "
                        "qrt_convert --lint names the scales");
  return false;
}

// Returns the greatest value of any row: the sum of its |weights| times `factor`, plus its |bias|.
int64_t greatest_sum(const int16_t* weights, size_t rows, size_t columns, int64_t factor,
                     const int64_t* bias) {
  int64_t greatest = 0;
  for (size_t r = 0; r < rows; ++r) {
    int64_t sum = bias ? std::abs(bias[r]) : 0;
    for (size_t c = 0; c < columns; ++c)
      sum += factor * std::abs(int64_t{weights[r * columns + c]});
    greatest = std::max(greatest, sum);
  }
  return greatest;
}

ValueId add_int8(Importer& importer, const Op& op, int i, const Shape& shape,
                 const std::vector<int16_t>& weights) {
  return importer.graph().add_constant(importer.input(op, i).name, DType::kInt8, shape,
                                       std::vector<int8_t>(weights.begin(), weights.end()));
}

// The products of an LSTM's gates with its inputs, or with its hidden values: the weights, biases
// with the zero points folded in, and multipliers of all four.
struct LstmSide {
  std::vector<int16_t> weights;
  std::vector<int64_t> bias;
  Multiplier multiplier[4];
};

// Checks that 64-bit sums of at most `bound`, with biases of at most 2^45 and multipliers of 16
// bits, stay within what the reference defines. Returns false where the operator was refused.
bool stays_defined_64(Importer& importer, const Op& op, const char* what, int64_t bound,
                      Multiplier m) {
  if (bound < int64_t{1} << 46 && m.exponent() <= 7) return true;
  (void)importer.refuse(op,
                        std::string("its ") + what + " may reach " + std::to_string(bound) +
                            ", or a multiplier is beyond 2^7",
                        importer.output(op).name,
                        "calibrate again with samples in which this tensor takes its usual values: "
                        "qrt_convert --lint names the scales");
  return false;
}

// Reads the weights that multiply the input or the hidden state, inputs first .. first + 3. `x` has
// the scale and zero point of the stored numbers that they are multiplied with. Returns false where
// the operator was refused.
bool read_side(Importer& importer, const Op& op, int first, int64_t cells, int64_t columns,
               const Quant& x, const char* what, LstmSide* side) {
  const auto rows = static_cast<size_t>(cells), width = static_cast<size_t>(columns);
  for (int g = 0; g < 4; ++g) {
    float weight_scale;
    if (!read_weights(importer, op, first + g, false, {cells, columns}, &side->weights,
                      &weight_scale))
      return false;
    side->multiplier[g] =
        importer.multiplier(std::ldexp(static_cast<double>(x.scale[0] * weight_scale), 12));
    const size_t at = static_cast<size_t>(g) * rows;
    const int16_t* w = side->weights.data() + at * width;
    int64_t* bias = side->bias.data() + at;
    for (size_t r = 0; r < rows; ++r)
      if (bias[r] < -(int64_t{1} << 45) || bias[r] > int64_t{1} << 45) {
        (void)importer.refuse(
            op, "a bias is beyond 2^45", importer.output(op).name,
            "calibrate again, so that the scales of input and weights fit the bias");
        return false;
      }
    const int64_t bound = greatest_sum(w, rows, width, x.is_int16() ? 65535 : 255, bias);
    if (!(x.is_int16() ? stays_defined_64 : stays_defined)(importer, op, what, bound,
                                                           side->multiplier[g]))
      return false;
    for (size_t r = 0; r < rows; ++r) {
      int64_t sum = 0;
      for (size_t c = 0; c < width; ++c) sum += w[r * width + c];
      bias[r] -= x.stored_zero_point() * sum;
    }
  }
  return true;
}

// Adds one constant of the biases, of the type that goes with activations `x`; int32 ones wrap.
ValueId add_biases(Importer& importer, const Quant& x, const Shape& shape,
                   const std::vector<int64_t>& bias) {
  if (x.is_int16()) return importer.graph().add_constant("", DType::kInt64, shape, bias);
  std::vector<int32_t> narrow;
  for (const int64_t b : bias) narrow.push_back(static_cast<int32_t>(static_cast<uint64_t>(b)));
  return importer.graph().add_constant("", DType::kInt32, shape, narrow);
}

// Returns the stages of a gate's sums.
std::vector<std::unique_ptr<fb::RequantStageT>> gate_stages(const Importer& importer,
                                                            const Quant& x, Multiplier m) {
  return x.is_int16() ? requant_stages_64({m}) : requant_stages({m}, importer.rounding());
}

// Sets the tables of tanh. cell / 2^15 * 2^p is the cell's real content to the nearest power of two
// of its scale. No float32 is so near the square root of 2 that the logarithm's last bits decide.
void set_tanh(float cell_scale, fb::LstmOptionsT* o) {
  const int left = 12 + static_cast<int>(std::lround(std::log2(static_cast<double>(cell_scale))));
  o->tanh_multiplier = 3 << std::clamp(left, 0, 15);
  o->tanh_shift = static_cast<uint8_t>(std::clamp(-left, 0, 31));
}

}  // namespace

bool refuse_optional_inputs(Importer& importer, const Op& op, const char* form) {
  const struct {
    int first, last;
    const char* what;
  } kParts[] = {
      {9, 11, "peephole connections"}, {16, 17, "a projection"}, {20, 23, "layer normalisation"}};
  for (const auto& part : kParts)
    for (int i = part.first; i <= part.last; ++i) {
      if (!op.has_input(i)) continue;
      (void)importer.refuse(
          op, std::string("it has ") + part.what + ", which " + form, importer.input(op, i).name,
          "build the model with plain LSTM cells (tanh, without peepholes, projection or diagonal "
          "weights)");
      return true;
    }
  const auto o = op.options<tflite::UnidirectionalSequenceLSTMOptions>();
  if (o.fused_activation_function == tflite::ActivationFunctionType::TANH &&
      !o.diagonal_recurrent_tensors)
    return false;
  (void)importer.refuse(op, "its activation is not TANH, or its recurrent weights are diagonal",
                        importer.output(op).name,
                        "build the model with plain LSTM cells (tanh, without peepholes, "
                        "projection or diagonal weights)");
  return true;
}

Status import_svdf(Importer& importer, const Op& op) {
  QRT_MODEL_CHECK(op.has_input(4), "lacks its input 4");
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out)) return Status();
  if (in.type != DType::kInt8)
    return importer.refuse(op, "the input is uint8: only the int8 form of this operator is defined",
                           importer.input(op, 0).name,
                           "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  const auto o = op.options<tflite::SVDFOptions>();
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape,
              t = importer.input(op, 2).shape;
  QRT_MODEL_CHECK(x.rank() == 2 && w.rank() == 2 && t.rank() == 2 && x.elements() > 0 &&
                      w.elements() > 0 && t.elements() > 0 && o.rank >= 1 && w[0] % o.rank == 0,
                  "shapes %s, %s and %s and the rank %d do not fit", x.to_string().c_str(),
                  w.to_string().c_str(), t.to_string().c_str(), o.rank);
  const int64_t filters = w[0], memory = t[1], units = filters / o.rank;
  QRT_TRY(check_output_shape(importer, op, {x[0], units}));

  std::vector<int16_t> features, times;
  std::vector<int64_t> bias;
  float feature_scale, time_scale, state_scale;
  int state_zero_point;
  if (!read_weights(importer, op, 1, false, {filters, x[1]}, &features, &feature_scale) ||
      !read_weights(importer, op, 2, true, {filters, memory}, &times, &time_scale) ||
      !read_state(importer, op, 4, {TensorType::INT8, TensorType::INT16}, {x[0], filters * memory},
                  &state_scale, &state_zero_point))
    return Status();
  if (importer.input(op, 2).type != importer.input(op, 4).type)
    return importer.refuse(op, "the time weights and the state are of different types",
                           importer.input(op, 4).name,
                           "convert the model again, with states and time weights of one type");
  if (!op.has_input(3))
    bias.assign(static_cast<size_t>(units), 0);
  else if (!read_bias<int32_t>(importer, op, 3, units, &bias))
    return Status();
  const bool is_int16 = importer.input(op, 4).type == TensorType::INT16;

  const float product = in.scale[0] * feature_scale, summed = state_scale * time_scale;
  const Multiplier feature = importer.multiplier(static_cast<double>(product / state_scale));
  const Multiplier time = importer.multiplier(static_cast<double>(summed / out.scale[0]));
  const size_t taps = static_cast<size_t>(o.rank * memory), rows = static_cast<size_t>(units);
  // With an int16 state the sums pass int32 in theory only: the reference adds modulo 2^32, and so
  // does qrt.
  const int64_t sums_over_time =
      greatest_sum(times.data(), rows, taps, is_int16 ? 32768 : 255, bias.data());
  if (!stays_defined(importer, op, "features",
                     greatest_sum(features.data(), static_cast<size_t>(filters),
                                  static_cast<size_t>(x[1]), 255, nullptr),
                     feature) ||
      !stays_defined(importer, op, "sums over time",
                     is_int16 ? std::min<int64_t>(sums_over_time, INT32_MAX) : sums_over_time,
                     time))
    return Status();
  auto requant = make_requant(importer, op, {time}, out, Limits::of_source(out));
  if (!requant) return Status();

  const Shape state_shape{x[0], filters, memory};
  // The state is kept less its zero point, which it starts with.
  const ValueId state = importer.variable(op, 4, DType::kInt16, state_shape, 0);
  if (state == kNoValue) return Status();
  Graph& graph = importer.graph();
  const ValueId value = importer.value(op, 0),
                feature_weights = add_int8(importer, op, 1, {filters, x[1]}, features),
                time_weights = graph.add_constant(importer.input(op, 2).name, DType::kInt16,
                                                  {filters, memory}, times),
                biases = add_biases(importer, in, {units}, bias);
  auto& svdf = importer.builder().add<fb::SvdfOptionsT>(
      op, {value, feature_weights, time_weights, biases, state}, importer.new_output(op, out));
  svdf.rank = static_cast<uint32_t>(o.rank);
  svdf.input_zero_point = static_cast<uint8_t>(in.stored_zero_point());
  svdf.feature_stages = requant_stages({feature}, importer.rounding());
  svdf.state_lo = is_int16 ? -32768 : -128;
  svdf.state_hi = is_int16 ? 32767 : 127;
  svdf.state_zero_point = state_zero_point;
  svdf.requant = std::move(requant);
  const ValueId next = importer.builder().new_value("", DType::kInt16, state_shape);
  graph.nodes.back().outputs.push_back(next);
  importer.set_next(state, next);
  importer.became(op, "Svdf", "I0");
  return Status();
}

Status import_unidirectional_sequence_lstm(Importer& importer, const Op& op) {
  for (const int i : {12, 13, 14, 15, 18, 19})
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
  Quant in, out;
  if (!importer.read_quants(op, 0, &in, &out) ||
      refuse_optional_inputs(importer, op, "the reference's integer form lacks"))
    return Status();
  if (in.type == DType::kUInt8)
    return importer.refuse(op, "the input is uint8, which the reference has no form for",
                           importer.input(op, 0).name,
                           "convert the model with int8 or int16 activations");
  const auto o = op.options<tflite::UnidirectionalSequenceLSTMOptions>();
  const Shape x = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(x.rank() == 3 && w.rank() == 2 && x.elements() > 0 && w.elements() > 0,
                  "shapes %s and %s do not fit", x.to_string().c_str(), w.to_string().c_str());
  const int64_t rows = x[o.time_major ? 1 : 0], cells = w[0];
  QRT_TRY(check_output_shape(importer, op, {x[0], x[1], cells}));

  float kept_scale;  // of the hidden values
  int kept_zero_point;
  float cell_scale;
  int cell_zero_point;
  const Shape state_shape{rows, cells};
  if (!read_state(importer, op, 18, {importer.input(op, 0).type}, state_shape, &kept_scale,
                  &kept_zero_point) ||
      !read_state(importer, op, 19, {TensorType::INT16}, state_shape, &cell_scale,
                  &cell_zero_point))
    return Status();
  const Quant kept = tensor_quant(in.type, kept_scale, kept_zero_point);
  LstmSide input, recurrent;
  for (int i = 12; i <= 15; ++i)
    if (!(in.is_int16() ? read_bias<int64_t> : read_bias<int32_t>)(importer, op, i, cells,
                                                                   &input.bias))
      return Status();
  recurrent.bias.assign(static_cast<size_t>(4 * cells), 0);
  if (!read_side(importer, op, 1, cells, x[2], in, "sums of inputs", &input) ||
      !read_side(importer, op, 5, cells, cells, kept, "sums of hidden values", &recurrent))
    return Status();

  const double cs = static_cast<double>(cell_scale);
  const Multiplier keep = importer.multiplier(std::ldexp(1.0, -15) * cs / cs);
  const Multiplier add = importer.multiplier(std::ldexp(1.0, -30) / cs);
  const Multiplier make =
      importer.multiplier(std::ldexp(1.0, -30) / static_cast<double>(kept.scale[0]));
  constexpr int64_t kProduct = int64_t{1} << 30;
  if (!stays_defined(importer, op, "products of gates", kProduct, add) ||
      !stays_defined(importer, op, "hidden values", kProduct, make))
    return Status();
  auto requant = make_requant(importer, op, {make}, kept, Limits::of_source(kept));
  if (!requant) return Status();
  QRT_MODEL_CHECK(std::isfinite(o.cell_clip) && o.cell_clip >= 0, "cell_clip is %g",
                  static_cast<double>(o.cell_clip));

  const auto cell_clip =
      static_cast<int32_t>(std::clamp(static_cast<double>(o.cell_clip) / cs, 0.0, 32767.0));
  if (o.cell_clip > 0 && cell_clip == 0)
    return importer.refuse(op, "cell_clip is below one step of the cell's scale",
                           importer.input(op, 19).name,
                           "build the layer without cell_clip, or with a greater one");

  const ValueId hidden =
      importer.variable(op, 18, kept.stored_type(), state_shape, kept.stored_zero_point());
  if (hidden == kNoValue) return Status();
  const ValueId cell = importer.variable(op, 19, DType::kInt16, state_shape, 0);
  if (cell == kNoValue) return Status();
  Graph& graph = importer.graph();
  const ValueId value = importer.value(op, 0),
                weights = add_int8(importer, op, 1, {4, cells, x[2]}, input.weights),
                bias = add_biases(importer, in, {4, cells}, input.bias),
                recurrent_weights = add_int8(importer, op, 5, {4, cells, cells}, recurrent.weights),
                recurrent_bias = add_biases(importer, in, {4, cells}, recurrent.bias);
  const ValueId y = importer.builder().new_value(importer.output(op).name, kept.stored_type(),
                                                 {x[0], x[1], cells}, &kept);
  auto& lstm = importer.builder().add<fb::LstmOptionsT>(
      op, {value, weights, bias, recurrent_weights, recurrent_bias, hidden, cell}, y);
  lstm.time_major = o.time_major;
  for (int g = 0; g < 4; ++g) {
    auto gate = std::make_unique<fb::LstmGateT>();
    gate->input_stages = gate_stages(importer, in, input.multiplier[g]);
    gate->recurrent_stages = gate_stages(importer, in, recurrent.multiplier[g]);
    lstm.gates.push_back(std::move(gate));
  }
  lstm.keep_stages = requant_stages({keep}, importer.rounding());
  lstm.add_stages = requant_stages({add}, importer.rounding());
  lstm.cell_clip = cell_clip;
  set_tanh(cell_scale, &lstm);
  lstm.requant = std::move(requant);
  const ValueId next_hidden =
      importer.builder().new_value("", kept.stored_type(), state_shape, &kept);
  const ValueId next_cell = importer.builder().new_value("", DType::kInt16, state_shape);
  graph.nodes.back().outputs = {y, next_hidden, next_cell};
  importer.set_next(hidden, next_hidden);
  importer.set_next(cell, next_cell);
  return importer.finish_copy(op, y, "Lstm");
}

}  // namespace qrt::convert::from_tflite
