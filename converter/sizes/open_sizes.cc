// SPDX-License-Identifier: Apache-2.0
#include "converter/sizes/open_sizes.h"

#include <algorithm>
#include <memory>

#include "converter/batch.h"
#include "converter/sizes/fit_constants.h"
#include "converter/sizes/fit_options.h"
#include "converter/sizes/run_numbers.h"
#include "runtime/sizes.h"
#include "runtime/tools/budget.h"

namespace qrt::convert {
namespace {

bool is_same(const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point && a.axis == b.axis;
}

bool is_same_operator(const Node& a, const Node& b) {
  return a.options.type == b.options.type && a.inputs == b.inputs && a.outputs == b.outputs;
}

void add_reason(const std::string& why, Symbol* symbol) {
  symbol->limited_by += (symbol->limited_by.empty() ? "" : "; ") + why;
}

// Returns about how many bytes a graph takes.
uint64_t held_bytes(const Graph& graph) {
  constexpr uint64_t kValueBytes = 1024;  // a value with its name and the node that makes it
  uint64_t bytes = kValueBytes * graph.values.size();
  for (const Value& v : graph.values) bytes += v.data.size();
  return bytes;
}

// Imports the source again and again, as often as a source of its size may ask for.
class Source {
 public:
  Source(const ImportAtSizes& import_at, const EarlierPasses& earlier, const Graph& first)
      : import_at_(import_at),
        earlier_(earlier),
        budget_(Budget::of_files(first.source_files)),
        steps_(steps_of(first)) {}

  // Imports at sizes at which constants may be about `growth` times as large as in the last import. kUnsupported where too
  // little of the budget is left for that.
  Status import(const Sizes& sizes, Graph* graph, double growth = 1) {
    constexpr double kMost = 1e15;  // more than any budget
    const auto expected =
        static_cast<uint64_t>(std::min(kMost, growth * static_cast<double>(steps_)));
    Status charged = budget_.charge(expected);
    is_spent_ = !charged.ok();
    if (is_spent_) return error(Code::kUnsupported, "%s", charged.message());
    Status status = import_at_(sizes, graph);
    if (status.ok()) earlier_(graph);
    // An import that failed may have made as much as one that did not.
    steps_ = status.ok() ? steps_of(*graph) : std::max(steps_, steps_of(*graph));
    if (steps_ > expected) (void)budget_.charge(std::min(steps_ - expected, budget_.steps_left()));
    if (status.code() == Code::kCancelled) return error(Code::kUnsupported, "%s", status.message());
    return status;
  }
  uint64_t bytes() const { return budget_.file_bytes(); }
  // Returns the steps that the last import took.
  uint64_t last_steps() const { return steps_; }
  // Returns whether the last import was not tried for want of budget.
  bool is_spent() const { return is_spent_; }

 private:
  // Returns about how many nanoseconds the import of a graph of this size took. Values stay where
  // passes remove nodes.
  static uint64_t steps_of(const Graph& graph) {
    constexpr uint64_t kStepsPerImport = 20000, kStepsPerValue = 16000, kStepsPerByte = 4;
    uint64_t steps =
        kStepsPerImport + kStepsPerValue * graph.values.size() +
        static_cast<uint64_t>(kStepsPerByteRead * static_cast<double>(graph.bytes_read));
    for (const Value& v : graph.values) steps += kStepsPerByte * v.data.size();
    return steps;
  }

  const ImportAtSizes& import_at_;
  const EarlierPasses& earlier_;
  Budget budget_;
  uint64_t steps_;  // of the last import
  bool is_spent_ = false;
};

// Imports of one family, of which the first becomes the graph.
class Opening {
 public:
  Status import(Source* source, const std::vector<Symbol>& symbols, const ProbeFamily& family) {
    Budget memory(source->bytes());
    for (const Sizes& sizes : family.sizes) {
      auto graph = std::make_unique<Graph>();
      Status status = source->import(sizes, graph.get());
      if (!status.ok()) return std::move(status).at("at " + describe(symbols, sizes));
      if (!graphs_.empty()) drop_equal_constants(*graphs_[0], graph.get());
      QRT_TRY(memory.reserve(held_bytes(*graph)));
      imports_.graphs.push_back(graph.get());
      imports_.symbols.push_back(sizes);
      graphs_.push_back(std::move(graph));
    }
    return Status();
  }

