// SPDX-License-Identifier: Apache-2.0
#include "runtime/verify.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "kernels/built.h"
#include "runtime/checked.h"
#include "runtime/infer.h"
#include "runtime/loops.h"
#include "runtime/packed_bits.h"
#include "runtime/parts.h"
#include "runtime/plan_cache.h"
#include "runtime/structure.h"

namespace qrt {
namespace {

Status check_header(const fb::Model& model) {
  if (model.version() > kFormatVersion) {
    return error(Code::kUnsupported, "format version %u is newer than this build reads (%u)",
                 model.version(), kFormatVersion);
  }
  QRT_MODEL_CHECK(model.version() >= 1, "format version 0 does not exist");
  QRT_MODEL_CHECK(model.default_batch() >= 1 && model.default_batch() <= INT32_MAX,
                  "default_batch is %u, expected 1 to %d", model.default_batch(), INT32_MAX);
  QRT_MODEL_CHECK(model.tensors() != nullptr && model.operators() != nullptr &&
                      model.inputs() != nullptr && model.outputs() != nullptr &&
                      model.buffers() != nullptr,
                  "tensors, operators, inputs, outputs or buffers are missing");
  QRT_MODEL_CHECK(model.tensors()->size() <= kMaxTensors, "%u tensors, expected at most %zu",
                  model.tensors()->size(), kMaxTensors);
  QRT_MODEL_CHECK(model.operators()->size() <= kMaxOperators, "%u operators, expected at most %zu",
                  model.operators()->size(), kMaxOperators);
  QRT_MODEL_CHECK(model.inputs()->size() <= kMaxModelInputs, "%u inputs, expected at most %zu",
                  model.inputs()->size(), kMaxModelInputs);
  QRT_MODEL_CHECK(model.outputs()->size() >= 1 && model.outputs()->size() <= kMaxModelInputs,
                  "%u outputs, expected 1 to %zu", model.outputs()->size(), kMaxModelInputs);
  return {};
}

// The name of dimension -1.
constexpr std::string_view kBatchName = "batch";

Status check_symbol(const fb::Model& model, uint32_t index) {
  const fb::Symbol& s = *model.symbols()->Get(index);
  QRT_MODEL_CHECK(s.name() != nullptr && s.name()->size() != 0, "it has no name");
  const std::string_view name = s.name()->string_view();
  QRT_MODEL_CHECK(name.find('\0') == name.npos, "its name has a zero byte");
  for (uint32_t i = 0; i < index; ++i)
    QRT_MODEL_CHECK(model.symbols()->Get(i)->name()->string_view() != name,
                    "symbol %u has the same name", i);
  QRT_MODEL_CHECK(name != kBatchName || !has_open_batch(model), "dimension -1 has the same name");
  QRT_MODEL_CHECK(
      s.step() >= 1 && s.value() >= 1 && s.least() <= s.value() && s.value() <= s.most() &&
          s.most() <= INT32_MAX && (s.value() - s.least()) % s.step() == 0,
      "its value is %u, of %u to %u in steps of %u", s.value(), s.least(), s.most(), s.step());
  return {};
}

Status check_symbols(const fb::Model& model) {
  const uint32_t count = symbol_count(model);
  const Part* part = part_of_sizes(model);
  if (part == nullptr) return {};
  if (!built::kOpenDims)
    return error(Code::kUnsupported,
                 "open dimensions are not built into this library (QRT_OPS: %s)", part->name);
  QRT_MODEL_CHECK(model.version() >= 2,
                  "format version %u has no symbols and no sizes that follow from them",
                  model.version());
  QRT_MODEL_CHECK(count <= kMaxSymbols, "%u symbols, expected at most %u", count, kMaxSymbols);
  for (uint32_t i = 0; i < count; ++i) {
    Status status = check_symbol(model, i);
    if (!status.ok())
      return std::move(status).at("symbol " + std::to_string(i) + " ('" +
                                  printable(model.symbols()->Get(i)->name()) + "')");
  }
  return {};
}

// Checks that the sizes of each tensor's dimensions give its shape at the symbols' stored values.
// REQUIRES: indices were checked.
Status check_tensor_sizes(const fb::Model& model) {
  if (!built::kOpenDims) return {};
  std::vector<bool> may_have(model.tensors()->size());
  for (uint32_t index : *model.inputs()) may_have[index] = true;
  for (uint32_t index : *model.outputs()) may_have[index] = true;
  for (const fb::Variable* v : variables(model)) may_have[v->tensor()] = true;
  const Sizes stored = stored_sizes(model);
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    const fb::Tensor& tensor = *model.tensors()->Get(i);
    if (tensor.sizes() == nullptr) continue;
    const std::string label = tensor_label(model, i);
    QRT_MODEL_CHECK(may_have[i] && !is_constant(tensor),
                    "%s has sizes, but is no model input, output or variable", label.c_str());
    const Shape shape = stored_type(tensor, stored.batch).shape;
    QRT_MODEL_CHECK(static_cast<int>(tensor.sizes()->size()) == shape.rank(),
                    "%s has sizes for %u dimensions, but %d of them", label.c_str(),
                    tensor.sizes()->size(), shape.rank());
    Shape sized;
    Status status = shape_at(tensor, stored, &sized);
    if (!status.ok()) return std::move(status).at(label);
    QRT_MODEL_CHECK(sized == shape, "%s has the shape %s, but its sizes give %s", label.c_str(),
                    shape.to_string().c_str(), sized.to_string().c_str());
  }
  return {};
}

Status check_buffers(const fb::Model& model, const ModelBytes& bytes) {
  const auto& buffers = *model.buffers();
  QRT_MODEL_CHECK(buffers.size() >= 1, "buffers is empty, expected an empty buffer 0");
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const auto* data = buffers.Get(i)->data();
    if (data == nullptr || data->size() == 0) continue;
    QRT_MODEL_CHECK(i != 0, "buffer 0 has %u bytes, expected none", data->size());
    const size_t begin = static_cast<size_t>(data->Data() - bytes.data());
    QRT_MODEL_CHECK(begin % kAlignment == 0, "buffer %u stands at byte %zu, not a multiple of %zu",
                    i, begin, kAlignment);
    const size_t behind = bytes.size() - begin - data->size();
    QRT_MODEL_CHECK(behind >= kSlack, "buffer %u has %zu bytes of file behind it, expected %zu", i,
                    behind, kSlack);
  }
  return {};
}

