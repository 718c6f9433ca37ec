// SPDX-License-Identifier: Apache-2.0
// The converter's middle: an imported graph into its final form.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/passes/passes.h"
#include "converter/sizes/check_sizes.h"
#include "converter/sizes/open_sizes.h"

namespace qrt::convert {
namespace {

using Progress = std::function<void(const char*)>;

struct Pass {
  constexpr Pass(const char* called, void (*pass)(Graph*)) : Pass(called, pass, pass) {}
  constexpr Pass(const char* called, void (*fixed)(Graph*), void (*open)(Graph*))
      : name(called), run(fixed), run_open(open) {}

  const char* name;
  void (*run)(Graph*);
  // Runs in its place on a graph with open sizes, and makes only what follows from the sizes by rules. Null: nothing runs.
  void (*run_open)(Graph*);
};

// The passes in the order in which they run, on a graph of fixed sizes.
constexpr Pass kPasses[] = {
    {"drop_dead", drop_dead},
    {"fold_constants", fold_constants, fold_open_constants},
    {"fuse_dynamic_scales", fuse_dynamic_scales},
    {"fuse_gelu", fuse_gelu},
    {"move_transposes", move_transposes},
    {"simplify_gathers", simplify_gathers, simplify_open_gathers},
    {"fold_pads", fold_pads},
    {"drop_taps", drop_taps},
    {"fold_flatten", fold_flatten},
    {"fold_reductions", fold_reductions},
    {"simplify_reshapes", simplify_reshapes},
    {"fuse_functions", fuse_functions},
    {"fuse_luts", fuse_luts},
    {"one_channel_depthwise", one_channel_depthwise},
    {"join_pixels", join_pixels, nullptr},
};

enum class PassSizes { kFixed, kOpen };

void run_first_passes(const Progress& progress, PassSizes sizes, Graph* graph) {
  for (const Pass& pass : kPasses) {
    const auto run = sizes == PassSizes::kOpen ? pass.run_open : pass.run;
    if (run == nullptr) continue;
    if (progress) progress(pass.name);
    run(graph);
  }
}

// Runs the passes after which weights are in the forms of a file.
Status run_last_passes(const Progress& progress, Graph* graph) {
  if (progress) progress("split_int16_weights");
  split_int16_weights(graph);
  if (progress) progress("order_loops");
  order_loops(graph);
  if (progress) progress("pack_weights");
  return pack_weights(graph);
}

// Gives batches that the caller did not ask for the size 1, and says why. Returns false where none of them or nothing else is open.
bool close_batches(const std::string& why, std::vector<Symbol>* symbols) {
  bool is_other_open = false, is_closed = false;
  for (Symbol& s : *symbols) {
    const bool is_open = s.least != s.most;
    is_other_open |= is_open && !s.is_first;
    if (!is_open || !s.is_first || s.is_asked || s.least > 1) continue;
    is_closed = true;
    s.value = s.least = s.most = 1;
    s.limited_by = why;
  }
  return is_closed && is_other_open;
}

// Finds the rules for the graph's open dimensions, and compares their file with the source at many sizes.
Status open_symbols(const Progress& progress, Graph* graph) {
  const auto earlier = [](Graph* import) { run_first_passes(nullptr, PassSizes::kOpen, import); };
  if (progress) progress("open_sizes");
  QRT_TRY(open_sizes(earlier, graph));
  QRT_TRY(run_last_passes(progress, graph));
  const ImportAtSizes import_at = std::move(graph->import_at);
  graph->import_at = nullptr;
  if (graph->symbols.empty()) return Status();
  if (progress) progress("check_sizes");
  const auto file_at = [&](const Sizes& sizes, FileOfSizes* file) {
    Graph fixed;
    Status imported = import_at(sizes, &fixed);
    file->distances = std::move(fixed.distances);
    file->bytes_read = fixed.bytes_read;
    if (!imported.ok()) return imported;
    run_first_passes(nullptr, PassSizes::kOpen, &fixed);
    QRT_TRY(run_last_passes(nullptr, &fixed));
    for (Value& v : fixed.values) v.sizes.clear();
    return write_model(fixed, &file->bytes);
  };
  QRT_TRY(check_sizes(file_at, graph));
  return check_asked(graph->symbols);
}

// Opens all dimensions, or else all but batches, which become 1: some sources are right there only.
Status open_all(const Progress& progress, Graph* graph) {
  std::vector<Symbol> symbols = graph->symbols;
  std::optional<Graph> before;
  if (close_batches("", &symbols)) before = *graph;
  Status status = open_symbols(progress, graph);
  if (status.code() != Code::kUnsupported || !before) return status;
  *graph = std::move(*before);
  close_batches(status.message(), &graph->symbols);
  return open_symbols(progress, graph).ok() ? Status() : std::move(status);
}

}  // namespace

Status run_passes(Graph* graph, const Progress& progress) {
  run_first_passes(progress, PassSizes::kFixed, graph);
  if (progress) progress("open_batch");
  open_batch(graph);
  if (!graph->import_at || graph->batch_is_open) {
    graph->import_at = nullptr;
    graph->symbols.clear();
    return run_last_passes(progress, graph);
  }
  // A batch may also stay what it is, other dimensions may not.
  const bool may_stay = std::none_of(graph->symbols.begin(), graph->symbols.end(),
                                     [](const Symbol& s) { return s.is_other; });
  std::optional<Graph> as_it_is;
  if (may_stay) as_it_is = *graph;
  Status status = open_all(progress, graph);
  if (status.code() != Code::kUnsupported || !may_stay) return status;
  *graph = std::move(*as_it_is);
  graph->import_at = nullptr;
  graph->symbols.clear();
  return run_last_passes(progress, graph);
}

}  // namespace qrt::convert
