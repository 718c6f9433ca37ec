// SPDX-License-Identifier: Apache-2.0
// Rows of edge.inc: run lengths inside L1, inside L2 and beyond the caches (64 MiB of float32).
// Bytes are those read and written, but for float8 and int4 those of the float input; peak_% is the
// share of a copy of as many bytes in the same run.
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/edge/edge.h"
#include "kernels/edge/packed.h"

namespace qrt {
namespace {

constexpr size_t kChannels = 64;

struct Buffers {
  explicit Buffers(size_t n) : real(n), bytes(n), accumulators(n), half(n) {
    for (size_t i = 0; i < n; ++i) {
      real[i] = static_cast<float>(i % 509) * 0.07f - 15.0f;
      bytes[i] = static_cast<uint8_t>(i * 37);
      half[i] = float_to_half(real[i]);
      accumulators[i] = static_cast<int32_t>(i * 2654435761u);
    }
  }
  std::vector<float> real;
  std::vector<uint8_t> bytes;
  std::vector<int32_t> accumulators;
  std::vector<uint16_t> half;
};

void quantize(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(5 * n), nullptr}, [&] {
    kernel.quantize(data.real.data(), n, 0.11f, 120, 0, 255, data.bytes.data());
    benchmark::ClobberMemory();
  });
}

void quantize_channels(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  const std::vector<float> scale(kChannels, 0.11f);
  const std::vector<int32_t> zp(kChannels, 120);
  bench::measure(state, {0, static_cast<double>(5 * n), nullptr}, [&] {
    kernel.quantize_channels(data.real.data(), n / kChannels, kChannels, scale.data(), zp.data(), 0,
                             255, data.bytes.data());
    benchmark::ClobberMemory();
  });
}

void dequantize(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(5 * n), nullptr}, [&] {
    kernel.dequantize(data.bytes.data(), false, n, 0.11f, 120, data.real.data());
    benchmark::ClobberMemory();
  });
}

void dequantize_i32(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  const std::vector<float> scale(kChannels, 0.11f);
  bench::measure(state, {0, static_cast<double>(8 * n), nullptr}, [&] {
    kernel.dequantize_i32(data.accumulators.data(), n / kChannels, kChannels, scale.data(),
                          data.real.data());
    benchmark::ClobberMemory();
  });
}

void quantize_half(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(3 * n), nullptr}, [&] {
    kernel.quantize_half(data.half.data(), n, 0.11f, 120, 0, 255, 0, data.bytes.data());
    benchmark::ClobberMemory();
  });
}

void dequantize_half(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(3 * n), nullptr}, [&] {
    kernel.dequantize_half(data.bytes.data(), false, n, 0.11f, 120, data.half.data());
    benchmark::ClobberMemory();
  });
}

void quantize_float8(benchmark::State& state, const EdgeKernel& kernel) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  const SmallFloat format = small_float(SmallFormat::kE4M3FN, true);
  const float scale = 0.11f;
  bench::measure(state, {0, static_cast<double>(4 * n), nullptr}, [&] {
    kernel.encode(data.real.data(), n, {&scale, nullptr, false}, format, data.bytes.data());
    benchmark::ClobberMemory();
  });
}

// Measures int4 in chunks, as the operator quantises it.
void quantize_int4(benchmark::State& state, const EdgeKernel& kernel) {
  constexpr size_t kChunk = 2048;
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(4 * n), nullptr}, [&] {
    uint8_t codes[kChunk];
    for (size_t at = 0; at < n; at += kChunk) {
      const size_t count = n - at < kChunk ? n - at : kChunk;
      kernel.quantize(data.real.data() + at, count, 0.11f, 1, -8, 7, codes);
      pack_codes(4, codes, count, data.bytes.data() + at / 2);
    }
    benchmark::ClobberMemory();
  });
}

int register_all() {
  struct Case {
    const char* name;
    void (*run)(benchmark::State&, const EdgeKernel&);
  };
  size_t count;
  const EdgeKernel* rows = edge_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const EdgeKernel& kernel = rows[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    for (const Case& c :
         {Case{"/quantize", quantize}, Case{"/quantize_channels", quantize_channels},
          Case{"/dequantize", dequantize}, Case{"/dequantize_i32", dequantize_i32},
          Case{"/quantize_half", quantize_half}, Case{"/dequantize_half", dequantize_half},
          Case{"/quantize_float8", quantize_float8}, Case{"/quantize_int4", quantize_int4}})
      // 150,528: an image of 224 x 224 x 3.
      bench::register_measured(name + c.name, c.run, kernel)->Arg(4096)->Arg(150528)->Arg(1 << 24);
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
