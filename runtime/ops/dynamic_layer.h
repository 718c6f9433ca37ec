// SPDX-License-Identifier: Apache-2.0
// The common part of Conv2D and FullyConnected for inputs that are quantised in the run itself (ONNX's
// DynamicQuantizeLinear, TFLite's dynamic range): the zero point, and where the result is float32 the
// scale, are inputs, too, known only in a run. The packed weights and the kernels are those of every
// layer: the zero point goes into the bias, acc = sum of x * w - zero_point * sum of w, the scale into
// the kernel's store.
//
//   inputs 0..2 as of a layer with constant scales, with requant ACC, then
//   3  x_zero_point UINT8, one element           y INT32 = acc; or, with
//   4  x_scale FLOAT32, one element, and
//   5  w_scale constant FLOAT32 [out], finite    y FLOAT32 = fl32(f(acc) * fl32(x_scale * w_scale[o]));
//                                                with
//   6  addend constant FLOAT32 [out], finite     y = fl32(that + addend[o])
//
// Inputs 3 and 4 may have one element for each image, of a FullyConnected for each row: an image is
// then a product of its own; of rows the sums are made with the zero point 0, and what they lack is
// subtracted where they become floats. These rows, and results whose options have a `store`, become
// floats in the place of their sums, after the products; both need input 6.
#ifndef QRT_RUNTIME_OPS_DYNAMIC_LAYER_H_
#define QRT_RUNTIME_OPS_DYNAMIC_LAYER_H_

#include <cstddef>
#include <cstdint>

#include "kernels/built.h"
#include "kernels/edge/edge.h"
#include "runtime/op.h"
#include "runtime/ops/gemm_call.h"

namespace qrt {

inline bool is_dynamic_layer(const InferContext& context) {
  return built::kDynamicLayers && context.inputs.size() > 3;
}

// Checks the number of inputs, those beyond the third, and the store; layers of three inputs always
// pass. `rows`: images or rows, which may have scales of their own.
Status check_dynamic_layer(const InferContext& context, size_t channels, int64_t rows,
                           const fb::Requant* requant, const fb::FloatStore* store);

// Returns how many scales a layer's input has: 1, or one for each row.
inline size_t scales_of(const InferContext& context) {
  return is_dynamic_layer(context) ? static_cast<size_t>(context.inputs[3].type.shape.elements())
                                   : 1;
}

// Returns the output type of a layer with 8-bit activations.
DType layer_output_dtype(const InferContext& context, const fb::Requant* requant);

// Returns the arithmetic level. REQUIRES: a layer, dynamic or not.
template <class Options>
int level_of_layer(const fb::Operator& op) {
  const bool makes_floats = op.inputs()->size() > 4;
  return makes_floats ? kEdgeLevel : level_of_requant<Options>(op);
}

// The part of a dynamic layer that each run does: bias and requantisation from the run's zero point
// and scale, then floats from the sums.
class DynamicLayer {
 public:
  // REQUIRES: gemm is made, of one image where each has its scale. *scratch_bytes grows by what a run
  // needs there. `each_row`: the scales of several are those of the product's rows. kOutOfMemory.
  Status prepare(const PrepareContext& context, const flatbuffers::Vector<int32_t>* weight_sum,
                 const fb::FloatStore* store, bool each_row, const GemmCall& gemm,
                 size_t* scratch_bytes);

  bool is_used() const { return built::kDynamicLayers && tables_ != nullptr; }
  uint8_t zero_point(const Step& step, const RunContext& context, size_t image) const {
    return context.in(step, 3)[image];
  }
  // Sets bias, and the requantisation to floats. They stand in the scratch area until the step
  // ends, or starts with the next image.
  void start(const Step& step, const RunContext& context, const GemmCall& gemm, size_t image,
             GemmOperands* args) const;
  // Ends what start() began, the results `elements` from y on: makes floats of sums; else, where a
  // scale of this run was no finite number, makes every NaN the same one.
  void finish(const Step& step, const RunContext& context, const GemmOperands& args, size_t image,
              uint8_t* y, size_t elements) const;

 private:
  void store_floats(const Step& step, const RunContext& context, size_t image, uint8_t* y,
                    size_t elements) const;

  // Tables that the constants alone decide, with a value for each channel, laid out as GemmCall::bias.
  struct Tables {
    PlanVector<int32_t> sums;  // sums of the weights
    PlanVector<float> w_scale, addend;
  };

  size_t at_ = 0;  // offset in the scratch area
  std::shared_ptr<const Tables> tables_;
  // Where floats are made of sums, after the products.
  const EdgeKernel* kernel_ = nullptr;
  SumStore store_{};  // the fields that no run changes
  bool each_row_ = false;
  size_t tasks_ = 1;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_DYNAMIC_LAYER_H_
