// SPDX-License-Identifier: Apache-2.0
// The operator table, made from those of schema/ops.inc that are built, and what every operator shares.
#include "runtime/op.h"

#include "runtime/ops/ops.h"

namespace qrt {

// clang-format off
const OpDef* find_op(fb::OpOptions type) {
  switch (type) {
#define QRT_OP(Name, stem) case fb::OpOptions::Name: return &k##Name##Op;
#define QRT_NO_OP(Name) case fb::OpOptions::Name: break;
#include "built_ops.inc"
    case fb::OpOptions::NONE: break;
  }
  return nullptr;
}
// clang-format on

Result<const fb::Buffer*> InferContext::buffer(uint32_t index) const {
  const auto* buffers = model->buffers();
  QRT_MODEL_CHECK(index != 0 && index < buffers->size(),
                  "buffer index %u is out of range (1 to %u)", index, buffers->size() - 1);
  const fb::Buffer* buffer = buffers->Get(index);
  QRT_MODEL_CHECK(buffer->data() != nullptr && buffer->data()->size() != 0, "buffer %u is empty",
                  index);
  return buffer;
}

const OpTraits& traits_of(fb::OpOptions type) { return find_op(type)->traits; }

}  // namespace qrt
