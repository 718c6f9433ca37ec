// SPDX-License-Identifier: Apache-2.0
// Measures a flatbuffer with all that it shares counted at every use. Tables and vectors of a file
// may stand for many things at once: a megabyte can hold one vector that a hundred thousand tensors
// name, and a reader that looks at each of them looks at gigabytes. A file whose tree is not much larger
// than itself bounds all that reading it can take, whatever the reader does.
#ifndef QRT_RUNTIME_UNSHARED_H_
#define QRT_RUNTIME_UNSHARED_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace flatbuffers {
struct TypeTable;
class Table;
}  // namespace flatbuffers

namespace qrt {

// Checks that the tree below `root` has at most kMaxSharing times `file_bytes`, or at most
// kFewUnsharedBytes beyond that; else kInvalidModel. Takes time in proportion to the limit at most.
// REQUIRES: a verified flatbuffer of `type` without cycles, which no verified one has; no field of
// the schema is marked deprecated, since those are not verified.
Status check_unshared(const flatbuffers::Table* root, const flatbuffers::TypeTable* type,
                      size_t file_bytes);

// Returns the type of a union's member; null: none, or one that this build does not know.
const flatbuffers::TypeTable* union_member(const flatbuffers::TypeTable& of, uint8_t member);

// Generous: what qrt's own converter writes shares nothing, other writers may share small tables.
constexpr size_t kMaxSharing = 16;
constexpr size_t kFewUnsharedBytes = size_t{64} << 20;

}  // namespace qrt

#endif  // QRT_RUNTIME_UNSHARED_H_
