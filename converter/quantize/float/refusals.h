// SPDX-License-Identifier: Apache-2.0
// The reasons why a model cannot be quantised, which are told all at once.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_REFUSALS_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_REFUSALS_H_

#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::quantize {

class Refusals {
 public:
  // Adds a reason that a node, or several of one operator, give, and what to do about it: a sentence that begins with a verb.
  void add(const std::string& op, const std::string& node, const std::string& why,
           const std::string& remedy);
  bool empty() const { return reasons_.empty(); }
  // Returns kUnsupported with all reasons, a line each behind the first where there are several.
  Status status() const;

 private:
  struct Reason {
    std::string op, why, remedy;
    std::vector<std::string> nodes;

    std::string text() const;
  };
  std::vector<Reason> reasons_;
};

// Returns what to do about a node that reads these values: the option that ends the model before it. `values`: those that nodes write.
std::string remedy_to_end_before(const std::vector<std::string>& values);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_REFUSALS_H_
