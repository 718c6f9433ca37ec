// SPDX-License-Identifier: Apache-2.0
// Rows of pool.inc on images of usual networks. Bytes are those of the input and the output.
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/pool/pool_int16.h"

namespace qrt {
namespace {

// Aligned as a session's tensors are.
struct Image {
  explicit Image(size_t n) : bytes(n), data(bytes.data()), size(n) { bench::fill(data, n); }
  bench::Buffer bytes;
  uint8_t* data;
  size_t size;
};

// Returns the shape for a benchmark's arguments: side, channels, kernel, stride, pad.
PoolShape shape_of(const benchmark::State& state) {
  const auto arg = [&](size_t i) { return static_cast<size_t>(state.range(i)); };
  const size_t out = (arg(0) + 2 * arg(4) - arg(2)) / arg(3) + 1;
  return {{arg(0), arg(0), out, out, arg(2), arg(2), arg(3), arg(3), 1, 1, arg(4), arg(4)}, arg(1)};
}

void max(benchmark::State& state, const PoolKernel& kernel) {
  const PoolShape s = shape_of(state);
  const Image x(s.in_h * s.in_w * s.c + 64);
  Image y(s.out_h * s.out_w * s.c);
  bench::measure(state, {0, static_cast<double>(x.size + y.size), nullptr}, [&] {
    kernel.max({s, x.data, y.data, 0, s.out_h});
    benchmark::ClobberMemory();
  });
}

void max_int16(benchmark::State& state, const PoolKernel& kernel) {
  const PoolShape s = shape_of(state);
  const Image x((s.in_h * s.in_w * s.c + 32) * sizeof(int16_t));
  Image y(s.out_h * s.out_w * s.c * sizeof(int16_t));
  bench::measure(state, {0, static_cast<double>(x.size + y.size), nullptr}, [&] {
    kernel.max_int16({s, 0, 0, reinterpret_cast<const int16_t*>(x.data),
                      reinterpret_cast<int16_t*>(y.data), 0, s.out_h});
    benchmark::ClobberMemory();
  });
}

void average(benchmark::State& state, const PoolKernel& kernel) {
  const PoolShape s = shape_of(state);
  const Image x(s.in_h * s.in_w * s.c + 64);
  Image y(s.out_h * s.out_w * s.c);
  constexpr float kScale = 0.02f;
  constexpr int32_t kZeroPoint = 100;
  std::vector<float> value(256);
  for (int i = 0; i < 256; ++i)
    value[static_cast<size_t>(i)] = kScale * static_cast<float>(i - kZeroPoint);
  AveragePoolArgs args = {s,     value.data(), kScale, kZeroPoint, 0.018f,  90, 0,
                          false, x.data,       y.data, 0,          s.out_h, 0};
  args.sum_scale = average_sum_scale(args);
  bench::measure(state, {0, static_cast<double>(x.size + y.size), nullptr}, [&] {
    kernel.average(args);
    benchmark::ClobberMemory();
  });
}

// Arguments: pixels, channels.
void global_sum(benchmark::State& state, const PoolKernel& kernel) {
  const size_t pixels = static_cast<size_t>(state.range(0));
  const size_t c = static_cast<size_t>(state.range(1));
  const Image x(pixels * c + 64);
  Image y(c);
  const std::vector<float> scale(c + 64, 0.9f / static_cast<float>(pixels));
  Requant requant{};
  requant.kind = RequantKind::kF32;
  requant.scale = scale.data();
  requant.hi = 255;
  bench::measure(state, {0, static_cast<double>(x.size + y.size), nullptr}, [&] {
    kernel.global_sum({x.data, pixels, c, 3, requant, y.data, 0, c});
    benchmark::ClobberMemory();
  });
}

struct Case {
  const char* name;
  void (*run)(benchmark::State&, const PoolKernel&);
};

int register_all() {
  size_t count;
  const PoolKernel* rows = pool_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const PoolKernel& kernel = rows[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    for (const Case& c :
         {Case{"/max", max}, Case{"/max_int16", max_int16}, Case{"/average", average}}) {
      bench::register_measured(name + c.name, c.run, kernel)
          ->Args({112, 64, 3, 2, 1})
          ->Args({112, 24, 3, 2, 1})
          ->Args({112, 64, 2, 2, 0})
          ->Args({56, 128, 2, 2, 0})
          ->Args({56, 192, 3, 2, 0})
          ->Args({28, 192, 3, 1, 1})
          ->Args({20, 256, 5, 1, 2})
          ->Args({8, 16, 2, 2, 0});
    }
    bench::register_measured(name + "/global_sum", global_sum, kernel)
        ->Args({49, 1280})
        ->Args({64, 512})
        ->Args({3136, 24});
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
