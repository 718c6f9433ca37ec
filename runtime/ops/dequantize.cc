// SPDX-License-Identifier: Apache-2.0
// Dequantize: integers and small floats to float32, float16 or bfloat16; per tensor, per index of
// any axis, or in blocks. 8 bits and int32 to float32 go straight through the kernels, and 8 bits
// to float16 per tensor; what else there is through chunks on the stack: unpack, scale, narrow.
#include "runtime/ops/check.h"
#include "runtime/ops/edge_call.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool is_input(DType dtype) {
  SmallFormat format;
  return is_small_integer(dtype) || small_format(dtype, &format) || dtype == DType::kInt32 ||
         dtype == DType::kUInt32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::DequantizeOptions>();
  QRT_MODEL_CHECK(!context.inputs.empty(), "has no inputs, expected 1 to 3");
  const TensorType& x = context.inputs[0].type;
  DType output;
  QRT_TRY(declared_output_dtype(context, &output));
  QRT_MODEL_CHECK(is_float(output), "the output is %s, expected float32, float16 or bfloat16",
                  dtype_name(output));
  QRT_MODEL_CHECK(is_input(x.dtype), "input 0 (x) is %s, which no Dequantize reads",
                  dtype_name(x.dtype));
  if (context.inputs.size() == 1) {
    const bool known =
        x.dtype == DType::kInt32 || (is_small_integer(x.dtype) && !is_packed(x.dtype));
    QRT_MODEL_CHECK(known, "input 0 (x) is %s, expected an integer of 8 or 16 bits or int32",
                    dtype_name(x.dtype));
    QRT_MODEL_CHECK(output == DType::kFloat32, "the output is %s, expected float32",
                    dtype_name(output));
  }
  QRT_TRY(check_edge(context, x.dtype, options->scale(), options->zero_point(), options->axis(),
                     options->block_size(), /*allow_infinite_scale=*/false));
  return add_output(output, x.shape, outputs);
}

struct Params {
  EdgeCall edge;
  DType input, output;
  bool is_signed;
  PlanVector<float> table;  // of a small float: by code
};

struct Job {
  const Params& p;
  EdgeGrid grid;
  const uint8_t* x;
  uint8_t* y;
};

// Dequantises int32. The kernel takes rows of channels, so a run with one scale becomes rows of
// kRow equal scales.
void dequantize_i32(const Params& p, const int32_t* x, size_t rows, size_t n, const EdgeGrid& g,
                    float* y) {
  constexpr size_t kRow = 64;
  const EdgeKernel& k = *p.edge.kernel;
  if (g.each) return k.dequantize_i32(x, rows, n, g.scale, y);
  float scale[kRow];
  std::fill_n(scale, kRow, g.scale[0]);
  const size_t whole = n / kRow, rest = n % kRow;
  if (whole) k.dequantize_i32(x, whole, kRow, scale, y);
  if (rest) k.dequantize_i32(x + n - rest, 1, rest, scale, y + n - rest);
}

// Converts n elements of x (codes for packed types) to float32.
void to_real(const Params& p, const uint8_t* x, size_t n, const EdgeGrid& g, float* y) {
  const auto* words = reinterpret_cast<const uint16_t*>(x);
  const auto scale = [&](size_t i) { return g.scale[g.each ? i : 0]; };
  const auto zp = [&](size_t i) { return g.zero_point[g.each ? i : 0]; };
  const auto real_zp = [&](size_t i) { return float_of(static_cast<uint32_t>(zp(i))); };
  switch (p.input) {
    case DType::kUInt16:
    case DType::kInt16: p.edge.kernel->dequantize16(words, p.is_signed, n, g, y); break;
    case DType::kInt32:
    case DType::kUInt32:
      for (size_t i = 0; i < n; ++i) {
        uint32_t word;
        memcpy(&word, x + i * sizeof word, sizeof word);
        const int64_t q = p.is_signed ? int64_t{static_cast<int32_t>(word)} : int64_t{word};
        const int64_t z = p.is_signed ? int64_t{zp(i)} : int64_t{static_cast<uint32_t>(zp(i))};
        y[i] = static_cast<float>(q - z) * scale(i);
      }
      break;
    case DType::kFloat16: p.edge.kernel->widen_half(words, n, y); break;
    case DType::kBFloat16:
      for (size_t i = 0; i < n; ++i) y[i] = (bfloat_to_float(words[i]) - real_zp(i)) * scale(i);
      break;
    case DType::kFloat4E2M1:
      for (size_t i = 0; i < n; ++i) y[i] = (p.table[x[i]] - real_zp(i)) * scale(i);
      break;
    default:
      if (!p.table.empty()) {
        for (size_t i = 0; i < n; ++i) y[i] = p.table[x[i]] * scale(i);
      } else if (g.each) {
        p.edge.kernel->dequantize_channels(x, p.is_signed, 1, n, g.scale, g.zero_point, y);
      } else {
        p.edge.kernel->dequantize(x, p.is_signed, n, g.scale[0], g.zero_point[0], y);
      }
      break;
  }
}

