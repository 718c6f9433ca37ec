// SPDX-License-Identifier: Apache-2.0
// A run as json, for what prints it and for the page.
#ifndef QRT_BENCH_REPORT_JSON_H_
#define QRT_BENCH_REPORT_JSON_H_

#include <nlohmann/json.hpp>

#include "bench/report.h"

namespace qrt::bench {

nlohmann::ordered_json run_json(const Machine& machine, const Run& run);

}  // namespace qrt::bench

#endif  // QRT_BENCH_REPORT_JSON_H_
