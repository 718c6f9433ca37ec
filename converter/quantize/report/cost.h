// SPDX-License-Identifier: Apache-2.0
// Estimates the time of an integer model's run: its roofline on a core that is the same for everybody,
// so that reports are. qrt_bench --roofline measures the core that is there.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_COST_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_COST_H_

#include <cstdint>
#include <vector>

#include "runtime/status.h"

namespace qrt::quantize {

// The nominal core: two vectors of 256 bits of products in each cycle of 3 GHz, added up in fours of
// bytes, pairs of 16 bits or singly; constants come from memory, what operators hand on from a cache.
constexpr double kByteGmacs = 192, kWideGmacs = 96, kFloatGmacs = 48;  // 10^9 products a second
constexpr double kConstantGbs = 20, kCacheGbs = 60;                    // 10^9 bytes a second
// The nominal core in words.
extern const char kNominalCore[];

struct Cost {
  uint64_t macs = 0, bytes = 0;  // multiply-accumulates and bytes of one run
  double ms = 0;                 // for each operator the greater: its products' or its bytes' time
};
// Estimates the cost of .qrt bytes, at the model's own batch.
Status cost_of(const std::vector<uint8_t>& model, Cost* cost);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_COST_H_