// Dequantises the elements [at, at + count) through buffers; count is at most kEdgeChunk.
void run_chunk(const Job& job, size_t at, size_t count) {
  const Params& p = job.p;
  float real[kEdgeChunk];
  uint8_t codes[kEdgeChunk];
  const bool packed = is_packed(p.input);
  if (packed) unpack_elements(p.input, job.x, at, count, codes);
  const size_t bytes = packed ? 1 : dtype_bytes(p.input);
  const uint8_t* x = packed ? codes : job.x + at * bytes;
  float* y = p.output == DType::kFloat32 ? reinterpret_cast<float*>(job.y) + at : real;
  for_grid_spans(p.edge.layout, at, at + count,
                 [&](size_t first, size_t rows, size_t n, size_t entry, bool each) {
                   const EdgeGrid g = grid_at(job.grid, entry, each);
                   for (size_t r = 0; r < rows; ++r, first += n)
                     to_real(p, x + (first - at) * bytes, n, g, y + (first - at));
                 });
  if (p.output == DType::kFloat32) return;
  auto* out = reinterpret_cast<uint16_t*>(job.y) + at;
  if (p.output == DType::kFloat16) return p.edge.kernel->narrow_half(real, count, out);
  for (size_t i = 0; i < count; ++i) out[i] = float_to_bfloat(real[i]);
}

void run_chunks(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const Job job = {p, p.edge.grid(step, context), context.in(step, 0), context.out(step, 0)};
  for_chunks(*context.parallel, p.edge.tasks, p.edge.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               for (size_t at = begin; at < end; at += kEdgeChunk)
                 run_chunk(job, at, std::min(kEdgeChunk, end - at));
             });
}

// f(at, rows, n, grid) for every run of a tile; 8 bits and int32 to float32.
template <class F>
void run_direct(const Step& step, const RunContext& context, const F& f) {
  const Params& p = step.as<Params>();
  const EdgeGrid grid = p.edge.grid(step, context);
  for_chunks(*context.parallel, p.edge.tasks, p.edge.elements, kAlignment,
             [&](size_t, size_t begin, size_t end) {
               for_grid_spans(p.edge.layout, begin, end,
                              [&](size_t at, size_t rows, size_t n, size_t entry, bool each) {
                                f(at, rows, n, grid_at(grid, entry, each));
                              });
             });
}

void run_bytes(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const EdgeKernel& k = *p.edge.kernel;
  const uint8_t* x = context.in(step, 0);
  float* y = reinterpret_cast<float*>(context.out(step, 0));
  run_direct(step, context, [&](size_t at, size_t rows, size_t n, const EdgeGrid& g) {
    if (g.each)
      k.dequantize_channels(x + at, p.is_signed, rows, n, g.scale, g.zero_point, y + at);
    else
      k.dequantize(x + at, p.is_signed, n, g.scale[0], g.zero_point[0], y + at);
  });
}

void run_int32(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const int32_t*>(context.in(step, 0));
  float* y = reinterpret_cast<float*>(context.out(step, 0));
  run_direct(step, context, [&](size_t at, size_t rows, size_t n, const EdgeGrid& g) {
    dequantize_i32(p, x + at, rows, n, g, y + at);
  });
}

// 8 bits to float16, per tensor.
void run_half(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const uint8_t* x = context.in(step, 0);
  auto* y = reinterpret_cast<uint16_t*>(context.out(step, 0));
  run_direct(step, context, [&](size_t at, size_t, size_t n, const EdgeGrid& g) {
    p.edge.kernel->dequantize_half(x + at, p.is_signed, n, g.scale[0], g.zero_point[0], y + at);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::DequantizeOptions>();
  auto params = make_planned<Params>();
  QRT_TRY(make_edge(context, options->scale(), options->zero_point(), options->axis(),
                    options->block_size(), fb::Division::F32, &params->edge));
  params->input = context.inputs[0].type.dtype;
  params->output = context.outputs[0].dtype;
  params->is_signed = is_signed_integer(params->input);
  SmallFormat format;
  if (small_format(params->input, &format)) {
    const size_t codes = size_t{1} << dtype_bits(params->input);
    QRT_TRY(context.take(codes * sizeof(float)));
    params->table.resize(codes);
    for (size_t i = 0; i < params->table.size(); ++i)
      params->table[i] = small_to_float(format, static_cast<uint8_t>(i));
  }
  const bool bytes = params->input == DType::kUInt8 || params->input == DType::kInt8;
  const bool real = params->output == DType::kFloat32;
  step->kernel = params->edge.kernel->name;
  step->scratch_bytes = params->edge.scratch_bytes();
  if (bytes && real) {
    step->run = run_bytes;
  } else if (params->input == DType::kInt32 && real && !params->edge.has_zero_point) {
    step->run = run_int32;
  } else if (built::kSmallFloats && bytes && params->output == DType::kFloat16 &&
             params->edge.layout.kind == EdgeLayout::Kind::kTensor) {
    step->run = run_half;
  } else {
    step->run = run_chunks;
  }
  step->params = std::move(params);
  return Status();
}

bool keeps_images_apart(const fb::Operator& op, const BatchOperands&) {
  const fb::DequantizeOptions& o = *op.options_as_Dequantize();
  return o.axis() != 0 && o.block_size() == 0;
}

}  // namespace

std::string describe_dequantize(const fb::Operator&) { return "float32 product"; }

const OpDef kDequantizeOp = {
    "Dequantize",
    fb::OpOptions::Dequantize,
    infer,
    prepare,
    {Arithmetic::kEdge, edge_level, no_requant, keeps_images_apart, LayoutRule::kAny,
     Broadcasting::kNone, Constants::scales<fb::DequantizeOptions>(), true}};

}  // namespace qrt
