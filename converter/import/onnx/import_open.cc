// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/import_open.h"

#include <algorithm>

#include "converter/sizes/expressions.h"
#include "converter/sizes/probes.h"
#include "onnx/onnx_pb.h"
#include "runtime/sizes.h"
#include "runtime/tools/budget.h"

namespace qrt::convert::from_onnx {
namespace {

// Says which dimensions of the graph's inputs are which symbols.
void name_dimensions(const onnx::GraphProto& file, const std::vector<OpenDimension>& open,
                     Graph* graph) {
  for (const onnx::ValueInfoProto& info : file.input())
    for (const ValueId id : graph->inputs) {
      Value& value = graph->values[id];
      if (value.name != info.name()) continue;
      std::vector<fb::SizeT> sizes;
      bool is_open = false;
      for (int i = 0; i < value.type.shape.rank(); ++i) {
        const bool has_number = info.type().tensor_type().shape().dim(i).has_dim_value();
        std::optional<NamedSum> sum;
        if (!has_number) sum = sum_of(open_dimension_name(info, i), open);
        Expression size(value.type.shape[i]);
        for (size_t t = 0; sum && t < sum->terms.size(); ++t) {
          is_open = true;
          const Expression term = Expression::symbol(sum->terms[t]);
          size = t == 0 ? term : size + term;
        }
        if (sum) size = size + Expression(sum->constant);
        sizes.push_back(size.stored());
      }
      if (is_open) value.sizes = std::move(sizes);
    }
}

// Returns the sum as people write it.
std::string text_of(const NamedSum& sum, const std::vector<OpenDimension>& open) {
  std::string text;
  for (const size_t term : sum.terms) text += (text.empty() ? "" : " + ") + open[term].name;
  return sum.constant == 0 ? text : text + " + " + std::to_string(sum.constant);
}

// Returns the dimensions of the inputs that are no symbols, but sums of them.
std::vector<SizeSum> sums_of(const onnx::GraphProto& file, const std::vector<OpenDimension>& open) {
  std::vector<SizeSum> sums;
  for (const onnx::ValueInfoProto& info : file.input())
    for (int i = 0; i < info.type().tensor_type().shape().dim_size(); ++i) {
      if (info.type().tensor_type().shape().dim(i).has_dim_value()) continue;
      const std::string name = open_dimension_name(info, i);
      const std::optional<NamedSum> sum = sum_of(name, open);
      const bool is_symbol = sum && sum->terms.size() == 1 && sum->constant == 0;
      const bool is_known = std::any_of(sums.begin(), sums.end(),
                                        [&](const SizeSum& known) { return known.name == name; });
      if (sum && !is_symbol && !is_known) sums.push_back({name, text_of(*sum, open)});
    }
  return sums;
}

Status import_at(const Model& model, const std::vector<OpenDimension>& open, bool allow_float,
                 const Sizes& sizes, Graph* graph, Report* report) {
  int64_t batch = 1;
  for (size_t i = open.size(); i-- > 0;)
    if (open[i].is_first) batch = sizes[i];
  const OpenSizes by_name = name_sizes(model.graph(), open, sizes);
  Importer importer(model, allow_float, batch, graph, report, by_name);
  Status imported = importer.run();
  graph->bytes_read = importer.tensors().bytes_read();
  QRT_TRY(std::move(imported));
  graph->batch_closed = "its dimensions are open by their names";
  name_dimensions(model.graph(), open, graph);
  graph->sums = sums_of(model.graph(), open);
  return Status();
}

size_t count_refusals(const Report& report) {
  return static_cast<size_t>(
      std::count_if(report.findings().begin(), report.findings().end(),
                    [](const Finding& f) { return f.outcome == convert::Outcome::kRefused; }));
}

// Sizes of images that networks of one size are made for: all small ones, then multiples of 8.
std::vector<int64_t> usual_sizes() {
  std::vector<int64_t> sizes = {224, 256, 320, 640, 416, 299, 112, 192, 128, 384, 512};
  for (int64_t n = 1; n <= 64; ++n) sizes.push_back(n);
  for (int64_t n = 72; n <= 1024; n += 8) sizes.push_back(n);
  return sizes;
}

// Imports of the first sizes of a family, until one succeeds; keeps the report that says most of why not.
class FirstImport {
 public:
  FirstImport(const Model& model, bool allow_float)
      : model_(model), allow_float_(allow_float), budget_(Budget::of_files(model.files())) {
    // Every import takes time in proportion to the nodes: of a large model few are tried.
    constexpr int64_t kNodeImports = 20000, kMostImports = 400;
    imports_left_ = std::clamp<int64_t>(
        kNodeImports / std::max<int64_t>(model.graph().node_size(), 1), 1, kMostImports);
  }

