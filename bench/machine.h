// SPDX-License-Identifier: Apache-2.0
// The machine that is measured on: what it is, and which of its CPUs this program may use.
#ifndef QRT_BENCH_MACHINE_H_
#define QRT_BENCH_MACHINE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::bench {

struct Machine {
  std::string cpu, os;  // "Intel(R) Xeon(R) ...", "Linux 6.1.0 x86_64"
  size_t cpus = 0;      // that this process may use at a time: affinity mask and cgroup quota
};
Machine this_machine();

// "2026-01-31T12:00:00Z"
std::string utc_now();

// Keeps this thread, and those that it will start, on some CPUs: "big" or "little" by the capacities
// that the system tells, or a list such as "0,2-3". kInvalidArgument.
Status set_affinity(const std::string& text);
// Binds the thread to the CPUs of a hexadecimal mask: "5" or "0x5" is CPUs 0 and 2.
Status set_cpu_mask(const std::string& mask);

// Return the mean frequency of the CPUs that this thread may use, and the machine's temperature; 0
// where these cannot be read.
double frequency_mhz();
double temperature_celsius();

}  // namespace qrt::bench

#endif  // QRT_BENCH_MACHINE_H_
