// Sizes at which a source with open dimensions is imported, to see what follows from them.
#ifndef QRT_CONVERTER_SIZES_PROBES_H_
#define QRT_CONVERTER_SIZES_PROBES_H_

#include <cstdint>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

// Sizes by symbol.
using Sizes = std::vector<int64_t>;

// Returns the symbols whose names, joined by plus signs, are this one's name, in that order; none where the name is no such
// sum, or has more terms than there are symbols.
std::vector<size_t> summands(const std::vector<Symbol>& symbols, size_t index);

// Gives every symbol whose name is a sum of others' ("past + seq") the sum of their sizes.
void set_sums(const std::vector<Symbol>& symbols, Sizes* sizes);

// One way to choose sizes. The first of them are those that the file will hold.
struct ProbeFamily {
  std::vector<Sizes> sizes;
  int64_t unit = 1;  // of which all are multiples, but for batches
};

// Returns families in the order in which they should be tried: small unusual numbers, larger ones, multiples
// of powers of two; all dimensions apart, or those that may have to be equal tied. A dimension whose name is a
// sum of others' ("past + seq") is their sum in all of them. In each, no two dimensions that are apart have the
// same size, every dimension changes alone once, and all change together.
std::vector<ProbeFamily> probe_families(const std::vector<Symbol>& symbols);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_PROBES_H_
