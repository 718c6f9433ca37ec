// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer.h"

#include <algorithm>

#include "kernels/built.h"
#include "runtime/text.h"
#include "runtime/traits.h"
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

ScratchVector<const fb::Variable*> variables(const fb::Model& model) {
  ScratchVector<const fb::Variable*> all;
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
  // Has the names of types that are not built, too.
  std::string type = fb::EnumNameOpOptions(o.options_type());
  if (type.empty() || o.options_type() == fb::OpOptions::NONE) type = "unknown";
  return "op " + std::to_string(op) + " (" + type + " '" + printable(o.name()) + "')";
}

std::string tensor_label(const fb::Model& model, uint32_t tensor) {
  return "tensor " + std::to_string(tensor) + " ('" +
         printable(model.tensors()->Get(tensor)->name()) + "')";
}

InferContext infer_context(const fb::Model& model, const UnpackedWeights& unpacked, uint32_t op,
                           const TensorTypes& types) {
  InferContext context;
  context.model = &model;
  context.op = model.operators()->Get(op);
  context.inputs.reserve(context.op->inputs()->size());
  for (uint32_t index : *context.op->inputs()) {
    OpInput& input = context.inputs.emplace_back();
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
  }
  return context;
}

Sizes stored_sizes(const fb::Model& model) { return {model.default_batch(), default_sizes(model)}; }

bool has_open_batch(const fb::Model& model) {
  return std::any_of(model.inputs()->begin(), model.inputs()->end(), [&](uint32_t index) {
    const auto* shape = model.tensors()->Get(index)->shape();
    return shape != nullptr && shape->size() != 0 && shape->Get(0) == -1;
  });
}

std::string describe_sizes(const fb::Model& model, size_t batch, const SymbolSizes& sizes) {
  std::string text;
  if (sizes.empty() || has_open_batch(model)) text = "batch " + std::to_string(batch);
  for (uint32_t i = 0; i < sizes.size(); ++i)
    text += (text.empty() ? "" : ", ") + printable(model.symbols()->Get(i)->name()) + " " +
            std::to_string(sizes[i]);
  return text;
}

Status shape_at(const fb::Tensor& tensor, const Sizes& sizes, Shape* shape) {
  *shape = stored_type(tensor, sizes.batch).shape;
  if (!built::kOpenDims || tensor.sizes() == nullptr) return {};
  for (int i = 0; i < shape->rank(); ++i) {
    int64_t size;
    QRT_TRY(evaluate(*tensor.sizes()->Get(static_cast<uint32_t>(i)), sizes.symbols, {}, &size));
    if (tensor.shape()->Get(static_cast<uint32_t>(i)) == -1) {
      QRT_MODEL_CHECK(size == -1, "dimension %d is the batch, but its size is %lld", i,
                      static_cast<long long>(size));
      continue;
    }
    QRT_MODEL_CHECK(size >= 0, "dimension %d has the size %lld", i, static_cast<long long>(size));
    (*shape)[i] = size;
  }
  return {};
}

namespace {

bool has_sizes(const Shape& shape) {
  return std::none_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; });
}

// kOutOfMemory where there are too many.
Status check_elements(const fb::Model& model, uint32_t tensor, const Shape& shape, int64_t least) {
  const int64_t elements = shape.elements();
  const bool is_too_large = elements > kMaxTensorElements || (elements < 0 && has_sizes(shape));
  if (elements >= least && !is_too_large) return {};
  return error(is_too_large ? Code::kOutOfMemory : Code::kInvalidModel,
               "%s has the shape %s, expected %lld to %lld elements",
               tensor_label(model, tensor).c_str(), shape.to_string().c_str(),
               static_cast<long long>(least), static_cast<long long>(kMaxTensorElements));
}

// Checks of a tensor, at other sizes, what verify() checked at the file's own sizes, because
// operators rely on it.
Status check_inferred(const fb::Model& model, uint32_t tensor, const Shape& shape) {
  QRT_TRY(check_elements(model, tensor, shape, 0));
  const fb::Quantization* q = model.tensors()->Get(tensor)->quantization();
  if (q == nullptr || q->axis() < 0) return {};
  QRT_MODEL_CHECK(
      q->axis() < shape.rank() && shape[q->axis()] == static_cast<int64_t>(q->scale()->size()),
      "%s has the shape %s, but %u quantization scales along dimension %d",
      tensor_label(model, tensor).c_str(), shape.to_string().c_str(), q->scale()->size(),
      q->axis());
  return {};
}

class Inference {
 public:
  Inference(const fb::Model& model, const UnpackedWeights& unpacked, const Sizes& sizes,
            bool knows_constants, MemoryBudget* memory, InferredTypes* inferred)
      : model_(model),
        unpacked_(unpacked),
        sizes_(sizes),
        knows_constants_(knows_constants),
        is_stored_(sizes == stored_sizes(model)),
        compares_(is_stored_ || symbol_count(model) == 0),
        memory_(memory),
        types_(inferred->types),
        fields_(inferred->fields) {}

  Status run() {
    QRT_TRY(start());
    for (uint32_t op = 0; op < model_.operators()->size(); ++op) {
      Status status = infer_op(op);
      if (!status.ok()) return std::move(status).at(op_label(model_, op));
    }
    return check_variables();
  }

