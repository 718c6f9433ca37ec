// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM of float32 activations, with int8 weights as LiteRT's portable reference kernels compute TFLite's
// dynamic range, or with weights of floats in float. It becomes the operators of its steps, one step after another.
#include <cfloat>
#include <cmath>

#include "converter/import/tflite/floats/hybrid.h"

namespace qrt::convert::from_tflite {
namespace {

using F = fb::FloatFunction;

constexpr int kGates = 4;  // input, forget, cell and output, in the order of the file

// The weights of all gates by which the input, or the hidden state, is multiplied.
struct Side {
  bool is_float = false;
  HybridLayer layer;
  HybridConstants constants{};
  ValueId matrix = kNoValue,
          bias = kNoValue;  // of floats: [columns, gates * cells] and [gates * cells]
};

// Reads the weights of the gates, inputs first .. first + 3, and the biases, inputs 12 .. 15, where `has_bias`. Returns false
// where the operator was refused.
bool read_side(FloatOp* f, int first, bool has_bias, int64_t cells, int64_t columns, Side* side) {
  Importer& importer = f->importer();
  const Op& op = f->op();
  side->is_float = importer.input(op, 1).type == TensorType::FLOAT32;
  const Shape shape{cells, columns};
  const auto rows = static_cast<size_t>(cells), width = static_cast<size_t>(columns);
  HybridLayer all;
  std::vector<float> matrix;
  for (size_t g = 0; g < kGates; ++g) {
    const int i = first + static_cast<int>(g);
    const Tensor& w = importer.input(op, i);
    if (w.type != (side->is_float ? TensorType::FLOAT32 : TensorType::INT8))
      return refuse_weights(importer, op, i, std::string("is ") + type_name(w.type),
                            "convert the model with weights of one type, int8 or float32");
    if (w.shape != shape)
      return refuse_weights(importer, op, i,
                            "has shape " + w.shape.to_string() + ", expected " + shape.to_string(),
                            "convert the model with the shapes that its operators need");
    if (side->is_float) {
      const Value* value = f->read_constant(i);
      if (!value) return false;
      matrix.resize(rows * width * kGates);
      for (size_t k = 0; k < rows * width; ++k)
        matrix[k % width * kGates * rows + g * rows + k / width] = value->as<float>()[k];
    } else {
      HybridLayer gate;
      if (w.scale.size() > 1)
        return refuse_weights(importer, op, i,
                              "has several scales, of which the reference reads one",
                              "quantise the weights per tensor");
      if (!read_hybrid_weights(importer, op, i, {0, rows, false}, &gate)) return false;
      all.weights.insert(all.weights.end(), gate.weights.begin(), gate.weights.end());
      all.scale.insert(all.scale.end(), gate.scale.begin(), gate.scale.end());
      all.name = gate.name;
    }
    if (!has_bias)
      all.addend.resize(all.addend.size() + rows, -0.0f);
    else if (!read_addend(f, 12 + static_cast<int>(g), cells, 0, &all))
      return false;
  }
  all.channels = kGates * cells;
  if (side->is_float) {
    side->matrix = f->constant({columns, all.channels}, matrix);
    if (has_bias) side->bias = f->constant({all.channels}, all.addend);
  } else {
    all.asymmetric =
        op.options<tflite::UnidirectionalSequenceLSTMOptions>().asymmetric_quantize_inputs;
    side->constants = add_constants(f, all, {all.channels, columns});
  }
  side->layer = std::move(all);
  return true;
}

// Multiplies rows x [rows, columns] by the weights and adds the bias, if there is one:
// [rows, gates * cells].
Status multiply(FloatOp* f, const Side& side, ValueId x, ValueId* y) {
  if (!side.is_float) {
    *y = hybrid_rows(f, side.layer, side.constants, x, nullptr);
    return Status();
  }
  *y = f->add(F::FUSED_MATMUL, {x, side.matrix}, {f->shape_of(x)[0], side.layer.channels});
  return side.bias == kNoValue ? Status() : f->binary(F::ADD, *y, side.bias, y);
}

// Returns the slice of x at index i of dimension 0, in this shape.
ValueId part(FloatOp* f, ValueId x, int64_t i, const Shape& shape) {
  IndexMaps maps(f->shape_of(x));
  maps.set(0, {static_cast<int32_t>(i)});
  if (!maps.is_identity()) x = f->builder().gather(f->source(), x, maps, 0);
  return f->builder().reshape(f->source(), x, shape);
}

// The state between steps.
struct State {
  ValueId hidden, cell;  // [rows, cells]
};

// Makes one step of the sums of gates [gates, rows, cells].
Status make_step(FloatOp* f, ValueId sums, float clip, State* state) {
  const Shape shape = f->shape_of(state->cell);
  ValueId gates[kGates], kept, added, content;
  for (int g = 0; g < kGates; ++g)
    gates[g] = f->add(g == 2 ? F::TANH : F::FUSED_SIGMOID, {part(f, sums, g, shape)}, shape);
  QRT_TRY(f->binary(F::MUL, gates[1], state->cell, &kept));
  QRT_TRY(f->binary(F::MUL, gates[2], gates[0], &added));
  QRT_TRY(f->binary(F::ADD, kept, added, &state->cell));
  if (clip > 0) QRT_TRY(f->limit(-clip, clip, &state->cell));
  content = f->add(F::TANH, {state->cell}, shape);
  return f->binary(F::MUL, gates[3], content, &state->hidden);
}

// Returns input i, a state of float32, as a variable that begins with zeros. kNoValue: the operator was refused.
ValueId read_state(Importer& importer, const Op& op, int i, const Shape& shape) {
  const Tensor& t = importer.input(op, i);
  if (t.type == TensorType::FLOAT32 && t.shape == shape)
    return importer.variable(op, i, DType::kFloat32, shape, 0);
  (void)importer.refuse(op,
                        importer.quoted_input(op, i) + " is " + type_name(t.type) + " of shape " +
                            t.shape.to_string() + ", expected float32 of " + shape.to_string(),
                        t.name, "convert the model with states of its activations' type");
  return kNoValue;
}

}  // namespace

Status import_dynamic_lstm(Importer& importer, const Op& op) {
  if (refuse_optional_inputs(importer, op, "qrt's float form lacks")) return Status();
  if (!op.has_input(1))
    return importer.refuse(
        op, "its input gate is coupled to the forget gate, which qrt has no form for",
        importer.output(op).name, "build the model with plain LSTM cells, of four gates");
  for (const int i : {2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 18, 19})
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
  const auto o = op.options<tflite::UnidirectionalSequenceLSTMOptions>();
  QRT_MODEL_CHECK(std::isfinite(o.cell_clip) && o.cell_clip >= 0, "cell_clip is %g",
                  static_cast<double>(o.cell_clip));
  const Shape sx = importer.input(op, 0).shape, w = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(sx.rank() == 3 && w.rank() == 2 && sx.elements() > 0 && w.elements() > 0,
                  "shapes %s and %s do not fit", sx.to_string().c_str(), w.to_string().c_str());
  const int64_t rows = sx[o.time_major ? 1 : 0], steps = sx[o.time_major ? 0 : 1], cells = w[0];
  QRT_TRY(check_output_shape(importer, op, {sx[0], sx[1], cells}));

  FloatOp f(importer, op);
  GraphBuilder& builder = f.builder();
  Side input, recurrent;
  if (!read_side(&f, 1, true, cells, sx[2], &input) ||
      !read_side(&f, 5, false, cells, cells, &recurrent))
    return Status();
  // Estimates the bytes that a step takes: its operators while they are converted, written and checked, and what each product keeps of
  // its weights.
  constexpr uint64_t kStepBytes = 24 * 1024;
  const Status room = importer.reserve(static_cast<uint64_t>(steps) *
                                       (kStepBytes + 16 * static_cast<uint64_t>(cells)));
  if (!room.ok())
    return importer.refuse(
        op, "it has " + std::to_string(steps) + " steps: " + room.message(),
        importer.input(op, 0).name,
        "build the model for fewer steps a run: its state goes on from one run to the next");
  ValueId x, sums;
  if (!f.read(0, &x)) return Status();
  State state{};
  state.hidden = read_state(importer, op, 18, {rows, cells});
  if (state.hidden == kNoValue) return Status();
  state.cell = read_state(importer, op, 19, {rows, cells});
  if (state.cell == kNoValue) return Status();
  const State before = state;

  if (!o.time_major && rows > 1) x = builder.transpose(op, x, {1, 0, 2});
  x = builder.reshape(op, x, {steps * rows, sx[2]});
  QRT_TRY(multiply(&f, input, x, &sums));
  // Puts gates before rows, so that the values of one gate in one step are contiguous.
  sums = builder.reshape(op, sums, {steps, rows, kGates, cells});
  if (rows > 1) sums = builder.transpose(op, sums, {0, 2, 1, 3});
  const Shape gates{kGates, rows, cells};
  std::vector<ValueId> made;
  for (int64_t t = 0; t < steps; ++t) {
    ValueId y;
    QRT_TRY(multiply(&f, recurrent, state.hidden, &y));
    if (rows > 1)
      y = builder.transpose(op, builder.reshape(op, y, {rows, kGates, cells}), {1, 0, 2});
    y = builder.reshape(op, y, gates);
    QRT_TRY(f.binary(F::ADD, part(&f, sums, t, gates), y, &y));
    QRT_TRY(make_step(&f, y, o.cell_clip, &state));
    made.push_back(builder.reshape(op, state.hidden, {1, rows, cells}));
  }
  importer.set_next(before.hidden, state.hidden);
  importer.set_next(before.cell, state.cell);
  ValueId y = made.size() == 1 ? made[0] : builder.concat(op, made, 0);
  if (!o.time_major && rows > 1) y = builder.transpose(op, y, {1, 0, 2});
  return f.finish(y, "Float");
}

}  // namespace qrt::convert::from_tflite