Status check_quantization(const fb::Quantization& q, const TensorType& type) {
  const size_t scales = q.scale() != nullptr ? q.scale()->size() : 0;
  const size_t zero_points = q.zero_point() != nullptr ? q.zero_point()->size() : 0;
  QRT_MODEL_CHECK(scales == zero_points, "%zu quantization scales, but %zu zero points", scales,
                  zero_points);
  QRT_MODEL_CHECK(q.axis() >= -1 && q.axis() < type.shape.rank(),
                  "quantization axis is %d, expected -1 to %d", q.axis(), type.shape.rank() - 1);
  QRT_MODEL_CHECK(q.axis() < 0 || type.shape[q.axis()] >= 0, "quantization axis %d is the batch",
                  q.axis());
  const size_t expected = q.axis() < 0 ? 1 : static_cast<size_t>(type.shape[q.axis()]);
  QRT_MODEL_CHECK(scales == expected || (scales == 0 && q.axis() < 0),
                  "%zu quantization scales, expected %zu", scales, expected);
  int64_t lo = INT32_MIN, hi = INT32_MAX;
  if (type.dtype == DType::kUInt8) lo = 0, hi = 255;
  if (type.dtype == DType::kInt8) lo = -128, hi = 127;
  if (type.dtype == DType::kUInt16) lo = 0, hi = 65535;
  if (type.dtype == DType::kInt16) lo = -32768, hi = 32767;
  for (uint32_t i = 0; i < scales; ++i) {
    const float scale = q.scale()->Get(i);
    const int32_t zp = q.zero_point()->Get(i);
    QRT_MODEL_CHECK(std::isfinite(scale) && scale > 0.0f,
                    "quantization scale %u is %g, expected finite and above 0", i,
                    static_cast<double>(scale));
    QRT_MODEL_CHECK(zp >= lo && zp <= hi, "zero point %u is %d, out of the range of %s", i, zp,
                    dtype_name(type.dtype));
  }
  return {};
}

