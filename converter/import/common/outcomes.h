// SPDX-License-Identifier: Apache-2.0
// Keeps, for each node of the source file, the operator it became, the rule for which it was
// refused, or that it could not be assessed, because it reads what a refused node would have made.
// Refusing is not an error: an import goes on and says all that must change at once. Importers
// decide, Outcomes keeps and reports, each node once and in the file's order.
#ifndef QRT_CONVERTER_IMPORT_COMMON_OUTCOMES_H_
#define QRT_CONVERTER_IMPORT_COMMON_OUTCOMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "converter/report.h"

namespace qrt::convert {

class Outcomes {
 public:
  explicit Outcomes(Report* report) : report_(report) {}

  // Adds a node of the source, each once and in the file's order: from then on it is known by its
  // number, 0 first.
  void add_node(std::string label, std::string op);

  // --- nodes
  void became(int node, const std::string& result, const std::string& level);
  // Sets the operator that a node became, without a level of its own.
  void set_result(int node, const std::string& result) { at(node).result = result; }
  // Refuses a node for a rule. The first one that it breaks counts; later ones do not. `tensor` may be "".
  void refuse(int node, const std::string& rule, const std::string& tensor,
              const std::string& remedy);
  // Notes that a refused node has no form in float either that has the source's numbers.
  void refuse_float_form(int node) { at(node).float_form_refused = true; }
  bool is_float_form_refused(int node) const { return at(node).float_form_refused; }
  // Marks a node as not assessed, as its input comes from `origin`: a refused node or input as messages name it.
  void depends_on(int node, const std::string& origin);
  // Marks a node as not assessed for another reason.
  void skip(int node, const std::string& why);
  // Forgets the outcome of a node, which is judged again.
  void forget(int node);
  // Adds another thing to do about a refused node.
  void add_remedy(int node, const std::string& remedy);

  bool is_refused(int node) const { return !at(node).rule.empty(); }
  bool is_skipped(int node) const { return !at(node).skipped.empty(); }
  // Neither refused nor skipped.
  bool is_made(int node) const { return !is_refused(node) && !is_skipped(node); }
  // Returns what the node became; "" where became() has not been called.
  const std::string& result(int node) const { return at(node).result; }
  const std::string& label(int node) const { return at(node).label; }

  // --- inputs, outputs and initialisers of the model
  // Refuses one of them; `kind` says which it is.
  void refuse_outside(const char* kind, const std::string& name, const std::string& rule,
                      const std::string& remedy);
  // Notes for --lint the first of a tensor's scales that is zero, negative, denormal or not finite.
  // `node` is the one that has them.
  void note_scales(int node, const std::string& tensor, const std::vector<float>& scales);
  // Notes a tensor's scales at the first call for it only.
  void note_scales_once(int node, const std::string& tensor, const std::vector<float>& scales);

  // --- what tensors depend on
  // Returns the refused node or input that a tensor depends on; "" where nothing was refused.
  const std::string& origin(const std::string& tensor) const;
  void set_origin(const std::string& tensor, const std::string& origin);

  // Writes the findings of the first `nodes` nodes into the report. Those of which nothing was said
  // were folded.
  void write(size_t nodes);
  void write() { write(nodes_.size()); }
  bool any_refused() const { return report_->has_refusals(); }
  std::string refusals() const { return report_->refusals(); }

 private:
  struct NodeOutcome {
    std::string label, op;
    std::string result, level = "I0";  // result "": folded
    std::string rule, tensor, remedy;  // rule not empty: refused
    std::string skipped;               // why it was not assessed
    bool float_form_refused = false;
  };
  NodeOutcome& at(int node) { return nodes_[static_cast<size_t>(node)]; }
  const NodeOutcome& at(int node) const { return nodes_[static_cast<size_t>(node)]; }

  Report* report_;
  std::vector<NodeOutcome> nodes_;
  // Tensor -> the refused node or input that it depends on.
  std::unordered_map<std::string, std::string> origins_;
  std::unordered_set<std::string> noted_;  // tensors
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_OUTCOMES_H_
