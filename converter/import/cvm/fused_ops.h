// SPDX-License-Identifier: Apache-2.0
// Pending arithmetic of one tensor: CVM's networks put five and more operators
// between one product and the next, each of them int32; what belongs together is gathered in a
// sequence and becomes one operator, or a part of the product's requantisation.
#ifndef QRT_CONVERTER_IMPORT_CVM_FUSED_OPS_H_
#define QRT_CONVERTER_IMPORT_CVM_FUSED_OPS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "converter/ir.h"

namespace qrt::convert::from_cvm {

// Proven bounds of a tensor's values.
struct Range {
  int64_t lo = 0, hi = 0;

  bool within(int64_t least, int64_t most) const { return lo >= least && hi <= most; }
  bool is_int32() const { return within(INT32_MIN, INT32_MAX); }
};
constexpr Range kAnyInt32{INT32_MIN, INT32_MAX};
inline Range either(Range a, Range b) {
  return {a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

// The form in which a tensor is stored: its values + zero_point.
struct Storage {
  DType dtype = DType::kInt32;
  int32_t zero_point = 0;

  friend bool operator==(const Storage& a, const Storage& b) {
    return a.dtype == b.dtype && a.zero_point == b.zero_point;
  }
};
Range range_of(const std::vector<int32_t>& values);
std::vector<uint8_t> stored_bytes(const std::vector<int32_t>& values, Storage storage);
// Returns the storage of values: 8 bits where they fit, else 16, else 32.
Storage storage_for(Range range);
// "uint8 (+128), values -127 to 127"
std::string describe(Storage storage, Range range);

// One step of arithmetic on every element (schema/qrt_model.fbs, FormulaStep).
struct ElementOp {
  fb::FormulaFunction function = fb::FormulaFunction::ADD;
  int32_t value = 0, high = 0;
  std::vector<int32_t> by_channel;  // MULTIPLY: instead of value
};
ElementOp clamp_to(int32_t lo, int32_t hi);
// Returns whether no operation has a value for each channel.
bool is_scalar(const std::vector<ElementOp>& element_ops);

// Returns the range of the values behind an operation. *wraps: some may leave int32, where CVM's
// arithmetic is that of the machine.
Range range_after(const ElementOp& operation, Range range, bool* wraps);
// Applies an operation to one value, modulo 2^32. REQUIRES: not by channel.
int32_t apply(const ElementOp& operation, int32_t v);

// links[0 .. count) as one requantisation of kind INT for accumulators within `range`: stages that
// round half up, and limits. Nothing where they are none: more than two roundings, or negative
// factors.
//
// Every step is monotone: f(clamp(v, lo, hi)) = clamp(f(v), f(lo), f(hi)), so limits between the
// roundings move to the end, where 64 bits hold what they kept within 32.
struct Requantization {
  struct Stage {
    std::vector<int64_t> multiplier;  // 1, or one per channel
    int shift = 0;
    int64_t clip_lo = INT32_MIN, clip_hi = INT32_MAX;
  };
  std::vector<Stage> stages;
  Range range;  // range of the results

  // REQUIRES: `range` fits the storage.
  std::unique_ptr<fb::RequantT> options(Storage storage) const;
};
std::optional<Requantization> requantization(const std::vector<ElementOp>& element_ops,
                                             size_t count, Range range);

// Steps for a Formula. REQUIRES: none by channel.
std::vector<std::unique_ptr<fb::FormulaStepT>> formula_steps(
    const std::vector<ElementOp>& element_ops);

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_FUSED_OPS_H_
