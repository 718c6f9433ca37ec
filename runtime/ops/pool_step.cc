// Geometry and cutting of pools; see pool_step.h.
#include "runtime/ops/pool_step.h"

namespace qrt {

Status infer_pool(const InferContext& context, WindowAxis height, WindowAxis width,
                  PoolShape* shape) {
  const ImageShape x = image_shape(context.inputs[0].type.shape);
  height.in = x.h;
  width.in = x.w;
  QRT_TRY(infer_window("height", &height));
  QRT_TRY(infer_window("width", &width));
  QRT_TRY(check_windows_inside("height", height));
  QRT_TRY(check_windows_inside("width", width));
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  *shape = {size(height.in),       size(width.in),       size(x.c),
            size(height.out),      size(width.out),      size(height.kernel),
            size(width.kernel),    size(height.stride),  size(width.stride),
            size(height.dilation), size(width.dilation), size(height.pad_begin),
            size(width.pad_begin)};
  return Status();
}

Status add_pool_output(const InferContext& context, const PoolShape& shape,
                       std::vector<TensorType>* outputs) {
  return add_output(context.inputs[0].type.dtype,
                    with_planes(context.inputs[0].type.shape, static_cast<int64_t>(shape.out_h),
                                static_cast<int64_t>(shape.out_w), static_cast<int64_t>(shape.c)),
                    outputs);
}

void make_pool(const PrepareContext& context, PoolStep* pool) {
  pool->kernel = select_pool(context.isas);
  pool->images = static_cast<size_t>(image_shape(context.inputs[0].type.shape).images);
  const PoolShape& s = pool->shape;
  const double operations = static_cast<double>(context.outputs[0].shape.elements()) *
                            static_cast<double>(s.kernel_h) * static_cast<double>(s.kernel_w);
  pool->tasks = task_count(operations / speed_of(pool->kernel->isa).pooled, pool->images * s.out_h,
                           context.threads);
}

}  // namespace qrt
