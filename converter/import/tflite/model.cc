// SPDX-License-Identifier: Apache-2.0
// Reading of the flatbuffer and the structural checks of its subgraphs.
#include "converter/import/tflite/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "converter/import/common/choice.h"
#include "converter/import/common/cut.h"
#include "converter/import/common/source_file.h"
#include "converter/import/common/source_limits.h"
#include "runtime/checked.h"
#include "runtime/unshared.h"
#include "tflite_types.h"

namespace qrt::convert::from_tflite {
namespace {

constexpr uint32_t kSchemaVersion = 3;
constexpr int kMaxDepth = 32, kMaxTables = 4000000;

struct ElementType {
  const char* name;
  size_t bits;  // 0: elements without a size
};
constexpr ElementType kElementTypes[] = {
    {"float32", 32}, {"float16", 16},      {"int32", 32},     {"uint8", 8},      {"int64", 64},
    {"string", 0},   {"bool", 8},          {"int16", 16},     {"complex64", 64}, {"int8", 8},
    {"float64", 64}, {"complex128", 128},  {"uint64", 64},    {"resource", 0},   {"variant", 0},
    {"uint32", 32},  {"uint16", 16},       {"int4", 4},       {"bfloat16", 16},  {"int2", 2},
    {"uint4", 4},    {"float8_e4m3fn", 8}, {"float8_e5m2", 8}};
constexpr size_t kTypeCount = std::size(kElementTypes);
static_assert(kTypeCount == static_cast<size_t>(TensorType::MAX) + 1, "every type has its row");

// REQUIRES: a type of the schema.
size_t element_bits(TensorType type) { return kElementTypes[static_cast<size_t>(type)].bits; }

template <class T>
std::vector<int> indices(const flatbuffers::Vector<T>* source) {
  std::vector<int> result;
  if (source) result.assign(source->begin(), source->end());
  return result;
}

Status read_ops(const tflite::Model& root, const tflite::SubGraph& subgraph, std::vector<Op>* ops) {
  if (!subgraph.operators()) return Status();
  QRT_TRY(check_node_count(subgraph.operators()->size()));
  size_t edges = 0;
  const size_t codes = root.operator_codes() ? root.operator_codes()->size() : 0;
  for (const tflite::Operator* source : *subgraph.operators()) {
    Op op;
    op.index = static_cast<int>(ops->size());
    op.table = source;
    QRT_MODEL_CHECK(source->opcode_index() < codes, "operator %d names operator code %u of %zu",
                    op.index, source->opcode_index(), codes);
    const tflite::OperatorCode& code = *root.operator_codes()->Get(source->opcode_index());
    // Files older than 2020 have the deprecated field only; newer ones keep it below 127.
    const int builtin =
        std::max(static_cast<int>(code.builtin_code()), int{code.deprecated_builtin_code()});
    QRT_MODEL_CHECK(builtin >= 0, "operator %d has the code %d", op.index, builtin);
    op.code = static_cast<tflite::BuiltinOperator>(builtin);
    if (op.code == tflite::BuiltinOperator::CUSTOM) {
      op.custom_code = flatbuffers::GetString(code.custom_code());
      op.name = "custom operator '" + op.custom_code + "'";
    } else {
      op.name = tflite::EnumNameBuiltinOperator(op.code);
    }
    if (op.name.empty()) op.name = "builtin operator " + std::to_string(builtin);
    op.inputs = indices(source->inputs());
    op.outputs = indices(source->outputs());
    edges += op.inputs.size() + op.outputs.size();
    QRT_TRY(check_edge_count(edges));
    ops->push_back(std::move(op));
  }
  return Status();
}

Status check_execution_order(const Subgraph& subgraph) {
  const std::vector<Tensor>& tensors = subgraph.tensors;
  const auto count = static_cast<int>(tensors.size());
  std::vector<bool> known(tensors.size()), written(tensors.size());
  for (int i = 0; i < count; ++i) {
    const Tensor& t = tensors[static_cast<size_t>(i)];
    known[static_cast<size_t>(i)] = t.is_constant || t.is_variable || t.shape.elements() == 0;
  }
  for (int i : subgraph.inputs) {
    QRT_MODEL_CHECK(i >= 0 && i < count, "a graph input names tensor %d of %d", i, count);
    const auto at = static_cast<size_t>(i);
    QRT_MODEL_CHECK(!tensors[at].is_constant && !written[at],
                    "graph input '%s' is a constant or stands twice", tensors[at].name.c_str());
    known[at] = written[at] = true;
  }
  for (const Op& op : subgraph.ops) {
    for (int i : op.inputs) {
      QRT_MODEL_CHECK(i >= -1 && i < count, "operator %d (%s) reads tensor %d of %d", op.index,
                      op.name.c_str(), i, count);
      // Files compiled for an accelerator give its operator scratch memory that nothing writes.
      QRT_MODEL_CHECK(
          i < 0 || known[static_cast<size_t>(i)] || op.code == tflite::BuiltinOperator::CUSTOM,
          "operator %d (%s) reads tensor %d, which nothing wrote before", op.index, op.name.c_str(),
          i);
    }
    for (int i : op.outputs) {
      QRT_MODEL_CHECK(i >= 0 && i < count, "operator %d (%s) writes tensor %d of %d", op.index,
                      op.name.c_str(), i, count);
      const auto at = static_cast<size_t>(i);
      QRT_MODEL_CHECK(!written[at] && !tensors[at].is_constant,
                      "operator %d (%s) writes tensor %d, which is a constant, a graph input, or "
                      "written before",
                      op.index, op.name.c_str(), i);
      known[at] = written[at] = true;
    }
  }
  for (int i : subgraph.outputs)
    QRT_MODEL_CHECK(i >= 0 && i < count && known[static_cast<size_t>(i)],
                    "a graph output names tensor %d, which nothing wrote", i);
  return Status();
}

// Ends the subgraph at tensors of these names: operators and inputs that they do not need go, but for
// operators without outputs, which set variables.
Status cut(const std::vector<std::string>& outputs, Subgraph* subgraph) {
  std::unordered_map<std::string, int> by_name;
  for (const Op& op : subgraph->ops)
    for (int i : op.outputs) by_name.emplace(subgraph->tensors[static_cast<size_t>(i)].name, i);
  for (int i : subgraph->inputs) by_name.emplace(subgraph->tensors[static_cast<size_t>(i)].name, i);
  std::vector<bool> needed(subgraph->tensors.size());
  subgraph->outputs.clear();
  for (const std::string& name : outputs) {
    const auto found = by_name.find(name);
    const bool known = found != by_name.end();
    QRT_TRY(check_cut(name, known, known && needed[static_cast<size_t>(found->second)]));
    needed[static_cast<size_t>(found->second)] = true;
    subgraph->outputs.push_back(found->second);
  }
  const auto is_needed = [&](int i) { return needed[static_cast<size_t>(i)]; };
  std::vector<Op> kept;
  for (auto op = subgraph->ops.rbegin(); op != subgraph->ops.rend(); ++op) {
    if (!op->outputs.empty() && std::none_of(op->outputs.begin(), op->outputs.end(), is_needed))
      continue;
    for (int i : op->inputs)
      if (i >= 0) needed[static_cast<size_t>(i)] = true;
    kept.push_back(std::move(*op));
  }
  std::reverse(kept.begin(), kept.end());
  for (size_t i = 0; i < kept.size(); ++i) kept[i].index = static_cast<int>(i);
  subgraph->ops = std::move(kept);
  std::vector<int> inputs;
  std::copy_if(subgraph->inputs.begin(), subgraph->inputs.end(), std::back_inserter(inputs),
               is_needed);
  subgraph->inputs = std::move(inputs);
  return Status();
}

}  // namespace

const char* type_name(TensorType type) {
  const auto i = static_cast<size_t>(type);
  return i < kTypeCount ? kElementTypes[i].name : "of an unknown type";
}

Status Model::load(const std::string& path, Model* model, const std::vector<std::string>& outputs,
                   const std::string& signature) {
  QRT_TRY(read_source_file(path, "a TFLite", &model->bytes_));
  Status status = model->parse();
  if (status.ok()) status = model->choose(signature);
  if (status.ok()) status = model->read_subgraph(model->subgraph_, &model->main_);
  if (status.ok() && !outputs.empty()) return cut(outputs, &model->main_);
  return status.ok() ? Status() : std::move(status).at(path);
}

Status Model::list(const std::string& path, std::vector<std::string>* names) {
  Model model;
  QRT_TRY(read_source_file(path, "a TFLite", &model.bytes_));
  Status status = model.parse();
  if (!status.ok()) return std::move(status).at(path);
  names->clear();
  for (const Signature& s : model.signatures_) names->push_back(s.name);
  if (!names->empty()) return Status();
  const auto* subgraphs = tflite::GetModel(model.bytes_.data())->subgraphs();
  names->emplace_back();
  if (subgraphs && subgraphs->size() > 0)
    names->back() = flatbuffers::GetString(subgraphs->Get(0)->name());
  return Status();
}

Status Model::parse() {
  QRT_MODEL_CHECK(bytes_.size() >= 8 && tflite::ModelBufferHasIdentifier(bytes_.data()),
                  "is not a TFLite model: it lacks the mark TFL3");
  flatbuffers::Verifier verifier(bytes_.data(), bytes_.size(), kMaxDepth, kMaxTables);
  QRT_MODEL_CHECK(tflite::VerifyModelBuffer(verifier),
                  "is not a valid TFLite model: its flatbuffer is damaged or cut short");
  const tflite::Model& root = *tflite::GetModel(bytes_.data());
  QRT_TRY(check_unshared(flatbuffers::GetRoot<flatbuffers::Table>(bytes_.data()),
                         tflite_types::ModelTypeTable(), bytes_.size()));
  if (root.version() != kSchemaVersion)
    return error(Code::kUnsupported, "has schema version %u, only %u is known", root.version(),
                 kSchemaVersion);
  if (root.description()) description_ = root.description()->str();
  return read_signatures();
}

Status Model::read_signatures() {
  const tflite::Model& root = *tflite::GetModel(bytes_.data());
  if (!root.signature_defs()) return Status();
  for (const tflite::SignatureDef* source : *root.signature_defs()) {
    Signature signature;
    signature.name = flatbuffers::GetString(source->signature_key());
    signature.subgraph = static_cast<int>(source->subgraph_index());
    QRT_MODEL_CHECK(source->subgraph_index() < static_cast<uint32_t>(subgraph_count()),
                    "its signature '%s' names subgraph %u of %d", signature.name.c_str(),
                    source->subgraph_index(), subgraph_count());
    const auto* tensors = root.subgraphs()->Get(source->subgraph_index())->tensors();
    const auto read = [&](const flatbuffers::Vector<flatbuffers::Offset<tflite::TensorMap>>* names,
                          Signature::Names* to) {
      if (!names) return Status();
      for (const tflite::TensorMap* n : *names) {
        QRT_MODEL_CHECK(tensors && n->tensor_index() < tensors->size(),
                        "its signature '%s' names tensor %u of %u", signature.name.c_str(),
                        n->tensor_index(), tensors ? tensors->size() : 0);
        to->emplace_back(flatbuffers::GetString(n->name()), static_cast<int>(n->tensor_index()));
      }
      return Status();
    };
    QRT_TRY(read(source->inputs(), &signature.inputs));
    QRT_TRY(read(source->outputs(), &signature.outputs));
    signatures_.push_back(std::move(signature));
  }
  return Status();
}

Status Model::choose(const std::string& signature) {
  if (signatures_.empty() && signature.empty()) return Status();
  if (signatures_.empty())
    return error(Code::kInvalidArgument, "has no signatures, of which --signature names one");
  std::vector<std::string> names;
  for (const Signature& s : signatures_) names.push_back(s.name);
  size_t index;
  QRT_TRY(choose_model(names, signature, {"signature", "--signature"}, &index));
  subgraph_ = signatures_[index].subgraph;
  if (!signature.empty()) chosen_ = &signatures_[index];
  return Status();
}

int Model::subgraph_count() const {
  const auto* subgraphs = tflite::GetModel(bytes_.data())->subgraphs();
  return subgraphs ? static_cast<int>(subgraphs->size()) : 0;
}

Status Model::read_subgraph(int index, Subgraph* subgraph) const {
  const tflite::Model& root = *tflite::GetModel(bytes_.data());
  const size_t count = root.subgraphs() ? root.subgraphs()->size() : 0;
  QRT_MODEL_CHECK(index >= 0 && static_cast<size_t>(index) < count, "has no subgraph %d", index);
  const tflite::SubGraph& source = *root.subgraphs()->Get(static_cast<uint32_t>(index));
  if (source.name()) subgraph->name = source.name()->str();
  std::vector<Tensor>& tensors = subgraph->tensors;
  if (source.tensors()) {
    tensors.resize(source.tensors()->size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      Status s = read_tensor(root, *source.tensors()->Get(static_cast<uint32_t>(i)), &tensors[i]);
      if (!s.ok())
        return std::move(s).at("tensor " + std::to_string(i) + " '" + tensors[i].name + "'");
    }
  }
  subgraph->inputs = indices(source.inputs());
  subgraph->outputs = indices(source.outputs());
  QRT_TRY(read_ops(root, source, &subgraph->ops));
  QRT_TRY(check_execution_order(*subgraph));
  for (Op& op : subgraph->ops)
    if (!op.outputs.empty()) op.output_name = tensors[static_cast<size_t>(op.outputs[0])].name;
  return Status();
}

Status Model::read_tensor(const tflite::Model& root, const tflite::Tensor& source,
                          Tensor* tensor) const {
  if (source.name()) tensor->name = source.name()->str();
  tensor->type = source.type();
  tensor->is_variable = source.is_variable();
  QRT_MODEL_CHECK(source.type() >= TensorType::FLOAT32 && source.type() <= TensorType::FLOAT8_E5M2,
                  "has the element type %d, which does not exist", static_cast<int>(source.type()));
  const auto refuse = [&](std::string problem, std::string remedy) {
    if (!tensor->problem.empty()) return;
    tensor->problem = std::move(problem);
    tensor->remedy = std::move(remedy);
  };
  if (source.shape()) {
    uint64_t elements = 1;
    for (int32_t d : *source.shape()) {
      QRT_MODEL_CHECK(d >= 0, "has a dimension of %d", d);
      QRT_MODEL_CHECK(
          d == 0 || elements <= static_cast<uint64_t>(kMaxElements) / static_cast<uint64_t>(d),
          "has more than 2^40 elements");
      elements *= static_cast<uint64_t>(d);
      if (tensor->shape.rank() < kMaxTensorRank) tensor->shape.push_back(d);
    }
    if (source.shape()->size() > static_cast<size_t>(kMaxTensorRank))
      refuse("has " + std::to_string(source.shape()->size()) + " dimensions, the limit is 6",
             "merge dimensions by a Reshape, so that 6 are left");
    // The shape of a scalar is an int32 tensor without elements.
    if (elements == 0 && tensor->type != TensorType::INT32)
      refuse("has no elements",
             "convert the model with the shapes that its operators need, none of them 0");
  }
  if (source.sparsity())
    refuse("is stored sparse", "convert the model without sparsity (its weights dense)");
  if (source.external_buffer() != 0)
    refuse("lies in an external buffer group",
           "convert the model into one file, without external buffers");
  if (element_bits(tensor->type) == 0 && tensor->type != TensorType::RESOURCE)
    refuse(std::string("has the type ") + type_name(tensor->type),
           "convert the model without tensors of that type: text, hashes and complex numbers "
           "belong in front of it");
  if (const auto* q = source.quantization()) {
    if (const auto* blocks = q->details_as_BlockwiseQuantization()) {
      QRT_MODEL_CHECK(blocks->block_size() > 0, "has blocks of %d elements", blocks->block_size());
      tensor->block = blocks->block_size();
      tensor->block_scales = blocks->scales();
      tensor->block_zero_points = blocks->zero_points();
    } else if (q->details_type() != tflite::QuantizationDetails::NONE) {
      refuse("has custom or multi-axis quantisation",
             "quantise it per tensor or per channel, with scales and zero points");
    }
    if (q->scale()) tensor->scale.assign(q->scale()->begin(), q->scale()->end());
    // flatbuffers verifies the alignment of a vector's length, which is less than that of int64.
    if (const auto* z = q->zero_point(); z && z->size() > 0) {
      tensor->zero_point.resize(z->size());
      memcpy(tensor->zero_point.data(), z->Data(), z->size() * sizeof(int64_t));
    }
    tensor->axis = q->quantized_dimension();
    if (tensor->scale.empty()) tensor->zero_point.clear();
    if (tensor->zero_point.empty()) tensor->zero_point.assign(tensor->scale.size(), 0);
    if (tensor->zero_point.size() == 1)
      tensor->zero_point.resize(tensor->scale.size(), tensor->zero_point[0]);
    QRT_MODEL_CHECK(tensor->zero_point.size() == tensor->scale.size(),
                    "has %zu scales, but %zu zero points", tensor->scale.size(),
                    tensor->zero_point.size());
    for (float s : tensor->scale)
      QRT_MODEL_CHECK(std::isfinite(s) && s >= 0, "has a scale of %g", static_cast<double>(s));
  }
  return find_data(root, source, tensor);
}

Status Model::find_data(const tflite::Model& root, const tflite::Tensor& source,
                        Tensor* tensor) const {
  const size_t buffers = root.buffers() ? root.buffers()->size() : 0;
  if (source.buffer() == 0) return Status();
  QRT_MODEL_CHECK(source.buffer() < buffers, "names buffer %u of %zu", source.buffer(), buffers);
  const tflite::Buffer& buffer = *root.buffers()->Get(source.buffer());
  if (buffer.offset() > 1) {
    QRT_MODEL_CHECK(
        buffer.offset() <= bytes_.size() && buffer.size() <= bytes_.size() - buffer.offset(),
        "buffer %u lies outside the file", source.buffer());
    tensor->data = bytes_.data() + buffer.offset();
    tensor->bytes = buffer.size();
  } else if (buffer.data()) {
    tensor->data = buffer.data()->data();
    tensor->bytes = buffer.data()->size();
  }
  tensor->is_constant = tensor->bytes > 0;
  if (!tensor->is_constant || !tensor->problem.empty()) return Status();
  const auto elements = static_cast<size_t>(tensor->shape.elements());
  const size_t expected = (elements * element_bits(tensor->type) + 7) / 8;
  QRT_MODEL_CHECK(tensor->bytes == expected, "has %zu bytes of data, %s of shape %s takes %zu",
                  tensor->bytes, type_name(tensor->type), tensor->shape.to_string().c_str(),
                  expected);
  return Status();
}

}  // namespace qrt::convert::from_tflite
