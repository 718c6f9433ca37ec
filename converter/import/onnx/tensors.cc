// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/tensors.h"

#include <utility>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {

Tensors::Tensors(const Model& model, Outcomes* outcomes)
    : model_(model),
      outcomes_(outcomes),
      files_(model.path()),
      model_bytes_(model.proto().ByteSizeLong()) {
  for (const auto& info : model.graph().value_info()) declared_.emplace(info.name(), &info);
  for (const auto& info : model.graph().output()) declared_.emplace(info.name(), &info);
}

const Tensor& Tensors::input(const NodeView& node, int i) const {
  static const Tensor absent;
  const auto found = states_.find(node.input(i));
  return node.has_input(i) && found != states_.end() ? found->second : absent;
}

void Tensors::set_output(const NodeView& node, int i, Tensor tensor) {
  if (tensor.constant) charge(tensor.constant->data.size());
  if (tensor.table) charge(tensor.table->size() * sizeof(float));
  if (node.has_output(i)) states_[node.output(i)] = std::move(tensor);
}

void Tensors::charge_reading(const Tensor& input) {
  if (input.constant) growth_.read(input.constant->data.size());
  if (input.table) growth_.read(input.table->size() * sizeof(float));
  if (input.quant) growth_.read(input.quant->scale.size() * sizeof(float));
}

Status Tensors::load_initializer(const std::string& name) {
  const auto found = model_.initializers().find(name);
  if (found == model_.initializers().end() || has(name)) return Status();
  Tensor tensor;
  Status s = read_constant(*found->second, &files_, &tensor.constant);
  if (s.code() == Code::kUnsupported) {
    outcomes_->refuse_outside("initialiser", name, s.message(),
                              "store it with at most 6 dimensions and in a type of up to 64 bits");
    outcomes_->set_origin(name, "refused initialiser '" + name + "'");
  } else if (!s.ok()) {
    return s;
  } else {
    tensor.kind = Tensor::Kind::kConstant;
    tensor.type = tensor.constant->type;
    tensor.shape = tensor.constant->shape;
  }
  states_.emplace(name, std::move(tensor));
  return Status();
}

const onnx::ValueInfoProto* Tensors::declared(const std::string& name) const {
  const auto found = declared_.find(name);
  return found == declared_.end() ? nullptr : found->second;
}

TensorView::TensorView(Tensors* tensors, const std::string& name, Tensor tensor)
    : tensors_(tensors), name_(name), kept_(std::move(tensor)) {
  std::swap(tensors_->at(name_), kept_);
}

TensorView::TensorView(TensorView&& other) noexcept
    : tensors_(std::exchange(other.tensors_, nullptr)),
      name_(std::move(other.name_)),
      kept_(std::move(other.kept_)) {}

TensorView::~TensorView() {
  if (tensors_) std::swap(tensors_->at(name_), kept_);
}

}  // namespace qrt::convert::from_onnx
