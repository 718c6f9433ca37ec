// Sizes at which a source with open dimensions is imported, to see what follows from them.
#ifndef QRT_CONVERTER_SIZES_PROBES_H_
#define QRT_CONVERTER_SIZES_PROBES_H_

#include <cstdint>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// Sizes by symbol.
using Sizes = std::vector<int64_t>;

// Steps of a Budget for each byte of constants that an import reads.
constexpr double kStepsPerByteRead = 1;

// Returns how many times what grows by the product of two sizes, as masks do, is larger at `to` than at `from`, at the most.
double growth_between(const Sizes& from, const Sizes& to);

// One way to choose sizes. The first of them are those that the file will hold.
struct ProbeFamily {
  std::vector<Sizes> sizes;
  int64_t unit = 1;  // of which all are multiples, but for batches
};

// Returns families in the order in which they should be tried: small unusual numbers, larger ones, multiples
// of powers of two. In each, no two dimensions that are not tied have the same size, every dimension changes alone once, with
// those that are tied to it, and all change together.
std::vector<ProbeFamily> probe_families(const std::vector<Symbol>& symbols);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_PROBES_H_