  // Imports the model at these sizes, unless it was imported before, or too little of the budget is left for an import that
  // makes as much as the last one.
  void try_at(const std::vector<OpenDimension>& tied, const Sizes& at) {
    if (imports_left_ == 0) return;
    --imports_left_;
    try_once_more(tied, at);
  }

  // Imports it even if it was imported as often as its nodes allow.
  void try_once_more(const std::vector<OpenDimension>& tied, const Sizes& at) {
    if (is_done() || !budget_.charge(steps_).ok()) return;
    Graph imported;
    Report findings;
    Status status = import_at(model_, tied, allow_float_, at, &imported, &findings);
    constexpr uint64_t kStepsPerByte = 8;
    steps_ = 0;
    for (const Value& v : imported.values) steps_ += kStepsPerByte * v.data.size();
    if (status.ok()) {
      graph = std::move(imported);
      report = std::move(findings);
      open = tied;
      sizes = at;
      return;
    }
    is_broken |= status.code() != Code::kUnsupported && status.code() != Code::kInvalidModel;
    only_refuses &= status.code() == Code::kUnsupported && findings.has_refusals();
    const bool says_more = status.code() == Code::kUnsupported && findings.has_refusals();
    if (why.ok() || is_broken ||
        (says_more &&
         (!report.has_refusals() || count_refusals(findings) < count_refusals(report)))) {
      why = std::move(status);
      report = std::move(findings);
    }
  }

  // Returns whether nothing more is to be tried.
  bool is_done() const { return !sizes.empty() || is_broken; }

  // The import that succeeded, the open dimensions as they were tied for it, and its sizes.
  Graph graph;
  std::vector<OpenDimension> open;
  Sizes sizes;

  Report report;
  Status why;
  bool is_broken = false;    // an error that has nothing to do with sizes
  bool only_refuses = true;  // every error so far was a refusal of nodes

