// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer.h"

#include <algorithm>

#include "kernels/built.h"
#include "runtime/loops.h"
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

FileTensors find_tensors(const fb::Model& model, const UnpackedWeights& unpacked) {
  FileTensors tensors;
  tensors.reserve(model.tensors()->size());
  for (const fb::Tensor* tensor : *model.tensors()) {
    FileTensor found = {tensor, nullptr, 0, false};
    if (is_constant(*tensor)) {
      const auto* data = model.buffers()->Get(tensor->buffer())->data();
      found.data = data->Data();
      found.bytes = data->size();
    }
    const UnpackedWeights::View view = unpacked.of(static_cast<uint32_t>(tensors.size()));
    if (view.data != nullptr) found = {tensor, view.data, view.bytes, true};
    tensors.push_back(found);
  }
  return tensors;
}

void set_infer_context(const fb::Model& model, const FileTensors& tensors, uint32_t op,
                       const TensorTypes& types, InferContext* context) {
  static constexpr OpInput kNone{};  // is copied faster than one is made
  context->model = &model;
  context->op = model.operators()->Get(op);
  context->sized = nullptr;
  context->inputs.clear();
  for (uint32_t index : *context->op->inputs()) {
    const FileTensor& found = tensors[index];
    context->inputs.push_back(kNone);
    OpInput& input = context->inputs.back();
    input.type = types[index];
    input.tensor = found.tensor;
    input.data = found.data;
    input.data_bytes = found.bytes;
    if (found.is_unpacked) input.type.dtype = DType::kInt8;
  }
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
  Inference(const fb::Model& model, const FileTensors& tensors, const Sizes& sizes,
            const TensorTypes* verified, MemoryBudget* memory, InferredTypes* inferred)
      : model_(model),
        tensors_(tensors),
        sizes_(sizes),
        verified_(verified),
        is_stored_(sizes == stored_sizes(model)),
        compares_(is_stored_ || symbol_count(model) == 0),
        memory_(memory),
        loops_(model),
        types_(inferred->types),
        fields_(inferred->fields),
        has_empty_(inferred->has_empty) {
    context_.knows_constants = verified != nullptr;
  }

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
    fields_.clear();
    has_empty_ = false;
    if (verified_ != nullptr && !compares_) {
      types_ = *verified_;  // of which those of constants stay
    } else {
      const auto& tensors = *model_.tensors();
      types_.clear();
      types_.reserve(tensors.size());
      for (uint32_t i = 0; i < tensors.size(); ++i) {
        types_.push_back(stored_type(*tensors.Get(i), sizes_.batch));
        if (compares_) QRT_TRY(check_elements(model_, i, types_.back().shape, 1));
      }
    }
    if (!built::kOpenDims || is_stored_) return {};
    for (uint32_t index : *model_.inputs()) QRT_TRY(take_shape(index));
    for (const fb::Variable* v : variables(model_)) QRT_TRY(take_shape(v->tensor()));
    return {};
  }

  Status take_shape(uint32_t index) {
    Status status = shape_at(*model_.tensors()->Get(index), sizes_, &types_[index].shape);
    if (!status.ok()) return std::move(status).at(tensor_label(model_, index));
    return check_sized(index, types_[index].shape);
  }

  // Checks the shape of a tensor at other sizes than the file's own.
  Status check_sized(uint32_t index, const Shape& shape) {
    QRT_TRY(check_inferred(model_, index, shape));
    has_empty_ |= std::count(shape.begin(), shape.end(), 0) != 0;
    return {};
  }

  // Evaluates the operator's rules.
  Status size_fields(uint32_t op) {
    if (!built::kOpenDims || is_stored_ || context_.op->sizes() == nullptr ||
        context_.op->sizes()->size() == 0)
      return {};
    ScratchVector<Shape> shapes;
    shapes.reserve(context_.inputs.size());
    for (const OpInput& input : context_.inputs) shapes.push_back(input.type.shape);
    if (fields_.empty()) fields_.resize(model_.operators()->size());
    QRT_TRY(SizedFields::make(*context_.op, sizes_.symbols, shapes, &fields_[op], kMaxMapEntries,
                              memory_));
    context_.sized = fields_[op].get();
    return {};
  }

  Status infer_op(uint32_t op) {
    set_infer_context(model_, tensors_, op, types_, &context_);
    QRT_TRY(size_fields(op));
    const OpDef& definition = *find_op(context_.op->options_type());
    if (built::kOpenDims && has_empty_ && !definition.traits.takes_empty)
      QRT_TRY(check_empty_inputs());
    TensorTypes& inferred = inferred_;
    inferred.clear();
    QRT_TRY(definition.infer(context_, &inferred));
    // Only a Concat makes something of empty inputs.
    if (built::kOpenDims && has_empty_ && definition.type != fb::OpOptions::Concat &&
        std::any_of(inferred.begin(), inferred.end(),
                    [](const TensorType& type) { return type.shape.elements() != 0; }))
      QRT_TRY(check_empty_inputs());
    const auto& outputs = *context_.op->outputs();
    QRT_MODEL_CHECK(inferred.size() == outputs.size(), "it has %u outputs, expected %zu",
                    outputs.size(), inferred.size());
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const uint32_t index = outputs.Get(i);
      TensorType& stored = types_[index];
      QRT_MODEL_CHECK(inferred[i].dtype == stored.dtype, "output %s is %s, expected %s",
                      tensor_label(model_, index).c_str(), dtype_name(stored.dtype),
                      dtype_name(inferred[i].dtype));
      if (built::kOpenDims && !compares_) {
        QRT_TRY(check_sized(index, inferred[i].shape));
        stored.shape = inferred[i].shape;
      }
      QRT_MODEL_CHECK(inferred[i].shape == stored.shape, "output %s has the shape %s, expected %s",
                      tensor_label(model_, index).c_str(), stored.shape.to_string().c_str(),
                      inferred[i].shape.to_string().c_str());
    }
    return loops_.check(context_, types_);
  }

  Status check_empty_inputs() const {
    for (size_t i = 0; i < context_.inputs.size(); ++i) {
      const Shape& shape = context_.inputs[i].type.shape;
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
  const FileTensors& tensors_;
  const Sizes& sizes_;
  const TensorTypes* const verified_;
  const bool is_stored_, compares_;
  MemoryBudget* const memory_;
  LoopTypes loops_;
  TensorTypes& types_;
  OperatorFields& fields_;
  bool& has_empty_;
  // Used by one operator after the other.
  InferContext context_;
  TensorTypes inferred_;
};

}  // namespace

Status infer_types(const fb::Model& model, const FileTensors& tensors, const Sizes& sizes,
                   InferredTypes* inferred, const TensorTypes* verified, MemoryBudget* memory) {
  return Inference(model, tensors, sizes, verified, memory, inferred).run();
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
