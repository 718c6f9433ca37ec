// SPDX-License-Identifier: Apache-2.0
// Conv2D of 3x3, 1x3 and 3x1 of stride 1 in the form of kernels/winograd, where it is faster. Its
// weights are transformed once for a model, to eight times their size, or four times with one row or
// column.
#include <algorithm>
#include <cstring>

#include "kernels/winograd/winograd.h"
#include "runtime/checked.h"
#include "runtime/ops/conv2d_forms.h"
#include "runtime/ops/dynamic_layer.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Fewer tiles do not pay for the stream of transformed weights.
constexpr size_t kFewTiles = 4;
constexpr size_t kFewChannels = 16;
// Transformed weights of more bytes than this are read again for every block of tiles, from beyond
// the second-level cache.
constexpr uint64_t kNearWeightBytes = 1 << 20;

struct FarWeights {
  // Rate at which weights arrive beside the products of one register tile; shared: of several.
  double bytes_per_ns;
  double shared_bytes_per_ns;
  uint64_t most_bytes;  // of a layer
};
FarWeights far_weights() {
  return has_fast_shared_cache() ? FarWeights{25, 120, 10 << 20} : FarWeights{25, 45, 5 << 20};
}

struct Params {
  WinogradShape shape;
  const WinogradKernel* kernel;
  GemmCall gemm;  // its bias, requantisation and packed weights
  DynamicLayer dynamic;
  size_t images, tasks, task_scratch;
  size_t blocks, channel_chunks;  // of tiles, of channels
  std::shared_ptr<const TableBytes> weights;
  // A pixel of zero points. A dynamic layer keeps its pixel in the step's state, because every run
  // writes it.
  size_t zero_bytes;
  std::shared_ptr<const TableBytes> padding;
};

// Returns the form of Winograd's convolution that a layer may take; one without columns where it may not. A 3x1
// kernel is a 1x3 kernel on an image of one row, in which the pixel below comes a whole row of pixels later.
WinogradShape shape_of(const Conv2DGeometry& g) {
  WinogradShape s = {g.in_h,  g.in_w,    g.in_c,     g.out_h, g.out_w,
                     g.out_c, g.pad_top, g.pad_left, g.terms, g.kernel_h};
  s.dilation_h = g.dilation_h, s.dilation_w = g.dilation_w;
  if (g.kernel_h == 3 && g.kernel_w == 1) {
    s.kernel_h = s.in_h = s.out_h = 1;
    s.in_w = g.in_h * g.in_w, s.out_w = g.out_h * g.out_w;
    s.pad_top = 0, s.pad_left = g.pad_top * g.in_w;
    s.dilation_h = 1, s.dilation_w = g.dilation_h * g.in_w;
  }
  return s;
}

// The fewest channels of a part: the tasks of each part transform all pixels of their tiles again.
constexpr size_t kLeastPart = 64;

// Returns into how many parts to cut the channels: more than one where tasks outnumber the blocks
// of tiles.
size_t channel_chunks_of(const WinogradShape& s, size_t blocks, size_t tasks) {
  const size_t most = std::max<size_t>(s.out_c / kLeastPart, 1);
  return blocks < tasks ? std::min(ceil_div(tasks, blocks), most) : 1;
}

// Nanoseconds of `tiles` tiles in so many blocks, each of which reads the weights, and parts of channels.
double time_of(const WinogradKernel& kernel, const WinogradShape& s, size_t tiles, size_t blocks,
               size_t channel_chunks) {
  const auto real = [](size_t v) { return static_cast<double>(v); };
  const double products =
      real(kWinogradTile * s.tile_h() * s.taps()) * real(s.in_c) * real(s.out_c);
  const double tile = products / kernel.gain + kernel.transform_in * real(s.in_c * channel_chunks) +
                      kernel.transform_out * real(s.out_c);
  const uint64_t bytes = winograd_weight_bytes(s);
  const FarWeights far = far_weights();
  const bool is_shared = tiles > kernel.tile_rows * blocks;
  const double weights =
      static_cast<double>(bytes) / (is_shared ? far.shared_bytes_per_ns : far.bytes_per_ns);
  return real(tiles) * tile / speed_of(kernel.isa).macs +
         real(bytes > kNearWeightBytes ? blocks : 1) * weights;
}

