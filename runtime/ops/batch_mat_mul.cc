// SPDX-License-Identifier: Apache-2.0
// BatchMatMul: products of matrices that are both computed. The right sides, one for each index of b's
// own leading dimensions, are packed, then multiplied like weights: a piece of them at a time where
// nothing else wants that piece, else all of them first. A right side that is constant is packed once
// for a model. INT16 operands are not packed.
#include "runtime/ops/batch_mat_mul.h"

#include <algorithm>

#include "kernels/gemm/pack.h"
#include "kernels/gemm/pack_activations.h"
#include "kernels/gemm/product_int16.h"
#include "runtime/checked.h"
#include "runtime/ops/broadcast.h"
#include "runtime/ops/check.h"
#include "runtime/ops/gemm_call.h"
#include "runtime/ops/matrix_rows.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"
#include "runtime/ops/transpose.h"
#include "runtime/requant_params.h"

namespace qrt {
namespace {

// 65,025 * kMaxK < 2^31
constexpr int64_t kMaxK = 33025;
constexpr int kMaxLeading = kMaxTensorRank - 2;

Status check_int16(const fb::BatchMatMulOptions& options, size_t n, int64_t k) {
  QRT_TRY(check_requant(options.requant(), n, /*allow_acc=*/false, DType::kInt16));
  const int64_t sum =
      k * int16_reach(options.a_zero_point_16()) * int16_reach(options.b_zero_point_16());
  for (const int32_t m : *options.requant()->stages()->Get(0)->multiplier())
    QRT_MODEL_CHECK(m == 0 || sum <= ((int64_t{1} << 62) - 1) / m,
                    "sums may reach %lld, times the multiplier %d 2^62 or more",
                    static_cast<long long>(sum), m);
  return Status();
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::BatchMatMulOptions>();
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_activation(context, 0, "a"));
  const DType dtype = context.inputs[0].type.dtype;
  QRT_TRY(check_dtype(context, 1, "b", dtype));
  const Shape &a = context.inputs[0].type.shape, &b = context.inputs[1].type.shape;
  QRT_MODEL_CHECK(a.rank() >= 2 && b.rank() >= 2,
                  "shapes %s and %s, expected at least 2 dimensions each", a.to_string().c_str(),
                  b.to_string().c_str());
  const bool transposed = options->transpose_b();
  const int64_t k = a[a.rank() - 1], n = b[b.rank() - (transposed ? 2 : 1)];
  QRT_MODEL_CHECK(k == b[b.rank() - (transposed ? 1 : 2)],
                  "shapes %s and %s cannot be multiplied: a has %lld columns",
                  a.to_string().c_str(), b.to_string().c_str(), static_cast<long long>(k));
  QRT_TRY(check_range("the number of columns of a", k, 1, kMaxK));
  Shape y;
  QRT_TRY(broadcast_dims(a, b, 2, &y));
  y.push_back(a[a.rank() - 2]);
  y.push_back(n);
  if (runs_int16(dtype)) {
    QRT_TRY(check_int16(*options, static_cast<size_t>(n), k));
    return add_output(dtype, y, outputs);
  }
  QRT_TRY(check_requant(options->requant(), static_cast<size_t>(n), /*allow_acc=*/true));
  const bool acc = options->requant()->kind() == fb::RequantKind::ACC;
  return add_output(acc ? DType::kInt32 : DType::kUInt8, y, outputs);
}

// The matrices that make one of the output.
struct MatrixIndices {
  size_t a, b;
};

// Leading dimensions of the output, and what one step along them adds to the index of a matrix.
struct Leading {
  Leading() = default;
  Leading(const Shape& a, const Shape& b, const Shape& y) : count(y.rank() - 2) {
    size_t a_next = 1, b_next = 1;
    for (int i = count; i-- > 0;) {
      const int64_t da = aligned_dim(a, y.rank(), i), db = aligned_dim(b, y.rank(), i);
      dims[i] = static_cast<size_t>(y[i]);
      a_step[i] = da == 1 ? 0 : a_next;
      b_step[i] = db == 1 ? 0 : b_next;
      a_next *= static_cast<size_t>(da);
      b_next *= static_cast<size_t>(db);
    }
  }

  MatrixIndices at(size_t matrix) const {
    MatrixIndices pair{0, 0};
    for (int i = count; i-- > 0; matrix /= dims[i]) {
      pair.a += matrix % dims[i] * a_step[i];
      pair.b += matrix % dims[i] * b_step[i];
    }
    return pair;
  }

