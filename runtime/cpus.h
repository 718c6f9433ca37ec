// SPDX-License-Identifier: Apache-2.0
// Counts the CPUs that this process may keep busy at a time.
#ifndef QRT_RUNTIME_CPUS_H_
#define QRT_RUNTIME_CPUS_H_

#include <cstddef>
#include <string>

namespace qrt {

// Returns the number of CPUs of the calling thread's affinity mask, at most what the cgroup's quota pays
// for, at least 1. A quota of 2.5 gives 2: a run waits for its slowest thread, and with 3 the kernel
// would stop one of them in every period.
size_t usable_cpus();

// Returns how many CPUs the process's cgroup may keep busy: the least quota of CPU time among that cgroup
// and those above it, of either version of cgroups; infinity where there is no quota. In a container, the
// folder of its own cgroup is the root that it sees. Tests pass a folder in place of the root.
double cgroup_cpus(const std::string& root = "");

}  // namespace qrt

#endif  // QRT_RUNTIME_CPUS_H_
