// SPDX-License-Identifier: Apache-2.0
// Rules for the interval of a tensor's values that its integers should cover: each reads one from
// the histogram. Values outside are clipped.
#ifndef QRT_CONVERTER_QUANTIZE_RANGES_RULES_H_
#define QRT_CONVERTER_QUANTIZE_RANGES_RULES_H_

#include <string>
#include <vector>

#include "converter/quantize/ranges/histogram.h"
#include "converter/quantize/schemes/scheme.h"

namespace qrt::quantize {

enum class Rule {
  kMinMax,
  kPercentile99999,
  kPercentile9999,
  kPercentile999,
  kSquares,
  kEntropy,
  kSearch,  // the coding of the other rules' candidates with the least error at the outputs
  kGiven,   // the user's
};
const char* rule_name(Rule rule);      // "min-max"
const std::vector<Rule>& all_rules();  // the rules that read a histogram

struct RangeChoice {
  Rule rule = Rule::kMinMax;
  Coding coding;
  double error = 0;  // mean square, by the histogram
};

// Returns the mean square of the difference between the values and what their integers stand for.
double coding_error(const Histogram& values, const Coding& coding);
// Returns the share of the values that a coding clips.
double clipped_fraction(const Histogram& values, const Coding& coding);

// Returns the result of each rule, each coding once, least error first. With 16 bits the least alone, with
// headroom for values beyond those of the samples.
std::vector<RangeChoice> range_choices(const Histogram& values, const Scheme& scheme, int bits);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_RANGES_RULES_H_