  int count = 0;
  size_t dims[kMaxLeading], a_step[kMaxLeading], b_step[kMaxLeading];
};

struct Params {
  GemmCall gemm;  // without weights and bias
  PackActivationsFn pack;
  size_t k;
  int32_t b_zero_point;
  // sum over k of (a - za) * (b - zb) = sum of a * (b - zb) - za * sum of (b - zb), modulo 2^32; a
  // kernel that reads a - 128 needs 128 times the sum of the packed weights more.
  uint32_t sum_factor, sum_addend;
  Leading leading;
  size_t b_count, pack_tasks;
  std::shared_ptr<const TableBytes> constant;  // the packed right sides of a constant; else null
  // Channels that a task packs and multiplies at a time, in scratch of its own; 0: all are packed first.
  size_t channels_at_a_time;
  // Packed right sides, then their column sums, which become the biases.
  size_t packed_bytes, bias_bytes;  // bytes of one matrix, rounded up to the alignment
  // The left side with its tails, in scratch, where the right side's zero point asks for them.
  size_t tail_bytes, a_rows, tail_tasks, a_offset;
};

// The operands of one step. A Transpose that is fused in (pull_rows) changes only `a` and `b`.
struct Operands {
  std::shared_ptr<const Params> params;
  MatrixRows a, b;
  bool transposed;
};

size_t bias_offset(const Params& p, size_t b) {
  return p.b_count * p.packed_bytes + b * p.bias_bytes;
}

// Channels [begin, end) of matrix `b` of `right`, begin a multiple of 16, to where `packed` and `bias`
// hold that one.
void pack_channels(const Operands& operands, const uint8_t* right, size_t b, size_t begin,
                   size_t end, uint8_t* packed, int32_t* bias) {
  const Params& p = *operands.params;
  const size_t first = begin * (operands.transposed ? operands.b.stride : 1);
  p.pack({right + operands.b.offset(b) + first, operands.b.stride, p.k, operands.transposed,
          p.b_zero_point, reinterpret_cast<int8_t*>(packed), p.sum_factor, p.sum_addend, bias},
         0, end - begin);
}

// Blocks of 16 channels of all right sides, counted through them.
void pack_blocks(const Operands& operands, const uint8_t* right, size_t begin, size_t end,
                 uint8_t* area) {
  const Params& p = *operands.params;
  const size_t blocks = ceil_div(p.gemm.n, 16);
  while (begin < end) {
    const size_t b = begin / blocks, first = begin % blocks * 16;
    const size_t last = std::min(first + (end - begin) * 16, p.gemm.n);
    pack_channels(operands, right, b, first, last, area + b * p.packed_bytes + first * p.gemm.kc,
                  reinterpret_cast<int32_t*>(area + bias_offset(p, b)) + first);
    begin += ceil_div(last - first, 16);
  }
}

size_t block_count(const Params& p) { return p.b_count * ceil_div(p.gemm.n, 16); }

void pack(const Step& step, const RunContext& context) {
  const Operands& operands = step.as<Operands>();
  const Params& p = *operands.params;
  for_chunks(*context.parallel, p.pack_tasks, block_count(p), 1,
             [&](size_t, size_t begin, size_t end) {
               pack_blocks(operands, context.in(step, 1), begin, end, context.scratch);
             });
}

// Packs the right sides of a constant, which take `bytes`, or finds them packed.
Status share_packed(const PrepareContext& context, size_t bytes, const Operands& operands,
                    Params* p) {
  QRT_TRY(context.take(bytes));
  const uint8_t* const right = context.inputs[1].data;
  TableKey key("right sides");
  key.add(right, p->pack, p->k, p->gemm.n, p->b_count, operands.transposed, p->b_zero_point,
          p->sum_factor, p->sum_addend);
  p->constant = context.shared->get_bytes(
      key, bytes, [&](uint8_t* area) { pack_blocks(operands, right, 0, block_count(*p), area); });
  return {};
}

// Returns the left side with its tails.
const uint8_t* with_tails(const Step& step, const RunContext& context) {
  const Operands& operands = step.as<Operands>();
  const Params& p = *operands.params;
  uint8_t* const y = context.scratch + p.a_offset;
  for_chunks(*context.parallel, p.tail_tasks, p.a_rows, 1, [&](size_t, size_t begin, size_t end) {
    while (begin < end) {
      const size_t row = begin % p.gemm.m, rows = std::min(end - begin, p.gemm.m - row);
      const size_t at = operands.a.offset(begin / p.gemm.m) + row * operands.a.stride;
      append_activation_tails(context.in(step, 0) + at, operands.a.stride, rows, p.k,
                              p.b_zero_point, y + begin * p.gemm.kc);
      begin += rows;
    }
  });
  return y;
}

// Packs a part's channels and multiplies by them.
void pack_and_multiply(const Step& step, const RunContext& context, GemmOperands args, size_t task,
                       size_t b, size_t chunk) {
  const Params& p = *step.as<Operands>().params;
  uint8_t* const packed = context.scratch + task * (p.packed_bytes + p.bias_bytes);
  int32_t* const bias = reinterpret_cast<int32_t*>(packed + p.packed_bytes);
  args.weights = reinterpret_cast<const int8_t*>(packed);
  args.bias = bias;
  const GemmRange range = gemm_range(p.gemm, chunk);
  GemmRange tile = range;
  for (; tile.n_begin < range.n_end; tile.n_begin = tile.n_end) {
    tile.n_end = std::min(tile.n_begin + p.channels_at_a_time, range.n_end);
    pack_channels(step.as<Operands>(), context.in(step, 1), b, tile.n_begin, tile.n_end, packed,
                  bias);
    args.first_channel = tile.n_begin;
    run_gemm_range(p.gemm, args, 0, tile);
  }
}

void run(const Step& step, const RunContext& context) {
  const Operands& operands = step.as<Operands>();
  const Params& p = *operands.params;
  const bool is_packed = p.channels_at_a_time == 0;
  if (is_packed && p.constant == nullptr) pack(step, context);
  const uint8_t* const area = p.constant != nullptr ? p.constant->data() : context.scratch;
  const bool stands = p.tail_bytes == 0;
  const uint8_t* const a = stands ? context.in(step, 0) : with_tails(step, context);
  const size_t a_stride = stands ? operands.a.stride : p.gemm.kc;
  for_gemm_chunks(p.gemm, *context.parallel, [&](size_t task, size_t outer, size_t chunk) {
    const MatrixIndices pair = p.leading.at(outer);
    GemmOperands args{};
    args.a = a + (stands ? operands.a.offset(pair.a) : pair.a * p.gemm.m * a_stride);
    args.a_stride = a_stride;
    args.c = context.out(step, 0) + outer * p.gemm.m * p.gemm.c_stride();
    if (!is_packed) return pack_and_multiply(step, context, args, task, pair.b, chunk);
    args.weights = reinterpret_cast<const int8_t*>(area + pair.b * p.packed_bytes);
    args.bias = reinterpret_cast<const int32_t*>(area + bias_offset(p, pair.b));
    run_gemm_chunk(p.gemm, args, 0, chunk);
  });
}

struct Int16Params {
  Int16Params(const PrepareContext& context, const fb::BatchMatMulOptions& options)
      : leading(context.inputs[0].type.shape, context.inputs[1].type.shape,
                context.outputs[0].shape),
        by_column(!is_per_tensor(*options.requant())),
        requant(make_requant(*options.requant(), requant_channels(context, options))),
        transposed(options.transpose_b()),
        a_zero_point(options.a_zero_point_16()),
        b_zero_point(options.b_zero_point_16()) {}

