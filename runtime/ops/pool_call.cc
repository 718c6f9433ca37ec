// SPDX-License-Identifier: Apache-2.0
// Geometry and cutting of pools; see pool_call.h.
#include "runtime/ops/pool_call.h"

namespace qrt {

Status infer_pool(const InferContext& context, WindowAxes axes, PoolShape* shape) {
  const Shape& x = context.inputs[0].type.shape;
  QRT_TRY(infer_windows(x, &axes, shape));
  QRT_TRY(check_windows_inside("height", axes.height));
  QRT_TRY(check_windows_inside("width", axes.width));
  shape->c = static_cast<size_t>(image_shape(x).c);
  return Status();
}

Status add_pool_output(const InferContext& context, const PoolShape& shape, TensorTypes* outputs) {
  return add_output(context.inputs[0].type.dtype,
                    with_planes(context.inputs[0].type.shape, static_cast<int64_t>(shape.out_h),
                                static_cast<int64_t>(shape.out_w), static_cast<int64_t>(shape.c)),
                    outputs);
}

void make_pool(const PrepareContext& context, PoolCall* pool) {
  pool->kernel = select_pool(context.isas);
  pool->images = static_cast<size_t>(image_shape(context.inputs[0].type.shape).images);
  const PoolShape& s = pool->shape;
  const double operations = static_cast<double>(context.outputs[0].shape.elements()) *
                            static_cast<double>(s.kernel_h) * static_cast<double>(s.kernel_w);
  pool->tasks = task_count(operations / speed_of(pool->kernel->isa).pooled, pool->images * s.out_h,
                           context.threads);
}

}  // namespace qrt
