// Quantize: float32 to uint8 or int8, per tensor or per index of any axis.
#include "runtime/ops/boundary_step.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* options = context.op->options_as<fb::QuantizeOptions>();
  QRT_TRY(check_input_count(context, 1));
  QRT_TRY(check_dtype(context, 0, "x", DType::kFloat32));
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  QRT_MODEL_CHECK(output == DType::kUInt8 || output == DType::kInt8,
                  "the output is %s, expected uint8 or int8", dtype_name(output));
  const TensorType& x = context.inputs[0].type;
  QRT_MODEL_CHECK(options->rounding() == fb::Rounding::HALF_EVEN ||
                      (options->rounding() == fb::Rounding::HALF_AWAY && options->axis() < 0),
                  "rounding is %d, expected HALF_EVEN (0), or HALF_AWAY (2) per tensor",
                  static_cast<int>(options->rounding()));
  const int32_t lowest = output == DType::kInt8 ? -128 : 0;
  QRT_TRY(check_boundary(x, options->scale(), options->zero_point(), options->axis(), lowest,
                         lowest + 255, /*allow_infinite_scale=*/true));
  return add_output(output, x.shape, outputs);
}

struct Params {
  BoundaryStep boundary;
  int32_t lo;
  bool half_away;
};

void run(const Step& step, const RunContext& context) {
  const Params& params = step.as<Params>();
  const BoundaryStep& p = params.boundary;
  const int32_t lo = params.lo, hi = lo + 255;
  const float* x = reinterpret_cast<const float*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  if (params.half_away) {
    for_pieces(*context.parallel, p.tasks, p.inner, kAlignment,
               [&](size_t, size_t begin, size_t end) {
                 quantize_half_away(x + begin, end - begin, p.scale[0], p.zero_point[0], lo, hi,
                                    y + begin);
               });
    return;
  }
  for_boundary(
      p, *context.parallel,
      [&](size_t begin, size_t end) {
        p.kernel->quantize_channels(x + begin * p.channels, end - begin, p.channels, p.scale.data(),
                                    p.zero_point.data(), lo, hi, y + begin * p.channels);
      },
      [&](size_t c, size_t begin, size_t end) {
        p.kernel->quantize(x + begin, end - begin, p.scale[c], p.zero_point[c], lo, hi, y + begin);
      });
}

Status prepare(const PrepareContext& context, Step* step) {
  const auto* options = context.op->options_as<fb::QuantizeOptions>();
  auto params = std::make_shared<Params>();
  make_boundary(context, *options->scale(), *options->zero_point(), options->axis(),
                &params->boundary);
  params->lo = context.outputs[0].dtype == DType::kInt8 ? -128 : 0;
  params->half_away = options->rounding() == fb::Rounding::HALF_AWAY;
  step->kernel = params->half_away ? "boundary_f32_half_away" : params->boundary.kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

const OpDef kQuantizeOp = {"Quantize", fb::OpOptions::Quantize, false, infer, prepare};

}  // namespace qrt
