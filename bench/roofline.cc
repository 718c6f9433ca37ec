// SPDX-License-Identifier: Apache-2.0
// Limits of operators; see roofline.h.
#include "bench/roofline.h"

#include <algorithm>

namespace qrt::bench {
namespace {

const PeakLoop& loop_of(const OpTime& op, const Measurement& m) {
  Isa best = Isa::kScalar;
  parse_isa(m.isa.c_str(), &best);
  return peak_loop_of_kernel(op.kernel, best);
}

double ms_at(uint64_t bytes, double gbs) {
  return gbs > 0 ? static_cast<double>(bytes) / gbs * 1e-6 : 0;
}

}  // namespace

std::vector<PeakRate> loops_of(const Measurement& m) {
  std::vector<PeakRate> peaks;
  for (const OpTime& op : m.ops) {
    if (op.macs == 0) continue;
    const PeakLoop* loop = &loop_of(op, m);
    if (std::none_of(peaks.begin(), peaks.end(),
                     [&](const PeakRate& p) { return p.loop == loop; })) {
      peaks.push_back({loop, 0});
    }
  }
  return peaks;
}

const char* why_above(const OpTime& op) {
  if (op.ms <= 0 || op.limit.ms() <= op.ms) return nullptr;
  if (op.kernel.find("winograd") != std::string::npos)
    return "fewer products than the definition's (Winograd)";
  return op.limit.compute_ms > op.limit.memory_ms ? "a faster clock than in the peak's samples"
                                                  : "data that lay nearer than assumed";
}

void set_limits(size_t threads, Measurement* m) {
  uint64_t constants = 0;
  for (const OpTime& op : m->ops) constants += op.constant_bytes;
  const MemoryLevel& constant_level = level_of(m->memory, constants / threads);
  const double workers = static_cast<double>(threads);
  for (OpTime& op : m->ops) {
    Limit& limit = op.limit;
    if (op.macs != 0) {
      limit.loop = &loop_of(op, *m);
      for (const PeakRate& peak : m->peaks)
        if (peak.loop == limit.loop && peak.gmacs > 0)
          limit.compute_ms = static_cast<double>(op.macs) / (peak.gmacs * workers) * 1e-6;
    }
    if (op.bytes == 0) continue;  // a view
    const uint64_t activations = op.bytes - op.constant_bytes;
    const MemoryLevel& level = level_of(m->memory, activations / threads);
    limit.memory_ms = ms_at(op.constant_bytes, constant_level.read_gbs * workers) +
                      ms_at(activations, std::max(level.read_gbs, level.copy_gbs) * workers);
    const bool far = op.constant_bytes > 0 && constant_level.capacity > level.capacity;
    limit.memory_level = far ? constant_level.name : level.name;
  }
}

}  // namespace qrt::bench
