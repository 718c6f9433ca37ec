// SPDX-License-Identifier: Apache-2.0
// Rows of digits.h and the int16 side of elementwise.h: a layer's product of int16 with int8 (two
// digits on the gemm family, and their joining), and elementwise operators of int16. The shapes are
// convolutions of seanet, a public 16x8 model: pixels, output channels, taps, input channels.
#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/gemm/digits.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/pack.h"

namespace qrt {
namespace {

struct Shape {
  size_t m, n, taps, k;
};
constexpr Shape kShapes[] = {{320, 8, 12, 8}, {160, 16, 9, 16}, {40, 32, 9, 32},
                             {20, 32, 9, 32}, {10, 64, 9, 64},  {40, 16, 1, 32}};

// Constants of a requantisation like TFLite's, for up to 64 channels and 64 more.
struct Constants {
  Constants() {
    requant.kind = RequantKind::kInt;
    requant.lo = INT16_MIN;
    requant.hi = INT16_MAX;
    requant.stage_count = 1;
    requant.stages[0] = {multiplier.data(), shift.data(), Round::kHalfUp, INT32_MIN, INT32_MAX};
  }
  std::vector<int32_t> multiplier = std::vector<int32_t>(128, 23456);
  std::vector<uint8_t> shift = std::vector<uint8_t>(128, 28);
  std::vector<int64_t> bias = std::vector<int64_t>(128, 12345);
  std::vector<int32_t> no_bias = std::vector<int32_t>(128);
  Requant requant{};
};

void product(benchmark::State& state, IsaSet isas, const DigitsKernel& kernel) {
  const Shape& s = kShapes[state.range(0)];
  const GemmKernel* gemm =
      select_gemm(isas, {s.m, s.n, s.taps, s.k, RequantKind::kAcc, /*pair_safe=*/false});
  const Constants constants;
  const size_t values = s.m * s.k * s.taps, bytes = gemm_packed_bytes(s.n, s.taps, s.k);
  std::vector<int16_t> x(values + 64), y(s.m * s.n);
  std::vector<uint8_t> high(values + 64), low(values + 64);
  std::vector<int8_t> weights(bytes + 64);
  std::vector<int32_t> sums(2 * s.m * s.n);
  bench::fill(reinterpret_cast<uint8_t*>(x.data()), values * sizeof(int16_t));
  bench::fill(reinterpret_cast<uint8_t*>(weights.data()), bytes);
  GemmArgs args{};
  args.m = s.m;
  args.n = s.n;
  args.taps = s.taps;
  args.kc = s.k;
  args.a_stride = s.taps * s.k;
  args.a_tap_stride = s.k;
  args.weights = weights.data();
  args.bias = constants.no_bias.data();
  args.c_stride = s.n * sizeof(int32_t);
  CombineArgs combine{};
  combine.high = sums.data();
  combine.low = sums.data() + s.m * s.n;
  combine.rows = s.m;
  combine.n = combine.stride = combine.y_stride = s.n;
  combine.bias = constants.bias.data();
  combine.requant = constants.requant;
  combine.y = y.data();
  const double macs = static_cast<double>(s.m * s.n * s.taps * s.k);
  bench::measure(state, {macs, 0, &bench::peak_loop(gemm->isa, false)}, [&] {
    kernel.split(x.data(), values, high.data(), low.data());
    args.a = high.data();
    args.c = sums.data();
    gemm->fn(args);
    args.a = low.data();
    args.c = sums.data() + s.m * s.n;
    gemm->fn(args);
    kernel.combine(combine);
    benchmark::ClobberMemory();
  });
}

constexpr size_t kValues = 20480;  // of a seanet feature map

void add(benchmark::State& state, const ElementwiseKernel& kernel) {
  const Constants constants;
  std::vector<int16_t> a(kValues), b(kValues), y(kValues);
  AddIntParams params{};
  params.left_shift = 15;
  params.a_stage_count = params.b_stage_count = 1;
  const std::vector<uint8_t> half(1, 32);
  params.a_stages[0] = params.b_stages[0] = {constants.multiplier.data(), half.data(),
                                             Round::kHalfUp, INT32_MIN, INT32_MAX};
  params.requant = constants.requant;
  bench::measure(state, {0, 6.0 * kValues, nullptr}, [&] {
    kernel.add_int16(params, {a.data(), b.data(), false, false, y.data(), kValues});
    benchmark::ClobberMemory();
  });
}

void leaky_relu(benchmark::State& state, const ElementwiseKernel& kernel) {
  const Constants constants;
  std::vector<int16_t> x(kValues), y(kValues);
  bench::fill(reinterpret_cast<uint8_t*>(x.data()), kValues * sizeof(int16_t));
  RescaleParams params{};
  params.bound = 32768;
  params.requant = constants.requant;
  params.has_negative = true;
  params.negative_count = 1;
  params.negative[0] = constants.requant.stages[0];
  const RescaleArgs run{DType::kInt16, DType::kInt16, x.data(), y.data(), kValues, 0, 1};
  bench::measure(state, {0, 4.0 * kValues, nullptr}, [&] {
    kernel.rescale(params, run);
    benchmark::ClobberMemory();
  });
}

int register_all() {
  size_t count;
  const DigitsKernel* rows = digits_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const DigitsKernel& kernel = rows[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    auto* products = bench::register_measured(name + "/product", product,
                                              capped(detected_isas(), kernel.isa), kernel);
    for (size_t s = 0; s < sizeof kShapes / sizeof kShapes[0]; ++s)
      products->Arg(static_cast<int64_t>(s));
  }
  const ElementwiseKernel* elementwise = elementwise_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const ElementwiseKernel& kernel = elementwise[i];
    const std::string name = kernel.int16_name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    bench::register_measured(name + "/add", add, kernel);
    bench::register_measured(name + "/leaky_relu", leaky_relu, kernel);
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
