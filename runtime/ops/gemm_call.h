// SPDX-License-Identifier: Apache-2.0
// The common part of Conv2D and FullyConnected: checks of packed weights, the parameters of a gemm
// call (bias, requantisation, per group), and the cutting of a product into tasks.
#ifndef QRT_RUNTIME_OPS_GEMM_CALL_H_
#define QRT_RUNTIME_OPS_GEMM_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/gemm/gemm.h"
#include "runtime/op.h"
#include "runtime/ops/layer_tables.h"

namespace qrt {

// Channels that the arrays of a requantisation of the tensor as a whole stand for: longer products
// go through it again and again. A multiple of every kernel's nr.
constexpr size_t kTensorRequantChannels = 6144;

// A product c[outer][m][groups * n] and how it is cut. `outer` counts the calls that differ in more
// than their rows and channels: images times groups.
struct GemmCall {
  const GemmKernel* kernel = nullptr;
  size_t groups = 1;
  size_t m = 0, n = 0;  // rows and columns of one product
  size_t taps = 0, kc = 0;
  const int8_t* weights = nullptr;
  std::shared_ptr<const PlanVector<int32_t>> bias_table;
  std::shared_ptr<const RequantParams> requant_table;
  // Channels that its arrays hold; later channels start again at entry 0.
  size_t requant_channels = SIZE_MAX;
  size_t element_bytes = 1;  // size of an element of the output

  size_t outer = 1, m_chunks = 1, n_chunks = 1;
  size_t tasks = 1;  // 1: the calling thread does all chunks

  const PlanVector<int32_t>& bias() const { return *bias_table; }
  const Requant& requant() const { return requant_table->requant; }
  size_t c_stride() const { return groups * n * element_bytes; }
};

// The part of an operator's options that a gemm needs.
struct GemmOptions {
  const fb::Requant* requant;  // null: kind ACC
  bool pair_safe;
  const uint8_t* file_end;  // argument of make_requant()
  SharedTables* shared;
  // Set where a kernel of another family runs the layer; signed_lhs says whether that one reads x - 128.
  bool other_kernel = false, signed_lhs = false;
};

// The constants of a gemm: inputs 1 and 2 of the operator, as the file has them, and what was made of them.
struct GemmConstants {
  const uint8_t* weights;  // packed int8
  const uint8_t* bias;     // int32 of every channel; null: zeros
  const flatbuffers::Vector<int32_t>* weight_sum;
};

// Chooses the kernel, reads the requantisation and cuts the work. Weights and bias stay unset, because
// only a run knows them. REQUIRES as for make_gemm().
void plan_gemm(const GemmOptions& options, IsaSet isas, size_t threads, GemmCall* gemm);

// Return the bytes of the tables that plan_gemm() makes, and of those with make_gemm()'s bias.
uint64_t gemm_requant_bytes(const fb::Requant& requant, size_t groups, size_t n);
uint64_t gemm_table_bytes(const fb::Requant* requant, size_t groups, size_t n);

// Chooses the kernel, reads bias and requantisation, cuts. REQUIRES: groups, m, n, taps, kc, outer
// set; outer, m, n >= 1.
void make_gemm(const GemmConstants& constants, const GemmOptions& options, IsaSet isas,
               size_t threads, GemmCall* gemm);

// Returns how many bytes can be fetched for a later step while the product is computed.
size_t spare_bytes(const GemmCall& gemm);

// Rows and channels of one product.
struct GemmRange {
  size_t m_begin, m_end, n_begin, n_end;
};
// Returns the rows and columns of chunk `chunk` < m_chunks * n_chunks.
GemmRange gemm_range(const GemmCall& gemm, size_t chunk);

// The parameters that a run adds to a gemm's: fields of GemmArgs by their names.
struct GemmOperands {
  // The left side, of the group that is computed.
  const uint8_t* a = nullptr;
  size_t a_stride = 0, a_tap_stride = 0;
  const uint8_t* const* indirection = nullptr;
  ptrdiff_t a_offset = 0;
  const uint8_t* zero = nullptr;

  // The right-hand side and bias of this run, from channel `first_channel` on, a multiple of 16,
  // where they are not constant; else null.
  const int8_t* weights = nullptr;
  const int32_t* bias = nullptr;
  size_t first_channel = 0;
  Requant requant{};  // no scale: the call's own requantisation is used

  // The first row of the output, from the first group on; c_stride 0: its rows are dense.
  void* c = nullptr;
  size_t c_stride = 0;
  // Instead, if not null: where the first row and channel of the range stands.
  uint8_t* tile = nullptr;
  size_t tile_stride = 0;

  const int8_t* ahead = nullptr;
  size_t ahead_bytes = 0;
};

// Computes a range of one product of group `group`. REQUIRES: n_begin is a multiple of the kernel's
// nr.
void run_gemm_range(const GemmCall& gemm, const GemmOperands& operands, size_t group,
                    const GemmRange& range);

inline void run_gemm_chunk(const GemmCall& gemm, const GemmOperands& operands, size_t group,
                           size_t chunk) {
  run_gemm_range(gemm, operands, group, gemm_range(gemm, chunk));
}

// Runs a chunk of the product for a step that may lead a follower. The follower runs behind each
// block of rows, which it finds in the cache. `image` counts the products of m rows before this one
// in the output. The chunk prefetches its share of the step's `ahead` bytes.
void run_leading_chunk(const Step& step, const RunContext& context, const GemmCall& gemm,
                       const GemmOperands& operands, size_t task, size_t image, size_t group,
                       size_t chunk);
// Sets tile_tasks and tile_bytes of a step that runs such chunks, if it makes accumulators.
void offer_tiles(const GemmCall& gemm, PlannedStep* step);

// f(task, outer index, chunk) for every chunk of every product.
template <class F>
void for_gemm_chunks(const GemmCall& gemm, const Parallel& parallel, const F& f) {
  const size_t chunks = gemm.m_chunks * gemm.n_chunks, total = gemm.outer * chunks;
  const size_t tasks = gemm.tasks < total ? gemm.tasks : total;
  parallel.run(tasks, [&](size_t t) {
    for (size_t i = chunk_begin(total, t, tasks); i < chunk_begin(total, t + 1, tasks); ++i)
      f(t, i / chunks, i % chunks);
  });
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_GEMM_CALL_H_