 private:
  const Model& model_;
  const bool allow_float_;
  Budget budget_;
  int64_t imports_left_;
  uint64_t steps_ = 0;  // that the constants of the last import took
};

// Returns the symbols of a graph with these open dimensions.
std::vector<Symbol> symbols_of(const std::vector<OpenDimension>& open) {
  std::vector<Symbol> symbols;
  for (const OpenDimension& d : open) {
    Symbol symbol;
    symbol.name = d.name;
    symbol.is_first = d.is_first && !d.is_length;
    symbol.is_other = d.is_other || d.is_wanted;
    symbol.least = d.least;
    symbol.most = d.most;
    symbol.step = d.step;
    symbol.is_asked = d.is_wanted;
    if (d.has_limits) symbol.asked_least = d.wants_zero ? 0 : d.least, symbol.asked_most = d.most;
    symbol.tied_to = d.tied_to;
    symbols.push_back(symbol);
  }
  return symbols;
}

// Returns the dimensions with batches that are 1, but for those that the caller asked for; none where no batch is open.
std::vector<OpenDimension> with_closed_batches(std::vector<OpenDimension> open) {
  bool is_closed = false;
  for (OpenDimension& d : open)
    if (d.is_first && !d.is_length && !d.is_wanted) is_closed = true, d.least = d.most = 1;
  if (!is_closed) open.clear();
  return open;
}

// Returns `status` with the first refusal of the report instead of their number.
Status first_refusal(const Report& report, Status status) {
  for (const Finding& f : report.findings())
    if (f.outcome == convert::Outcome::kRefused)
      return error(status.code(), "%s (%s): %s", f.node.c_str(), f.op.c_str(), f.rule.c_str());
  return status;
}

// Makes the open dimensions the graph's symbols.
void set_tied_symbols(const std::shared_ptr<const Model>& model,
                      const std::vector<OpenDimension>& open, bool allow_float, Graph* graph) {
  graph->symbols = symbols_of(open);
  const auto budget = std::make_shared<Budget>(Budget::of_files(model->files()));
  graph->import_at = [model, open, allow_float, budget](const Sizes& sizes, Graph* to) {
    constexpr uint64_t kStepsPerNode = 14000;
    Status afforded =
        budget->charge(kStepsPerNode * static_cast<uint64_t>(model->graph().node_size()));
    if (!afforded.ok()) return error(Code::kCancelled, "%s", afforded.message());
    Report report;
    Status status = import_at(*model, open, allow_float, sizes, to, &report);
    return status.code() == Code::kUnsupported ? first_refusal(report, std::move(status))
                                               : std::move(status);
  };
}

}  // namespace

void set_symbols(const std::shared_ptr<const Model>& model, const std::vector<OpenDimension>& open,
                 bool allow_float, Graph* graph) {
  FirstImport import(*model, allow_float);
  if (open.size() > 1)
    for (const auto& tied : possible_ties(open))
      for (const ProbeFamily& family : probe_families(symbols_of(tied)))
        import.try_at(tied, family.sizes[0]);
  set_tied_symbols(model, import.sizes.empty() ? open : import.open, allow_float, graph);
}

Status import_open(const std::shared_ptr<const Model>& model,
                   const std::vector<OpenDimension>& open, bool allow_float, Graph* graph,
                   Report* report) {
  if (open.size() > kMaxSymbols) {
    Status status =
        error(Code::kUnsupported, "it has %zu open dimensions, at most %u can stay open",
              open.size(), kMaxSymbols);
    report->refused_in_file("(model)", "onnx", status.message(),
                            "give the inputs' shapes by --input-shape NAME=1x3x224x224");
    return status;
  }
  FirstImport import(*model, allow_float);
  const std::vector<std::vector<OpenDimension>> ties = possible_ties(open);
  std::vector<std::vector<ProbeFamily>> families;
  for (const auto& tied : ties) families.push_back(probe_families(symbols_of(tied)));
  for (const ProbeFamily& family : families[0]) import.try_at(open, family.sizes[0]);
  for (size_t f = 0; f < families[0].size(); ++f)
    for (size_t t = 1; t < ties.size(); ++t)
      if (!import.only_refuses) import.try_at(ties[t], families[t][f].sizes[0]);
  // A model that fails at all of them by its shapes has one size, whatever it says.
  if (!import.only_refuses) {
    const std::vector<Symbol> symbols = symbols_of(open);
    for (const int64_t size : usual_sizes()) {
      Sizes sizes = families[0][0].sizes[0];
      for (size_t s = 0; s < sizes.size(); ++s)
        if (!symbols[s].is_first) sizes[s] = size;
      import.try_at(open, sizes);
    }
  }
  // A model may be right at a batch of 1 only.
  const std::vector<OpenDimension> closed = with_closed_batches(open);
  if (!import.is_done() && !closed.empty())
    import.try_once_more(closed, probe_families(symbols_of(closed))[0].sizes[0]);
  *report = std::move(import.report);
  if (import.sizes.empty()) return std::move(import.why);
  *graph = std::move(import.graph);
  set_tied_symbols(model, import.open, allow_float, graph);
  for (Symbol& s : graph->symbols)
    if (s.is_first && s.least == s.most && !s.is_asked) s.limited_by = import.why.message();
  for (size_t s = 0; s < import.sizes.size(); ++s) graph->symbols[s].value = import.sizes[s];
  return Status();
}

}  // namespace qrt::convert::from_onnx
