// Numpy broadcasting; see broadcast.h.
#include "runtime/ops/broadcast.h"

#include <algorithm>

#include "runtime/ops/check.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// How many runs to join: both operands advance within a run, and in the innermost loop one is
// repeated while the other continues where the run ends.
size_t runs_to_join(const Broadcast& p) {
  if (p.rank == 0 || p.a_is_scalar || p.b_is_scalar) return 1;
  const size_t inner = p.rank - 1, a = p.a_stride[inner], b = p.b_stride[inner];
  if (!(a == 0 && b == p.run) && !(b == 0 && a == p.run)) return 1;
  const size_t bytes = p.run * (a == 0 ? p.a_bytes : p.b_bytes);
  return std::max<size_t>(std::min(Joined::kBytes / bytes, p.dims[inner]), 1);
}

// Dimension i of `shape` right-aligned to `rank` dimensions.
int64_t aligned_dim(const Shape& shape, int rank, int i) {
  const int j = i - (rank - shape.rank());
  return j < 0 ? 1 : shape[j];
}

}  // namespace

Status infer_broadcast(const InferContext& context, Shape* shape) {
  QRT_TRY(check_activation(context, 0, "a"));
  QRT_TRY(check_dtype(context, 1, "b", context.inputs[0].type.dtype));
  return infer_broadcast_shape(context, shape);
}

Status infer_broadcast_shape(const InferContext& context, Shape* shape) {
  const Shape& a = context.inputs[0].type.shape;
  const Shape& b = context.inputs[1].type.shape;
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank; ++i) {
    const int64_t da = aligned_dim(a, rank, i), db = aligned_dim(b, rank, i);
    QRT_MODEL_CHECK(da == db || da == 1 || db == 1,
                    "shapes %s and %s do not broadcast: dimensions %lld and %lld, expected equal "
                    "ones or 1",
                    a.to_string().c_str(), b.to_string().c_str(), static_cast<long long>(da),
                    static_cast<long long>(db));
    shape->push_back(da == 1 ? db : da);
  }
  return Status();
}

Broadcast plan_broadcast(const PrepareContext& context, double ns) {
  const Shape &a = context.inputs[0].type.shape, &b = context.inputs[1].type.shape;
  const Shape& out = context.outputs[0].shape;
  Broadcast p;
  p.a_bytes = dtype_bytes(context.inputs[0].type.dtype);
  p.b_bytes = dtype_bytes(context.inputs[1].type.dtype);
  p.output_bytes = dtype_bytes(context.outputs[0].dtype);
  p.tasks = task_count(ns * static_cast<double>(out.elements()),
                       static_cast<size_t>(out.elements()), context.threads);
  size_t a_elements = 1, b_elements = 1;  // inner to the current dimension
  // From the innermost outwards; loops are gathered innermost first.
  bool has_run = false;
  for (int i = out.rank(); i-- > 0;) {
    const size_t d = static_cast<size_t>(out[i]);
    if (d == 1) continue;
    const bool a_varies = aligned_dim(a, out.rank(), i) != 1;
    const bool b_varies = aligned_dim(b, out.rank(), i) != 1;
    const size_t a_stride = a_varies ? a_elements : 0, b_stride = b_varies ? b_elements : 0;
    a_elements *= a_varies ? d : 1;
    b_elements *= b_varies ? d : 1;
    if (!has_run) {
      p.run = d;
      p.a_is_scalar = !a_varies;
      p.b_is_scalar = !b_varies;
      has_run = true;
      continue;
    }
    // Extends the dimension inside it if both operands continue where they end.
    if (p.rank == 0) {
      const bool a_continues = a_stride == (p.a_is_scalar ? 0 : p.run);
      const bool b_continues = b_stride == (p.b_is_scalar ? 0 : p.run);
      if (a_continues && b_continues) {
        p.run *= d;
        continue;
      }
    } else {
      const size_t inner = p.rank - 1;
      if (a_stride == p.a_stride[inner] * p.dims[inner] &&
          b_stride == p.b_stride[inner] * p.dims[inner]) {
        p.dims[inner] *= d;
        p.runs *= d;
        continue;
      }
    }
    p.dims[p.rank] = d;
    p.a_stride[p.rank] = a_stride;
    p.b_stride[p.rank] = b_stride;
    ++p.rank;
    p.runs *= d;
  }
  std::reverse(p.dims, p.dims + p.rank);
  std::reverse(p.a_stride, p.a_stride + p.rank);
  std::reverse(p.b_stride, p.b_stride + p.rank);
  p.joined = runs_to_join(p);
  return p;
}

}  // namespace qrt
