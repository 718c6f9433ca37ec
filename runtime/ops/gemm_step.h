// What Conv2D and FullyConnected share: checks of packed weights, the parameters of a gemm call
// (bias, requantisation, per group), and the cutting of a product into tasks.
#ifndef QRT_RUNTIME_OPS_GEMM_STEP_H_
#define QRT_RUNTIME_OPS_GEMM_STEP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "runtime/op.h"
#include "runtime/requant_params.h"

namespace qrt {

// bias[c] + 128 * weight_sum[c] (modulo 2^32) where the kernel reads x - 128, else bias[c]; with
// `group` channels per group each group starts at a multiple of channel_stride(group). Readable up
// to 64 channels beyond the last.
std::vector<int32_t> fold_bias(const uint8_t* bias, const flatbuffers::Vector<int32_t>* weight_sum,
                               size_t channels, size_t group, bool signed_lhs);

// Channels between the groups in bias and requantisation arrays.
constexpr size_t channel_stride(size_t group) { return (group + 15) / 16 * 16; }

// Spreads the per-channel arrays of make_requant() the same way.
void spread_groups(size_t channels, size_t group, RequantParams* params);

// A product c[outer][m][groups * n] and how it is cut. `outer` counts the calls that differ in more
// than their rows and channels: images times groups.
struct GemmStep {
  const GemmKernel* kernel = nullptr;
  size_t groups = 1;
  size_t m = 0, n = 0;  // of one product
  size_t taps = 0, kc = 0;
  const int8_t* weights = nullptr;
  std::vector<int32_t> bias;
  RequantParams requant;
  size_t element_bytes = 1;  // of the output

  size_t outer = 1, m_parts = 1, n_parts = 1;
  size_t tasks = 1;  // 1: the calling thread does all parts

  size_t c_stride() const { return groups * n * element_bytes; }
};

// The constants of a gemm: inputs 1 and 2 of the operator.
struct GemmConstants {
  const uint8_t* weights;
  const uint8_t* bias;
  const flatbuffers::Vector<int32_t>* weight_sum;
  const fb::Requant* requant;  // null: kind ACC
  bool pair_safe;
};

// Chooses the kernel, copies the requantisation, cuts; weights and bias stay unset. REQUIRES as for
// make_gemm().
void plan_gemm(const fb::Requant* requant, bool pair_safe, IsaSet isas, size_t threads,
               GemmStep* gemm);

// Chooses the kernel, copies bias and requantisation, cuts. REQUIRES: groups, m, n, taps, kc, outer
// set; outer, m, n >= 1.
void make_gemm(const GemmConstants& constants, IsaSet isas, size_t threads, GemmStep* gemm);

// Bytes that can be fetched for a later step while the product is computed.
size_t spare_bytes(const GemmStep& gemm);

// Rows and channels of one product.
struct GemmRange {
  size_t m_begin, m_end, n_begin, n_end;
};
// Of part `part` < m_parts * n_parts.
GemmRange gemm_range(const GemmStep& gemm, size_t part);

// Computes a range of one product of group `group`. `args` holds the left side (of that group) and
// c (of the first group's first row), and for a right side that is not constant weights and bias
// (of the first channel); where its requantisation has a scale, that counts instead of the step's;
// its c_stride is 0 where the rows of c are dense. REQUIRES: n_begin is a
// multiple of the kernel's nr.
void run_gemm_range(const GemmStep& gemm, GemmArgs args, size_t group, const GemmRange& range);

inline void run_gemm_part(const GemmStep& gemm, const GemmArgs& args, size_t group, size_t part) {
  run_gemm_range(gemm, args, group, gemm_range(gemm, part));
}

// The same for a step that may lead: where it has a follower, by blocks of rows, which that finds
// in the cache. `image` counts the products of m rows before this one in the output.
// A part fetches its share of what the step fetches ahead.
void run_leading_part(const Step& step, const RunContext& context, const GemmStep& gemm,
                      GemmArgs args, size_t image, size_t group, size_t part);

// f(outer index, part) for every part of every product.
template <class F>
void for_gemm_parts(const GemmStep& gemm, const Parallel& parallel, const F& f) {
  const size_t parts = gemm.m_parts * gemm.n_parts, total = gemm.outer * parts;
  const size_t tasks = gemm.tasks < total ? gemm.tasks : total;
  parallel.run(tasks, [&](size_t t) {
    for (size_t i = total * t / tasks; i < total * (t + 1) / tasks; ++i) f(i / parts, i % parts);
  });
}

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_GEMM_STEP_H_
