// SPDX-License-Identifier: Apache-2.0
// Everything the converter has to say about a model: what each source node became, and why one was
// refused. All findings of a conversion are collected before it fails.
#ifndef QRT_CONVERTER_REPORT_H_
#define QRT_CONVERTER_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace qrt::convert {

// kNotAssessed: an input comes from a refused node and is too little known to judge the reader.
enum class Outcome { kConverted, kRefused, kNotAssessed };

// One source node.
struct Finding {
  Outcome outcome;
  std::string node;    // name, or "#17 (Conv)" where it has none
  std::string op;      // "Conv", "com.microsoft.QLinearAdd"
  std::string result;  // converted: what it became, "Conv2D"; "folded" where it left no operator
  // converted: "I0", "I1", "edge", "F": what the front end expects, until set_levels() of levels.h has
  // read the written file; then "" where it has no operator of this name
  std::string level;
  // refused: the rule that failed, with values: "input 'x' is float32: not quantised"; not
  // assessed: "depends on refused node conv1"
  std::string rule;
  std::string tensor;   // refused: the tensor concerned, may be empty
  std::string remedy;   // refused: what to do
  bool is_node = true;  // else an input, an output, a constant, or the model as a whole
};

// A warning of --lint about one node: rules and numbers in lint.h.
struct Warning {
  using Numbers = std::vector<std::pair<std::string, double>>;
  std::string rule;  // "dead-channels"
  std::string node, op;
  std::string what;  // the finding in words, with its numbers
  std::string remedy;
  Numbers numbers;  // the numbers for programs
};

// The batches that the converted model can run.
struct BatchFinding {
  bool is_open = false;  // any
  int64_t size = 0;      // the source's own
  std::string why;       // reason why the batch is not open
};

// A dimension that the source leaves open, and its sizes: least, least + step, ... up to most. If least and most are
// equal, it has that size and no other.
struct DimensionFinding {
  std::string name;
  int64_t value, least, most, step;
  std::string tied_to;     // the dimension of whose size it has to be, or ""
  std::string limited_by;  // reason why its sizes were narrowed, or ""
};

// A dimension of the source whose size is a sum of others' by its name.
struct SumFinding {
  std::string name, sum;
};

// A scale that is no normal positive number, as a front end meets it. For lint(), which makes a
// warning of it: the graph need not hold the scale.
struct ScaleNote {
  std::string node, op, tensor;
  float scale;
};

// The sections that json() writes.
struct Sections {
  bool nodes = true, warnings = false;
};

class Report {
 public:
  void converted(std::string node, std::string op, std::string result, std::string level);
  void refused(std::string node, std::string op, std::string rule, std::string tensor,
               std::string remedy);
  // Adds a part of the file that is no node: `kind` says what it is, "input".
  void refused_in_file(std::string name, std::string kind, std::string rule, std::string remedy);
  void not_assessed(std::string node, std::string op, std::string rule);

  void note_scale(ScaleNote note) { scale_notes_.push_back(std::move(note)); }
  const std::vector<ScaleNote>& scale_notes() const { return scale_notes_; }

  void warn(Warning warning) { warnings_.push_back(std::move(warning)); }

  // Gives every converted node the level that `level` finds for it.
  template <class F>
  void set_levels(const F& level) {
    for (Finding& f : findings_)
      if (f.outcome == Outcome::kConverted) f.level = level(f);
  }

  void set_batch(BatchFinding batch) { batch_ = std::move(batch); }
  void set_dimensions(std::vector<DimensionFinding> all, std::vector<SumFinding> sums) {
    dimensions_ = std::move(all);
    sums_ = std::move(sums);
  }

  const std::vector<Warning>& warnings() const { return warnings_; }
  const std::vector<Finding>& findings() const { return findings_; }
  size_t count(Outcome outcome) const;
  bool has_refusals() const { return count(Outcome::kRefused) > 0; }
  // Returns "1 of 6 nodes refused", and how many inputs, outputs and constants were.
  std::string refusals() const;

  // Returns the report for people: a paragraph per refused node and a line per node not assessed
  // (and with `all`, one per converted node and one on the batch).
  std::string text(bool all) const;
  // Returns a paragraph per warning and their number.
  std::string warnings_text() const;
  // {"nodes": [{"node", "op", "outcome", "result", "level", "rule", "tensor", "remedy"}],
  // "refused": N, "not_assessed": N, "converted": N}; outcome is "converted", "refused" or
  // "not assessed". "batch": {"open", "size", "why"}, of a converted model, and
  // "dimensions": [{"name", "value", "least", "most", "step", "tied_to", "why"}] and "sums": [{"name", "sum"}] of one with
  // more open dimensions. And "warnings":
  // [{"rule", "node", "op", "what", "remedy", "numbers": {}}].
  std::string json(Sections sections = {}) const;

 private:
  std::vector<Finding> findings_;
  std::vector<ScaleNote> scale_notes_;
  std::vector<Warning> warnings_;
  std::vector<DimensionFinding> dimensions_;
  std::vector<SumFinding> sums_;
  BatchFinding batch_;  // size 0: not known
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_REPORT_H_
