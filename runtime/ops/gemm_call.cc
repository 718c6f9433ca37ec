// SPDX-License-Identifier: Apache-2.0
// Parameters and cutting of matrix products; see gemm_call.h.
#include "runtime/ops/gemm_call.h"

#include <algorithm>
#include <cstring>

#include "runtime/checked.h"
#include "runtime/float_forms.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Half of the rate at which a core can read from beyond its second-level cache.
constexpr double kSpareBytesPerNs = 15;

// The rate at which data move from one core's cache to another's.
constexpr double kMovedBytesPerNs = 15;

// A follower's piece: output that it finds in the first-level cache, but at least kFollowTiles
// tiles of rows for every reading of the weights. Weights of kFollowWeights bytes, which crowd the
// second level, are read once.
constexpr size_t kFollowBytes = 24 << 10;
constexpr size_t kFollowTiles = 4;
// The bytes of weights from which on all rows are one piece, and those that 32-bit sums may take then.
constexpr size_t kFollowWeights = 512 << 10, kFollowSums = 256 << 10;

// Sums of more products take so long that a cheaper requantisation does not show.
constexpr size_t kShortSums = 256;

// Chooses m_chunks, n_chunks and tasks so that the slowest of `threads` workers is done first. The
// time of a part is its arithmetic plus the bytes it streams: rows share the weights, columns the
// input, so a product with few rows is cut by channels and one with many by rows. Outputs cut by
// channels move between the cores, since the steps before and after are cut by rows.
void cut(size_t threads, GemmCall* gemm) {
  const double macs_per_ns = speed_of(gemm->kernel->isa).macs;
  const double k = static_cast<double>(gemm->taps * gemm->kc);
  const size_t mr = gemm->kernel->mr, nr = gemm->kernel->nr;
  const size_t m_tiles = ceil_div(gemm->m, mr), n_tiles = ceil_div(gemm->n, nr);
  const auto chunk_ns = [&](size_t m_chunks, size_t n_chunks) {
    const double rows = static_cast<double>(ceil_div(gemm->m, m_chunks));
    const double columns = static_cast<double>(ceil_div(n_tiles, n_chunks) * nr);
    const double moved = static_cast<double>(n_chunks - 1) / static_cast<double>(n_chunks) * rows *
                         (k + static_cast<double>(gemm->n));
    return k * (rows * columns / macs_per_ns + (rows + columns) / kReuseBytesPerNs) +
           moved / kMovedBytesPerNs;
  };
  const size_t workers =
      task_count(static_cast<double>(gemm->outer) * chunk_ns(1, 1), size_t{256}, threads);
  if (workers == 1) return;
  double best = 0;
  for (size_t n_chunks = 1; n_chunks <= std::min(n_tiles, workers); ++n_chunks) {
    for (size_t m_chunks = 1; m_chunks <= m_tiles; ++m_chunks) {
      const size_t chunks = m_chunks * n_chunks;
      if (chunks > 1 && gemm->outer * chunks > 4 * workers) break;
      const double ns = static_cast<double>(ceil_div(gemm->outer * chunks, workers)) *
                        chunk_ns(m_chunks, n_chunks);
      if (best == 0 || ns < best) {
        best = ns;
        gemm->m_chunks = m_chunks;
        gemm->n_chunks = n_chunks;
      }
    }
  }
  gemm->tasks = std::min(gemm->outer * gemm->m_chunks * gemm->n_chunks, 4 * workers);
}

// Returns for how many channels the arrays of a requantisation are made.
size_t requant_channels(const fb::Requant& requant, size_t groups, size_t n) {
  const size_t channels = groups == 1 ? n : groups * channel_stride(n);
  const bool repeats = groups == 1 && channels > kTensorRequantChannels && is_per_tensor(requant);
  return repeats ? kTensorRequantChannels : channels;
}

}  // namespace

uint64_t gemm_requant_bytes(const fb::Requant& requant, size_t groups, size_t n) {
  return requant_bytes(requant, requant_channels(requant, groups, n)) + kSharedTableBytes;
}

uint64_t gemm_table_bytes(const fb::Requant* requant, size_t groups, size_t n) {
  const uint64_t bias = layer_bias_bytes(requant, groups, n);
  return requant == nullptr ? bias : bias + gemm_requant_bytes(*requant, groups, n);
}

