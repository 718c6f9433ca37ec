// SPDX-License-Identifier: Apache-2.0
// Rows of lut.inc: run lengths inside L1, inside L2 and beyond the caches. Bytes are those read and
// written.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/lut/channel_lut.h"
#include "kernels/lut/lines.h"
#include "kernels/lut/pair_lut.h"

namespace qrt {
namespace {

std::vector<uint8_t> bytes(size_t n) {
  std::vector<uint8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
  return v;
}

void map(benchmark::State& state, const LutKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  const std::vector<uint8_t> table = bytes(256), x = bytes(n);
  std::vector<uint8_t> y(n);
  bench::measure(state, {0, static_cast<double>(2 * n), nullptr}, [&] {
    kernel.map(table.data(), x.data(), y.data(), n);
    benchmark::ClobberMemory();
  });
}

// Measures tables per channel, by planes or byte by byte.
void channels(benchmark::State& state, const LutKernel& kernel, bool by_planes) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t channels = static_cast<size_t>(state.range(1)), n = rows * channels;
  const std::vector<uint8_t> tables = bytes(256 * channels), x = bytes(n + 64);
  std::vector<uint8_t> y(n);
  const ChannelPlanes planes =
      plan_channel_planes(capped(detected_isas(), kernel.isa), rows, channels);
  std::vector<uint8_t> memory(planes.bytes());
  bench::measure(state, {0, static_cast<double>(2 * n), nullptr}, [&] {
    if (!by_planes) map_channels(tables.data(), x.data(), y.data(), rows, channels);
    for (size_t r = 0; by_planes && r < rows; r += planes.rows)
      planes.map(tables.data(), x.data() + r * channels, y.data() + r * channels,
                 std::min(planes.rows, rows - r), memory.data());
    benchmark::ClobberMemory();
  });
}

// Measures tables that are a line each, or two that meet.
void lines(benchmark::State& state, const LinesKernel& kernel, bool two) {
  const size_t rows = static_cast<size_t>(state.range(0));
  const size_t channels = static_cast<size_t>(state.range(1)), n = rows * channels;
  LineBlock block = {};
  for (size_t i = 0; i < kLinesBlock; ++i) {
    block.slope[0][i] = 0.5f, block.slope[1][i] = 0.25f;
    block.intercept[0][i] = 10, block.intercept[1][i] = 40;
    block.hi[i] = 255;
  }
  const std::vector<LineBlock> blocks((channels + kLinesBlock - 1) / kLinesBlock, block);
  const LineConstants constants = {blocks.data(), channels};
  const std::vector<uint8_t> x = bytes(n + 64);
  std::vector<uint8_t> y(n);
  bench::measure(state, {0, static_cast<double>(2 * n), nullptr}, [&] {
    (two ? kernel.map_two : kernel.map)(constants, x.data(), y.data(), n);
    benchmark::ClobberMemory();
  });
}

// Activations of few and of all values: their pairs stay in the first-level cache, or do not.
void map_pairs(benchmark::State& state, const LutKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  const auto values = static_cast<uint8_t>(state.range(1));
  const std::vector<uint8_t> table = bytes(kPairLutEntries + 64);
  std::vector<uint8_t> a = bytes(n), b = bytes(n + 7), y(n);
  for (uint8_t& v : a) v &= values;
  for (uint8_t& v : b) v &= values;
  bench::measure(state, {0, static_cast<double>(3 * n), nullptr}, [&] {
    kernel.map_pairs(table.data(), a.data(), b.data() + 7, y.data(), n);
    benchmark::ClobberMemory();
  });
}

int register_all() {
  size_t count;
  const LutKernel* rows = lut_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const LutKernel& kernel = rows[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    bench::register_measured(name + "/map", map, kernel)
        ->Arg(576)
        ->Arg(4096)
        ->Arg(200704)
        ->Arg(1 << 24);
    for (const bool by_planes : {false, true}) {
      if (by_planes && kernel.isa == Isa::kScalar) continue;
      bench::register_measured(name + (by_planes ? "/planes" : "/channels"), channels, kernel,
                               by_planes)
          ->Args({3136, 64})
          ->Args({196, 512});
    }
    bench::register_measured(name + "/map_pairs", map_pairs, kernel)
        ->Args({65536, 31})
        ->Args({65536, 255});
  }
  const LinesKernel* const lines_rows = lines_kernels(&count);
  for (size_t i = 0; i + 1 < count; ++i) {  // the last says that there is none
    const LinesKernel& kernel = lines_rows[i];
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(kernel.name);
      continue;
    }
    for (const bool two : {false, true})
      bench::register_measured(std::string(kernel.name) + (two ? "/two" : "/one"), lines, kernel,
                               two)
          ->Args({3136, 64})
          ->Args({196, 512});
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
