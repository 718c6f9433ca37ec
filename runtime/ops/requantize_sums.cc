// SPDX-License-Identifier: Apache-2.0
// Requantize with a bias; see requantize_sums.h.
//
// The kernels that join the two digits of a 16-bit product compute 256 * high + low + bias: here the
// sums are `high`, and `low` is 0.
#include "runtime/ops/requantize_sums.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "kernels/gemm/digits.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

// Values of a block, which stay in the first-level cache as sums and as int16.
constexpr size_t kBlock = 2048;

int64_t bias_at(const OpInput& bias, size_t channel) {
  int64_t v;
  memcpy(&v, bias.data + channel * sizeof v, sizeof v);
  return v;
}

struct Params {
  const DigitsKernel* kernel;
  RequantParams requant;
  PlanVector<int64_t> bias;
  int32_t lo, hi;  // of x
  uint32_t half;   // -half..half - 1 lies within them
  size_t rows, channels, tasks;
};

// Returns whether all of x lies in -half..half - 1; false for half 0. REQUIRES: half is 0 or a
// power of two.
bool is_within(const int32_t* x, size_t count, uint32_t half) {
  uint32_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= static_cast<uint32_t>(x[i]) + half;
  return all < 2 * half;
}

// Rows of up to kBlock values, or parts of one row.
void run_block(const Params& p, const int32_t* x, size_t rows, size_t channel, size_t columns,
               uint8_t* y) {
  alignas(64) static const int32_t zeros[kBlock + 16] = {};
  alignas(64) int32_t clipped[kBlock + 16];
  alignas(64) int16_t joined[kBlock + 16];
  const size_t stride = rows == 1 ? columns : p.channels, count = (rows - 1) * stride + columns;
  CombineArgs args{};
  args.high = x;
  if (!is_within(x, count, p.half)) {  // sums of real layers are far from their bounds
    for (size_t i = 0; i < count; ++i) {
      const int32_t v = x[i] < p.hi ? x[i] : p.hi;
      clipped[i] = v > p.lo ? v : p.lo;
    }
    args.high = clipped;
  }
  args.low = zeros;
  args.rows = rows;
  args.n = columns;
  args.stride = args.y_stride = stride;
  args.channel = channel;
  args.bias = p.bias.data();
  args.requant = p.requant.requant;
  args.y = joined;
  p.kernel->combine(args);
  for (size_t i = 0; i < count; ++i) y[i] = static_cast<uint8_t>(joined[i]);
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const auto* x = reinterpret_cast<const int32_t*>(context.in(step, 0));
  uint8_t* y = context.out(step, 0);
  const size_t block_rows = std::max(kBlock / p.channels, size_t{1});
  for_chunks(*context.parallel, p.tasks, p.rows, 1, [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; row += block_rows) {
      const size_t rows = std::min(block_rows, end - row);
      for (size_t c = 0; c < p.channels; c += kBlock) {
        const size_t at = row * p.channels + c;
        run_block(p, x + at, rows, c, std::min(kBlock, p.channels - c), y + at);
      }
    }
  });
}

}  // namespace

bool has_fine_bias(const InferContext& context) {
  return context.inputs.size() == 2 && context.inputs[1].type.dtype == DType::kInt64;
}

