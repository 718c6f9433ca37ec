// Dequantize: uint8, int8 or int32 to float32, per tensor or per index of any axis.
#include <algorithm>

#include "runtime/ops/boundary_step.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* options = context.op->options_as<fb::DequantizeOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  int32_t lo = 0, hi = 0;  // of the zero points
  switch (x.dtype) {
    case DType::kUInt8: hi = 255; break;
    case DType::kInt8: lo = -128, hi = 127; break;
    case DType::kInt32: break;
    default:
      return error(Code::kInvalidModel, "input 0 (x) is %s, expected uint8, int8 or int32",
                   dtype_name(x.dtype));
  }
  QRT_TRY(check_boundary(x, options->scale(), options->zero_point(), options->axis(), lo, hi,
                         /*allow_infinite_scale=*/false));
  return add_output(DType::kFloat32, x.shape, outputs);
}

struct Params {
  BoundaryStep boundary;
  bool is_signed;
};

void run_bytes(const Step& step, const RunContext& context) {
  const Params& params = step.as<Params>();
  const BoundaryStep& p = params.boundary;
  const uint8_t* x = context.in(step, 0);
  float* y = reinterpret_cast<float*>(context.out(step, 0));
  for_boundary(
      p, *context.parallel,
      [&](size_t begin, size_t end) {
        p.kernel->dequantize_channels(x + begin * p.channels, params.is_signed, end - begin,
                                      p.channels, p.scale.data(), p.zero_point.data(),
                                      y + begin * p.channels);
      },
      [&](size_t c, size_t begin, size_t end) {
        p.kernel->dequantize(x + begin, params.is_signed, end - begin, p.scale[c], p.zero_point[c],
                             y + begin);
      });
}

// The kernel takes rows of channels: a run of one scale is rows of kRow equal scales.
void run_int32(const Step& step, const RunContext& context) {
  constexpr size_t kRow = 64;
  const BoundaryStep& p = step.as<Params>().boundary;
  const int32_t* x = reinterpret_cast<const int32_t*>(context.in(step, 0));
  float* y = reinterpret_cast<float*>(context.out(step, 0));
  for_boundary(
      p, *context.parallel,
      [&](size_t begin, size_t end) {
        p.kernel->dequantize_i32(x + begin * p.channels, end - begin, p.channels, p.scale.data(),
                                 y + begin * p.channels);
      },
      [&](size_t c, size_t begin, size_t end) {
        float scale[kRow];
        std::fill_n(scale, kRow, p.scale[c]);
        const size_t rows = (end - begin) / kRow, rest = (end - begin) % kRow;
        if (rows) p.kernel->dequantize_i32(x + begin, rows, kRow, scale, y + begin);
        if (rest) p.kernel->dequantize_i32(x + end - rest, 1, rest, scale, y + end - rest);
      });
}

Status prepare(const PrepareContext& context, Step* step) {
  const auto* options = context.op->options_as<fb::DequantizeOptions>();
  const DType dtype = context.inputs[0].type.dtype;
  auto params = std::make_shared<Params>();
  make_boundary(context, *options->scale(), *options->zero_point(), options->axis(),
                &params->boundary);
  params->is_signed = dtype == DType::kInt8;
  step->kernel = params->boundary.kernel->name;
  step->run = dtype == DType::kInt32 ? run_int32 : run_bytes;
  step->params = std::move(params);
  return Status();
}

}  // namespace

const OpDef kDequantizeOp = {"Dequantize", fb::OpOptions::Dequantize, false, infer, prepare};

}  // namespace qrt