Status check_constant(const fb::Model& model, const fb::Tensor& tensor, const TensorType& type) {
  QRT_MODEL_CHECK(tensor.buffer() < model.buffers()->size(),
                  "buffer index %u is out of range (there are %u)", tensor.buffer(),
                  model.buffers()->size());
  const auto* data = model.buffers()->Get(tensor.buffer())->data();
  const size_t bytes = data != nullptr ? data->size() : 0;
  QRT_MODEL_CHECK(bytes != 0, "its buffer %u is empty", tensor.buffer());
  if (tensor.packing() != fb::Packing::NONE) {
    // The operator that reads the weights knows how many bytes they take, and checks that.
    if (type.dtype == DType::kInt8) return {};
    QRT_MODEL_CHECK(type.dtype == DType::kInt4 || type.dtype == DType::kInt2,
                    "packed weights are %s, expected int8, int4 or int2", dtype_name(type.dtype));
    return check_packed_bits(tensor, bytes);
  }
  const size_t expected = tensor_bytes(type);
  QRT_MODEL_CHECK(bytes == expected, "its buffer has %zu bytes, but %s of %s takes %zu", bytes,
                  type.shape.to_string().c_str(), dtype_name(type.dtype), expected);
  return {};
}

Status check_tensor(const fb::Model& model, const fb::Tensor& tensor) {
  QRT_MODEL_CHECK(static_cast<int>(tensor.dtype()) < kDTypeCount, "dtype is %d, expected 0 to %d",
                  static_cast<int>(tensor.dtype()), kDTypeCount - 1);
  QRT_MODEL_CHECK(tensor.packing() <= fb::Packing::DEPTHWISE, "packing is %d, expected 0 to 2",
                  static_cast<int>(tensor.packing()));
  const uint32_t rank = tensor.shape() != nullptr ? tensor.shape()->size() : 0;
  QRT_MODEL_CHECK(rank <= kMaxTensorRank, "it has %u dimensions, expected at most %d", rank,
                  kMaxTensorRank);
  for (uint32_t i = 0; i < rank; ++i) {
    const int32_t d = tensor.shape()->Get(i);
    QRT_MODEL_CHECK(d >= 0 || (d == -1 && i == 0 && !is_constant(tensor)),
                    "dimension %u is %d, expected at least 0 (or -1 where the batch may stand)", i,
                    d);
    if (d == 0) return error(Code::kUnsupported, "dimension %u is 0: empty tensors do not run", i);
  }
  const TensorType type = stored_type(tensor, model.default_batch());
  const int64_t elements = type.shape.elements();
  QRT_MODEL_CHECK(elements >= 1 && elements <= kMaxTensorElements,
                  "the shape %s has too many elements (limit %lld)", type.shape.to_string().c_str(),
                  static_cast<long long>(kMaxTensorElements));
  if (is_constant(tensor)) {
    QRT_TRY(check_constant(model, tensor, type));
  } else {
    QRT_MODEL_CHECK(tensor.packing() == fb::Packing::NONE, "it is packed, but not a constant");
  }
  QRT_MODEL_CHECK(tensor.weight_offset() == nullptr || is_packed_bits(tensor),
                  "it has a weight_offset, but is not packed in 4 or 2 bits");
  if (tensor.quantization() != nullptr) {
    QRT_TRY(check_quantization(*tensor.quantization(), stored_type(tensor, -1)));
  }
  return {};
}

