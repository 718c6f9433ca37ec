// SPDX-License-Identifier: Apache-2.0
// Decides how many tasks a step's work is worth. prepare() sets the number from an estimate of its
// time; run() only cuts (for_chunks() of parallel.h).
#ifndef QRT_RUNTIME_OPS_TASKS_H_
#define QRT_RUNTIME_OPS_TASKS_H_

#include <cstddef>

#include "kernels/isa.h"
#include "runtime/parallel.h"

namespace qrt {

// A task shorter than this is not worth handing to another thread (team.h): that takes some 0.3 us,
// and what it reads and writes has to move between the cores' caches.
constexpr double kMinTaskNs = 1000;

// Estimated speed of one core. A wrong estimate makes tasks uneven, but never changes results.
struct Speed {
  double macs;      // multiply-accumulates of the gemm family per ns
  double channels;  // depthwise multiply-accumulates per ns
  double elements;  // bytes of element-wise work (add, tables, quantisation) per ns
  double pooled;    // positions of windows times channels per ns
};
Speed speed_of(Isa isa);

constexpr double kCopyBytesPerNs = 10;  // streams through the shared cache
// For operands of a matrix product, which mostly come from L2.
constexpr double kReuseBytesPerNs = 30;

// Returns the number of tasks, at least 1, at most `units` and `threads`, each about kMinTaskNs long at least.
size_t task_count(double ns, size_t units, size_t threads);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_TASKS_H_
