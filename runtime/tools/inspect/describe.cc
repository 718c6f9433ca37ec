// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/inspect/describe.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer.h"
#include "runtime/session.h"
#include "runtime/text.h"
#include "runtime/tools/level_name.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

std::string text_of(const flatbuffers::String* s) { return s != nullptr ? s->str() : ""; }

// Returns the exponents of scales that are all powers of two, as ESP-DL's are; none if one is not.
std::vector<int> exponents_of(const flatbuffers::Vector<float>& scales) {
  std::vector<int> exponents;
  for (const float scale : scales) {
    int exponent;
    if (std::frexp(scale, &exponent) != 0.5f) return {};
    exponents.push_back(exponent - 1);
  }
  return exponents;
}

// Returns the bytes that a tensor takes in the arena: all images where the caller copies it in or out,
// else those of a micro-batch.
size_t arena_bytes(const Plan& plan, uint32_t i) {
  const bool holds_all = std::any_of(plan.micro_batch_slots.begin(), plan.micro_batch_slots.end(),
                                     [&](const MicroBatchSlot& s) { return s.slot == i; });
  return holds_all ? plan.slot_bytes(i) : plan.slot_bytes(i) / plan.micro_batches;
}

// Returns the formulas of a tensor's dimensions, "seq" or "(w + 1) / 2"; null for a fixed one. Empty where the
// model has no open dimensions beside the batch, or the file does not tell.
ordered_json dim_names(const Plan& plan, const fb::Tensor& tensor) {
  auto names = ordered_json::array();
  if (tensor.sizes() == nullptr) return names;
  const fb::Model& file = plan.model->file();
  for (uint32_t i = 0; i < tensor.sizes()->size(); ++i) {
    const fb::Size& size = *tensor.sizes()->Get(i);
    const bool is_open = std::any_of(size.functions()->begin(), size.functions()->end(),
                                     [](const auto f) { return f == fb::SizeFunction::SYMBOL; });
    if (tensor.shape()->Get(i) == -1)
      names.push_back("batch");
    else
      names.push_back(is_open ? ordered_json(to_string(size, file)) : ordered_json());
  }
  return names;
}

ordered_json describe_symbols(const Plan& plan) {
  auto symbols = ordered_json::array();
  for (uint32_t i = 0; i < symbol_count(plan.model->file()); ++i) {
    const fb::Symbol& s = *plan.model->file().symbols()->Get(i);
    symbols.push_back({{"name", text_of(s.name())},
                       {"size", plan.sizes[i]},
                       {"default", s.value()},
                       {"least", s.least()},
                       {"most", s.most()},
                       {"step", s.step()}});
  }
  return symbols;
}

ordered_json describe_tensor(const Plan& plan, uint32_t i) {
  const fb::Tensor& tensor = plan.model->tensor(i);
  std::vector<int64_t> dims(plan.types[i].shape.begin(), plan.types[i].shape.end());
  ordered_json j = {{"index", i},
                    {"name", text_of(tensor.name())},
                    {"dtype", dtype_name(plan.types[i].dtype)},
                    {"shape", dims},
                    {"bytes", plan.slot_bytes(i)}};
  if (const ordered_json names = dim_names(plan, tensor); !names.empty()) j["dims"] = names;
  if (const auto* q = tensor.quantization(); q != nullptr && q->scale() != nullptr) {
    j["scale"] = std::vector<float>(q->scale()->begin(), q->scale()->end());
    if (const auto exponents = exponents_of(*q->scale()); !exponents.empty())
      j["exponent"] = exponents;
    j["zero_point"] = std::vector<int32_t>(q->zero_point()->begin(), q->zero_point()->end());
    j["axis"] = q->axis();
  }
  if (is_constant(tensor)) {
    const auto* data = plan.model->file().buffers()->Get(tensor.buffer())->data();
    j["bytes"] = data != nullptr ? data->size() : 0;
    j["place"] = "constant";
    j["packing"] = fb::EnumNamePacking(tensor.packing());
  } else if (plan.places[i].kind == TensorMemory::Kind::kArena) {
    j["place"] = "arena";
    j["offset"] = plan.places[i].offset;
    j["arena_bytes"] = arena_bytes(plan, i);
  } else {
    j["place"] = "none";
  }
  return j;
}

