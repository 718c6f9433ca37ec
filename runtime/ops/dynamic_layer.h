// The extension of Conv2D and FullyConnected to inputs that are quantised in the run (ONNX's
// DynamicQuantizeLinear): the zero point, and where the result is float32 the scale, are inputs, too,
// known only in a run. The packed weights and the kernels are those of every layer: the zero point goes
// into the bias, acc = sum of x * w - zero_point * sum of w, the scale into the kernel's store.
//
//   inputs 0..2 as ever, with requant ACC, then
//   3  x_zero_point UINT8, one element           y INT32 = acc; or, with
//   4  x_scale FLOAT32, one element, and
//   5  w_scale constant FLOAT32 [out], finite    y FLOAT32 = fl32(f(acc) * fl32(x_scale * w_scale[o]));
//                                                with
//   6  addend constant FLOAT32 [out], finite     y = fl32(that + addend[o])
#ifndef QRT_RUNTIME_OPS_DYNAMIC_LAYER_H_
#define QRT_RUNTIME_OPS_DYNAMIC_LAYER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/built.h"
#include "runtime/op.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

inline bool is_dynamic_layer(const InferContext& context) {
  return built::kDynamicLayers && context.inputs.size() > 3;
}

// The number of inputs, and those beyond the third. Layers of three inputs are in order.
Status check_dynamic_layer(const InferContext& context, size_t channels,
                           const fb::Requant* requant);

// Returns the output type of a layer with 8-bit activations.
DType layer_output_dtype(const InferContext& context, const fb::Requant* requant);

// Returns the arithmetic level. REQUIRES: a layer, dynamic or not.
template <class Options>
int level_of_layer(const fb::Operator& op) {
  const bool makes_floats = op.inputs()->size() > 4;
  return makes_floats ? kEdgeLevel : level_of_requant<Options>(op);
}

// A run's part of a dynamic layer.
class DynamicLayer {
 public:
  // REQUIRES: gemm is made. *scratch_bytes grows by what a run needs there. kOutOfMemory.
  Status prepare(const PrepareContext& context, const flatbuffers::Vector<int32_t>* weight_sum,
                 const GemmCall& gemm, size_t* scratch_bytes);

  bool is_used() const { return built::kDynamicLayers && tables_ != nullptr; }
  uint8_t zero_point(const Step& step, const RunContext& context) const {
    return *context.in(step, 3);
  }
  // Sets bias, and the requantisation to floats. They stand in the scratch area until the step
  // ends.
  void start(const Step& step, const RunContext& context, const GemmCall& gemm,
             GemmOperands* args) const;
  // Makes every NaN of the output the same one, where a scale of this run was no finite number.
  void finish(const Step& step, const RunContext& context, const GemmOperands& args,
              size_t elements) const;

 private:
  // Tables that the constants alone decide, with a value for each channel, laid out as GemmCall::bias.
  struct Tables {
    PlanVector<int32_t> sums;  // of weights
    PlanVector<float> w_scale, addend;
  };

  size_t at_ = 0;  // of the scratch area
  std::shared_ptr<const Tables> tables_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_DYNAMIC_LAYER_H_
