// SPDX-License-Identifier: Apache-2.0
// Permutations of dimensions, as in TransposeOptions: output dimension i is input dimension
// perm[i].
#ifndef QRT_CONVERTER_PERMUTATION_H_
#define QRT_CONVERTER_PERMUTATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert {

using Perm = std::vector<uint8_t>;

Perm identity_perm(int rank);
bool is_identity(const Perm& perm);
// Returns the permutation c with transpose(transpose(x, a), b) == transpose(x, c).
Perm compose(const Perm& a, const Perm& b);
Perm inverse(const Perm& perm);
// Shape of transpose(x, perm).
Shape permuted(const Shape& shape, const Perm& perm);
// Returns the dimension of transpose(x, perm) that dimension `axis` of x becomes.
int permuted_axis(int axis, const Perm& perm);

// Returns whether transpose(x, perm) has x's elements in x's order, for every size of dimension 0:
// only dimensions of size 1 behind it move.
bool moves_only_units(const Perm& perm, const Shape& shape);

// Returns the out_perm for which reshape(transpose(x, in_perm)) == transpose(reshape(x), out_perm),
// where reshape(x) has shape `out`; nothing if in_perm tears dimensions apart that the reshape
// joins. Dimensions of size 1 stay beside their neighbour.
std::optional<Perm> carry_through_reshape(const Shape& in, const Perm& in_perm, const Shape& out);

// Returns a constant with its dimensions permuted, as a new value. REQUIRES: it is not packed.
Value transposed_constant(const Value& constant, const Perm& perm);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_PERMUTATION_H_
