// SPDX-License-Identifier: Apache-2.0
// --html: what was measured as a page for a browser.
#ifndef QRT_BENCH_PAGE_H_
#define QRT_BENCH_PAGE_H_

#include <string>
#include <vector>

#include "bench/report.h"
#include "runtime/status.h"

namespace qrt::bench {

Status write_page(const std::string& path, const Machine& machine, const std::vector<Run>& runs);

}  // namespace qrt::bench

#endif  // QRT_BENCH_PAGE_H_