  // Finds the rules, and puts them into the first import.
  Status fit() {
    Graph& first = *graphs_[0];
    // A pass may have copied a value with what is known of its dimensions.
    for (size_t id = 0; id < first.values.size(); ++id)
      if (std::find(first.inputs.begin(), first.inputs.end(), static_cast<ValueId>(id)) ==
          first.inputs.end())
        first.values[id].sizes.clear();
    for (const auto& other : graphs_) {
      if (other->nodes.size() != first.nodes.size() || other->inputs != first.inputs ||
          other->outputs != first.outputs)
        return differs(*other);
    }
    for (size_t i = 0; i < first.nodes.size(); ++i) QRT_TRY(check_node(i));
    find_dimensions(&imports_);
    for (size_t i = 0; i < first.nodes.size(); ++i)
      if (!fit_options(imports_, i, &first.nodes[i]))
        return error(Code::kUnsupported, "%s depends on the size in a way that has no rule",
                     label_of(first.nodes[i]).c_str());
    for (size_t i = 0; i + first.variables.size() < first.outputs.size(); ++i)
      if (first.values[first.outputs[i]].sizes.empty()) QRT_TRY(fit_output(first.outputs[i]));
    return Status();
  }

  // Replaces each constant that differs between the imports by what the run computes of sizes or makes of few parts, or
  // else by a larger one that contains it at all sizes up to a limit, and lowers the most of the symbols to that limit.
  Status fit_constants(Source* source, std::vector<Symbol>* symbols) {
    std::vector<ValueId> constants;
    const std::vector<ValueId> differing = differing_constants(imports_);
    for (const Node& node : graphs_[0]->nodes)
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (is_parameter(node, i) &&
            std::count(differing.begin(), differing.end(), node.inputs[i]) != 0)
          return error(Code::kUnsupported, "%s has other weights at other sizes",
                       label_of(node).c_str());
    for (const ValueId id : differing)
      if (!fit_run_numbers(imports_, id, graphs_[0].get()) &&
          !fit_constant_by_index(imports_, id, graphs_[0].get()))
        constants.push_back(id);
    if (constants.empty()) return Status();
    Graph largest;
    const int64_t limit = find_limit(source, *symbols, constants, &largest);
    if (limit == 0)
      return error(
          Code::kUnsupported,
          source->is_spent()
              ? "to import it at other sizes is more work than a file of its size may ask for"
              : "its constants become too large at large sizes");
    Graph& first = *graphs_[0];
    for (const ValueId id : constants)
      if (!fit_constant(imports_, largest, id, &first) &&
          !fit_constant_of_sum(source, *symbols, limit, id))
        return error(Code::kUnsupported, "%s is another at other sizes, not only a part of one",
                     describe_constant(id).c_str());
    for (Symbol& s : *symbols) {
      const int64_t most = limit - (limit - s.least) % s.step;
      if (!is_limited(s) || most >= s.most) continue;
      s.most = most;
      add_reason(why_limited_, &s);
    }
    return Status();
  }

  // Returns the first import, with its symbols.
  Graph take(std::vector<Symbol> symbols) {
    Graph& first = *graphs_[0];
    first.symbols = std::move(symbols);
    for (size_t s = 0; s < first.symbols.size(); ++s)
      first.symbols[s].value = imports_.symbols[0][s];
    return std::move(first);
  }

  static std::string describe(const std::vector<Symbol>& symbols, const Sizes& sizes) {
    std::string text;
    for (size_t s = 0; s < sizes.size(); ++s)
      text += (text.empty() ? "" : ", ") + symbols[s].name + " = " + std::to_string(sizes[s]);
    return text;
  }