Status check_requantize_sums(const InferContext& context) {
  const auto* o = context.op->options_as<fb::RequantizeOptions>();
  DType to;
  QRT_TRY(declared_output_dtype(context, &to));
  const OpInput &x = context.inputs[0], &bias = context.inputs[1];
  QRT_MODEL_CHECK(x.type.dtype == DType::kInt32 && to == DType::kUInt8,
                  "maps %s to %s, with a bias int32 to uint8 is expected", dtype_name(x.type.dtype),
                  dtype_name(to));
  QRT_TRY(check_range("input_zero_point", o->input_zero_point(), 0, 0));
  QRT_MODEL_CHECK((o->negative() == nullptr || o->negative()->size() == 0) && !o->negate_negative(),
                  "has both a bias and stages of negative");
  QRT_TRY(check_rank(context, 1, "bias", 1, "[channels]"));
  const Shape& shape = x.type.shape;
  const int64_t channels = bias.type.shape[0];
  QRT_MODEL_CHECK(shape.rank() >= 1 && shape[shape.rank() - 1] == channels,
                  "%lld biases, expected one for each index of the last dimension",
                  static_cast<long long>(channels));
  const auto count = static_cast<size_t>(channels);
  QRT_TRY(check_constant(context, 1, "bias", fb::Packing::NONE, count * sizeof(int64_t)));
  QRT_TRY(check_requant(o->requant(), count, /*allow_acc=*/false, to));
  QRT_MODEL_CHECK(o->requant()->kind() == fb::RequantKind::INT,
                  "requant.kind is %d, expected INT (2)", static_cast<int>(o->requant()->kind()));
  const auto& stages = *o->requant()->stages();
  QRT_MODEL_CHECK(stages.size() == 2, "requant.stages has %u stages, with a bias 2 are expected",
                  stages.size());
  const fb::RequantStage& clip = *stages.Get(0);
  QRT_MODEL_CHECK(
      clip.multiplier()->size() == 1 && clip.multiplier()->Get(0) == 1 && clip.shift()->Get(0) == 0,
      "requant.stages[0] does more than clip, expected multiplier 1 and shift 0");
  QRT_MODEL_CHECK(clip.clip_lo() <= 0 && clip.clip_hi() >= 0,
                  "requant.stages[0] clips to %d..%d, expected limits around 0", clip.clip_lo(),
                  clip.clip_hi());
  const int64_t reach = std::max(-int64_t{clip.clip_lo()}, int64_t{clip.clip_hi()});
  constexpr int64_t kLimit = int64_t{1} << 62, kMaxBias = int64_t{1} << 61;
  const auto& multipliers = *stages.Get(1)->multiplier();
  for (size_t c = 0; c < count; ++c) {
    const int64_t b = bias_at(bias, c);
    QRT_MODEL_CHECK(-kMaxBias <= b && b <= kMaxBias,
                    "bias[%zu] is %" PRId64 ", expected at most 2^61 in size", c, b);
    const int64_t bound = 256 * reach + (b < 0 ? -b : b);
    const int64_t multiplier =
        multipliers.Get(multipliers.size() == 1 ? 0 : static_cast<uint32_t>(c));
    QRT_MODEL_CHECK(multiplier == 0 || bound <= (kLimit - 1) / multiplier,
                    "sums of channel %zu may reach %" PRId64 ", times the multiplier %" PRId64
                    " 2^62 or more",
                    c, bound, multiplier);
  }
  return Status();
}

Status prepare_requantize_sums(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::RequantizeOptions>();
  auto params = make_planned<Params>();
  params->kernel = select_digits(context.isas);
  params->channels = static_cast<size_t>(context.inputs[1].type.shape[0]);
  params->rows = static_cast<size_t>(context.outputs[0].shape.elements()) / params->channels;
  QRT_TRY(context.take(requant_bytes(*o->requant(), params->channels) +
                       (params->channels + 8) * sizeof(int64_t)));
  params->requant = make_requant(*o->requant(), params->channels);
  Requant& requant = params->requant.requant;
  params->lo = requant.stages[0].clip_lo;
  params->hi = requant.stages[0].clip_hi;
  const int64_t least_limit = std::min(-int64_t{params->lo}, int64_t{params->hi} + 1);
  params->half = 1u << 30;
  while (params->half > least_limit) params->half /= 2;
  requant.stages[0] = requant.stages[1];
  requant.stage_count = 1;
  for (size_t c = 0; c < params->channels; ++c)
    params->bias.push_back(bias_at(context.inputs[1], c));
  params->bias.resize(params->channels + 8);  // kernels may read 64 bytes beyond
  const double elements = static_cast<double>(params->rows * params->channels);
  params->tasks = task_count(4 * elements / speed_of(params->kernel->isa).elements, params->rows,
                             context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt
