#include "runtime/infer.h"
#include "runtime/tools/inspect/describe.h"

namespace qrt::tool {
namespace {

std::string requant_name(const fb::Requant* r) {
  if (r == nullptr) return "";
  switch (r->kind()) {
    case fb::RequantKind::ACC: return "accumulators";
    case fb::RequantKind::INT: return "RQ_INT, " + std::to_string(r->stages()->size()) + " stages";
    case fb::RequantKind::F32: break;
  }
  return std::string("RQ_F32, ") +
         (r->rounding() == fb::Rounding::HALF_UP ? "half up" : "half even") +
         (!r->zero_point_before() ? ""
          : r->fused()            ? ", zero point before (fma)"
                                  : ", zero point before") +
         (r->scale() != nullptr && r->scale()->size() > 1 ? ", per channel" : "");
}

}  // namespace

std::string arithmetic(const fb::Operator& op) {
  const OpTraits& traits = traits_of(op.options_type());
  if (traits.arithmetic == Arithmetic::kMoves) return "move";
  if (const fb::Requant* requant = traits.requant(op))
    return requant_name(requant) + (op.options_as_Lstm() ? ", tables" : "");
  switch (op.options_type()) {
    case fb::OpOptions::Add:
      switch (op.options_as_Add()->kind()) {
        case fb::AddKind::F32_FMA: return "EW_F32, fma";
        case fb::AddKind::F32_MUL_ADD: return "EW_F32, mul, add";
        case fb::AddKind::INT: break;
      }
      return "EW_INT";
    case fb::OpOptions::AveragePool2D:
      return op.options_as_AveragePool2D()->kind() == fb::AverageKind::INT_HALF_AWAY
                 ? "integer average, half away"
                 : "ordered float32 sum";
    case fb::OpOptions::Softmax:
      switch (op.options_as_Softmax()->kind()) {
        case fb::SoftmaxKind::F32: break;
        case fb::SoftmaxKind::Q5_26:
          if (op.options_as_Softmax()->stages() && op.options_as_Softmax()->stages()->size() > 0)
            return "tables, fixed-point logarithm";
          return "table, fixed-point reciprocal";
        case fb::SoftmaxKind::Q5_26_TO_INT16: return "table, fixed-point reciprocal";
        case fb::SoftmaxKind::INT16: return "interpolated tables";
        case fb::SoftmaxKind::INT16_ANY_SCALE: return "table, integer quotient";
        case fb::SoftmaxKind::F32_RECIPROCAL: return "table, ordered float32 sum, reciprocal";
        case fb::SoftmaxKind::LOG_F32: return "table, ordered float32 sum, logarithm";
      }
      return "table, ordered float32 sum";
    case fb::OpOptions::Lut:
      return op.options_as_Lut()->per_channel() ? "table per channel" : "table";
    case fb::OpOptions::MaxPool2D: return "maximum";
    case fb::OpOptions::PairLut: return "table of pairs";
    case fb::OpOptions::MinMax: return op.options_as_MinMax()->maximum() ? "maximum" : "minimum";
    case fb::OpOptions::ArgMax:
      return op.options_as_ArgMax()->minimum() ? "index of the minimum" : "index of the maximum";
    case fb::OpOptions::TopK: return "order";
    case fb::OpOptions::ResizeLinear:
      switch (op.options_as_ResizeLinear()->kind()) {
        case fb::ResizeKind::F32:
        case fb::ResizeKind::F32_TRUNCATED: return "ordered float32 sum";
        default: return "integer sum";
      }
    case fb::OpOptions::Quantize: return "float32 division, half even";
    case fb::OpOptions::Dequantize: return "float32 product";
    case fb::OpOptions::DynamicProduct: return "float32 scales from inputs, half even";
    case fb::OpOptions::DynamicQuantize: return "float32 division, half even, scale from the data";
    case fb::OpOptions::Integer:
      return std::string("integer ") +
             fb::EnumNameIntegerFunction(op.options_as_Integer()->function());
    case fb::OpOptions::Formula: {
      const auto* o = op.options_as_Formula();
      const auto count = [](const auto* steps) { return steps ? steps->size() : 0; };
      std::string text =
          std::to_string(count(o->a_steps()) + count(o->b_steps()) + count(o->steps())) +
          " int32 steps";
      if (op.inputs()->size() == 2)
        text += std::string(" around ") + fb::EnumNameFormulaPair(o->pair());
      return text;
    }
    case fb::OpOptions::Reduce: return op.options_as_Reduce()->maximum() ? "maximum" : "int32 sum";
    case fb::OpOptions::ValidBoxes: return "selection";
    case fb::OpOptions::SuppressBoxes: return "int64 overlaps";
    case fb::OpOptions::DetectionPostProcess: return "float32 boxes";
    case fb::OpOptions::L2Normalization: return "int32 sum, reciprocal root by Newton's steps";
    case fb::OpOptions::Float:
      return std::string("float ") + fb::EnumNameFloatFunction(op.options_as_Float()->function());
    default: return "";
  }
}

}  // namespace qrt::tool
