#include "runtime/infer.h"

#include "runtime/text.h"
#include "runtime/verify.h"

namespace qrt {

TensorType stored_type(const fb::Tensor& tensor, int64_t batch) {
  TensorType type;
  type.dtype = static_cast<DType>(tensor.dtype());
  if (tensor.shape() != nullptr) {
    for (int32_t d : *tensor.shape()) type.shape.push_back(d < 0 ? batch : d);
  }
  return type;
}

bool is_constant(const fb::Tensor& tensor) { return tensor.buffer() != 0; }

std::vector<const fb::Variable*> variables(const fb::Model& model) {
  std::vector<const fb::Variable*> all;
  if (model.variables() != nullptr)
    all.assign(model.variables()->begin(), model.variables()->end());
  return all;
}

std::string printable(const flatbuffers::String* name) {
  constexpr size_t kLongest = 100;
  return escaped(name != nullptr ? name->string_view() : std::string_view(), kLongest);
}

std::string op_label(const fb::Model& model, uint32_t op) {
  const fb::Operator& o = *model.operators()->Get(op);
  std::string type = fb::EnumNameOpOptions(o.options_type());  // also of those that are not built
  if (type.empty() || o.options_type() == fb::OpOptions::NONE) type = "unknown";
  return "op " + std::to_string(op) + " (" + type + " '" + printable(o.name()) + "')";
}

std::string tensor_label(const fb::Model& model, uint32_t tensor) {
  return "tensor " + std::to_string(tensor) + " ('" +
         printable(model.tensors()->Get(tensor)->name()) + "')";
}

InferContext infer_context(const fb::Model& model, const UnpackedWeights& unpacked, uint32_t op,
                           const std::vector<TensorType>& types) {
  InferContext context;
  context.model = &model;
  context.op = model.operators()->Get(op);
  context.inputs.reserve(context.op->inputs()->size());
  for (uint32_t index : *context.op->inputs()) {
    OpInput input;
    input.type = types[index];
    input.tensor = model.tensors()->Get(index);
    if (is_constant(*input.tensor)) {
      const auto* data = model.buffers()->Get(input.tensor->buffer())->data();
      input.data = data->Data();
      input.data_bytes = data->size();
    }
    if (const UnpackedWeights::View view = unpacked.of(index); view.data != nullptr) {
      input.type.dtype = DType::kInt8;
      input.data = view.data;
      input.data_bytes = view.bytes;
    }
    context.inputs.push_back(input);
  }
  return context;
}

namespace {

Status infer_op(const fb::Model& model, const UnpackedWeights& unpacked, uint32_t op,
                bool knows_constants, std::vector<TensorType>* types) {
  InferContext context = infer_context(model, unpacked, op, *types);
  context.knows_constants = knows_constants;
  std::vector<TensorType> inferred;
  QRT_TRY(find_op(context.op->options_type())->infer(context, &inferred));
  const auto& outputs = *context.op->outputs();
  QRT_MODEL_CHECK(inferred.size() == outputs.size(), "it has %u outputs, expected %zu",
                  outputs.size(), inferred.size());
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const uint32_t index = outputs.Get(i);
    const TensorType& stored = (*types)[index];
    QRT_MODEL_CHECK(inferred[i].dtype == stored.dtype, "output %s is %s, expected %s",
                    tensor_label(model, index).c_str(), dtype_name(stored.dtype),
                    dtype_name(inferred[i].dtype));
    QRT_MODEL_CHECK(inferred[i].shape == stored.shape, "output %s has the shape %s, expected %s",
                    tensor_label(model, index).c_str(), stored.shape.to_string().c_str(),
                    inferred[i].shape.to_string().c_str());
  }
  return {};
}

}  // namespace

Status infer_types(const fb::Model& model, const UnpackedWeights& unpacked, int64_t batch,
                   std::vector<TensorType>* types, bool knows_constants) {
  const auto& tensors = *model.tensors();
  types->clear();
  types->reserve(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    types->push_back(stored_type(*tensors.Get(i), batch));
    const int64_t elements = types->back().shape.elements();
    QRT_MODEL_CHECK(elements >= 1 && elements <= kMaxTensorElements,
                    "%s has the shape %s, expected 1 to %lld elements",
                    tensor_label(model, i).c_str(), types->back().shape.to_string().c_str(),
                    static_cast<long long>(kMaxTensorElements));
  }
  for (uint32_t op = 0; op < model.operators()->size(); ++op) {
    Status status = infer_op(model, unpacked, op, knows_constants, types);
    if (!status.ok()) return std::move(status).at(op_label(model, op));
  }
  return {};
}

}  // namespace qrt
