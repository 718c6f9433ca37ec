// SPDX-License-Identifier: Apache-2.0
// Tables per channel that are straight lines, as those of BatchNormalization and Relu, or two lines
// that meet, as PRelu's: y = lo..hi of round(x * slope + intercept), a fused multiply-add in float32
// rounded half to even, or of the greater or lesser of two. It reads eight bytes for an output
// instead of a table of 256. Lines are looked for when a session is made, and taken where they give
// every entry of every table, but for two of each.
#ifndef QRT_RUNTIME_OPS_CHANNEL_LINES_H_
#define QRT_RUNTIME_OPS_CHANNEL_LINES_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/lut/lines.h"
#include "runtime/ops/line_fit.h"
#include "runtime/plan_memory.h"

namespace qrt {

class ChannelLines {
 public:
  // Finds lines that give these tables. At most `searches` tables may take a search of where two
  // lines meet. Returns null where there are none, or where this instruction set has no kernel.
  static std::unique_ptr<const ChannelLines> fit(IsaSet isas, const uint8_t* tables,
                                                 size_t channels, int searches);

  // Returns the memory in bytes that such an object takes.
  static size_t bytes(size_t channels);

  const char* name() const { return kernel_->name; }
  // Maps dense rows, n bytes in all; contract: lines.h.
  void map(const uint8_t* x, uint8_t* y, size_t n) const;

 private:
  ChannelLines(const LinesKernel* kernel, size_t channels);
  void set(size_t channel, const TableLines& lines, bool is_limited);
  bool correct(size_t channel, const uint8_t got[256], const uint8_t table[256]);

  const LinesKernel* kernel_;
  size_t channels_, period_;  // elements
  bool two_ = false, signed_ = false;
  PlanVector<LineBlock> blocks_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_CHANNEL_LINES_H_