namespace {

// Plans all but the bias, which depends on the kernel. Returns the requantisation.
std::shared_ptr<const LayerRequant> plan_gemm(const LayerSource& layer, bool knows_bias,
                                              const GemmOptions& options, IsaSet isas,
                                              size_t threads, GemmCall* gemm) {
  size_t channels = layer.channels, group = gemm->n;
  if (layer.requant != nullptr &&
      requant_channels(*layer.requant, gemm->groups, gemm->n) < channels)
    channels = group = gemm->requant_channels = kTensorRequantChannels;
  const bool fits =
      layer.terms <= kShortSums && may_fit(gemm->outer / gemm->groups * gemm->m, isas);
  std::shared_ptr<const LayerRequant> requant =
      layer_requant(layer, knows_bias, channels, group, isas, fits, options.shared);
  gemm->requant_table = {requant, &requant->params};
  const RequantKind kind = gemm->requant().kind;
  gemm->element_bytes = kind == RequantKind::kAcc ? sizeof(int32_t) : 1;
  gemm->kernel =
      select_gemm(isas, {gemm->m, gemm->n, gemm->taps, gemm->kc, kind, options.pair_safe});
  cut(threads, gemm);
  return requant;
}

LayerSource layer_of(const GemmConstants& constants, const GemmOptions& options,
                     const GemmCall& gemm) {
  return {options.requant, constants.bias,      constants.weight_sum, gemm.groups * gemm.n,
          gemm.n,          gemm.taps * gemm.kc, options.file_end};
}

}  // namespace

void plan_gemm(const GemmOptions& options, IsaSet isas, size_t threads, GemmCall* gemm) {
  plan_gemm(layer_of({}, options, *gemm), /*knows_bias=*/false, options, isas, threads, gemm);
}

void make_gemm(const GemmConstants& constants, const GemmOptions& options, IsaSet isas,
               size_t threads, GemmCall* gemm) {
  const LayerSource layer = layer_of(constants, options, *gemm);
  const auto requant = plan_gemm(layer, /*knows_bias=*/true, options, isas, threads, gemm);
  const bool signed_lhs = options.other_kernel ? options.signed_lhs : gemm->kernel->signed_lhs;
  gemm->weights = reinterpret_cast<const int8_t*>(constants.weights);
  gemm->bias_table = layer_bias(layer, *requant, signed_lhs, options.shared);
}

size_t spare_bytes(const GemmCall& gemm) {
  const double weights =
      static_cast<double>(gemm.groups * gemm.taps * gemm.kc) * static_cast<double>(gemm.n);
  const double macs = weights * static_cast<double>(gemm.outer / gemm.groups * gemm.m);
  const double spare = macs / speed_of(gemm.kernel->isa).macs * kSpareBytesPerNs - weights;
  return spare > 0 ? static_cast<size_t>(spare) : 0;
}

GemmRange gemm_range(const GemmCall& gemm, size_t chunk) {
  const size_t nr = gemm.kernel->nr;
  const size_t n_tiles = ceil_div(gemm.n, nr);
  const size_t mp = chunk % gemm.m_chunks, np = chunk / gemm.m_chunks;
  // Kernels spread the rows of a part over tiles of their own.
  return {gemm.m * mp / gemm.m_chunks, gemm.m * (mp + 1) / gemm.m_chunks,
          n_tiles * np / gemm.n_chunks * nr,
          std::min(n_tiles * (np + 1) / gemm.n_chunks * nr, gemm.n)};
}

void run_gemm_range(const GemmCall& gemm, const GemmOperands& operands, size_t group,
                    const GemmRange& range) {
  // The range is cut where the arrays of the requantisation end; the next part takes them from their start again.
  const size_t left = gemm.requant_channels - range.n_begin % gemm.requant_channels;
  if (range.n_end - range.n_begin > left) {
    GemmRange chunk = range;
    GemmOperands of_chunk = operands;
    for (chunk.n_end = range.n_begin + left; chunk.n_begin < range.n_end;
         chunk.n_begin = chunk.n_end,
        chunk.n_end = std::min(chunk.n_end + gemm.requant_channels, range.n_end)) {
      if (operands.tile != nullptr)
        of_chunk.tile = operands.tile + (chunk.n_begin - range.n_begin) * gemm.element_bytes;
      run_gemm_range(gemm, of_chunk, group, chunk);
    }
    return;
  }
  const size_t block_bytes = gemm.taps * gemm.kc * 16;  // 16 channels of packed weights
  const size_t channel = group * channel_stride(gemm.n) + range.n_begin;
  GemmArgs args;
  args.m = range.m_end - range.m_begin;
  args.n = range.n_end - range.n_begin;
  args.taps = gemm.taps;
  args.kc = gemm.kc;
  args.a = operands.a;
  args.a_stride = operands.a_stride;
  args.a_tap_stride = operands.a_tap_stride;
  args.indirection = operands.indirection;
  args.a_offset = operands.a_offset;
  args.zero = operands.zero;
  if (args.indirection) {
    args.indirection += range.m_begin * gemm.taps;
  } else {
    args.a += range.m_begin * args.a_stride;
  }
  const size_t held = channel - operands.first_channel;
  args.weights = (operands.weights ? operands.weights : gemm.weights) + held / 16 * block_bytes;
  args.bias = (operands.bias ? operands.bias : gemm.bias().data()) + held;
  args.requant = operands.requant.scale ? operands.requant.at(channel)
                                        : gemm.requant().at(channel % gemm.requant_channels);
  args.c_stride = operands.c_stride != 0 ? operands.c_stride : gemm.c_stride();
  args.c = static_cast<uint8_t*>(operands.c) + range.m_begin * args.c_stride +
           (group * gemm.n + range.n_begin) * gemm.element_bytes;
  if (operands.tile != nullptr) {
    args.c = operands.tile;
    args.c_stride = operands.tile_stride;
  }
  args.ahead = operands.ahead;
  args.ahead_bytes = operands.ahead_bytes;
  gemm.kernel->fn(args);
}

