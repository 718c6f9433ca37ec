// SPDX-License-Identifier: Apache-2.0
// The model's inputs, outputs and variables: between what the file declares and what is stored.
#include "converter/import/espdl/importer.h"

namespace qrt::convert::from_espdl {
namespace {

// Returns the type with which the model's edges declare a tensor.
DType edge_type(DataType type) {
  switch (type) {
    case DataType::INT8: return DType::kInt8;
    case DataType::INT16: return DType::kInt16;
    case DataType::BOOL: return DType::kBool;
    default: return DType::kFloat32;
  }
}

Shape with_batch(const Shape& shape) {
  Shape with{1};
  for (int64_t d : shape) with.push_back(d);
  return with;
}

Shape behind_batch(const Shape& shape) {
  Shape behind;
  for (int i = 1; i < shape.rank(); ++i) behind.push_back(shape[i]);
  return behind;
}

}  // namespace

Status Importer::import_inputs(bool float_io) {
  for (int i : model_.inputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    State& state = states_[static_cast<size_t>(i)];
    Format format{tensor.type, tensor.exponents.empty() ? 0 : tensor.exponents[0]};
    std::string problem = tensor.problem;
    if (problem.empty() && !format.is_integer() && format.type != DataType::FLOAT)
      problem = std::string("is ") + type_name(tensor.type) + ", expected int8, int16 or float32";
    if (problem.empty() && tensor.shape.elements() <= 0) problem = "has no elements";
    if (!problem.empty()) {
      outcomes_.refuse_outside("input", tensor.name, "the model's input " + problem,
                               "export the model with inputs of int8, int16 or float32");
      state.origin = "refused input '" + tensor.name + "'";
      continue;
    }
    if (graph().inputs.empty() && tensor.shape.rank() > 0)
      graph().default_batch = without_batch_ ? 1 : tensor.shape[0];
    const SourceNode source = {tensor.name, "input"};
    const bool quantizes = float_io && format.is_integer();
    ValueId x = builder_.new_value(
        tensor.name, quantizes ? DType::kFloat32 : edge_type(format.type), tensor.shape);
    graph().inputs.push_back(x);
    if (quantizes) {
      const ValueId q = builder_.new_value(tensor.name, format, tensor.shape);
      set_quantize(format, target_, power_of_two(format.exponent),
                   &builder_.add<fb::QuantizeOptionsT>(source, {x}, q));
      x = q;
    } else {
      graph().values[x].quantization = quantization_of(format, 0);
      if (format.type == DataType::INT8) {
        x = builder_.flip_sign(source, x, DType::kUInt8);
        graph().values[x].quantization = quantization_of(format, format.offset());
      }
    }
    if (without_batch_ && tensor.shape.rank() == 3)
      x = builder_.reshape(source, x, with_batch(tensor.shape), tensor.name);
    state.activation = {format, x};
  }
  return Status();
}

Status Importer::export_outputs(bool float_io) {
  for (int i : model_.outputs()) {
    const Tensor& tensor = model_.tensors()[static_cast<size_t>(i)];
    const State& state = states_[static_cast<size_t>(i)];
    if (!state.origin.empty()) continue;
    if (state.activation.value == kNoValue) {
      outcomes_.refuse_outside("output", tensor.name, "the model's output is a constant",
                               "export the model without this output");
      continue;
    }
    const SourceNode source = {tensor.name, "output"};
    ValueId y = state.activation.value;
    const Format format = state.activation.format;
    const Shape shape = builder_.shape_of(y);
    if (without_batch_ && shape.rank() == 4 && shape[0] == 1)
      y = builder_.reshape(source, y, behind_batch(shape), tensor.name);
    if (float_io && format.is_integer()) {
      const ValueId real = builder_.new_value(tensor.name, DType::kFloat32, builder_.shape_of(y));
      set_dequantize(format, &builder_.add<fb::DequantizeOptionsT>(source, {y}, real));
      y = real;
    } else if (format.type == DataType::INT8 || format.type == DataType::BOOL) {
      y = format.type == DataType::BOOL ? builder_.relabel(source, y, DType::kBool)
                                        : builder_.flip_sign(source, y, DType::kInt8);
      graph().values[y].quantization = quantization_of(format, 0);
    } else if (graph().producer(y) < 0 || graph().is_output(y)) {
      y = builder_.reshape(source, y, builder_.shape_of(y), tensor.name);
    }
    graph().values[y].name = tensor.name;
    graph().outputs.push_back(y);
  }
  return Status();
}

ValueId Importer::new_variable(const std::string& name, const Format& format, const Shape& shape) {
  const ValueId value = builder_.new_value(name, format, shape);
  variables_.push_back({value, kNoValue, format.offset()});
  return value;
}

void Importer::set_next(ValueId variable, ValueId next) {
  for (Variable& v : variables_)
    if (v.value == variable) v.next = next;
}

// Makes the variables' values the last inputs and outputs of the graph (ir.h).
void Importer::export_variables() {
  for (const Variable& v : variables_) {
    graph().inputs.push_back(v.value);
    graph().outputs.push_back(v.next);
    graph().variables.push_back({v.initial});
  }
}

}  // namespace qrt::convert::from_espdl
