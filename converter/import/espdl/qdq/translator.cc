// SPDX-License-Identifier: Apache-2.0
// Translates node by node, and answers what handlers ask.
#include "converter/import/espdl/qdq/translator.h"

#include <algorithm>

#include "converter/import/espdl/qdq/ops.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_qdq {
namespace {

// A chain of moves longer than this is not followed to its QuantizeLinear.
constexpr int kMostMoves = 64;
// Constants may be written more than once, for each reader.
constexpr uint64_t kMostGrowth = 4, kSpareBytes = uint64_t{64} << 20;

uint64_t most_bytes(const from_onnx::Model& model) {
  constexpr uint64_t kMostFileBytes = uint64_t{3} << 29;
  uint64_t external = 0;
  for (const auto& [name, tensor] : model.initializers())
    for (const auto& entry : tensor->external_data())
      if (entry.key() == "length")
        external += std::min(strtoull(entry.value().c_str(), nullptr, 10),
                             static_cast<unsigned long long>(kMostFileBytes));
  return std::min(kMostFileBytes,
                  kMostGrowth * (model.proto().ByteSizeLong() + external) + kSpareBytes);
}

}  // namespace

Translator::Translator(const from_onnx::Model& model, Target target, Report* report)
    : model_(model),
      target_(target),
      report_(report),
      outcomes_(report),
      files_(model.path()),
      writer_(model.graph().name(), most_bytes(model)),
      operators_(static_cast<size_t>(model.graph().node_size())) {
  for (int i = 0; i < model.graph().node_size(); ++i) {
    nodes_.push_back(std::make_unique<NodeView>(model.graph().node(i), i));
    outcomes_.add_node(nodes_.back()->label(), nodes_.back()->op_label());
  }
}

Status Translator::run(std::vector<uint8_t>* file) {
  QRT_TRY(check_scales());
  QRT_TRY(add_inputs());
  QRT_TRY(visit_constants());
  for (const int i : model_.execution_order()) {
    const NodeView& n = node(i);
    QRT_TRY(visit(n).at("node " + n.label()));
    QRT_TRY(std::move(problem_));
    if (!n.problem().ok()) return error(Code::kInvalidModel, "%s", n.problem().message());
    if (!writer_.fits())
      return error(Code::kUnsupported, "its constants are read so often that they do not fit");
  }
  QRT_TRY(add_outputs());
  const bool is_refused =
      report_->has_refusals() || std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& n) {
        return outcomes_.is_refused(n->index());
      });
  if (!is_refused) {
    *file = writer_.file();
    return Status();
  }
  outcomes_.write();
  return error(Code::kUnsupported, "the model cannot be converted: %s",
               outcomes_.refusals().c_str());
}

void Translator::conclude(const Report& of_espdl) {
  std::unordered_map<std::string, int> index;
  for (const auto& n : nodes_) index.emplace(n->label(), n->index());
  for (const Finding& f : of_espdl.findings()) {
    const auto found = index.find(f.node);
    if (found == index.end()) {
      if (f.outcome == Outcome::kRefused)
        outcomes_.refuse_outside("output", f.node, f.rule, f.remedy);
      continue;
    }
    const int i = found->second;
    if (f.outcome == Outcome::kRefused)
      outcomes_.refuse(i, f.rule, f.tensor, f.remedy);
    else if (f.outcome == Outcome::kNotAssessed)
      outcomes_.skip(i, f.rule);
    else if (f.op == operators_[static_cast<size_t>(i)])
      outcomes_.became(i, f.result, f.level);
  }
  for (const Warning& warning : of_espdl.warnings()) report_->warn(warning);
  outcomes_.write();
}

// Nodes that read constants only: a layer asks for its bias before the bias's node is met.
Status Translator::visit_constants() {
  for (const int i : model_.execution_order()) {
    const NodeView& n = node(i);
    bool all = is_onnx(n) &&
               (n.op() == "Constant" || n.op() == "QuantizeLinear" || n.op() == "DequantizeLinear");
    for (int k = 0; all && k < n.input_count(); ++k)
      all = !n.has_input(k) || load_constant(n.input(k)) || !problem_.ok();
    if (all) QRT_TRY(visit(n).at("node " + n.label()));
    QRT_TRY(std::move(problem_));
  }
  return Status();
}

// Loads a constant: an initialiser, or a value that a visited node made of constants. Returns false
// where it is none.
bool Translator::load_constant(const std::string& name) {
  const auto known = terms_.find(name);
  if (known != terms_.end()) return known->second.kind == Term::Kind::kConstant;
  if (model_.initializers().count(name) == 0) return false;
  Term term;
  term.kind = Term::Kind::kConstant;
  term.constant = read_constant(name);
  if (!term.constant) return false;
  term.rank = term.constant->shape.rank();
  terms_[name] = std::move(term);
  return true;
}

Term Translator::constant_input(const NodeView& n, int i) {
  return load_constant(n.input(i)) ? terms_.at(n.input(i)) : Term();
}

