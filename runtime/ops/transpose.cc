// SPDX-License-Identifier: Apache-2.0
// Transpose: output dimension i is input dimension perm[i], any element type.
#include "runtime/ops/transpose.h"

#include "kernels/built.h"
#include "kernels/copy/copy.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/quantize.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::TransposeOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  QRT_TRY(check_whole_bytes(x));
  const uint32_t rank = options->perm() ? options->perm()->size() : 0;
  QRT_MODEL_CHECK(rank == static_cast<uint32_t>(x.shape.rank()),
                  "perm has %u values, expected one per dimension of x %s", rank,
                  x.shape.to_string().c_str());
  bool seen[kMaxTensorRank] = {};
  Shape shape;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint8_t d = options->perm()->Get(i);
    QRT_MODEL_CHECK(d < rank && !seen[d], "perm[%u] is %d, expected each of 0 to %u once", i, d,
                    rank - 1);
    seen[d] = true;
    shape.push_back(x.shape[d]);
  }
  return add_output(x.dtype, shape, outputs);
}

struct Params {
  const CopyKernel* kernel;
  TransposePlan plan;
  size_t tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.plan.rank ? p.plan.dims[0] : 1, 1,
             [&](size_t, size_t begin, size_t end) {
               p.kernel->transpose(p.plan, context.in(step, 0), context.out(step, 0), begin, end);
             });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const TensorType& x = context.inputs[0].type;
  const auto* perm = context.op->options_as<fb::TransposeOptions>()->perm();
  auto params = make_planned<Params>();
  params->kernel = select_copy(context.isas);
  params->plan = plan_transpose(x.shape.begin(), static_cast<size_t>(x.shape.rank()),
                                perm ? perm->data() : nullptr, dtype_bytes(x.dtype));
  // Elements are gathered one by one, at about one per ns.
  params->tasks = task_count(static_cast<double>(x.shape.elements()),
                             params->plan.rank ? params->plan.dims[0] : 1, context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  step->reads_slack = false;
  step->params = std::move(params);
  return Status();
}

// Planes [images][channels][pixels] to pixels [images][pixels][channels], quantised on the way: a
// block of every plane, then the block's pixels.
struct PullParams {
  const Step* quantize;
  const CopyKernel* kernel;
  size_t images = 1, pixels, channels;
  TransposePlan block, rest;  // of kBlock pixels, and of the last ones
  size_t tasks;
};

constexpr size_t kBlock = 1024;  // pixels: a page of floats
constexpr size_t kMaxChannels = 16;

TransposePlan plan_block(size_t channels, size_t pixels) {
  const int64_t dims[] = {static_cast<int64_t>(channels), static_cast<int64_t>(pixels)};
  const uint8_t perm[] = {1, 0};
  return plan_transpose(dims, 2, perm, 1);
}

void run_pulling(const Step& step, const RunContext& context) {
  const PullParams& p = step.as<PullParams>();
  const size_t blocks = (p.pixels + kBlock - 1) / kBlock;
  for_chunks(*context.parallel, p.tasks, p.images * blocks, 1,
             [&](size_t task, size_t begin, size_t end) {
               uint8_t* planes = context.scratch + task * kBlock * p.channels;
               for (size_t i = begin; i < end; ++i) {
                 const size_t image = i / blocks, first = i % blocks * kBlock;
                 const size_t count = p.pixels - first < kBlock ? p.pixels - first : kBlock;
                 for (size_t c = 0; c < p.channels; ++c)
                   quantize_range(*p.quantize, context, (image * p.channels + c) * p.pixels + first,
                                  count, planes + c * count);
                 const TransposePlan& plan = count == kBlock ? p.block : p.rest;
                 uint8_t* out = context.out(step, 0) + (image * p.pixels + first) * p.channels;
                 p.kernel->transpose(plan, planes, out, 0, plan.rank ? plan.dims[0] : 1);
               }
             });
}

