// SPDX-License-Identifier: Apache-2.0
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

// Returns a bound on the growth, from sizes `from` to sizes `to`, of data whose size is a product of two symbols, such as a mask:
// the square of the largest ratio of one symbol's sizes, at least 1.
double growth_between(const Sizes& from, const Sizes& to);

// Sizes for the imports of one attempt. The file's shapes will have those of sizes[0].
struct ProbeFamily {
  std::vector<Sizes> sizes;
  int64_t unit =
      1;  // all sizes are its multiples, except those of batches and where limits ask for others
};

// Returns families in the order in which they should be tried: medium sizes, two smaller ranges, large sizes, then multiples of
// 2, 4, ... 64. In each, every symbol that is not tied changes alone once, together with those tied to it, and all change
// together. Sizes of symbols that are not tied differ as far as their limits and the lists of numbers allow.
std::vector<ProbeFamily> probe_families(const std::vector<Symbol>& symbols);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_PROBES_H_