namespace {

// Rows of a follower's piece, of `all_rows`.
size_t rows_of_tile(const GemmCall& gemm, size_t all_rows, size_t columns) {
  const size_t mr = gemm.kernel->mr, row_bytes = columns * gemm.element_bytes;
  const bool is_whole = gemm.taps * gemm.kc * columns >= kFollowWeights &&
                        (gemm.element_bytes == 1 || all_rows * row_bytes <= kFollowSums);
  const size_t rows = std::max(kFollowBytes / row_bytes / mr, kFollowTiles) * mr;
  return is_whole ? all_rows : std::min(rows, all_rows);
}

}  // namespace

void offer_tiles(const GemmCall& gemm, PlannedStep* step) {
  if (gemm.element_bytes == 1) return;
  size_t bytes = 0;
  for (size_t chunk = 0; chunk < gemm.m_chunks * gemm.n_chunks; ++chunk) {
    const GemmRange range = gemm_range(gemm, chunk);
    const size_t n = range.n_end - range.n_begin, m = range.m_end - range.m_begin;
    bytes = std::max(bytes, rows_of_tile(gemm, m, n) * n * gemm.element_bytes);
  }
  step->tile_tasks = std::min(gemm.tasks, gemm.outer * gemm.m_chunks * gemm.n_chunks);
  step->tile_bytes = round_up(bytes + kSlack, kAlignment);
}

void run_leading_chunk(const Step& step, const RunContext& context, const GemmCall& gemm,
                       const GemmOperands& operands, size_t task, size_t image, size_t group,
                       size_t chunk) {
  const GemmRange range = gemm_range(gemm, chunk);
  const size_t chunks = gemm.m_chunks * gemm.n_chunks, all = gemm.outer * chunks;
  const size_t index = (image * gemm.groups + group) * chunks + chunk;
  const size_t ahead_begin = chunk_begin(step.ahead_bytes, index, all);
  const size_t ahead_bytes = chunk_begin(step.ahead_bytes, index + 1, all) - ahead_begin;
  const int8_t* const ahead = reinterpret_cast<const int8_t*>(step.ahead) + ahead_begin;
  GemmOperands block_operands = operands;
  block_operands.ahead = ahead;
  block_operands.ahead_bytes = ahead_bytes;
  if (step.follower == nullptr) return run_gemm_range(gemm, block_operands, group, range);
  const size_t all_rows = range.m_end - range.m_begin;
  const size_t columns = range.n_end - range.n_begin;
  const size_t rows = rows_of_tile(gemm, all_rows, columns);
  uint8_t* const tile = tile_scratch_of(step, context, task);
  block_operands.tile = tile;
  block_operands.tile_stride = columns * gemm.element_bytes;
  GemmRange block = range;
  for (; block.m_begin < range.m_end; block.m_begin = block.m_end) {
    block.m_end = std::min(block.m_begin + rows, range.m_end);
    const size_t first = ahead_bytes * (block.m_begin - range.m_begin) / all_rows;
    block_operands.ahead = ahead + first;
    block_operands.ahead_bytes = ahead_bytes * (block.m_end - range.m_begin) / all_rows - first;
    run_gemm_range(gemm, block_operands, group, block);
    const size_t row = image * gemm.m + block.m_begin;
    const size_t block_rows = block.m_end - block.m_begin;
    if (tile != nullptr) {
      const size_t stride = gemm.groups * gemm.n;
      run_follower_on_tile(step, context, tile, gemm.element_bytes,
                           row * stride + group * gemm.n + range.n_begin, block_rows, columns,
                           stride);
      continue;
    }
    const size_t stride = output_pitch(step, gemm.c_stride()) / gemm.element_bytes;
    run_follower(step, context, row * stride + group * gemm.n + range.n_begin, block_rows, columns,
                 stride);
  }
}

}  // namespace qrt
