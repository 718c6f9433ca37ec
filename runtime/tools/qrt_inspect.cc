// qrt_inspect: what a .qrt file holds and how this machine would run it, as text, JSON or a
// Graphviz graph.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/infer.h"
#include "runtime/plan.h"
#include "runtime/session.h"
#include "runtime/text.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/options.h"
#include "runtime/tools/terminal.h"

namespace qrt {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, isa, format = "text";
  size_t batch = 0;
};

std::string text_of(const flatbuffers::String* s) { return s != nullptr ? s->str() : ""; }

std::string level_name(int level) {
  if (level == kFloatLevel) return "F";
  return level == kEdgeLevel ? "edge" : "I" + std::to_string(level);
}

// Of scales that are all powers of two, as ESP-DL's are; empty: one is not.
std::vector<int> exponents_of(const flatbuffers::Vector<float>& scales) {
  std::vector<int> exponents;
  for (const float scale : scales) {
    int exponent;
    if (std::frexp(scale, &exponent) != 0.5f) return {};
    exponents.push_back(exponent - 1);
  }
  return exponents;
}

std::string requant_name(const fb::Requant* r) {
  if (r == nullptr) return "";
  switch (r->kind()) {
    case fb::RequantKind::ACC: return "accumulators";
    case fb::RequantKind::INT: return "RQ_INT, " + std::to_string(r->stages()->size()) + " stages";
    case fb::RequantKind::F32: break;
  }
  return std::string("RQ_F32, ") +
         (r->rounding() == fb::Rounding::HALF_UP ? "half up" : "half even") +
         (!r->zero_point_before() ? ""
          : r->fused()            ? ", zero point before (fma)"
                                  : ", zero point before") +
         (r->scale() != nullptr && r->scale()->size() > 1 ? ", per channel" : "");
}

// The arithmetic of an operator: how its output's bytes come about.
std::string arithmetic(const fb::Operator& op) {
  const OpTraits& traits = traits_of(op.options_type());
  if (traits.arithmetic == Arithmetic::kMoves) return "move";
  if (const fb::Requant* requant = traits.requant(op))
    return requant_name(requant) + (op.options_as_Lstm() ? ", tables" : "");
  switch (op.options_type()) {
    case fb::OpOptions::Add:
      switch (op.options_as_Add()->kind()) {
        case fb::AddKind::F32_FMA: return "EW_F32, fma";
        case fb::AddKind::F32_MUL_ADD: return "EW_F32, mul, add";
        case fb::AddKind::INT: break;
      }
      return "EW_INT";
    case fb::OpOptions::AveragePool2D:
      return op.options_as_AveragePool2D()->kind() == fb::AverageKind::INT_HALF_AWAY
                 ? "integer average, half away"
                 : "ordered float32 sum";
    case fb::OpOptions::Softmax:
      switch (op.options_as_Softmax()->kind()) {
        case fb::SoftmaxKind::F32: break;
        case fb::SoftmaxKind::Q5_26:
        case fb::SoftmaxKind::Q5_26_TO_INT16: return "table, fixed-point reciprocal";
        case fb::SoftmaxKind::INT16: return "interpolated tables";
        case fb::SoftmaxKind::INT16_ANY_SCALE: return "table, integer quotient";
        case fb::SoftmaxKind::LOG_F32: return "table, ordered float32 sum, logarithm";
      }
      return "table, ordered float32 sum";
    case fb::OpOptions::Lut:
      return op.options_as_Lut()->per_channel() ? "table per channel" : "table";
    case fb::OpOptions::MaxPool2D: return "maximum";
    case fb::OpOptions::PairLut: return "table of pairs";
    case fb::OpOptions::MinMax: return op.options_as_MinMax()->maximum() ? "maximum" : "minimum";
    case fb::OpOptions::ArgMax:
      return op.options_as_ArgMax()->minimum() ? "index of the minimum" : "index of the maximum";
    case fb::OpOptions::TopK: return "order";
    case fb::OpOptions::ResizeLinear:
      switch (op.options_as_ResizeLinear()->kind()) {
        case fb::ResizeKind::F32:
        case fb::ResizeKind::F32_TRUNCATED: return "ordered float32 sum";
        default: return "integer sum";
      }
    case fb::OpOptions::Quantize: return "float32 division, half even";
    case fb::OpOptions::Dequantize: return "float32 product";
    case fb::OpOptions::DynamicProduct: return "float32 scales from inputs, half even";
    case fb::OpOptions::DynamicQuantize: return "float32 division, half even, scale from the data";
    case fb::OpOptions::Integer:
      return std::string("integer ") +
             fb::EnumNameIntegerFunction(op.options_as_Integer()->function());
    case fb::OpOptions::Formula: {
      const auto* o = op.options_as_Formula();
      const auto count = [](const auto* steps) { return steps ? steps->size() : 0; };
      std::string text =
          std::to_string(count(o->a_steps()) + count(o->b_steps()) + count(o->steps())) +
          " int32 steps";
      if (op.inputs()->size() == 2)
        text += std::string(" around ") + fb::EnumNameFormulaPair(o->pair());
      return text;
    }
    case fb::OpOptions::Reduce: return op.options_as_Reduce()->maximum() ? "maximum" : "int32 sum";
    case fb::OpOptions::ValidBoxes: return "selection";
    case fb::OpOptions::SuppressBoxes: return "int64 overlaps";
    case fb::OpOptions::Float:
      return std::string("float ") + fb::EnumNameFloatFunction(op.options_as_Float()->function());
    default: return "";
  }
}