  static size_t requant_channels(const PrepareContext& context,
                                 const fb::BatchMatMulOptions& options) {
    const Shape& y = context.outputs[0].shape;
    return is_per_tensor(*options.requant()) ? 1 : static_cast<size_t>(y[y.rank() - 1]);
  }

  Leading leading;
  bool by_column;
  RequantParams requant;
  bool transposed;
  int32_t a_zero_point, b_zero_point;
  size_t rows, k, n, matrices, tasks;
};

void run_int16(const Step& step, const RunContext& context) {
  const Int16Params& p = step.as<Int16Params>();
  const auto* a = reinterpret_cast<const int16_t*>(context.in(step, 0));
  const auto* b = reinterpret_cast<const int16_t*>(context.in(step, 1));
  auto* y = reinterpret_cast<int16_t*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.matrices * p.rows, 1,
             [&](size_t, size_t begin, size_t end) {
               while (begin < end) {
                 const size_t matrix = begin / p.rows, row = begin % p.rows;
                 const MatrixIndices pair = p.leading.at(matrix);
                 ProductInt16Args args{};
                 args.a = a + (pair.a * p.rows + row) * p.k;
                 args.b = b + pair.b * p.k * p.n;
                 args.rows = std::min(p.rows - row, end - begin);
                 args.k = p.k;
                 args.n = p.n;
                 args.transposed = p.transposed;
                 args.a_zero_point = p.a_zero_point;
                 args.b_zero_point = p.b_zero_point;
                 args.requant = p.requant.requant;
                 args.by_column = p.by_column;
                 args.y = y + begin * p.n;
                 product_int16(args);
                 begin += args.rows;
               }
             });
}

