// SPDX-License-Identifier: Apache-2.0
// Products of INT16 activations; see int16_gemm.h.
#include "runtime/ops/int16_gemm.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "kernels/depthwise/depthwise_int16.h"
#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// Sums of both planes of one block stay in the first-level cache.
constexpr size_t kBlockBytes = 24 << 10;
constexpr size_t kBlockColumns = 256;

int64_t bias_at(const OpInput& bias, size_t channel) {
  if (bias.type.dtype == DType::kInt64) {
    int64_t v;
    memcpy(&v, bias.data + channel * sizeof v, sizeof v);
    return v;
  }
  int32_t v;
  memcpy(&v, bias.data + channel * sizeof v, sizeof v);
  return v;
}

template <class T>
T per_channel(const flatbuffers::Vector<T>& values, size_t channel) {
  return values.Get(values.size() == 1 ? 0 : static_cast<uint32_t>(channel));
}

// Returns what is added to a channel's sums for the offset of planes: -32768 times the sum of its
// weights; 0 without planes. `weight_sum` holds the digits of that sum `channels` apart.
int64_t plane_correction(const flatbuffers::Vector<int32_t>* weight_sum, size_t channel,
                         size_t channels, size_t digits, bool is_planes) {
  if (!is_planes) return 0;
  int64_t sum = 0;
  for (size_t d = 0; d < digits; ++d)
    sum += int64_t{weight_sum->Get(static_cast<uint32_t>(d * channels + channel))} *
           (d == 0 ? 1 : 256);
  return -32768 * sum;
}

}  // namespace

Status check_int16_constants(const InferContext& context, size_t channels, size_t k,
                             const flatbuffers::Vector<int32_t>* weight_sum,
                             const fb::Requant* requant, bool is_planes, size_t digits) {
  QRT_TRY(check_range("weights that make an output of an int16 layer", static_cast<int64_t>(k), 1,
                      static_cast<int64_t>(is_planes ? kMaxDigitsK : kMaxDepthwiseInt16)));
  QRT_TRY(check_weight_sum(weight_sum, digits * channels));
  QRT_TRY(check_requant(requant, channels, /*allow_acc=*/is_planes, DType::kInt16));
  const OpInput& bias = context.inputs[2];
  if (bias.type.dtype != DType::kInt64) return check_bias(context, 2, channels);
  QRT_MODEL_CHECK(requant->kind() == fb::RequantKind::INT,
                  "requant.kind is ACC and input 2 (bias) int64, expected int32");
  const Shape& shape = bias.type.shape;
  QRT_MODEL_CHECK(shape.rank() == 1 && static_cast<uint64_t>(shape[0]) == channels,
                  "input 2 (bias) has shape %s, expected [%zu]", shape.to_string().c_str(),
                  channels);
  QRT_TRY(check_constant(context, 2, "bias", fb::Packing::NONE, channels * sizeof(int64_t)));
  // Holds for any weights: |256 * high + low| <= 257 * 255 * 128 * k.
  const int64_t sums = static_cast<int64_t>(k) * (is_planes ? 257 * 255 * 128 : 1 << 22) *
                       static_cast<int64_t>(256 * digits - 255);
  const fb::RequantStage& stage = *requant->stages()->Get(0);
  constexpr int64_t kLimit = int64_t{1} << 62, kMaxBias = int64_t{1} << 61;
  for (size_t c = 0; c < channels; ++c) {
    const int64_t b = bias_at(bias, c);
    QRT_MODEL_CHECK(-kMaxBias <= b && b <= kMaxBias,
                    "bias[%zu] is %" PRId64 ", expected at most 2^61 in size", c, b);
    const int64_t folded = b + plane_correction(weight_sum, c, channels, digits, is_planes);
    const int64_t bound = sums + (folded < 0 ? -folded : folded);
    const int64_t multiplier = per_channel(*stage.multiplier(), c);
    QRT_MODEL_CHECK(multiplier == 0 || bound <= (kLimit - 1) / multiplier,
                    "accumulators of channel %zu may reach %" PRId64
                    ", times the multiplier %" PRId64 " 2^62 or more",
                    c, bound, multiplier);
  }
  return Status();
}

Status check_digits(const InferContext& context, int terms, int digits) {
  QRT_TRY(check_range("digits", digits, 1, kMaxWeightDigits));
  QRT_MODEL_CHECK(digits == 1 || (terms == 1 && context.inputs[0].type.dtype == DType::kInt16),
                  "digits is %d with %d terms and x of %s, expected 1, or 1 term and int16", digits,
                  terms, dtype_name(context.inputs[0].type.dtype));
  return Status();
}

Int16Constants make_int16_constants(const InferContext& context, size_t channels, size_t group,
                                    const flatbuffers::Vector<int32_t>* weight_sum,
                                    const fb::Requant& requant, bool is_planes, size_t digits) {
  Int16Constants constants;
  constants.requant = make_requant(requant, channels);
  repeat_requant_for_groups(channels, group, &constants.requant);
  const size_t stride = channel_stride(group);
  constants.bias.resize(channels / group * stride);
  for (size_t c = 0; c < channels; ++c)
    constants.bias[c / group * stride + c % group] =
        bias_at(context.inputs[2], c) +
        plane_correction(weight_sum, c, channels, digits, is_planes);
  constants.is_narrow = context.inputs[2].type.dtype == DType::kInt32;
  return constants;
}