Status check_tensors(const fb::Model& model) {
  for (uint32_t i = 0; i < model.tensors()->size(); ++i) {
    Status status = check_tensor(model, *model.tensors()->Get(i));
    if (!status.ok()) return std::move(status).at(tensor_label(model, i));
  }
  return {};
}

template <class T>
size_t length(const flatbuffers::Vector<T>* v) {
  return v != nullptr ? v->size() : 0;
}

// Returns the greatest number of channels that a requantisation has values for; 1 of every channel alike.
size_t channel_values(const fb::Requant* requant) {
  if (requant == nullptr) return 0;
  size_t values = length(requant->scale());
  for (uint32_t i = 0; i < length(requant->stages()); ++i)
    values = std::max(values, length(requant->stages()->Get(i)->multiplier()));
  return values;
}

// Returns how many channels an operator has parameters for: the memory of its plan grows with them,
// and any number of operators may share the same values.
size_t channel_values(const fb::Operator& op) {
  const OpTraits& traits = traits_of(op.options_type());
  return std::max(channel_values(traits.requant(op)), traits.constants.channel_values(op));
}

// Checks the operators in order and records which tensors have a value so far.
class GraphCheck {
 public:
  GraphCheck(const fb::Model& model, size_t file_bytes)
      : model_(model),
        most_channel_values_(kMaxChannelValues + file_bytes / kFileBytesPerChannelValue),
        most_constant_reads_(kMaxConstantReads + uint64_t{kMaxReadsOfAConstant} * file_bytes),
        ready_(model.tensors()->size()),
        started_(ready_.size()) {
    for (uint32_t i = 0; i < ready_.size(); ++i) ready_[i] = is_constant(*model.tensors()->Get(i));
  }

  Status run() {
    for (uint32_t index : *model_.inputs()) {
      QRT_TRY(check_index(index, "a model input"));
      QRT_MODEL_CHECK(!ready_[index], "model input %s is a constant, or stands twice",
                      tensor_label(model_, index).c_str());
      ready_[index] = true;
    }
    QRT_TRY(start_variables());
    for (uint32_t i = 0; i < model_.operators()->size(); ++i) {
      Status status = check_op(*model_.operators()->Get(i));
      if (!status.ok()) return std::move(status).at(op_label(model_, i));
    }
    for (uint32_t index : *model_.outputs()) {
      QRT_TRY(check_index(index, "a model output"));
      QRT_MODEL_CHECK(ready_[index], "model output %s is written by no operator",
                      tensor_label(model_, index).c_str());
      QRT_MODEL_CHECK(model_.tensors()->Get(index)->packing() == fb::Packing::NONE,
                      "model output %s is packed", tensor_label(model_, index).c_str());
    }
    return check_variables();
  }

 private:
  // Marks the variables as known before the operators are looked at: a variable has a value, as a
  // model input has.
  Status start_variables() {
    const ScratchVector<const fb::Variable*> all = variables(model_);
    QRT_MODEL_CHECK(all.size() <= kMaxModelInputs, "%zu variables, expected at most %zu",
                    all.size(), kMaxModelInputs);
    for (const fb::Variable* v : all) {
      QRT_TRY(check_index(v->tensor(), "a variable"));
      QRT_MODEL_CHECK(!ready_[v->tensor()],
                      "variable %s is a constant or a model input, or stands twice",
                      tensor_label(model_, v->tensor()).c_str());
      ready_[v->tensor()] = true;
      started_[v->tensor()] = true;
    }
    for (uint32_t index : *model_.inputs()) started_[index] = true;
    return {};
  }

  Status check_variables() const {
    for (const fb::Variable* v : variables(model_)) {
      QRT_TRY(check_index(v->next(), "a variable's next content"));
      Status status = check_variable(*v);
      if (!status.ok())
        return std::move(status).at("variable " + tensor_label(model_, v->tensor()));
    }
    return {};
  }

