// SPDX-License-Identifier: Apache-2.0
// The parts of schema/parts.inc: which of them a model needs, and whether this library has them.
#ifndef QRT_RUNTIME_PARTS_H_
#define QRT_RUNTIME_PARTS_H_

#include <vector>

#include "kernels/built.h"
#include "runtime/infer.h"

namespace qrt {

struct Part {
  const char* name;
  bool is_built;
};

// Returns the part of a library that tensors of this type, or this operator, need; null: every
// library has it.
const Part* part_of(DType dtype);
const Part* part_of(const fb::Operator& op);
// Returns the part that a model's symbols, sizes and rules need; null where it has none of them.
const Part* part_of_sizes(const fb::Model& model);

// Returns all parts that a model needs, once each.
std::vector<const Part*> parts_of(const fb::Model& model);

}  // namespace qrt

#endif  // QRT_RUNTIME_PARTS_H_