 private:
  // Frees the bytes of constants that are equal in the first import: most are weights.
  static void drop_equal_constants(const Graph& first, Graph* graph) {
    for (size_t id = 0; id < std::min(first.values.size(), graph->values.size()); ++id) {
      const Value& own = first.values[id];
      Value& v = graph->values[id];
      if (v.is_constant && own.is_constant && v.type.shape == own.type.shape && v.data == own.data)
        std::vector<uint8_t>().swap(v.data);
    }
  }

  // Returns whether the node needs a constant as its input `i`: weights, their bias, a table.
  static bool is_parameter(const Node& node, size_t i) {
    return (i > 0 && traits(node).constants.are(ConstantRule::kWeights)) || input_is_table(node, i);
  }

  static constexpr size_t kMostConstantBytes = size_t{1} << 22;
  static constexpr int64_t kMost = 4096, kLeast = 64;
  static size_t bytes_of(const Graph& graph, const std::vector<ValueId>& constants) {
    size_t bytes = 0;
    for (const ValueId id : constants)
      if (id < graph.values.size()) bytes += kept_bytes(graph.values[id]);
    return bytes;
  }

  // Returns whether constants may limit the symbol.
  static bool is_limited(const Symbol& s) { return !s.is_first && s.least != s.most; }

  // Returns the first import's sizes, with the limit in the place of those that constants may limit.
  Sizes largest_sizes(const std::vector<Symbol>& symbols, int64_t limit) const {
    Sizes sizes = imports_.symbols[0];
    for (size_t s = 0; s < sizes.size(); ++s)
      if (is_limited(symbols[s])) sizes[s] = limit;
    return sizes;
  }

  // Fits a constant whose length is the sum of two symbols' sizes ("past + seq"). For each pair of symbols, imports with one at 0,
  // or its least size, and the other so large that the sum is that of both at the limit, and looks for the constant there.
  // Returns whether a pair fits.
  bool fit_constant_of_sum(Source* source, const std::vector<Symbol>& symbols, int64_t limit,
                           ValueId id) {
    for (size_t small = 0; small < symbols.size(); ++small)
      for (size_t large = 0; large < symbols.size(); ++large) {
        if (small == large || !is_limited(symbols[small]) || !is_limited(symbols[large])) continue;
        // A table that begins behind the least size ("past") is needed from its first entry on, where that may be 0.
        for (const int64_t least : {int64_t{0}, symbols[small].least}) {
          if (least == 0 && symbols[small].least != 1) continue;
          Sizes sizes = largest_sizes(symbols, limit);
          sizes[small] = least;
          sizes[large] = 2 * limit - least;
          Graph largest;
          if (!source->import(sizes, &largest).ok()) continue;
          if (largest.values.size() == graphs_[0]->values.size() &&
              bytes_of(largest, {id}) <= kMostConstantBytes &&
              fit_constant(imports_, largest, id, graphs_[0].get()))
            return true;
        }
      }
    return false;
  }

