// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize.h"

#include "converter/quantize/steps/metric.h"

namespace qrt::quantize {

Status quantize(const Settings& settings, const Progress& progress,
                const std::function<void(const convert::Report&)>& plan, Quantised* result) {
  Work work(settings, progress, result);
  QRT_TRY(read_inputs(&work));
  if (settings.overrides.is_equalised) QRT_TRY(equalise_as_saved(&work));
  QRT_TRY(make_placement(&work));
  plan(work.findings().nodes);
  QRT_TRY(check_classes(&work));
  QRT_TRY(start(&work));
  QRT_TRY(check_calibration(&work));
  if (!settings.metric.empty()) QRT_TRY(measure(&work, nullptr, &work.findings().metric.real));
  QRT_TRY(climb(&work));
  QRT_TRY(find_errors(&work));
  if (settings.try_int16) QRT_TRY(try_int16(&work));
  QRT_TRY(build(&work));
  return compare(&work);
}

}  // namespace qrt::quantize