// Everything the three formats show, gathered once.
ordered_json describe_tensor(const Plan& plan, uint32_t i) {
  const fb::Tensor& tensor = plan.model->tensor(i);
  std::vector<int64_t> dims(plan.types[i].shape.begin(), plan.types[i].shape.end());
  ordered_json j = {{"index", i},
                    {"name", text_of(tensor.name())},
                    {"dtype", dtype_name(plan.types[i].dtype)},
                    {"shape", dims},
                    {"bytes", plan.slot_bytes(i)}};
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
  } else if (plan.places[i].kind == Place::Kind::kArena) {
    j["place"] = "arena";
    j["offset"] = plan.places[i].offset;
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

ordered_json describe(const Plan& plan, const Options& options) {
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
  return {{"model",
           {{"file", options.model},
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
          {"inputs", inputs},
          {"outputs", outputs},
          {"tensors", tensors},
          {"operators", operators}};
}

std::string string_of(const ordered_json& j) { return j.get<std::string>(); }
// A name from the file, for the terminal or a graph.
std::string shown(const ordered_json& j) { return escaped(j.get<std::string>()); }

// "float32 [1, 3, 224, 224]"
std::string type_of(const ordered_json& tensor) {
  std::string s = string_of(tensor["dtype"]) + " [";
  for (size_t i = 0; i < tensor["shape"].size(); ++i)
    s += (i != 0 ? ", " : "") + tensor["shape"][i].dump();
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

std::string place_of(const ordered_json& tensor) {
  const std::string place = string_of(tensor["place"]);
  if (place == "constant") return place + " (" + string_of(tensor["packing"]) + ")";
  return place == "arena" ? "arena + " + tensor["offset"].dump() : "-";
}

std::string list_of(const ordered_json& indices) {
  std::string s;
  for (const auto& i : indices) s += (s.empty() ? "" : " ") + i.dump();
  return s;
}

void print_text(const ordered_json& all) {
  for (const char* section : {"model", "memory"})
    for (const auto& [key, value] : all[section].items())
      printf("%-16s %s\n", key.c_str(),
             value.is_string() ? shown(value).c_str() : value.dump().c_str());
  for (const char* section : {"inputs", "outputs"})
    printf("%-16s tensors %s\n", section, list_of(all[section]).c_str());
  printf("\n%6s %-28s %12s %-22s %-26s %s\n", "tensor", "type", "bytes", "place",
         "scale, zero point", "name");
  for (const auto& t : all["tensors"])
    printf("%6s %-28s %12s %-22s %-26s %s\n", t["index"].dump().c_str(), type_of(t).c_str(),
           t["bytes"].dump().c_str(), place_of(t).c_str(), quantization_of(t).c_str(),
           shown(t["name"]).c_str());
  printf("\n%4s %-20s %-5s %-32s %12s %-34s %-16s %-8s %s\n", "op", "type", "level", "arithmetic",
         "macs", "kernel", "inputs", "outputs", "name");
  for (const auto& o : all["operators"])
    printf("%4s %-20s %-5s %-32s %12s %-34s %-16s %-8s %s\n", o["index"].dump().c_str(),
           string_of(o["type"]).c_str(), string_of(o["level"]).c_str(),
           string_of(o["arithmetic"]).c_str(), o["macs"].dump().c_str(),
           string_of(o["kernel"]).c_str(), list_of(o["inputs"]).c_str(),
           list_of(o["outputs"]).c_str(), shown(o["name"]).c_str());
}

// A string of the DOT language, of escaped lines.
std::string dot_string(const std::string& text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '\n')
      s += "\\n";
    else if (c == '"' || c == '\\')
      s += std::string("\\") + c;
    else
      s += c;
  }
  return s + "\"";
}

void print_dot(const ordered_json& all) {
  const auto& tensors = all["tensors"];
  std::vector<std::string> writer(tensors.size());  // node that writes a tensor
  puts("digraph model {\n  node [shape=box, fontname=\"monospace\"];");
  for (const auto& i : all["inputs"]) {
    const std::string node = "input" + i.dump();
    writer[i.get<size_t>()] = node;
    printf("  %s [shape=ellipse, label=%s];\n", node.c_str(),
           dot_string(shown(tensors[i.get<size_t>()]["name"])).c_str());
  }
  const auto edge = [&](const ordered_json& tensor, const std::string& to) {
    const auto i = tensor.get<size_t>();
    if (!writer[i].empty())
      printf("  %s -> %s [label=%s];\n", writer[i].c_str(), to.c_str(),
             dot_string(type_of(tensors[i])).c_str());
  };
  for (const auto& op : all["operators"]) {
    const std::string node = "op" + op["index"].dump();
    printf("  %s [label=%s];\n", node.c_str(),
           dot_string(string_of(op["type"]) + " " + string_of(op["level"]) + "\n" +
                      shown(op["name"]) + "\n" + string_of(op["kernel"]))
               .c_str());
    for (const auto& tensor : op["inputs"]) edge(tensor, node);
    for (const auto& tensor : op["outputs"]) writer[tensor.get<size_t>()] = node;
  }
  for (const auto& i : all["outputs"]) {
    const std::string node = "output" + i.dump();
    printf("  %s [shape=ellipse, label=%s];\n", node.c_str(),
           dot_string(shown(tensors[i.get<size_t>()]["name"])).c_str());
    edge(i, node);
  }
  puts("}");
}

Status inspect(const Options& options) {
  auto isas = allowed_isas(options.isa.empty() ? nullptr : options.isa.c_str());
  QRT_TRY(std::move(isas.status()));
  auto model = tool::load_verified(options.model);
  QRT_TRY(std::move(model.status()));
  PlanOptions plan_options;
  plan_options.batch = options.batch;
  plan_options.isas = *isas;
  auto plan = make_plan(*model, plan_options);
  QRT_TRY(std::move(plan.status()).at(options.model));
  const ordered_json all = describe(**plan, options);
  if (options.format == "json")
    puts(all.dump(1, ' ', true, ordered_json::error_handler_t::replace).c_str());
  else if (options.format == "dot")
    print_dot(all);
  else
    print_text(all);
  return {};
}

int inspect_main(int argc, char** argv) {
  tool::CommandLine line(
      "Shows the tensors, operators, arithmetic, weights and memory plan of a .qrt model.",
      "  qrt_inspect model.qrt\n"
      "  qrt_inspect model.qrt --format json | jq .memory\n"
      "  qrt_inspect model.qrt --format dot | dot -Tsvg > model.svg");
  Options options;
  line.argument("MODEL", &options.model, "A .qrt file");
  line.choice("--format", &options.format, {"text", "json", "dot"}, "text, json or dot");
  line.number("--batch", &options.batch, 1, size_t{1} << 31,
              "Batch to plan for (default: the model's)");
  line.text("--isa", &options.isa, "Best instruction set to use (default: QRT_ISA, or all)");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  const Status status = inspect(options);
  return status.ok() ? tool::kDone : tool::fail(status);
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::inspect_main, argc, argv); }