  Status check_variable(const fb::Variable& v) const {
    const fb::Tensor& next = *model_.tensors()->Get(v.next());
    QRT_MODEL_CHECK(ready_[v.next()] && !started_[v.next()] && !is_constant(next),
                    "its next content is written by no operator");
    const TensorType type = stored_type(*model_.tensors()->Get(v.tensor()), -1);
    const TensorType next_type = stored_type(next, -1);
    QRT_MODEL_CHECK(type.dtype == next_type.dtype && type.shape == next_type.shape,
                    "it is %s %s, its next content %s %s", dtype_name(type.dtype),
                    type.shape.to_string().c_str(), dtype_name(next_type.dtype),
                    next_type.shape.to_string().c_str());
    int32_t lo = INT32_MIN, hi = INT32_MAX;
    switch (type.dtype) {
      case DType::kBool: lo = 0, hi = 1; break;
      case DType::kUInt8: lo = 0, hi = 255; break;
      case DType::kInt8: lo = -128, hi = 127; break;
      case DType::kUInt16: lo = 0, hi = 65535; break;
      case DType::kInt16: lo = -32768, hi = 32767; break;
      case DType::kUInt32: lo = 0; break;
      case DType::kInt32:
      case DType::kInt64: break;
      case DType::kFloat32:
      case DType::kFloat16:
      case DType::kBFloat16: lo = hi = 0; break;
      default:
        return error(Code::kInvalidModel,
                     "it is %s, expected integers of whole bytes, float32, float16 or bfloat16",
                     dtype_name(type.dtype));
    }
    QRT_MODEL_CHECK(v.initial() >= lo && v.initial() <= hi,
                    "its initial value is %d, out of the range of %s", v.initial(),
                    dtype_name(type.dtype));
    return {};
  }

  Status check_index(uint32_t index, const char* role) const {
    QRT_MODEL_CHECK(index < ready_.size(), "%s is tensor %u, but there are %zu", role, index,
                    ready_.size());
    return {};
  }

  Status check_op(const fb::Operator& op) {
    if (find_op(op.options_type()) == nullptr && op.options_type() != fb::OpOptions::NONE) {
      const char* name = fb::EnumNameOpOptions(op.options_type());
      if (name[0] != '\0')
        return error(Code::kUnsupported, "operator %s is not built into this library (QRT_OPS)",
                     name);
      return error(Code::kUnsupported, "operator type %d is unknown to this build",
                   static_cast<int>(op.options_type()));
    }
    QRT_MODEL_CHECK(op.options_type() != fb::OpOptions::NONE && op.options() != nullptr,
                    "its options are missing");
    QRT_MODEL_CHECK(op.inputs() != nullptr && op.outputs() != nullptr && op.outputs()->size() != 0,
                    "its inputs or outputs are missing");
    if (const Part* part = part_of(op); part != nullptr && !part->is_built)
      return error(Code::kUnsupported,
                   "with %u inputs it is not built into this library (QRT_OPS: %s)",
                   op.inputs()->size(), part->name);
    operands_ += size_t{op.inputs()->size()} + op.outputs()->size();
    QRT_MODEL_CHECK(operands_ <= kMaxOperands, "the operators have more than %zu operands",
                    kMaxOperands);
    channel_values_ += channel_values(op);
    QRT_MODEL_CHECK(channel_values_ <= most_channel_values_,
                    "the operators have parameters for more than %zu channels",
                    most_channel_values_);
    QRT_TRY(read_constant(traits_of(op.options_type()).constants.table_of(op)));
    for (uint32_t i = 0; i < op.inputs()->size(); ++i) {
      const uint32_t index = op.inputs()->Get(i);
      QRT_TRY(check_index(index, "an input"));
      QRT_TRY(check_part(index));
      QRT_MODEL_CHECK(ready_[index], "input %s is not written before",
                      tensor_label(model_, index).c_str());
      QRT_MODEL_CHECK(
          model_.tensors()->Get(index)->packing() == fb::Packing::NONE || is_weights(op, i),
          "input %s is packed, but not read as weights", tensor_label(model_, index).c_str());
      QRT_TRY(read_constant(model_.tensors()->Get(index)->buffer()));
    }
    for (uint32_t index : *op.outputs()) {
      QRT_TRY(check_index(index, "an output"));
      QRT_TRY(check_part(index));
      QRT_MODEL_CHECK(!ready_[index], "output %s has a value already",
                      tensor_label(model_, index).c_str());
      ready_[index] = true;
    }
    return {};
  }

