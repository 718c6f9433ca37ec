// Layout of boundary operators; see boundary_step.h.
#include "runtime/ops/boundary_step.h"

#include "runtime/ops/check.h"

namespace qrt {

void make_boundary(const PrepareContext& context, const flatbuffers::Vector<uint32_t>& scale,
                   const flatbuffers::Vector<int32_t>& zero_point, int32_t axis,
                   BoundaryStep* step) {
  const Shape& x = context.inputs[0].type.shape;
  step->kernel = select_boundary(context.isas);
  if (axis == -1) {
    step->inner = static_cast<size_t>(x.elements());
  } else {
    for (int i = 0; i < axis; ++i) step->outer *= static_cast<size_t>(x[i]);
    step->channels = static_cast<size_t>(x[axis]);
    step->inner = static_cast<size_t>(x.elements()) / (step->outer * step->channels);
    if (step->channels == 1) {  // as per tensor
      step->inner *= step->outer;
      step->outer = 1;
    }
  }
  for (uint32_t bits : scale) step->scale.push_back(float_of(bits));
  step->zero_point.assign(zero_point.begin(), zero_point.end());
  const size_t units = step->is_last()                     ? step->outer
                       : step->outer * step->channels == 1 ? step->inner
                                                           : step->outer * step->channels;
  step->tasks = task_count(static_cast<double>(x.elements()) / speed_of(step->kernel->isa).elements,
                           units, context.threads);
}

}  // namespace qrt