// The follower's work on the outputs of a block, by the rows of pixels within one row of tiles.
void run_follower_on_tiles(const Step& step, const RunContext& context, const Params& p,
                           size_t stride, size_t begin, size_t end) {
  const WinogradShape& s = p.shape;
  while (begin < end) {
    const size_t image = begin / s.tiles(), tile = begin % s.tiles();
    const size_t x = tile % s.tiles_w(), tiles = std::min(s.tiles_w() - x, end - begin);
    const size_t first_y = tile / s.tiles_w() * s.tile_h(), first_x = x * kWinogradTile;
    const size_t pixels = std::min(tiles * kWinogradTile, s.out_w - first_x);
    for (size_t y = first_y; y < std::min(first_y + s.tile_h(), s.out_h); ++y)
      run_follower(step, context, ((image * s.out_h + y) * s.out_w + first_x) * stride, pixels,
                   s.out_c, stride);
    begin += tiles;
  }
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  WinogradArgs job;
  job.shape = p.shape;
  job.x = context.in(step, 0);
  job.x_pitch = input_pitch(step, 0, p.shape.in_c);
  job.zero = p.dynamic.is_used() ? context.state : p.padding->data();
  job.weights = p.weights->as<int16_t>();
  job.bias = p.gemm.bias().data();
  job.requant = p.gemm.requant();
  job.y = context.out(step, 0);
  job.y_pitch = output_pitch(step, p.gemm.c_stride());
  GemmOperands of_run;
  if (p.dynamic.is_used()) {
    memset(context.state, p.dynamic.zero_point(step, context, 0), p.zero_bytes);
    p.dynamic.start(step, context, p.gemm, 0, &of_run);
    job.bias = of_run.bias;
    if (of_run.requant.scale != nullptr) job.requant = of_run.requant;
  }
  const size_t tiles = p.images * p.shape.tiles(),
               panels = ceil_div(p.shape.out_c, kWinogradColumns);
  for_chunks(
      *context.parallel, p.tasks, p.blocks * p.channel_chunks, 1,
      [&](size_t task, size_t begin, size_t end) {
        WinogradArgs args = job;
        args.scratch = context.scratch + task * p.task_scratch;
        for (size_t i = begin; i < end; ++i) {
          const size_t block = i / p.channel_chunks, chunk = i % p.channel_chunks;
          args.tile_begin = chunk_begin(tiles, block, p.blocks);
          args.tile_end = chunk_begin(tiles, block + 1, p.blocks);
          args.channel_begin = chunk_begin(panels, chunk, p.channel_chunks) * kWinogradColumns;
          args.channel_end = std::min(
              chunk_begin(panels, chunk + 1, p.channel_chunks) * kWinogradColumns, p.shape.out_c);
          p.kernel->fn(args);
          if (step.follower != nullptr)
            run_follower_on_tiles(step, context, p, job.y_pitch, args.tile_begin, args.tile_end);
        }
      });
  if (p.dynamic.is_used())
    p.dynamic.finish(step, context, of_run, 0, context.out(step, 0),
                     p.images * p.shape.out_h * p.shape.out_w * p.shape.out_c);
}

// Returns the transformed weights, or null where sums may leave the range in which they are exact and
// where the weights take too much memory.
std::shared_ptr<const TableBytes> share_weights(const PrepareContext& context, const int8_t* packed,
                                                const WinogradShape& shape, size_t lanes) {
  TableKey key("winograd");
  key.add(packed, shape.in_c, shape.out_c, shape.terms, shape.kernel_h, lanes);
  const size_t bytes = static_cast<size_t>(winograd_weight_bytes(shape));
  return context.share<TableBytes>(key, bytes, [&] {
    if (!winograd_is_exact(packed, shape)) return std::shared_ptr<TableBytes>();
    return context.shared->make_bytes(bytes, [&](uint8_t* data) {
      winograd_weights(packed, shape, lanes, reinterpret_cast<int16_t*>(data));
    });
  });
}

}  // namespace