Status Translator::visit(const NodeView& n) {
  if (outcomes_.is_refused(n.index()) || outcomes_.is_skipped(n.index())) return Status();
  if (terms_.count(n.output(0)) != 0) return Status();  // taken into another operator
  const std::string& op = n.op();
  const bool is_edge = is_onnx(n) && (op == "QuantizeLinear" || op == "DequantizeLinear");
  const Handler* handler = is_onnx(n) ? find_handler(n) : nullptr;
  if (op == "Constant" && is_onnx(n)) {
    Term term;
    term.kind = Term::Kind::kConstant;
    term.constant = read_constant(n.output(0));
    if (!term.constant) return std::move(problem_);
    set_output(n, 0, std::move(term));
    return Status();
  }
  if (!handler && !is_edge)
    return refuse(n, "ESP-DL's arithmetic has no form of this operator", n.output(0),
                  "convert it without --reference, or replace it by operators of "
                  "converter/SUPPORT.md (ONNX as ESP-DL)");
  const int inputs = handler ? handler->inputs : 2;
  QRT_MODEL_CHECK(n.input_count() >= inputs && n.has_output(0),
                  "it has %d inputs and %d outputs, expected at least %d and one", n.input_count(),
                  n.output_count(), inputs);
  for (int i = 0; i < n.input_count(); ++i) {
    if (!n.has_input(i)) {
      QRT_MODEL_CHECK(i >= inputs, "its input %d is missing", i);
      continue;
    }
    load_constant(n.input(i));
    QRT_TRY(std::move(problem_));
    if (input(n, i).kind == Term::Kind::kNone) {
      not_assessed(n, outcomes_.origin(n.input(i)));
      return Status();
    }
  }
  Status status = handler                  ? handler->handle(*this, n)
                  : op == "QuantizeLinear" ? quantize(n)
                                           : dequantize(n);
  if (status.code() == Code::kUnsupported)
    return refuse(
        n, status.message(), n.output(0),
        "build the layer as converter/import/espdl/README.md describes: at most 6 dimensions, "
        "explicit pads, one group or one per channel, windows of up to 65535");
  return status;
}

void Translator::not_assessed(const NodeView& n, const std::string& origin) {
  // A copy, as `origin` may refer to a field that is set here.
  const std::string of_outputs = origin;
  outcomes_.depends_on(n.index(), of_outputs);
  for (int i = 0; i < n.output_count(); ++i) outcomes_.set_origin(n.output(i), of_outputs);
}

Status Translator::refuse(const NodeView& n, const std::string& rule, const std::string& tensor,
                          const std::string& remedy) {
  outcomes_.refuse(n.index(), rule, tensor, remedy);
  for (int i = 0; i < n.output_count(); ++i) {
    terms_.erase(n.output(i));
    outcomes_.set_origin(n.output(i), "refused node " + n.label());
  }
  return Status();
}

void Translator::fused(const NodeView& n, const NodeView& into) {
  outcomes_.became(n.index(), "fused into " + into.op(), "I0");
}

const NodeView* Translator::sole_reader(const std::string& tensor) const {
  const std::vector<int>& readers = model_.readers(tensor);
  if (model_.uses(tensor) != 1 || readers.size() != 1) return nullptr;
  const NodeView& reader = node(readers[0]);
  return is_onnx(reader) ? &reader : nullptr;
}

const Term& Translator::input(const NodeView& n, int i) const {
  static const Term none;
  const auto found = terms_.find(n.input(i));
  return found == terms_.end() ? none : found->second;
}

void Translator::set_output(const NodeView& n, int i, Term term) {
  terms_[n.output(i)] = std::move(term);
}

bool Translator::read_activation(const NodeView& n, int i, Term* x) {
  *x = input(n, i);
  if (x->is_activation()) return true;
  const char* what = x->kind == Term::Kind::kConstant  ? "is a constant"
                     : x->kind == Term::Kind::kInteger ? "is integers without a DequantizeLinear"
                                                       : "is float32 and not quantised";
  (void)refuse(n, "input '" + n.input(i) + "' " + what, n.input(i),
               "put QuantizeLinear and DequantizeLinear on it, as qrt_quantize MODEL --scheme "
               "espdl-s8 --onnx FILE does");
  return false;
}

bool Translator::read_integers(const NodeView& n, const char* attribute, int i,
                               std::vector<int64_t>* values) {
  *values = attribute ? n.integers(attribute) : std::vector<int64_t>();
  if (i < 0 || !n.has_input(i)) return true;
  const Term& t = input(n, i);
  if (t.kind == Term::Kind::kConstant && !t.scales && t.constant->is_integer()) {
    values->clear();
    for (int64_t k = 0; k < t.constant->elements(); ++k) values->push_back(t.constant->integer(k));
    return true;
  }
  (void)refuse(n, "input '" + n.input(i) + "' is not a constant of integers", n.input(i),
               "fold the model's constants in the exporter before quantising it");
  return false;
}