Status prepare_int16(const PrepareContext& context, PlannedStep* step) {
  const Shape &a = context.inputs[0].type.shape, &y = context.outputs[0].shape;
  const auto& options = *context.op->options_as<fb::BatchMatMulOptions>();
  QRT_TRY(context.take(
      requant_bytes(*options.requant(), Int16Params::requant_channels(context, options))));
  auto params = make_planned<Int16Params>(context, options);
  params->rows = static_cast<size_t>(y[y.rank() - 2]);
  params->n = static_cast<size_t>(y[y.rank() - 1]);
  params->k = static_cast<size_t>(a[a.rank() - 1]);
  params->matrices = static_cast<size_t>(y.elements()) / (params->rows * params->n);
  step->macs = static_cast<uint64_t>(y.elements()) * params->k;
  params->tasks = task_count(static_cast<double>(step->macs) / speed_of(Isa::kScalar).macs,
                             params->matrices * params->rows, context.threads);
  step->kernel = "product_s16";
  step->run = run_int16;
  step->params = std::move(params);
  return Status();
}

// A piece stays in the first-level cache beside what it is packed from; a left side is read again for
// each of them from the second level.
constexpr size_t kPieceBytes = 16 << 10, kPieceLeftBytes = 256 << 10;

// See Params.
size_t channels_at_a_time(const Params& p, bool b_is_constant) {
  const GemmCall& gemm = p.gemm;
  const bool is_used_once = p.b_count == gemm.outer && gemm.m_chunks == 1;
  if (b_is_constant || !is_used_once || gemm.m > kPieceLeftBytes / gemm.kc) return 0;
  return std::max(kPieceBytes / gemm.kc / 64, size_t{1}) * 64;
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  if (runs_int16(context.inputs[0].type.dtype)) return prepare_int16(context, step);
  const auto* options = context.op->options_as<fb::BatchMatMulOptions>();
  const Shape &a = context.inputs[0].type.shape, &b = context.inputs[1].type.shape;
  const Shape& y = context.outputs[0].shape;
  const int rank = y.rank();
  auto params = make_planned<Params>();
  Params& p = *params;
  p.pack = select_pack_activations(context.isas)->fn;
  p.k = static_cast<size_t>(a[a.rank() - 1]);
  p.b_zero_point = options->b_zero_point();
  const bool b_is_constant = context.inputs[1].data != nullptr;
  GemmCall& gemm = p.gemm;
  gemm.m = static_cast<size_t>(y[rank - 2]);
  gemm.n = static_cast<size_t>(y[rank - 1]);
  gemm.taps = 1;
  p.tail_bytes = activation_tail_bytes(p.k, p.b_zero_point);
  gemm.kc = round_up(p.k, 4) + p.tail_bytes;
  p.b_count = static_cast<size_t>(b.elements()) / (p.k * gemm.n);
  step->macs = static_cast<uint64_t>(y.elements()) * p.k;
  if (p.b_count == 1) {
    gemm.m = static_cast<size_t>(y.elements()) / gemm.n;  // one product of all rows
  } else {
    p.leading = Leading(a, b, y);
    for (int i = 0; i < p.leading.count; ++i) gemm.outer *= p.leading.dims[i];
  }
  QRT_TRY(context.take(gemm_requant_bytes(*options->requant(), 1, gemm.n)));
  plan_gemm({options->requant(), /*pair_safe=*/false, context.file_end, context.shared},
            context.isas, context.threads, &gemm);
  const uint32_t moved = gemm.kernel->signed_lhs ? 128 : 0;
  p.sum_factor = moved - options->a_zero_point();
  p.sum_addend = moved * activation_excess(p.k, p.b_zero_point);
  p.channels_at_a_time = channels_at_a_time(p, b_is_constant);
  const size_t channels =
      p.channels_at_a_time == 0 ? gemm.n : std::min(p.channels_at_a_time, gemm.n);
  const size_t areas = p.channels_at_a_time == 0 ? p.b_count : gemm.tasks;
  size_t bytes = 0;
  // Kernels read biases up to the next multiple of 64 channels.
  if (!checked_align(size_or_most(gemm_packed_bytes(channels, 1, gemm.kc)), kAlignment,
                     &p.packed_bytes) ||
      !checked_mul(round_up(channels, 64), sizeof(int32_t), &p.bias_bytes) ||
      !checked_add(p.packed_bytes, p.bias_bytes, &bytes) || !checked_mul(areas, bytes, &bytes))
    return error(Code::kOutOfMemory, "the packed right sides take more memory than there is");
  if (!b_is_constant) step->scratch_bytes = bytes;
  if (p.tail_bytes > 0) {
    p.a_offset = step->scratch_bytes;
    p.a_rows = static_cast<size_t>(a.elements()) / p.k;
    p.tail_tasks = task_count(static_cast<double>(a.elements()) / kCopyBytesPerNs * 2, p.a_rows,
                              context.threads);
    size_t left_bytes = 0;
    if (!checked_mul(p.a_rows, gemm.kc, &left_bytes) ||
        !checked_add(left_bytes, step->scratch_bytes, &step->scratch_bytes))
      return error(Code::kOutOfMemory,
                   "the left side with its tails takes more memory than there is");
  }
  p.pack_tasks = task_count(static_cast<double>(b.elements()) / kCopyBytesPerNs * 4,
                            p.b_count * ceil_div(gemm.n, 16), context.threads);
  step->kernel = gemm.kernel->name;
  step->run = run;
  const size_t a_matrices = static_cast<size_t>(a.elements()) / (gemm.m * p.k);
  const MatrixRows a_rows(a_matrices, gemm.m, p.k);
  const bool transposed = options->transpose_b();
  const MatrixRows b_rows(p.b_count, transposed ? gemm.n : p.k, transposed ? p.k : gemm.n);
  const auto operands = make_planned<Operands>(Operands{params, a_rows, b_rows, transposed});
  if (b_is_constant) QRT_TRY(share_packed(context, bytes, *operands, &p));
  step->params = operands;
  return Status();
}

