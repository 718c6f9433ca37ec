// SPDX-License-Identifier: Apache-2.0
// Layers whose input's zero point and scale are known only in a run; see dynamic_layer.h.
#include "runtime/ops/dynamic_layer.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/integer_build.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

enum Input : size_t { kZeroPoint = 3, kScale, kWeightScale, kAddend };

// Checks that a parameter has one element, or one for each row.
Status check_parameter(const InferContext& context, size_t i, const char* what, DType dtype,
                       int64_t rows) {
  QRT_TRY(check_dtype(context, i, what, dtype));
  const Shape& shape = context.inputs[i].type.shape;
  const int64_t elements = shape.elements();
  QRT_MODEL_CHECK(elements == 1 || elements == rows,
                  "input %zu (%s) has shape %s, expected 1 or %lld elements", i, what,
                  shape.to_string().c_str(), static_cast<long long>(rows));
  return Status();
}

Status check_store(const fb::FloatStore& store) {
  const float lo = float_of(store.lo()), hi = float_of(store.hi());
  QRT_MODEL_CHECK(lo <= hi, "store limits to %g..%g, expected numbers in ascending order",
                  static_cast<double>(lo), static_cast<double>(hi));
  return Status();
}

Status check_finite(const InferContext& context, size_t i, const char* what, size_t channels) {
  QRT_TRY(
      check_plain_constant(context, i, what, DType::kFloat32, {static_cast<int64_t>(channels)}));
  if (context.knows_constants) return Status();
  for (size_t c = 0; c < channels; ++c) {
    float v;
    memcpy(&v, context.inputs[i].data + c * sizeof v, sizeof v);
    QRT_MODEL_CHECK(std::isfinite(v),
                    "input %zu (%s) is %g for channel %zu, expected a finite number", i, what,
                    static_cast<double>(v), c);
  }
  return Status();
}

// Values of one for each channel where the kernels read them.
template <class T>
PlanVector<T> repeat_for_groups(const T* values, const GemmCall& gemm) {
  const size_t stride = channel_stride(gemm.n);
  PlanVector<T> result(gemm.bias().size(), T{});
  for (size_t g = 0; g < gemm.groups; ++g)
    memcpy(result.data() + g * stride, values + g * gemm.n, gemm.n * sizeof(T));
  return result;
}

PlanVector<float> repeat_floats_for_groups(const OpInput& input, const GemmCall& gemm) {
  PlanVector<float> values(input.data_bytes / sizeof(float));
  memcpy(values.data(), input.data, input.data_bytes);
  return repeat_for_groups(values.data(), gemm);
}

}  // namespace

Status check_dynamic_layer(const InferContext& context, size_t channels, int64_t rows,
                           const fb::Requant* requant, const fb::FloatStore* store) {
  const size_t inputs = context.inputs.size();
  QRT_MODEL_CHECK(inputs == 3 || inputs == 4 || inputs == 6 || inputs == 7,
                  "has %zu inputs, expected 3, or 4, 6 or 7 with a zero point of the run", inputs);
  QRT_MODEL_CHECK(store == nullptr || inputs == 7, "has a store and %zu inputs, expected 7",
                  inputs);
  if (!is_dynamic_layer(context)) return Status();
  QRT_MODEL_CHECK(requant->kind() == fb::RequantKind::ACC,
                  "requant.kind is %d, a layer with a zero point of the run takes ACC (0)",
                  static_cast<int>(requant->kind()));
  QRT_TRY(check_parameter(context, kZeroPoint, "x_zero_point", DType::kUInt8, rows));
  const int64_t scales = context.inputs[kZeroPoint].type.shape.elements();
  QRT_MODEL_CHECK(scales == 1 || inputs == 7,
                  "has %lld zero points and %zu inputs, expected 7 with more than one",
                  static_cast<long long>(scales), inputs);
  if (inputs == 4) return Status();
  if (is_integer_build())
    return error(Code::kUnsupported,
                 "layers with float results are not part of this build (QRT_INTEGER_ONLY)");
  QRT_TRY(check_parameter(context, kScale, "x_scale", DType::kFloat32, scales));
  QRT_MODEL_CHECK(context.inputs[kScale].type.shape.elements() == scales,
                  "has 1 scale and %lld zero points", static_cast<long long>(scales));
  if (store != nullptr) QRT_TRY(check_store(*store));
  QRT_TRY(check_finite(context, kWeightScale, "w_scale", channels));
  return inputs == 7 ? check_finite(context, kAddend, "addend", channels) : Status();
}

DType layer_output_dtype(const InferContext& context, const fb::Requant* requant) {
  if (is_dynamic_layer(context) && context.inputs.size() > kScale) return DType::kFloat32;
  return requant->kind() == fb::RequantKind::ACC ? DType::kInt32 : DType::kUInt8;
}

