// SPDX-License-Identifier: Apache-2.0
// The edges: floats to integers and back.
#include "kernels/edge/numbers.h"
#include "tests/fuzz/generator.h"

namespace qrt::fuzz {

template <class Options>
std::vector<uint32_t> Generator::edge_inputs(const Live& x, DType scale, DType zero_point,
                                             Options* o) {
  Shape shape;
  const int layout = x.shape.rank() < 2 ? 0 : choose_.integer(0, 2);
  if (layout != 0) {
    o->axis = choose_.integer(1, x.shape.rank() - 1);
    shape = {x.shape[o->axis]};
  }
  if (layout == 2 && x.shape.rank() >= 2) {
    // Blocks are as many as the batch: of one.
    o->block_size = static_cast<uint32_t>(choose_.integer(1, 8));
    shape = x.shape;
    shape[0] = m_.model().default_batch;
    shape[o->axis] = (shape[o->axis] + o->block_size - 1) / o->block_size;
  }
  const auto n = static_cast<size_t>(shape.elements());
  std::vector<float> scales(n);
  for (float& f : scales) f = choose_.scale(-8, 4);
  std::vector<uint16_t> halves;
  for (float f : scales) halves.push_back(float_to_half(f));
  std::vector<uint32_t> inputs = {x.tensor, scale == DType::kFloat16
                                                ? m_.constant(shape, scale, halves)
                                                : m_.constant(shape, DType::kFloat32, scales)};
  if (choose_.coin()) {
    const size_t bytes = tensor_bytes({zero_point, shape});
    inputs.push_back(m_.constant(shape, zero_point, choose_.values<uint8_t>(bytes, 0, 255)));
  }
  return inputs;
}

void Generator::append_quantize() {
  fb::QuantizeOptionsT o;
  if (choose_.coin()) {
    static constexpr DType kFrom[] = {DType::kFloat32, DType::kFloat32, DType::kFloat16,
                                      DType::kBFloat16};
    static constexpr DType kTo[] = {DType::kUInt8,         DType::kInt8,       DType::kUInt16,
                                    DType::kInt16,         DType::kInt4,       DType::kUInt4,
                                    DType::kInt2,          DType::kUInt2,      DType::kFloat8E4M3FN,
                                    DType::kFloat8E5M2,    DType::kFloat4E2M1, DType::kInt32,
                                    DType::kFloat8E4M3FNUZ};
    const Live x = of_type(kFrom[choose_.integer(0, 3)]);
    const DType to = kTo[choose_.integer(0, 12)];
    o.saturate = choose_.coin();
    o.overflow = static_cast<fb::Overflow>(choose_.integer(0, 2));
    std::vector<uint32_t> inputs =
        edge_inputs(x, choose_.coin() ? DType::kFloat16 : DType::kFloat32, to, &o);
    return emit(std::move(o), std::move(inputs), x.shape, to);
  }
  const Live x = of_type(DType::kFloat32);
  const bool is_signed = choose_.integer(0, 3) == 3;
  set_edge(x, is_signed ? -128 : 0, is_signed ? 127 : 255, &o);
  emit(std::move(o), {x.tensor}, x.shape, is_signed ? DType::kInt8 : DType::kUInt8);
}

void Generator::append_dequantize() {
  fb::DequantizeOptionsT o;
  if (choose_.coin()) {
    static constexpr DType kTo[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
    const Live x = pick([](const Live&) { return true; },
                        [&] {
                          const int type = choose_.integer(0, kDTypeCount - 1);
                          return std::make_pair(static_cast<DType>(type), any_shape());
                        });
    std::vector<uint32_t> inputs = edge_inputs(x, DType::kFloat32, x.dtype, &o);
    return emit(std::move(o), std::move(inputs), x.shape, kTo[choose_.integer(0, 2)]);
  }
  const Live x = pick(
      [](const Live& t) {
        return t.dtype == DType::kUInt8 || t.dtype == DType::kInt8 || t.dtype == DType::kInt32;
      },
      [&] { return std::make_pair(DType::kUInt8, any_shape()); });
  const int lo = x.dtype == DType::kInt8 ? -128 : 0;
  const int hi = x.dtype == DType::kInt8 ? 127 : x.dtype == DType::kUInt8 ? 255 : 0;
  set_edge(x, lo, hi, &o);
  emit(std::move(o), {x.tensor}, x.shape, DType::kFloat32);
}

// Appends a DynamicQuantize, in each of its ways, and now and then the layer that reads it.
void Generator::append_dynamic_quantize() {
  const Live x = of_type(DType::kFloat32);
  fb::DynamicQuantizeOptionsT o;
  o.form = static_cast<fb::DynamicForm>(choose_.integer(0, static_cast<int>(fb::DynamicForm::MAX)));
  Shape scales;
  if (o.form != fb::DynamicForm::ONNX) scales.push_back(x.shape[0]);
  const Live y = {add_output(x.shape, DType::kUInt8), DType::kUInt8, x.shape, true};
  const uint32_t scale = m_.tensor(scales, DType::kFloat32),
                 zero = m_.tensor(scales, DType::kUInt8);
  m_.op(o, {x.tensor}, {y.tensor, scale, zero});
  if (choose_.coin()) append_dynamic_layer(y, scale, zero);
}

}  // namespace qrt::fuzz