  // Returns the largest size from 64 to 4096 that all limited symbols can have at once, so that the source can be imported and its
  // constants stay within their limit. It is exact where the source fails at larger sizes, and within an eighth where constants or
  // the budget are the limit; 0 where 64 is too large. *largest is the import at that size.
  int64_t find_limit(Source* source, const std::vector<Symbol>& symbols,
                     const std::vector<ValueId>& constants, Graph* largest) {
    why_limited_ = "it has constants of this size, which are kept up to " + std::to_string(kMost);
    bool is_exact = true;
    double growth = 1;  // ratio of an import's work to that of the import before it
    const auto works_at = [&](int64_t limit) {
      Graph graph;
      const auto before = static_cast<double>(source->last_steps());
      const Sizes sizes = largest_sizes(symbols, limit);
      const Status imported = source->import(sizes, &graph, growth);
      // A Slice whose begin passes the start of its table counts from the end: what fits then does so by luck.
      const bool shrinks =
          imported.ok() && std::any_of(constants.begin(), constants.end(), [&](ValueId id) {
            return id < graph.values.size() && id < largest->values.size() &&
                   graph.values[id].type.shape.elements() <
                       largest->values[id].type.shape.elements();
          });
      const bool imports = imported.ok() && !shrinks;
      growth = std::max(1.0, static_cast<double>(source->last_steps()) / before);
      if (!imports || bytes_of(graph, constants) > kMostConstantBytes) {
        is_exact = !imports && !source->is_spent();
        why_limited_ = "at " + describe(symbols, sizes) + ": ";
        why_limited_ += imports   ? "its constants become too large"
                        : shrinks ? "a table of constants ends before"
                                  : imported.message();
        return false;
      }
      *largest = std::move(graph);
      return true;
    };
    if (!works_at(kLeast)) return 0;
    int64_t good = kLeast;
    while (good < kMost && works_at(2 * good)) good *= 2;
    int64_t too_large = 2 * good;
    while (good < kMost && too_large - good > (is_exact ? 1 : good / 8)) {
      const int64_t middle = good + (too_large - good) / 2;
      growth = 1;
      (works_at(middle) ? good : too_large) = middle;
    }
    return good;
  }

  // Names a constant, one without a name by a node that reads it.
  std::string describe_constant(ValueId id) const {
    const Graph& first = *graphs_[0];
    if (!first.values[id].name.empty()) return "constant '" + first.values[id].name + "'";
    for (const Node& node : first.nodes)
      if (std::count(node.inputs.begin(), node.inputs.end(), id) != 0)
        return "a constant that " + label_of(node) + " reads";
    return "a constant";
  }

  // Names the first node that another import has in another way.
  Status differs(const Graph& other) const {
    const Graph& first = *graphs_[0];
    for (size_t i = 0; i < std::min(first.nodes.size(), other.nodes.size()); ++i) {
      const Node &a = first.nodes[i], &b = other.nodes[i];
      if (!is_same_operator(a, b))
        return error(Code::kUnsupported, "%s is another computation at other sizes",
                     label_of(a).c_str());
    }
    return error(Code::kUnsupported, "the model has another number of operators at other sizes");
  }

  Status check_node(size_t index) const {
    const Graph& first = *graphs_[0];
    const Node& a = first.nodes[index];
    for (const auto& other : graphs_) {
      const Node& b = other->nodes[index];
      if (!is_same_operator(a, b))
        return error(Code::kUnsupported, "%s is another computation at other sizes",
                     label_of(a).c_str());
      for (const auto* operands : {&a.inputs, &a.outputs})
        for (const ValueId id : *operands)
          if (!is_same_value(first.values[id], other->values[id]))
            return error(Code::kUnsupported, "%s has other constants or types at other sizes",
                         label_of(a).c_str());
    }
    return Status();
  }

  static bool is_same_value(const Value& a, const Value& b) {
    return a.type.dtype == b.type.dtype && a.is_constant == b.is_constant &&
           a.type.shape.rank() == b.type.shape.rank() && is_same(a.quantization, b.quantization);
  }

  // Finds the rules by which an output's dimensions follow from the symbols, and sets them as its
  // sizes. Fails with kUnsupported where a dimension has none.
  Status fit_output(ValueId id) {
    Value& value = graphs_[0]->values[id];
    Imports imports;
    for (const Sizes& sizes : imports_.symbols) imports.at.push_back({sizes, {}});
    imports.others = &imports_.dimensions;
    imports.rounds_floats = imports_.rounds_floats();
    std::vector<fb::SizeT> sizes;
    bool is_open = false;
    for (int d = 0; d < value.type.shape.rank(); ++d) {
      std::vector<int64_t> numbers;
      for (const auto& graph : graphs_) numbers.push_back(graph->values[id].type.shape[d]);
      const auto found = fit_number(imports, numbers);
      if (!found)
        return error(Code::kUnsupported,
                     "dimension %d of output '%s' depends on sizes in a way that has no rule", d,
                     value.name.c_str());
      is_open |= !found->is_constant();
      sizes.push_back(found->stored());
    }
    if (is_open) value.sizes = std::move(sizes);
    return Status();
  }

