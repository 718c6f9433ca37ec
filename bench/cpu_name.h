// SPDX-License-Identifier: Apache-2.0
// The name of a machine's CPU, from what Linux reports.
#ifndef QRT_BENCH_CPU_NAME_H_
#define QRT_BENCH_CPU_NAME_H_

#include <string>

namespace qrt::bench {

// Returns the CPU's name from `cpuinfo`, the content of /proc/cpuinfo, or "unknown" if there is
// none. On ARM, where Linux gives part numbers, the name counts the cores: "4 x Cortex-A55, 4 x
// Cortex-A76".
std::string cpu_name(const std::string& cpuinfo);

}  // namespace qrt::bench

#endif  // QRT_BENCH_CPU_NAME_H_
