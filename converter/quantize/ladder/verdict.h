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

// Decides whether to keep a rung, one step of the quantisation ladder: the mean gain of the samples
// has to exceed its standard error, the noise has to fall below `enough` times the former noise,
// and no output, and no tenth of the samples ordered by error, may lose more than 1 dB. REQUIRES:
// `before` and `after` judge the same samples in the same order.
Verdict verdict(const std::vector<Value>& outputs, const Judgement& before, const Judgement& after,
                double enough = 1);

// Returns whether `now` is no worse than `other`, beyond chance, in the worst output and in the
// mean of all.
bool is_no_worse(const Judgement& now, const Judgement& other);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_LADDER_VERDICT_H_