Status make_int16_gemm(const PrepareContext& context,
                       const flatbuffers::Vector<int32_t>* weight_sum, const fb::Requant& requant,
                       bool pair_safe, size_t plane_elements, Int16Gemm* int16, PlannedStep* step) {
  GemmCall& gemm = int16->gemm;
  const size_t channels = gemm.groups * gemm.n;
  gemm.groups *= int16->digits;
  QRT_TRY(context.take(gemm_table_bytes(nullptr, gemm.groups, gemm.n) +
                       uint64_t{channels} / gemm.n * channel_stride(gemm.n) * sizeof(int64_t) +
                       requant_bytes(requant, channels / gemm.n * channel_stride(gemm.n))));
  make_gemm({context.inputs[1].data, /*bias=*/nullptr, weight_sum},
            {/*requant=*/nullptr, pair_safe, context.file_end, context.shared}, context.isas,
            context.threads, &gemm);
  int16->constants = make_int16_constants(context, channels, gemm.n, weight_sum, requant,
                                          /*is_planes=*/true, int16->digits);
  int16->kernel = select_digits(context.isas);
  int16->block_columns = std::min(round_up(kBlockColumns, gemm.kernel->nr), gemm.n);
  const size_t mr = gemm.kernel->mr,
               row_bytes = int16->block_columns * 2 * int16->digits * sizeof(int32_t);
  int16->block_rows = std::min(std::max(kBlockBytes / row_bytes / mr, size_t{1}) * mr, gemm.m);
  int16->split_tasks = task_count(static_cast<double>(plane_elements) * 2 / kCopyBytesPerNs,
                                  plane_elements, context.threads);
  size_t plane, bytes;
  if (!checked_add(plane_elements, kSlack, &plane) ||
      !checked_align(plane, kAlignment, &int16->plane_bytes) ||
      !checked_mul(int16->plane_bytes, 2, &bytes) ||
      !checked_add(bytes, gemm.tasks * round_up(int16->block_rows * row_bytes, kAlignment),
                   &step->scratch_bytes))
    return error(Code::kOutOfMemory, "planes of %zu values", plane_elements);
  return Status();
}

void run_int16_gemm(const Int16Gemm& int16, const RunContext& context, const GemmOperands& left,
                    size_t group_offset, uint8_t* y) {
  const GemmCall& gemm = int16.gemm;
  const size_t groups = gemm.groups / int16.digits;
  const size_t chunks = gemm.m_chunks * gemm.n_chunks, total = groups * chunks;
  const size_t tasks = std::min(gemm.tasks, total);
  const size_t block_sums = int16.block_rows * int16.block_columns;
  const size_t task_bytes = round_up(block_sums * 2 * int16.digits * sizeof(int32_t), kAlignment);
  const bool is_acc = int16.constants.requant.requant.kind == RequantKind::kAcc;
  const size_t element_bytes = is_acc ? sizeof(int32_t) : sizeof(int16_t);
  const size_t channel_bytes = gemm.taps * gemm.kc;  // packed weights of one output channel

  // Sums of a digit are followed by those of the next one.
  const auto run_block = [&](size_t group, const GemmRange& block, int32_t* sums) {
    const size_t columns = block.n_end - block.n_begin;
    const size_t channel = group * channel_stride(gemm.n) + block.n_begin;
    GemmArgs args{};
    args.a_stride = left.a_stride;
    args.a_tap_stride = left.a_tap_stride;
    args.zero = left.zero;
    args.m = block.m_end - block.m_begin;
    args.n = columns;
    args.taps = gemm.taps;
    args.kc = gemm.kc;
    args.c_stride = columns * sizeof(int32_t);
    for (size_t i = 0; i < 2 * int16.digits; ++i) {
      const size_t digit_channel = i / 2 * groups * channel_stride(gemm.n) + channel;
      args.weights = gemm.weights + digit_channel * channel_bytes;
      args.bias = gemm.bias().data() + digit_channel;
      const size_t offset = group * group_offset + (i % 2 != 0 ? int16.plane_bytes : 0);
      if (left.indirection) {
        args.indirection = left.indirection + block.m_begin * gemm.taps;
        args.a_offset = left.a_offset + static_cast<ptrdiff_t>(offset);
      } else {
        args.a = left.a + block.m_begin * left.a_stride + offset;
      }
      args.c = sums + i * block_sums;
      gemm.kernel->fn(args);
    }
    CombineArgs combine{};
    combine.high = sums;
    combine.low = sums + block_sums;
    combine.rows = args.m;
    combine.n = combine.stride = columns;
    combine.channel = channel;
    combine.bias = int16.constants.bias.data();
    combine.is_narrow = int16.constants.is_narrow;
    combine.requant = int16.constants.requant.requant;
    combine.y_stride = groups * gemm.n;
    uint8_t* const to =
        y + (block.m_begin * combine.y_stride + group * gemm.n + block.n_begin) * element_bytes;
    combine.y = reinterpret_cast<int16_t*>(to);
    combine.digits = int16.digits;
    combine.digit_stride = 2 * block_sums;
    if (is_acc) return combine_accumulators(combine, reinterpret_cast<int32_t*>(to));
    int16.kernel->combine(combine);
  };

  context.parallel->run(tasks, [&](size_t task) {
    int32_t* sums =
        reinterpret_cast<int32_t*>(context.scratch + 2 * int16.plane_bytes + task * task_bytes);
    for (size_t i = chunk_begin(total, task, tasks); i < chunk_begin(total, task + 1, tasks); ++i) {
      const GemmRange range = gemm_range(gemm, i % chunks);
      GemmRange block = range;
      for (; block.n_begin < range.n_end; block.n_begin = block.n_end) {
        block.n_end = std::min(block.n_begin + int16.block_columns, range.n_end);
        for (block.m_begin = range.m_begin; block.m_begin < range.m_end;
             block.m_begin = block.m_end) {
          block.m_end = std::min(block.m_begin + int16.block_rows, range.m_end);
          run_block(i / chunks, block, sums);
        }
      }
    }
  });
}

}  // namespace qrt