Status DynamicLayer::prepare(const PrepareContext& context,
                             const flatbuffers::Vector<int32_t>* weight_sum,
                             const fb::FloatStore* store, bool each_row, const GemmCall& gemm,
                             size_t* scratch_bytes) {
  if (!is_dynamic_layer(context)) return Status();
  const size_t values = gemm.bias().size();
  QRT_TRY(context.take(values * (sizeof(int32_t) + 2 * sizeof(float))));
  const bool has_scale = context.inputs.size() > kWeightScale,
             has_addend = context.inputs.size() > kAddend;
  TableKey key("dynamic");
  key.add(weight_sum, has_scale ? context.inputs[kWeightScale].data : nullptr,
          has_addend ? context.inputs[kAddend].data : nullptr, gemm.groups, gemm.n, values);
  tables_ = context.shared->get<Tables>(key, [&] {
    auto made = std::make_shared<Tables>();
    made->sums = repeat_for_groups(weight_sum->data(), gemm);
    if (has_scale) made->w_scale = repeat_floats_for_groups(context.inputs[kWeightScale], gemm);
    if (has_addend) made->addend = repeat_floats_for_groups(context.inputs[kAddend], gemm);
    return made;
  });
  at_ = round_up(*scratch_bytes, kAlignment);
  *scratch_bytes = at_ + values * (sizeof(int32_t) + sizeof(float));
  each_row_ = each_row && scales_of(context) > 1;
  if (store == nullptr && !each_row_) return Status();
  kernel_ = select_edge(context.isas);
  store_.channels = gemm.groups * gemm.n;
  store_.weight_sum = weight_sum->data();
  store_.w_scale = reinterpret_cast<const float*>(context.inputs[kWeightScale].data);
  store_.addend = reinterpret_cast<const float*>(context.inputs[kAddend].data);
  store_.weights_first = store != nullptr && store->weights_first();
  store_.lo = store != nullptr ? float_of(store->lo()) : -std::numeric_limits<float>::infinity();
  store_.hi = store != nullptr ? float_of(store->hi()) : std::numeric_limits<float>::infinity();
  const size_t runs = each_row_ ? 1 : scales_of(context);
  const size_t elements = static_cast<size_t>(context.outputs[0].shape.elements()) / runs;
  const double ns = static_cast<double>(elements * sizeof(float)) / speed_of(kernel_->isa).elements;
  tasks_ = task_count(ns, elements / store_.channels, context.threads);
  return Status();
}

void DynamicLayer::start(const Step& step, const RunContext& context, const GemmCall& gemm,
                         size_t image, GemmOperands* args) const {
  const Tables& tables = *tables_;
  const size_t n = tables.sums.size();
  auto* bias = reinterpret_cast<int32_t*>(context.scratch + at_);
  const uint32_t zero = each_row_ ? 0 : zero_point(step, context, image);
  for (size_t i = 0; i < n; ++i)
    bias[i] = static_cast<int32_t>(static_cast<uint32_t>(gemm.bias()[i]) -
                                   zero * static_cast<uint32_t>(tables.sums[i]));
  args->bias = bias;
  if (tables.w_scale.empty() || kernel_ != nullptr) return;
  auto* scale = reinterpret_cast<float*>(bias + n);
  float x_scale;
  memcpy(&x_scale, context.in(step, kScale) + image * sizeof x_scale, sizeof x_scale);
  for (size_t i = 0; i < n; ++i) scale[i] = x_scale * tables.w_scale[i];
  args->requant.kind = RequantKind::kFloat;
  args->requant.scale = scale;
  args->requant.addend = tables.addend.empty() ? nullptr : tables.addend.data();
}

void DynamicLayer::finish(const Step& step, const RunContext& context, const GemmOperands& args,
                          size_t image, uint8_t* y, size_t elements) const {
  if (kernel_ != nullptr) return store_floats(step, context, image, y, elements);
  bool is_finite = true;
  for (size_t i = 0; i < tables_->w_scale.size(); ++i)
    is_finite &= std::isfinite(args.requant.scale[i]);
  if (is_finite) return;
  auto* values = reinterpret_cast<float*>(y);
  for (size_t i = 0; i < elements; ++i)
    if (std::isnan(values[i])) values[i] = float_of(0x7fc00000);
}

void DynamicLayer::store_floats(const Step& step, const RunContext& context, size_t image,
                                uint8_t* y, size_t elements) const {
  const auto* scales = reinterpret_cast<const float*>(context.in(step, kScale));
  const uint8_t* zeros = context.in(step, kZeroPoint);
  for_chunks(*context.parallel, tasks_, elements / store_.channels, 1,
             [&](size_t, size_t begin, size_t end) {
               SumStore s = store_;
               s.y = reinterpret_cast<float*>(y) + begin * s.channels;
               s.sums = reinterpret_cast<const int32_t*>(s.y);
               s.rows = end - begin;
               s.x_scale = scales + (each_row_ ? begin : image);
               s.x_step = each_row_ ? 1 : 0;
               s.zero_point = each_row_ ? zeros + begin : nullptr;
               kernel_->store_sums(s);
             });
}

}  // namespace qrt