 private:
  // Types of inputs, variables and constants; of what operators write the stored ones.
  Status start() {
    const auto& tensors = *model_.tensors();
    types_.clear();
    types_.reserve(tensors.size());
    for (uint32_t i = 0; i < tensors.size(); ++i) {
      types_.push_back(stored_type(*tensors.Get(i), sizes_.batch));
      if (compares_) QRT_TRY(check_elements(model_, i, types_.back().shape, 1));
    }
    fields_.clear();
    if (!built::kOpenDims || is_stored_) return {};
    for (uint32_t index : *model_.inputs()) QRT_TRY(take_shape(index));
    for (const fb::Variable* v : variables(model_)) QRT_TRY(take_shape(v->tensor()));
    return {};
  }

  Status take_shape(uint32_t index) {
    Status status = shape_at(*model_.tensors()->Get(index), sizes_, &types_[index].shape);
    if (!status.ok()) return std::move(status).at(tensor_label(model_, index));
    return check_inferred(model_, index, types_[index].shape);
  }

  // Evaluates the operator's rules.
  Status size_fields(uint32_t op, InferContext* context) {
    if (!built::kOpenDims || is_stored_ || context->op->sizes() == nullptr ||
        context->op->sizes()->size() == 0)
      return {};
    ScratchVector<Shape> shapes;
    for (const OpInput& input : context->inputs) shapes.push_back(input.type.shape);
    if (fields_.empty()) fields_.resize(model_.operators()->size());
    QRT_TRY(SizedFields::make(*context->op, sizes_.symbols, shapes, &fields_[op], kMaxMapEntries,
                              memory_));
    context->sized = fields_[op].get();
    return {};
  }

  Status infer_op(uint32_t op) {
    InferContext context = infer_context(model_, unpacked_, op, types_);
    context.knows_constants = knows_constants_;
    QRT_TRY(size_fields(op, &context));
    if (built::kOpenDims && !compares_ && !traits_of(context.op->options_type()).takes_empty)
      QRT_TRY(check_empty_inputs(context));
    TensorTypes inferred;
    QRT_TRY(find_op(context.op->options_type())->infer(context, &inferred));
    // Only a Concat makes something of empty inputs.
    if (built::kOpenDims && !compares_ && context.op->options_type() != fb::OpOptions::Concat &&
        std::any_of(inferred.begin(), inferred.end(),
                    [](const TensorType& type) { return type.shape.elements() != 0; }))
      QRT_TRY(check_empty_inputs(context));
    const auto& outputs = *context.op->outputs();
    QRT_MODEL_CHECK(inferred.size() == outputs.size(), "it has %u outputs, expected %zu",
                    outputs.size(), inferred.size());
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const uint32_t index = outputs.Get(i);
      TensorType& stored = types_[index];
      QRT_MODEL_CHECK(inferred[i].dtype == stored.dtype, "output %s is %s, expected %s",
                      tensor_label(model_, index).c_str(), dtype_name(stored.dtype),
                      dtype_name(inferred[i].dtype));
      if (built::kOpenDims && !compares_) {
        QRT_TRY(check_inferred(model_, index, inferred[i].shape));
        stored.shape = inferred[i].shape;
      }
      QRT_MODEL_CHECK(inferred[i].shape == stored.shape, "output %s has the shape %s, expected %s",
                      tensor_label(model_, index).c_str(), stored.shape.to_string().c_str(),
                      inferred[i].shape.to_string().c_str());
    }
    return {};
  }

  static Status check_empty_inputs(const InferContext& context) {
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const Shape& shape = context.inputs[i].type.shape;
      QRT_MODEL_CHECK(shape.elements() != 0, "input %zu has the shape %s, which is empty", i,
                      shape.to_string().c_str());
    }
    return {};
  }

  // Checks that a variable and its next content have one shape: the content is taken over whole.
  Status check_variables() const {
    for (const fb::Variable* v : variables(model_)) {
      const Shape &shape = types_[v->tensor()].shape, &next = types_[v->next()].shape;
      QRT_MODEL_CHECK(shape == next, "variable %s has the shape %s, its next content %s",
                      tensor_label(model_, v->tensor()).c_str(), shape.to_string().c_str(),
                      next.to_string().c_str());
    }
    return {};
  }

  const fb::Model& model_;
  const UnpackedWeights& unpacked_;
  const Sizes& sizes_;
  const bool knows_constants_, is_stored_, compares_;
  MemoryBudget* const memory_;
  TensorTypes& types_;
  OperatorFields& fields_;
};

}  // namespace

Status infer_types(const fb::Model& model, const UnpackedWeights& unpacked, const Sizes& sizes,
                   InferredTypes* inferred, bool knows_constants, MemoryBudget* memory) {
  return Inference(model, unpacked, sizes, knows_constants, memory, inferred).run();
}

Status check_rules(const fb::Model& model, const TensorTypes& types) {
  if (!built::kOpenDims) return {};
  const SymbolSizes symbols = default_sizes(model);
  for (uint32_t i = 0; i < model.operators()->size(); ++i) {
    const fb::Operator& op = *model.operators()->Get(i);
    if (op.sizes() == nullptr || op.sizes()->size() == 0) continue;
    ScratchVector<Shape> shapes;
    for (uint32_t t : *op.inputs()) shapes.push_back(types[t].shape);
    std::shared_ptr<const SizedFields> fields;
    Status status = SizedFields::make(op, symbols, shapes, &fields, stored_entries(op));
    if (status.ok()) status = check_fields(op, *fields);
    if (!status.ok()) return std::move(status).at(op_label(model, i));
  }
  return {};
}

}  // namespace qrt