// Returns whether dimension 0 belongs to none of the matrices.
bool keeps_images_apart(const fb::Operator& op, const BatchOperands& operands) {
  return operands.output.rank() >= 3 && operands_apart(op, operands);
}

}  // namespace

bool pull_rows(const Step& transpose, size_t i, PlannedStep* product) {
  const TransposePlan* const plan = find_moved_rows(transpose, 1);
  if (plan == nullptr || product->run != run) return false;
  auto operands = make_planned<Operands>(product->as<Operands>());
  const Params& p = *operands->params;
  MatrixRows& rows = i == 0 ? operands->a : operands->b;
  const size_t count = i == 0 ? p.gemm.m : operands->transposed ? p.gemm.n : p.k;
  if (plan->dims[plan->rank - 1] != rows.stride || plan->dims[plan->rank - 2] % count != 0)
    return false;
  const size_t row_stride = plan->stride[plan->rank - 2], stride = plan->stride[plan->rank - 1];
  if (stride == 1) {
    rows = MatrixRows(*plan, count, row_stride);
  } else {  // the rows are columns
    if (i == 0) return false;
    rows = MatrixRows(*plan, count, stride);
    operands->transposed = !operands->transposed;
  }
  product->inputs[i] = transpose.inputs[0];
  product->params = std::move(operands);
  return true;
}

std::string describe_batch_mat_mul(const fb::Operator& op) {
  return describe_requant(requant_of<fb::BatchMatMulOptions>(op));
}

const OpDef kBatchMatMulOp = {"BatchMatMul",
                              fb::OpOptions::BatchMatMul,
                              infer,
                              prepare,
                              {Arithmetic::kRequant, level_of_requant<fb::BatchMatMulOptions>,
                               requant_of<fb::BatchMatMulOptions>, keeps_images_apart,
                               LayoutRule::kOwn, Broadcasting::kMatrices, ConstantRule::kOperands}};

}  // namespace qrt