std::optional<Format> Translator::quantized_as(const std::string& tensor) {
  const auto known = quantized_.find(tensor);
  if (known != quantized_.end()) return known->second;
  const std::vector<int>& readers = model_.readers(tensor);
  if (readers.empty() || static_cast<int>(readers.size()) != model_.uses(tensor) ||
      depth_ >= kMostMoves)
    return std::nullopt;
  ++depth_;
  std::optional<Format> all;
  for (const int i : readers) {
    const NodeView& reader = node(i);
    std::optional<Format> one;
    if (!is_onnx(reader)) {
      one = std::nullopt;
    } else if (reader.op() == "QuantizeLinear" && reader.input(0) == tensor) {
      const auto scales = scales_.find(i);
      if (scales != scales_.end() && scales->second.per_tensor())
        one = Format{scales->second.type, static_cast<int>(scales->second.exponents[0])};
    } else if (keeps_quantisation(reader.op())) {
      // All outputs of a Split that are read have one format; a Dropout's mask has no reader.
      bool any = false, alike = true;
      for (int k = 0; alike && k < reader.output_count(); ++k) {
        if (!reader.has_output(k) || model_.uses(reader.output(k)) == 0) continue;
        const std::optional<Format> part = quantized_as(reader.output(k));
        alike = part && (!any || part == one);
        one = part;
        any = true;
      }
      if (!alike) one = std::nullopt;
    }
    const bool agrees = one && (!all || all == one);
    all = agrees ? one : std::nullopt;
    if (!agrees) break;
  }
  --depth_;
  quantized_[tensor] = all;
  return all;
}

Format Translator::format_or(const NodeView& n, int i, const Format& otherwise) {
  return quantized_as(n.output(i)).value_or(otherwise);
}

bool Translator::read_format(const NodeView& n, int i, Format* format) {
  const std::optional<Format> found = quantized_as(n.output(i));
  if (found) {
    *format = *found;
    return true;
  }
  // A QuantizeLinear that was refused is the reason for this, too.
  for (const int reader : model_.readers(n.output(i)))
    if (outcomes_.is_refused(reader)) {
      not_assessed(n, "refused node " + node(reader).label());
      return false;
    }
  (void)refuse(n,
               model_.uses(n.output(i)) > 1
                   ? "its float result '" + n.output(i) +
                         "' has several readers that do not quantise it alike"
                   : "its float result '" + n.output(i) + "' is not quantised",
               n.output(i),
               "put QuantizeLinear and DequantizeLinear on it, as qrt_quantize MODEL --scheme "
               "espdl-s8 --onnx FILE does");
  return false;
}

espdl::NodeT& Translator::add(const NodeView& n, const std::string& op,
                              std::vector<std::string> inputs, const Format& format,
                              std::string* result) {
  *result = writer_.fresh(n.output(0));
  operators_[static_cast<size_t>(n.index())] = op;
  return writer_.add_node(n.label(), op, std::move(inputs), *result, format);
}

void Translator::finish(const NodeView& n, const std::string& name, const Format& made,
                        const Format& wanted, int rank) {
  Term x;
  x.kind = Term::Kind::kReal;
  x.name = name;
  x.format = made;
  x.rank = rank;
  if (made.is_integer()) {
    x.name = in_format(n, x, wanted);
    x.format = wanted;
  }
  set_output(n, 0, std::move(x));
}

std::string Translator::in_format(const NodeView& n, const Term& x, const Format& format) {
  if (x.format.type == format.type && x.format.exponent == format.exponent) return x.name;
  const std::string y = writer_.fresh(x.name);
  writer_.add_node(n.label(), "RequantizeLinear", {x.name}, y, format);
  return y;
}

namespace {

std::vector<int64_t> channels_last(int rank) {
  std::vector<int64_t> perm = {0};
  for (int d = 2; d < rank; ++d) perm.push_back(d);
  perm.push_back(1);
  return perm;
}

std::vector<int64_t> channels_second(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int d = 1; d < rank - 1; ++d) perm.push_back(d);
  return perm;
}

}  // namespace

std::string Translator::to_last(const NodeView& n, const std::string& x, const Format& format,
                                int rank) {
  const auto known = last_form_.find(x);
  if (known != last_form_.end()) return known->second;
  const std::string y = writer_.fresh(x);
  set(&writer_.add_node(n.label(), "Transpose", {x}, y, format), "perm", channels_last(rank));
  last_form_[x] = y;
  return y;
}

std::string Translator::from_last(const NodeView& n, const std::string& y, const Format& format,
                                  int rank) {
  const std::string x = writer_.fresh(y);
  set(&writer_.add_node(n.label(), "Transpose", {y}, x, format), "perm", channels_second(rank));
  last_form_[x] = y;
  return x;
}

std::string Translator::constant_in(const NodeView& n, int i, const Format& format) {
  const Term& t = input(n, i);
  const int shift = format.exponent - static_cast<int>(t.scales->exponents[0]);
  Numbers numbers{
      format.type, {t.constant->shape.begin(), t.constant->shape.end()}, {}, {format.exponent}};
  for (int64_t k = 0; k < t.constant->elements(); ++k)
    numbers.values.push_back(
        from_espdl::shift_to(target_, t.constant->integer(k), shift, format.limits()));
  return writer_.add_constant(n.input(i), numbers);
}

}  // namespace qrt::convert::from_qdq
