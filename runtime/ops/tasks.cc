// SPDX-License-Identifier: Apache-2.0
// Cost estimates; see tasks.h.
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

struct Row {
  Isa isa;
  Speed speed;
};

constexpr Row kRows[] = {
#define QRT_ISA(architecture, Name, suffix, base, flags, peak, ...) {Isa::k##Name, {__VA_ARGS__}},
#include "kernels/isa.inc"
};

}  // namespace

Speed speed_of(Isa isa) {
  for (const Row& row : kRows)
    if (row.isa == isa) return row.speed;
  return kRows[0].speed;  // the scalar set's
}

size_t task_count(double ns, size_t units, size_t threads) {
  const double worth = ns / kMinTaskNs + 0.5;
  size_t n = worth >= static_cast<double>(threads) ? threads : static_cast<size_t>(worth);
  if (n > units) n = units;
  return n < 1 ? 1 : n;
}

}  // namespace qrt