  std::vector<std::unique_ptr<Graph>> graphs_;
  ImportedGraphs imports_;
  std::string why_limited_;  // why constants are kept up to find_limit() and no further
};

// Tries families until one gives a graph.
class Search {
 public:
  Search(Source* source, Graph* graph) : source_(source), graph_(graph) {}

  // Tries a family of sizes. Fails with kUnsupported where it leads to no graph.
  Status try_family(std::vector<Symbol> symbols, const ProbeFamily& family) {
    Opening opening;
    Status status = opening.import(source_, symbols, family);
    const bool imported = status.ok();
    if (imported) status = opening.fit();
    if (status.ok()) status = opening.fit_constants(source_, &symbols);
    if (status.ok()) {
      // Nothing is known of sizes between multiples, which the source did not take.
      for (Symbol& s : symbols)
        if (!s.is_first && s.least != s.most && family.unit > 1 && s.step % family.unit != 0) {
          s.least = s.step = family.unit;
          s.most -= s.most % family.unit;
          add_reason(why_, &s);
        }
      *graph_ = opening.take(std::move(symbols));
      return Status();
    }
    if (status.code() != Code::kUnsupported && status.code() != Code::kInvalidModel) return status;
    // The reason of a family that can be imported says more.
    if (why_.empty() || (imported && !has_imported_)) why_ = status.message();
    has_imported_ |= imported;
    return error(Code::kUnsupported, "%s", why_.c_str());
  }

  bool has_imported() const { return has_imported_; }
  // Returns what keeps the families that were tried from being imported, or their rules from being found.
  const std::string& why() const { return why_; }

 private:
  Source* const source_;
  Graph* const graph_;
  std::string why_;
  bool has_imported_ = false;
};

// The source is imported dozens of times, and each import takes time in proportion to its nodes.
constexpr size_t kMostNodes = 10000;

Status open_symbols(const ImportAtSizes& import_at, const EarlierPasses& earlier,
                    std::vector<Symbol> symbols, Graph* graph) {
  if (graph->nodes.size() > kMostNodes)
    return error(
        Code::kUnsupported,
        "it has more than %zu operators: its open dimensions cannot stay open; give sizes by "
        "--input-shape NAME=1x3x224x224",
        kMostNodes);
  if (symbols.size() > kMaxSymbols)
    return error(Code::kUnsupported,
                 "it has %zu open dimensions, at most %u can stay open; give sizes by "
                 "--input-shape NAME=1x3x224x224",
                 symbols.size(), kMaxSymbols);
  Source source(import_at, earlier, *graph);
  Search search(&source, graph);
  Status status;
  for (const ProbeFamily& family : probe_families(symbols)) {
    status = search.try_family(symbols, family);
    if (status.code() != Code::kUnsupported) return status;
  }
  if (!search.has_imported()) {
    // The sizes at which the source was imported may be the only ones that it has.
    for (Symbol& s : symbols)
      if (!s.is_first) {
        s.least = s.most = s.value;
        add_reason(search.why(), &s);
      }
    Status fixed = search.try_family(symbols, probe_families(symbols).front());
    if (fixed.code() != Code::kUnsupported) return fixed;
  }
  return error(
      Code::kUnsupported,
      "its open dimensions cannot stay open: %s; give sizes by --input-shape NAME=1x3x224x224",
      status.message());
}

}  // namespace

Status open_sizes(const EarlierPasses& earlier, Graph* graph) {
  const ImportAtSizes import_at = std::move(graph->import_at);
  std::vector<Symbol> symbols = std::move(graph->symbols);
  QRT_TRY(open_symbols(import_at, earlier, std::move(symbols), graph));
  graph->import_at = import_at;
  return Status();
}

}  // namespace qrt::convert
