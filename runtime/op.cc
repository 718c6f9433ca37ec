// The operator table, made from schema/ops.inc, and what every operator shares.
#include "runtime/op.h"

#include "runtime/ops/ops.h"

namespace qrt {

// clang-format off
const OpDef* find_op(fb::OpOptions type) {
  switch (type) {
#define QRT_OP(Name, stem) case fb::OpOptions::Name: return &k##Name##Op;
#include "schema/ops.inc"
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

namespace {

int level_of(const fb::Requant* requant) {
  return requant != nullptr && requant->kind() == fb::RequantKind::F32 ? 1 : 0;
}

}  // namespace

int arithmetic_level(const fb::Operator& op) {
  switch (op.options_type()) {
    case fb::OpOptions::Conv2D: return level_of(op.options_as_Conv2D()->requant());
    case fb::OpOptions::DepthwiseConv2D:
      return level_of(op.options_as_DepthwiseConv2D()->requant());
    case fb::OpOptions::FullyConnected: return level_of(op.options_as_FullyConnected()->requant());
    case fb::OpOptions::Mul: return level_of(op.options_as_Mul()->requant());
    case fb::OpOptions::GlobalAveragePool2D:
      return level_of(op.options_as_GlobalAveragePool2D()->requant());
    case fb::OpOptions::Add: return op.options_as_Add()->kind() == fb::AddKind::INT ? 0 : 1;
    case fb::OpOptions::BatchMatMul: return level_of(op.options_as_BatchMatMul()->requant());
    case fb::OpOptions::Lut: return op.options_as_Lut()->to_float() ? kEdgeLevel : 0;
    case fb::OpOptions::PairLut: return op.options_as_PairLut()->to_float() ? kEdgeLevel : 0;
    case fb::OpOptions::AveragePool2D:
      return op.options_as_AveragePool2D()->kind() == fb::AverageKind::INT_HALF_AWAY ? 0 : 1;
    case fb::OpOptions::DynamicProduct: return op.inputs()->size() > 4 ? kEdgeLevel : 0;
    case fb::OpOptions::Softmax: {
      const fb::SoftmaxKind kind = op.options_as_Softmax()->kind();
      return kind == fb::SoftmaxKind::F32 || kind == fb::SoftmaxKind::LOG_F32 ? 1 : 0;
    }
    case fb::OpOptions::ResizeLinear: {
      const fb::ResizeKind kind = op.options_as_ResizeLinear()->kind();
      return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED ? 1 : 0;
    }
    case fb::OpOptions::Concat:
    case fb::OpOptions::MaxPool2D:
    case fb::OpOptions::Requantize:
    case fb::OpOptions::Reshape:
    case fb::OpOptions::Transpose:
    case fb::OpOptions::Gather:
    case fb::OpOptions::Take:
    case fb::OpOptions::Svdf:
    case fb::OpOptions::Lstm:
    case fb::OpOptions::MinMax:
    case fb::OpOptions::Integer:
    case fb::OpOptions::Formula:
    case fb::OpOptions::Reduce:
    case fb::OpOptions::ValidBoxes:
    case fb::OpOptions::SuppressBoxes:
    case fb::OpOptions::ArgMax:
    case fb::OpOptions::TopK: return 0;
    case fb::OpOptions::Float: return kFloatLevel;
    case fb::OpOptions::Quantize:
    case fb::OpOptions::Dequantize:
    case fb::OpOptions::DynamicQuantize:
    case fb::OpOptions::NONE: break;
  }
  return kEdgeLevel;
}

}  // namespace qrt
