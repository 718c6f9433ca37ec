// SPDX-License-Identifier: Apache-2.0
// Decides whether a rung of the ladder stays, by the errors of the same samples without it and with it.
#ifndef QRT_CONVERTER_QUANTIZE_LADDER_VERDICT_H_
#define QRT_CONVERTER_QUANTIZE_LADDER_VERDICT_H_

#include <string>
#include <vector>

#include "converter/quantize/report/comparison.h"

namespace qrt::quantize {

struct Verdict {
  bool is_kept = false;
  std::string why;  // the reason, in words for the report
};

// Decides whether a rung stays: the mean of the gains of each sample has to exceed its standard error,
// the noise to fall below `enough` times what it was, and no output, and no tenth of the samples ordered
// by their errors, may lose more than 1 dB. REQUIRES: both judged the same samples in the same order.
Verdict verdict(const std::vector<Value>& outputs, const Judgement& before, const Judgement& after,
                double enough = 1);

// Returns whether `now` is as good as `other`, but for chance: in the worst output and in the mean of all.
bool is_no_worse(const Judgement& now, const Judgement& other);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_LADDER_VERDICT_H_
