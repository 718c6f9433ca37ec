// Cost estimates; see tasks.h.
#include "runtime/ops/tasks.h"

namespace qrt {

Speed speed_of(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return {1, 0.5, 0.02};
    case Isa::kAvx2: return {40, 15, 4};
    case Isa::kAvxVnni: return {80, 30, 4};
    case Isa::kAvx512Vnni: return {150, 50, 8};
    case Isa::kAvx512Vbmi: return {150, 50, 16};
    case Isa::kNeon: return {10, 5, 1.5};
    case Isa::kNeonDot: return {30, 8, 1.5};
    case Isa::kI8mm: return {60, 8, 1.5};
  }
  return {1, 0.5, 0.02};
}

size_t task_count(double ns, size_t units, size_t threads) {
  const double worth = ns / kMinTaskNs;
  size_t n = worth >= static_cast<double>(threads) ? threads : static_cast<size_t>(worth);
  if (n > units) n = units;
  return n < 1 ? 1 : n;
}

}  // namespace qrt
