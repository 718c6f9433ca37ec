// SPDX-License-Identifier: Apache-2.0
// Tensors whose length a run decides, outputs of SelectBoxes and NonZero: INT64, with room for as many entries as there may be, and -1
// behind the last one. The others are filled as a whole.
#ifndef QRT_RUNTIME_OPS_FOUND_H_
#define QRT_RUNTIME_OPS_FOUND_H_

#include <cstddef>
#include <cstdint>

#include "runtime/op.h"

namespace qrt {

// The numbers of a row that SelectBoxes writes: image, class, box.
constexpr size_t kSelectedBox = 3;

// Returns how many entries in front hold indices; their first numbers are `step` numbers apart.
inline size_t found_entries(const int64_t* first, size_t step, size_t entries) {
  size_t n = 0;
  while (n < entries && first[n * step] >= 0) ++n;
  return n;
}

// Returns the operator that writes a tensor, or null.
inline const fb::Operator* writer_of(const fb::Model& model, uint32_t tensor) {
  for (const fb::Operator* op : *model.operators())
    for (const uint32_t output : *op->outputs())
      if (output == tensor) return op;
  return nullptr;
}

// Returns how many entries of a tensor of this shape a run has filled: SelectBoxes fills rows, NonZero columns, and a Transpose of
// two dimensions turns them. Every other tensor is filled as a whole.
inline size_t found_entries(const fb::Model& model, uint32_t tensor, const Shape& shape,
                            const void* data) {
  const fb::Operator* op = writer_of(model, tensor);
  const bool is_turned = op != nullptr && op->options_type() == fb::OpOptions::Transpose &&
                         shape.rank() == 2 && op->options_as_Transpose()->perm()->Get(0) == 1;
  if (is_turned) op = writer_of(model, op->inputs()->Get(0));
  const auto size = [&](int d) { return shape.rank() > d ? static_cast<size_t>(shape[d]) : 1; };
  const fb::OpOptions type = op == nullptr ? fb::OpOptions::NONE : op->options_type();
  if (type != fb::OpOptions::SelectBoxes && type != fb::OpOptions::NonZero) return size(0);
  const auto* numbers = static_cast<const int64_t*>(data);
  if ((type == fb::OpOptions::NonZero) != is_turned) return found_entries(numbers, 1, size(1));
  return found_entries(numbers, size(1), size(0));
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_FOUND_H_