// Interleaves the parts of pixels, each read from its tensor as the planner placed it.
void run_interleaving(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const size_t n = p.plan.dims[1], groups = p.plan.dims[2];
  for_chunks(*context.parallel, p.tasks, p.plan.dims[0], 1, [&](size_t, size_t begin, size_t end) {
    const uint8_t* parts[kMaxInterleaved];
    size_t pitches[kMaxInterleaved];
    for (size_t k = 0; k < groups; ++k) {
      pitches[k] = input_pitch(step, k, n);
      parts[k] = context.in(step, k) + begin * pitches[k];
    }
    p.kernel->interleave(parts, pitches, groups, end - begin, n,
                         context.out(step, 0) + begin * n * groups);
  });
}

bool keeps_images_apart(const fb::Operator& op, const BatchOperands&) {
  return op.options_as_Transpose()->perm()->Get(0) == 0;
}

}  // namespace

bool pull_from_quantize(const Step& quantize, PlannedStep* transpose) {
  if (transpose->run != run || !quantizes_ranges(quantize)) return false;
  const Params& p = transpose->as<Params>();
  const TransposePlan& plan = p.plan;
  if (plan.element_bytes != 1 || plan.rank < 2 || plan.rank > 3) return false;
  const size_t pixels = plan.dims[plan.rank - 2], channels = plan.dims[plan.rank - 1];
  const bool is_planes = plan.stride[plan.rank - 2] == 1 && plan.stride[plan.rank - 1] == pixels &&
                         (plan.rank == 2 || plan.stride[0] == channels * pixels);
  if (!is_planes || channels > kMaxChannels) return false;
  auto params = make_planned<PullParams>();
  params->quantize = &quantize;
  params->kernel = p.kernel;
  if (plan.rank == 3) params->images = plan.dims[0];
  params->pixels = pixels;
  params->channels = channels;
  params->block = plan_block(channels, kBlock);
  params->rest = plan_block(channels, pixels % kBlock == 0 ? kBlock : pixels % kBlock);
  const size_t blocks = params->images * ((pixels + kBlock - 1) / kBlock);
  params->tasks = p.tasks < blocks ? p.tasks : blocks;
  transpose->scratch_bytes = product_or_most({params->tasks, kBlock, channels});
  transpose->inputs = quantize.inputs;
  transpose->run = run_pulling;
  transpose->params = std::move(params);
  return true;
}

bool pull_from_concat(const PlannedStep& concat, PlannedStep* transpose) {
  if (!built::kConcat || transpose->run != run) return false;
  const Params& p = transpose->as<Params>();
  const TransposePlan& plan = p.plan;
  if (p.kernel->interleave == nullptr || plan.element_bytes != 1 || plan.rank != 3) return false;
  const size_t pixels = plan.dims[0], n = plan.dims[1], groups = plan.dims[2];
  const bool shuffles = plan.stride[0] == n * groups && plan.stride[1] == 1 && plan.stride[2] == n;
  if (!shuffles || groups > kMaxInterleaved || concat.parts.size() != groups ||
      concat.shared_rows != pixels) {
    return false;
  }
  for (size_t k = 0; k < groups; ++k)
    if (concat.parts[k] != k * n) return false;
  transpose->inputs = concat.inputs;
  transpose->input_rows = pixels;
  transpose->run = run_interleaving;
  return true;
}

const TransposePlan* find_moved_rows(const Step& transpose, size_t element_bytes) {
  if (transpose.run != run) return nullptr;
  const TransposePlan& plan = transpose.as<Params>().plan;
  const bool moves_rows = plan.element_bytes == element_bytes && plan.rank >= 2 &&
                          (plan.stride[plan.rank - 1] == 1 || plan.stride[plan.rank - 2] == 1);
  return moves_rows ? &plan : nullptr;
}

std::string describe_transpose(const fb::Operator&) { return "move"; }

const OpDef kTransposeOp = {"Transpose",
                            fb::OpOptions::Transpose,
                            infer,
                            prepare,
                            {Arithmetic::kMoves, integer_level, no_requant, keeps_images_apart,
                             LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed, true}};

}  // namespace qrt
