// SPDX-License-Identifier: Apache-2.0
// Writes a final graph as .qrt bytes. Equal graphs give equal bytes. Names, tables and shapes come
// first in the file, the constants' bytes behind them, and 64 bytes at the very end, so that as many
// can be read behind every constant. The last 16 of them are the checksum (schema/README.md).
#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "converter/convert.h"
#include "qrt/qrt.h"
#include "runtime/checksum.h"
#include "runtime/model_bytes.h"
#include "runtime/plan.h"
#include "runtime/sizes.h"
#include "runtime/tools/source_order.h"
#include "runtime/tools/test_values.h"
#include "runtime/verify.h"

namespace qrt::convert {
namespace {

std::string_view bytes_of(const std::vector<uint8_t>& data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

class Writer {
 public:
  // `test_sizes`: those of the test values, as TestBuffers has them.
  Writer(const Graph& graph, const Extras& extras, const std::vector<int64_t>& test_sizes)
      : graph_(graph), extras_(extras), tensor_of_(graph.values.size(), kNoValue) {
    test_buffers_.sizes = test_sizes;
  }
  // Writes the file. `source_orders`: the metadata of that key, if not empty.
  Status run(const std::string& source_orders, std::vector<uint8_t>* bytes);
  // Returns the metadata "source_order" for a written file: of tensors that did not lie in the
  // source as the file without it tells.
  std::string source_orders(const std::vector<uint8_t>& bytes) const;

 private:
  void collect();
  void add_tensor(ValueId id);
  void add_buffer(const std::vector<uint8_t>& data);
  void add_test_values();
  // Returns more than the file will take, without building it.
  size_t size_bound() const;
  Status check_sizes() const;
  void write_buffers();
  flatbuffers::Offset<fb::Tensor> write_tensor(ValueId id);
  flatbuffers::Offset<fb::Operator> write_operator(const Node& node);
  std::vector<uint32_t> tensors(const std::vector<ValueId>& ids) const;
  std::string reference(const std::vector<flatbuffers::Offset<fb::Operator>>& operators);

  const Graph& graph_;
  const Extras& extras_;
  tool::TestBuffers test_buffers_;
  std::vector<uint32_t> tensor_of_;                           // by value: tensor index, or kNoValue
  std::vector<ValueId> tensors_;                              // by tensor index
  std::unordered_map<std::string_view, uint32_t> buffer_of_;  // content -> buffer index
  std::vector<const std::vector<uint8_t>*> buffers_;          // by buffer index - 1
  std::vector<flatbuffers::Offset<fb::Buffer>> written_;      // by buffer index
  flatbuffers::FlatBufferBuilder fbb_;
};

void Writer::add_buffer(const std::vector<uint8_t>& data) {
  if (buffer_of_.emplace(bytes_of(data), buffers_.size() + 1).second) buffers_.push_back(&data);
}

void Writer::add_tensor(ValueId id) {
  if (tensor_of_[id] != kNoValue) return;
  tensor_of_[id] = static_cast<uint32_t>(tensors_.size());
  tensors_.push_back(id);
  if (graph_.values[id].is_constant) add_buffer(graph_.values[id].data);
}

void Writer::collect() {
  for (ValueId id : graph_.inputs) add_tensor(id);
  for (const Node& node : graph_.nodes) {
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (input_is_table(node, slot))
        add_buffer(graph_.values[node.inputs[slot]].data);
      else
        add_tensor(node.inputs[slot]);
    }
    for (ValueId id : node.outputs) add_tensor(id);
  }
  for (ValueId id : graph_.outputs) add_tensor(id);
}

// Adds the test values of the model's inputs and outputs; those that belong to variables are not among them.
void Writer::add_test_values() {
  const auto add = [&](const std::vector<ValueId>& edges, const std::vector<TestTensor>& values,
                       std::vector<uint32_t>* buffers) {
    for (size_t i = 0; i + graph_.variables.size() < edges.size(); ++i) {
      const TestTensor& found = *find_values(values, graph_.values[edges[i]].name);
      add_buffer(found.data);
      buffers->push_back(buffer_of_.at(bytes_of(found.data)));
    }
  };
  add(graph_.inputs, extras_.tests->inputs, &test_buffers_.inputs);
  add(graph_.outputs, extras_.tests->outputs, &test_buffers_.outputs);
}

size_t Writer::size_bound() const {
  size_t bound = 4096 + graph_.name.size() + graph_.source_producer.size();
  for (const auto* data : buffers_) bound += data->size() + 2 * kAlignment;
  for (ValueId id : tensors_) {
    const Value& v = graph_.values[id];
    bound += 256 + v.name.size() + 8 * v.quantization.scale.size() + v.weight_offset.size();
    // The sums, scales or multipliers and shifts of two stages of weights, per channel.
    if (v.is_constant && v.type.dtype == DType::kInt32) bound += 6 * v.data.size();
  }
  for (const Node& node : graph_.nodes)
    bound += 512 + node.name.size() + node.source_op.size() + 4 * node.inputs.size();
  return bound;
}

Status Writer::check_sizes() const {
  for (ValueId id : tensors_)
    for (int64_t d : graph_.values[id].type.shape)
      if (d > std::numeric_limits<int32_t>::max())
        return error(Code::kUnsupported, "tensor '%s' has a dimension of %lld, the limit is %d",
                     graph_.values[id].name.c_str(), static_cast<long long>(d),
                     std::numeric_limits<int32_t>::max());
  if (size_bound() > kMaxFileBytes)
    return error(Code::kUnsupported,
                 "the model would take about %zu bytes; a .qrt file is limited to 2 GB",
                 size_bound());
  return {};
}

// Writes the buffers first: a builder fills its file from the end, so that they come last.
void Writer::write_buffers() {
  const auto write = [&](const std::vector<uint8_t>& data) {
    fbb_.ForceVectorAlignment(data.size(), sizeof(uint8_t), kAlignment);
    return fb::CreateBuffer(fbb_, fbb_.CreateVector(data));
  };
  // Nothing refers to this vector, and write_checksum() fills its end. With its length it takes kSlack
  // bytes: a file that was cut short, be it by one byte, lacks slack behind the last buffer if that
  // buffer needs no padding.
  static_assert(kChecksumBytes + sizeof(flatbuffers::uoffset_t) <= kSlack);
  fbb_.CreateVector(std::vector<uint8_t>(kSlack - sizeof(flatbuffers::uoffset_t), 0));
  written_.resize(buffers_.size() + 1);
  size_t last = 0;
  while (last < buffers_.size() && buffers_[last]->size() % kAlignment != 0) ++last;
  if (last < buffers_.size()) written_[last + 1] = write(*buffers_[last]);
  for (size_t i = buffers_.size(); i-- > 0;)
    if (i != last) written_[i + 1] = write(*buffers_[i]);
  written_[0] = fb::CreateBuffer(fbb_);
}

flatbuffers::Offset<fb::Tensor> Writer::write_tensor(ValueId id) {
  const Value& v = graph_.values[id];
  fb::TensorT t;
  t.name = v.name;
  t.dtype = static_cast<fb::DType>(v.type.dtype);
  for (int64_t d : v.type.shape) t.shape.push_back(static_cast<int32_t>(d));
  if (v.is_constant) t.buffer = buffer_of_.at(bytes_of(v.data));
  t.packing = v.packing;
  t.weight_offset = v.weight_offset;
  if (!v.quantization.scale.empty()) {
    t.quantization = std::make_unique<fb::QuantizationT>();
    t.quantization->scale = v.quantization.scale;
    t.quantization->zero_point = v.quantization.zero_point;
    t.quantization->axis = v.quantization.axis;
  }
  for (const fb::SizeT& size : v.sizes) t.sizes.push_back(std::make_unique<fb::SizeT>(size));
  return fb::CreateTensor(fbb_, &t);
}

std::vector<uint32_t> Writer::tensors(const std::vector<ValueId>& ids) const {
  std::vector<uint32_t> indices;
  for (ValueId id : ids) indices.push_back(tensor_of_[id]);
  return indices;
}

flatbuffers::Offset<fb::Operator> Writer::write_operator(const Node& node) {
  fb::OperatorT op;
  op.name = node.name;
  op.source_op = node.source_op;
  op.options = node.options;
  std::vector<ValueId> inputs = node.inputs;
  if (!inputs.empty() && input_is_table(node, inputs.size() - 1)) {
    const uint32_t table = buffer_of_.at(bytes_of(graph_.values[inputs.back()].data));
    if (auto* lut = op.options.AsLut()) lut->table = table;
    if (auto* pair_lut = op.options.AsPairLut()) pair_lut->table = table;
    if (auto* softmax = op.options.AsSoftmax()) softmax->table = table;
    inputs.pop_back();
  }
  op.inputs = tensors(inputs);
  op.outputs = tensors(node.outputs);
  for (const fb::SizeRuleT& rule : node.sizes)
    op.sizes.push_back(std::make_unique<fb::SizeRuleT>(rule));
  return fb::CreateOperator(fbb_, &op);
}

// Returns the system whose bits the file reproduces. Operators of level F may differ from it in the
// last bits, and the file says so.
std::string Writer::reference(const std::vector<flatbuffers::Offset<fb::Operator>>& operators) {
  const bool has_float =
      std::any_of(operators.begin(), operators.end(), [&](flatbuffers::Offset<fb::Operator> op) {
        return arithmetic_level(*flatbuffers::GetTemporaryPointer(fbb_, op)) == kFloatLevel;
      });
  return graph_.reference + (has_float ? "+float" : "");
}

std::string Writer::source_orders(const std::vector<uint8_t>& bytes) const {
  std::string text;
  const std::vector<tool::Order> told = tool::source_orders(*fb::GetModel(bytes.data()));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Value& v = graph_.values[tensors_[i]];
    const bool is_known = v.source_order.size() == static_cast<size_t>(v.type.shape.rank());
    if (is_known && !v.is_constant && told[i] != v.source_order)
      text += (text.empty() ? "" : " ") + tool::text_of(i, v.source_order);
  }
  return text;
}

Status Writer::run(const std::string& source_orders, std::vector<uint8_t>* bytes) {
  collect();
  if (extras_.tests != nullptr) add_test_values();
  QRT_TRY(check_sizes());
  write_buffers();
  std::vector<flatbuffers::Offset<fb::Tensor>> tensor_offsets;
  for (ValueId id : tensors_) tensor_offsets.push_back(write_tensor(id));
  std::vector<flatbuffers::Offset<fb::Operator>> operators;
  for (const Node& node : graph_.nodes) operators.push_back(write_operator(node));
  const std::string producer = "qrt " + std::to_string(QRT_VERSION_MAJOR) + "." +
                               std::to_string(QRT_VERSION_MINOR) + "." +
                               std::to_string(QRT_VERSION_PATCH);
  std::vector<uint32_t> inputs = tensors(graph_.inputs), outputs = tensors(graph_.outputs);
  const size_t own_inputs = inputs.size() - graph_.variables.size();
  const size_t own_outputs = outputs.size() - graph_.variables.size();
  std::vector<flatbuffers::Offset<fb::Variable>> variables;
  for (size_t i = 0; i < graph_.variables.size(); ++i)
    variables.push_back(fb::CreateVariable(fbb_, inputs[own_inputs + i], outputs[own_outputs + i],
                                           graph_.variables[i].initial));
  inputs.resize(own_inputs);
  outputs.resize(own_outputs);
  std::vector<flatbuffers::Offset<fb::KeyValue>> metadata;
  if (!source_orders.empty())
    metadata.push_back(
        fb::CreateKeyValueDirect(fbb_, tool::kSourceOrderKey, source_orders.c_str()));
  if (extras_.tests != nullptr)
    metadata.push_back(
        fb::CreateKeyValueDirect(fbb_, tool::kTestValuesKey, tool::text_of(test_buffers_).c_str()));
  for (const auto& [key, value] : extras_.notes)
    metadata.push_back(fb::CreateKeyValueDirect(fbb_, key.c_str(), value.c_str()));
  std::vector<flatbuffers::Offset<fb::Symbol>> symbols;
  for (const Symbol& s : graph_.symbols)
    symbols.push_back(fb::CreateSymbolDirect(
        fbb_, s.name.c_str(), static_cast<uint32_t>(s.value), static_cast<uint32_t>(s.least),
        static_cast<uint32_t>(s.most), static_cast<uint32_t>(s.step)));
  // Readers of version 1 know of no symbols, take an index outside for the first or last, and have variables of few types.
  const bool has_checked_indices =
      std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [](const Node& node) {
        const auto* take = node.options.AsTake();
        return take != nullptr && take->is_checked;
      });
  const bool has_other_variables =
      std::any_of(graph_.inputs.end() - static_cast<ptrdiff_t>(graph_.variables.size()),
                  graph_.inputs.end(), [&](ValueId id) {
                    const DType type = graph_.values[id].type.dtype;
                    return type != DType::kUInt8 && type != DType::kInt8 && type != DType::kInt16 &&
                           type != DType::kInt32;
                  });
  const uint32_t version = symbols.empty() && !has_checked_indices && !has_other_variables ? 1 : 2;
  const auto model = fb::CreateModelDirect(
      fbb_, version, producer.c_str(), graph_.source_format.c_str(), graph_.source_producer.c_str(),
      reference(operators).c_str(), graph_.name.c_str(),
      static_cast<uint32_t>(graph_.default_batch), &tensor_offsets, &operators, &inputs, &outputs,
      &written_, metadata.empty() ? nullptr : &metadata, variables.empty() ? nullptr : &variables,
      symbols.empty() ? nullptr : &symbols);
  fb::FinishModelBuffer(fbb_, model);
  bytes->assign(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
  return {};
}

// Verifies and plans the file, as a user's first step with it would. More memory than a plan may take is the model's
// doing, no memory for the model itself is not.
Status reload(const std::vector<uint8_t>& bytes,
              std::shared_ptr<const VerifiedModel>* reloaded = nullptr) {
  const auto beyond = [](const Status& status) {
    return error(Code::kUnsupported, "the converted model is beyond what the runtime accepts: %s",
                 status.message());
  };
  auto borrowed = ModelBytes::borrow(bytes.data(), bytes.size());
  QRT_TRY(std::move(borrowed.status()));
  auto model = verify(std::move(*borrowed));
  if (!model.ok())
    return model.status().code() == Code::kOutOfMemory ? std::move(model.status())
                                                       : beyond(model.status());
  auto plan = make_plan(*model, PlanOptions{});
  if (!plan.ok()) return beyond(plan.status());
  if (reloaded != nullptr) *reloaded = *model;
  return {};
}

Status write_whole(const Graph& graph, const Extras& extras, const std::vector<int64_t>& test_sizes,
                   std::vector<uint8_t>* bytes) {
  for (const ValueId id : graph.inputs)
    if (const Value& input = graph.values[id]; input.type.shape.elements() == 0)
      return error(
          Code::kUnsupported,
          "input '%s' has the shape %s, but a size of 0 is not supported: export the model "
          "with sizes of 1 or more",
          input.name.c_str(), input.type.shape.to_string().c_str());
  Writer writer(graph, extras, test_sizes);
  QRT_TRY(writer.run("", bytes));
  QRT_TRY(reload(*bytes));
  const std::string source_orders = writer.source_orders(*bytes);
  if (source_orders.empty()) return {};
  QRT_TRY(Writer(graph, extras, test_sizes).run(source_orders, bytes));
  return reload(*bytes);
}

// Checks that the file takes the test values, at their own sizes. *sizes is what TestBuffers has of them.
Status check_tests(const std::vector<uint8_t>& bytes, const TestValues& tests,
                   std::vector<int64_t>* sizes) {
  std::shared_ptr<const VerifiedModel> model;
  QRT_TRY(reload(bytes, &model));
  PlanOptions options;
  QRT_TRY(find_sizes(*model, tests, &options));
  auto plan = make_plan(model, options);
  if (!plan.ok()) return std::move(plan.status()).at("test values");
  QRT_TRY(check_fit(*model, **plan, tests));
  const SymbolSizes own = default_sizes(model->file());
  if (options.sizes == own && options.batch == model->default_batch()) return {};
  if (model->has_batch()) sizes->push_back(static_cast<int64_t>(options.batch));
  sizes->insert(sizes->end(), options.sizes.begin(), options.sizes.end());
  return {};
}

}  // namespace

Status write_model(const Graph& graph, std::vector<uint8_t>* bytes, const Extras& extras) {
  std::vector<int64_t> test_sizes;
  if (extras.tests != nullptr) {
    // Only a file tells whether values of some sizes fit.
    QRT_TRY(write_whole(graph, {}, {}, bytes));
    QRT_TRY(check_tests(*bytes, *extras.tests, &test_sizes));
  }
  QRT_TRY(write_whole(graph, extras, test_sizes, bytes));
  write_checksum(bytes->data(), bytes->size());
  return {};
}

}  // namespace qrt::convert
