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
        const std::string name = has_number ? "" : open_dimension_name(info, i);
        const auto found = std::find_if(open.begin(), open.end(), [&](const OpenDimension& d) {
          return !has_number && d.name == name;
        });
        is_open |= found != open.end();
        const auto symbol = static_cast<size_t>(found - open.begin());
        sizes.push_back(
            (found == open.end() ? Expression(value.type.shape[i]) : Expression::symbol(symbol))
                .stored());
      }
      if (is_open) value.sizes = std::move(sizes);
    }
}

Status import_at(const Model& model, const std::vector<OpenDimension>& open, bool allow_float,
                 const Sizes& sizes, Graph* graph, Report* report) {
  OpenSizes by_name;
  int64_t batch = 1;
  for (size_t i = open.size(); i-- > 0;) {
    by_name[open[i].name] = sizes[i];
    if (open[i].is_first) batch = sizes[i];
  }
  QRT_TRY(Importer(model, allow_float, batch, graph, report, by_name).run());
  graph->batch_closed = "its dimensions are open by their names";
  name_dimensions(model.graph(), open, graph);
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
  FirstImport(const Model& model, const std::vector<OpenDimension>& open, bool allow_float)
      : model_(model),
        open_(open),
        allow_float_(allow_float),
        budget_(Budget::of_files(model.files())) {}

  // Returns whether the model could be imported at these sizes, and the budget has enough left for an import that
  // makes as much as the last one.
  bool try_at(const Sizes& sizes) {
    if (!budget_.charge(steps_).ok()) return false;
    Graph imported;
    Report findings;
    Status status = import_at(model_, open_, allow_float_, sizes, &imported, &findings);
    constexpr uint64_t kStepsPerByte = 8;
    steps_ = 0;
    for (const Value& v : imported.values) steps_ += kStepsPerByte * v.data.size();
    if (status.ok()) {
      graph = std::move(imported);
      report = std::move(findings);
      return true;
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
    return false;
  }

  Graph graph;
  Report report;
  Status why;
  bool is_broken = false;    // an error that has nothing to do with sizes
  bool only_refuses = true;  // nodes, at all sizes so far

 private:
  const Model& model_;
  const std::vector<OpenDimension>& open_;
  const bool allow_float_;
  Budget budget_;
  uint64_t steps_ = 0;  // that the constants of the last import took
};

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
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace

void set_symbols(const std::shared_ptr<const Model>& model, const std::vector<OpenDimension>& open,
                 bool allow_float, Graph* graph) {
  graph->symbols = symbols_of(open);
  const auto budget = std::make_shared<Budget>(Budget::of_files(model->files()));
  graph->import_at = [model, open, allow_float, budget](const Sizes& sizes, Graph* to) {
    constexpr uint64_t kStepsPerNode = 14000;
    Status afforded =
        budget->charge(kStepsPerNode * static_cast<uint64_t>(model->graph().node_size()));
    if (!afforded.ok()) return error(Code::kCancelled, "%s", afforded.message());
    Report unused;
    return import_at(*model, open, allow_float, sizes, to, &unused);
  };
}

Status import_open(const std::shared_ptr<const Model>& model,
                   const std::vector<OpenDimension>& open, bool allow_float, Graph* graph,
                   Report* report) {
  if (open.size() > kMaxSymbols) {
    Status status =
        error(Code::kUnsupported, "it has %zu open dimensions, at most %u can stay open",
              open.size(), kMaxSymbols);
    report->refused_part("(model)", "onnx", status.message(),
                         "give the inputs' shapes by --input-shape NAME=1x3x224x224");
    return status;
  }
  const std::vector<Symbol> symbols = symbols_of(open);
  FirstImport import(*model, open, allow_float);
  // Every import takes time in proportion to the nodes: of a large model few are tried.
  constexpr int64_t kNodeImports = 20000, kMostImports = 400;
  int64_t imports = std::clamp<int64_t>(
      kNodeImports / std::max<int64_t>(model->graph().node_size(), 1), 1, kMostImports);
  Sizes found;
  const auto try_at = [&](const Sizes& sizes) {
    if (!found.empty() || import.is_broken || imports == 0) return;
    --imports;
    if (import.try_at(sizes)) found = sizes;
  };
  const std::vector<ProbeFamily> families = probe_families(symbols);
  for (const ProbeFamily& family : families) try_at(family.sizes[0]);
  // A model that fails at all of them by its shapes has one size, whatever it says.
  if (!import.only_refuses)
    for (const int64_t size : usual_sizes()) {
      Sizes sizes = families[0].sizes[0];
      for (size_t s = 0; s < sizes.size(); ++s)
        if (!symbols[s].is_first) sizes[s] = size;
      try_at(sizes);
    }
  *report = std::move(import.report);
  if (found.empty()) return std::move(import.why);
  *graph = std::move(import.graph);
  set_symbols(model, open, allow_float, graph);
  for (size_t s = 0; s < found.size(); ++s) graph->symbols[s].value = found[s];
  return Status();
}

}  // namespace qrt::convert::from_onnx
