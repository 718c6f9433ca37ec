// SPDX-License-Identifier: Apache-2.0
// Overrides: settings that the user gives for single nodes and tensors, on the command line, in a file, or as
// ranges that an earlier run has saved.
#ifndef QRT_CONVERTER_QUANTIZE_OVERRIDES_OVERRIDES_H_
#define QRT_CONVERTER_QUANTIZE_OVERRIDES_OVERRIDES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "converter/quantize/schemes/scheme.h"
#include "runtime/status.h"

namespace qrt::quantize {

// The range of one tensor; of one that was saved also the coding, which another scheme does not take.
struct GivenRange {
  Range range;
  Coding coding;
  bool has_coding = false;
};

struct Overrides {
  std::vector<std::string> exclude;  // nodes or types of operators that stay in float
  std::vector<std::pair<std::string, int>>
      bits;                                  // by pattern of nodes, tensors or weights: 8 or 16
  std::map<std::string, GivenRange> ranges;  // tensor -> its range
  bool is_equalised = false;                 // the ranges are those of the equalised model
};

// Returns whether a name is the pattern, or one of those that it stands for: `*` is any text, `?` any
// character.
bool matches(const std::string& pattern, const std::string& name);

// "PATTERN=16" and "TENSOR=-1:2.5". kInvalidArgument.
Status add_bits(const std::string& text, Overrides* overrides);
Status add_range(const std::string& text, Overrides* overrides);

// Adds what a JSON file holds: {"exclude": [...], "bits": {PATTERN: 16}, "ranges": {TENSOR: [low, high]}}, or what
// save_ranges() wrote. kInvalidArgument or kIoError.
Status read_overrides(const std::string& path, Overrides* overrides);

// Returns the codings of a quantised model in the form of such a file.
std::string save_ranges(const std::map<std::string, Coding>& codings, bool is_equalised);

// Returns the coding of `scheme` for a given range.
Coding coding_of(const GivenRange& given, const Scheme& scheme, int bits);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_OVERRIDES_OVERRIDES_H_