bool may_take_winograd(const fb::Conv2DOptions& options, const Shape& weights) {
  const int64_t most = std::max(weights[1], weights[2]), least = std::min(weights[1], weights[2]);
  return most == 3 && (least == 3 || least == 1) && options.stride_h() == 1 &&
         options.stride_w() == 1 && options.groups() == 1 &&
         options.tap_layout() != fb::TapLayout::ROW;
}

Status prepare_winograd_conv2d(const PrepareContext& context, const Conv2DGeometry& g,
                               GemmCall* gemm, PlannedStep* step) {
  const bool is_dynamic = is_dynamic_layer(context);
  if ((gemm->element_bytes != 1 && !is_dynamic) || gemm->requant_channels < g.out_c ||
      scales_of(context) > 1)
    return Status();
  const bool has_columns_beside = g.pad_left != 0 || g.in_w != g.out_w;
  if (g.kernel_w == 1 && has_columns_beside) return Status();
  const WinogradShape shape = shape_of(g);
  const WinogradKernel* kernel = find_winograd(gemm->kernel->isa, shape.kernel_h);
  if (kernel == nullptr) return Status();
  const size_t tiles = g.images * shape.tiles();
  const size_t blocks = ceil_div(tiles, winograd_block(*kernel, shape));
  const size_t tasks =
      task_count(time_of(*kernel, shape, tiles, blocks, 1), SIZE_MAX, context.threads);
  const size_t channel_chunks = channel_chunks_of(shape, blocks, tasks);
  const double ns = time_of(*kernel, shape, tiles, blocks, channel_chunks);
  const bool pays = g.in_c >= kFewChannels && tiles >= kFewTiles &&
                    ns < static_cast<double>(step->macs * g.terms) / speed_of(kernel->isa).macs;
  const uint64_t weight_bytes = winograd_weight_bytes(shape);
  if (!pays || weight_bytes > far_weights().most_bytes) return Status();
  const auto weights = share_weights(context, gemm->weights, shape, kernel->weight_lanes);
  if (weights == nullptr) return Status();

  auto params = make_planned<Params>();
  params->shape = shape;
  params->kernel = kernel;
  params->gemm = std::move(*gemm);
  params->images = g.images;
  const auto* options = context.op->options_as<fb::Conv2DOptions>();
  params->weights = weights;
  params->tasks = std::min(tasks, blocks * channel_chunks);
  params->channel_chunks = channel_chunks;
  // Rounds up, so that every task has as many blocks.
  params->blocks = channel_chunks > 1 ? blocks : std::min(round_up(blocks, params->tasks), tiles);
  params->task_scratch = round_up(winograd_scratch_bytes(*kernel, shape), kAlignment);
  params->zero_bytes = round_up(g.in_c + kSlack, kAlignment);
  if (is_dynamic) {
    step->state_bytes = params->zero_bytes;
  } else {
    QRT_TRY(
        make_padding(context, options->input_zero_point(), params->zero_bytes, &params->padding));
  }
  step->kernel = kernel->name;
  step->can_lead =
      !is_dynamic && shape.dilation_h == 1 && shape.dilation_w == 1 && channel_chunks == 1;
  step->input_rows = g.images * g.in_h * g.in_w;
  if (!is_dynamic) step->output_rows = g.images * g.out_h * g.out_w;
  step->scratch_bytes = params->task_scratch * params->tasks;
  QRT_TRY(params->dynamic.prepare(context, options->weight_sum(), options->store(),
                                  /*each_row=*/false, params->gemm, &step->scratch_bytes));
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace qrt
