// Everything the converter has to say about a model: what each source node became, and why one was
// refused. All findings of a conversion are collected before it fails.
#ifndef QRT_CONVERTER_REPORT_H_
#define QRT_CONVERTER_REPORT_H_

#include <string>
#include <vector>

namespace qrt::convert {

enum class Outcome { kConverted, kRefused };

// One source node.
struct Finding {
  Outcome outcome;
  std::string node;    // name, or "#17 (Conv)" where it has none
  std::string op;      // "Conv", "com.microsoft.QLinearAdd"
  std::string result;  // converted: what it became, "Conv2D"; "folded" where it left no operator
  std::string level;   // converted: "I0", "I1", "edge"
  std::string
      rule;  // refused: the rule that failed, with values: "input 'x' is float32: not quantised"
  std::string tensor;  // refused: the tensor concerned, may be empty
  std::string remedy;  // refused: what to do
};

class Report {
 public:
  void converted(std::string node, std::string op, std::string result, std::string level);
  void refused(std::string node, std::string op, std::string rule, std::string tensor,
               std::string remedy);

  const std::vector<Finding>& findings() const { return findings_; }
  bool has_refusals() const;

  // For people: one paragraph per refused node (and with `all`, one line per converted one).
  std::string text(bool all) const;
  // {"nodes": [{"node", "op", "outcome", "result", "level", "rule", "tensor", "remedy"}],
  // "refused": N, "converted": N}
  std::string json() const;

 private:
  std::vector<Finding> findings_;
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_REPORT_H_