  Status check_part(uint32_t tensor) const {
    const auto dtype = static_cast<DType>(model_.tensors()->Get(tensor)->dtype());
    const Part* part = part_of(dtype);
    if (part == nullptr || part->is_built) return {};
    return error(Code::kUnsupported, "tensors of %s are not built into this library (QRT_OPS: %s)",
                 dtype_name(dtype), part->name);
  }

  // Counts the bytes of a constant, all of which an operator may read. A buffer out of range is for
  // the operator to refuse.
  Status read_constant(uint32_t buffer) {
    if (buffer >= model_.buffers()->size()) return {};
    constant_reads_ += length(model_.buffers()->Get(buffer)->data());
    QRT_MODEL_CHECK(
        constant_reads_ <= most_constant_reads_,
        "the operators read more than %llu bytes of constants: they share them too often",
        static_cast<unsigned long long>(most_constant_reads_));
    return {};
  }

  // Returns whether the operator looks at how this constant is packed.
  static bool is_weights(const fb::Operator& op, uint32_t input) {
    return input == 1 && traits_of(op.options_type()).constants.are(ConstantRule::kWeights);
  }

  const fb::Model& model_;
  const size_t most_channel_values_;
  const uint64_t most_constant_reads_;
  std::vector<bool> ready_;
  std::vector<bool> started_;  // model inputs and variables
  size_t operands_ = 0, channel_values_ = 0;
  uint64_t constant_reads_ = 0;
};

}  // namespace

VerifiedModel::VerifiedModel() : plans_(std::make_unique<PlanCache>()) {}
VerifiedModel::~VerifiedModel() = default;

namespace {

// Returns the status of checks at the file's own sizes: that these are too large for memory is the file's mistake.
Status of_file(Status status) {
  return status.code() == Code::kOutOfMemory ? Status(Code::kInvalidModel, status.message())
                                             : std::move(status);
}

}  // namespace

Result<std::shared_ptr<const VerifiedModel>> verify(ModelBytes bytes,
                                                    const VerifyOptions& options) {
  QRT_TRY(check_structure(bytes));
  const fb::Model& model = *fb::GetModel(bytes.data());
  QRT_TRY(check_header(model));
  QRT_TRY(check_buffers(model, bytes));
  QRT_TRY(check_tensors(model));
  QRT_TRY(GraphCheck(model, bytes.size()).run());
  QRT_TRY(check_loops(model));
  QRT_TRY(check_symbols(model));
  QRT_TRY(of_file(check_tensor_sizes(model)));
  auto verified = std::make_shared<VerifiedModel>();
  const size_t held = std::min(bytes.held_bytes(), options.max_memory);
  QRT_TRY(verified->unpacked_.make(model, bytes.size(), options.max_memory - held));
  verified->tensors_ = find_tensors(model, verified->unpacked_);
  InferredTypes inferred;
  QRT_TRY(of_file(infer_types(model, verified->tensors_, stored_sizes(model), &inferred)));
  verified->types_ = std::move(inferred.types);
  QRT_TRY(of_file(check_rules(model, verified->types_)));
  verified->guards_ = find_guards(model);
  verified->has_batch_ = has_open_batch(model);
  verified->bytes_ = std::move(bytes);
  return std::shared_ptr<const VerifiedModel>(std::move(verified));
}

}  // namespace qrt