ordered_json describe_operator(const Plan& plan, uint32_t i) {
  const fb::Operator& op = *plan.model->file().operators()->Get(i);
  const PlannedStep& step = plan.steps[i];
  const auto indices = [](const flatbuffers::Vector<uint32_t>* v) {
    return v != nullptr ? std::vector<uint32_t>(v->begin(), v->end()) : std::vector<uint32_t>();
  };
  return {{"index", i},
          {"type", fb::EnumNameOpOptions(op.options_type())},
          {"name", text_of(op.name())},
          {"source_op", text_of(op.source_op())},
          {"level", level_name(arithmetic_level(op))},
          {"arithmetic", arithmetic(op)},
          {"kernel", step.kernel},
          {"runs_in", step.leader != nullptr ? step.leader - plan.steps.data() : i},
          {"macs", step.macs},
          {"state_bytes", step.state_bytes},
          {"scratch_bytes", step.scratch_bytes},
          {"inputs", indices(op.inputs())},
          {"outputs", indices(op.outputs())}};
}

}  // namespace

ordered_json describe(const Plan& plan, const std::string& path) {
  const fb::Model& file = plan.model->file();
  int level = 0;
  uint64_t macs = 0, constant_bytes = 0;
  auto tensors = ordered_json::array(), operators = ordered_json::array();
  for (uint32_t i = 0; i < file.tensors()->size(); ++i) tensors.push_back(describe_tensor(plan, i));
  for (uint32_t i = 0; i < file.operators()->size(); ++i) {
    operators.push_back(describe_operator(plan, i));
    level = std::max(level, arithmetic_level(*file.operators()->Get(i)));
    macs += plan.steps[i].macs;
  }
  for (const fb::Buffer* buffer : *file.buffers())
    if (buffer->data() != nullptr) constant_bytes += buffer->data()->size();
  ordered_json batch = plan.batch;
  if (!plan.model->has_batch()) batch = nullptr;
  const std::vector<uint32_t> inputs(file.inputs()->begin(), file.inputs()->end());
  const std::vector<uint32_t> outputs(file.outputs()->begin(), file.outputs()->end());
  auto variables = ordered_json::array();
  for (const fb::Variable* v : plan.variables)
    variables.push_back({{"tensor", v->tensor()}, {"next", v->next()}});
  return {{"model",
           {{"file", path},
            {"name", text_of(file.name())},
            {"version", file.version()},
            {"producer", text_of(file.producer())},
            {"source_format", text_of(file.source_format())},
            {"source_producer", text_of(file.source_producer())},
            {"reference", text_of(file.reference())},
            {"level", level_name(level)},
            {"batch", batch},
            {"macs", macs}}},
          {"memory",
           {{"file_bytes", plan.model->file_bytes()},
            {"constant_bytes", constant_bytes},
            {"widened_bytes", plan.model->unpacked().bytes()},
            {"arena_bytes", plan.arena_bytes},
            {"state_bytes", plan.state_bytes},
            {"scratch_bytes", plan.scratch_bytes},
            {"table_bytes", plan.table_bytes}}},
          {"symbols", describe_symbols(plan)},
          {"inputs", inputs},
          {"outputs", outputs},
          {"variables", variables},
          {"tensors", tensors},
          {"operators", operators}};
}

std::string string_of(const ordered_json& j) { return j.get<std::string>(); }
std::string shown(const ordered_json& j) { return escaped(j.get<std::string>()); }

std::string type_of(const ordered_json& tensor) {
  std::string s = string_of(tensor["dtype"]) + " [";
  for (size_t i = 0; i < tensor["shape"].size(); ++i)
    s += (i != 0 ? ", " : "") + tensor["shape"][i].dump();
  return s + "]";
}

std::string open_type_of(const ordered_json& tensor) {
  if (!tensor.contains("dims")) return type_of(tensor);
  std::string s = string_of(tensor["dtype"]) + " [";
  for (size_t i = 0; i < tensor["dims"].size(); ++i) {
    const auto& name = tensor["dims"][i];
    s += (i != 0 ? ", " : "") + (name.is_null() ? tensor["shape"][i].dump() : shown(name));
  }
  return s + "]";
}

std::string quantization_of(const ordered_json& tensor) {
  if (!tensor.contains("scale")) return "";
  if (tensor.contains("exponent") && tensor["exponent"].size() == 1)
    return "2^" + tensor["exponent"][0].dump() + ", " + tensor["zero_point"][0].dump();
  if (tensor["scale"].size() != 1)
    return std::to_string(tensor["scale"].size()) + " scales, axis " + tensor["axis"].dump();
  char text[64];
  snprintf(text, sizeof text, "%.9g, %d", tensor["scale"][0].get<double>(),
           tensor["zero_point"][0].get<int>());
  return text;
}

}  // namespace qrt::tool
