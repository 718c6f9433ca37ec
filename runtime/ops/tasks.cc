// Cost estimates; see tasks.h.
#include "runtime/ops/tasks.h"

namespace qrt {

Speed speed_of(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return {1, 0.2, 0.01, 0.5};
    case Isa::kAvx2: return {50, 15, 5, 30};
    case Isa::kAvxVnni: return {120, 25, 5, 30};
    case Isa::kAvx512Vnni: return {300, 80, 8, 40};
    case Isa::kAvx512Vbmi: return {300, 80, 16, 40};
    case Isa::kAmx: return {1000, 80, 16, 40};
    case Isa::kNeon: return {10, 5, 1, 5};
    case Isa::kNeonDot: return {30, 8, 1, 5};
    case Isa::kI8mm: return {60, 8, 1, 5};
  }
  return {1, 0.2, 0.01, 0.5};
}

size_t task_count(double ns, size_t units, size_t threads) {
  const double worth = ns / kMinTaskNs + 0.5;
  size_t n = worth >= static_cast<double>(threads) ? threads : static_cast<size_t>(worth);
  if (n > units) n = units;
  return n < 1 ? 1 : n;
}

}  // namespace qrt
