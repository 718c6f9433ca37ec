// SPDX-License-Identifier: Apache-2.0
// Rows of elementwise.inc and forms.inc: run lengths inside L1, inside L2 and beyond the caches. Bytes
// are those read and written.
#include <algorithm>
#include <string>
#include <type_traits>

#include "bench/kernels/measure.h"
#include "kernels/elementwise/forms.h"

namespace qrt {
namespace {

// Operands and output at fixed distances modulo a page, none of them small: a load that seems to
// read what a store just wrote, as far as the low 12 bits of an address tell, waits for it.
struct Buffers {
  explicit Buffers(size_t n)
      : bytes(3 * (n + 4096)),
        a(bytes.data()),
        b(a + (n + 4095) / 4096 * 4096 + 1344),
        y(b + (n + 4095) / 4096 * 4096 + 1344) {
    for (size_t i = 0; i < n; ++i) {
      a[i] = static_cast<uint8_t>(i * 37);
      b[i] = static_cast<uint8_t>(i * 101 >> 3);
    }
  }
  bench::Buffer bytes;
  uint8_t *a, *b, *y;
};

void add(benchmark::State& state, const ElementwiseKernel& kernel, const AddParams& params) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(3 * n), nullptr}, [&] {
    kernel.add(params, {data.a, data.b, false, false, data.y, n});
    benchmark::ClobberMemory();
  });
}

void add_int(benchmark::State& state, const ElementwiseKernel& kernel, const AddIntParams& params) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(3 * n), nullptr}, [&] {
    kernel.add_int(params, {data.a, data.b, false, false, data.y, n});
    benchmark::ClobberMemory();
  });
}

void mul(benchmark::State& state, const ElementwiseKernel& kernel, const MulParams& params) {
  const size_t n = static_cast<size_t>(state.range(0));
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>(3 * n), nullptr}, [&] {
    kernel.mul(params, {data.a, data.b, false, false, data.y, n});
    benchmark::ClobberMemory();
  });
}

// Measures an operation beside a row of 1,024 bytes that is the same for all rows, as joined channels are.
template <class Kernel, class Form>
void form(benchmark::State& state, const Kernel& kernel, const Form& f, bool beside_a_row) {
  const size_t n = static_cast<size_t>(state.range(0));
  const size_t row = beside_a_row ? std::min<size_t>(n, 1024) : n;
  Buffers data(n);
  bench::measure(state, {0, static_cast<double>((beside_a_row ? 2 : 3) * n), nullptr}, [&] {
    kernel.run(f, {data.a, data.b, false, false, data.y, row, n / row, row, 0, row});
    benchmark::ClobberMemory();
  });
}

void lengths(benchmark::internal::Benchmark* bench, const ElementwiseKernel& kernel) {
  if (kernel.isa == Isa::kScalar) {
    bench->Arg(4096);
    return;
  }
  // 576: a pixel row of a small feature map; 2^24 of each operand lies beyond L2.
  for (const int64_t n : {576, 4096, 200704, 1 << 24}) bench->Arg(n);
}

void register_forms() {
  const auto each = [](const auto& kernel, const auto& f, const std::string& name) {
    for (const bool row : {false, true}) {
      auto* bench = bench::register_measured(
          kernel.name + ("/" + name) + (row ? "_row" : ""),
          form<std::decay_t<decltype(kernel)>, std::decay_t<decltype(f)>>, kernel, f, row);
      for (const int64_t n : {576, 4096, 200704, 1 << 24}) bench->Arg(n);
    }
  };
  const SumTablesKernel& sum = *select_sum_tables(detected_isas());
  SumTables tables;
  if (sum.run != nullptr &&
      sum.make({0.71f, 0.551f, -30.5f, false, false, 0, 0, 0, 0, 255}, &tables))
    each(sum, tables, "add");
  const ScaledProductKernel& product = *select_scaled_product(detected_isas());
  if (product.run != nullptr)
    each(product, ScaledProduct{17, 201, 0.0041f, 0x1.8p23f + 99, 0, 255}, "mul");
}

int register_all() {
  static const float scale = 0.0041f;
  static const int32_t multiplier = 1518500250, one = 1;
  static const uint8_t shift_31 = 31, shift_1 = 1, shift_9 = 9, shift_18 = 18, shift_40 = 40;
  size_t count;
  const ElementwiseKernel* rows = elementwise_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const ElementwiseKernel& kernel = rows[i];
    const std::string name = kernel.name;
    if (!has(detected_isas(), kernel.isa)) {
      bench::register_skipped(name);
      continue;
    }
    AddParams fma{0.71f, 0.55f, -30.5f, false, false, 0, 0, 0, 0, 255};
    AddParams fma_signed = fma, multiply_add = fma;
    fma_signed.a_offset = fma_signed.b_offset = -128;
    fma_signed.output_offset = 128;
    multiply_add.multiply_add = true;
    MulParams product{17, 201, Requant{}};
    product.requant.kind = RequantKind::kF32;
    product.requant.round = Round::kHalfEven;
    product.requant.zero_point = 99;
    product.requant.zero_point_before = true;
    product.requant.hi = 255;
    product.requant.scale = &scale;
    // TFLite: double rounding of each operand and of the sum, and single rounding of a product.
    const RequantStage high = {&multiplier, &shift_31, Round::kHalfUp, INT32_MIN, INT32_MAX};
    const auto away = [&](const uint8_t* shift) {
      return RequantStage{&one, shift, Round::kHalfAway, INT32_MIN, INT32_MAX};
    };
    AddIntParams tflite = {17, 201, 20, false, 2, 2, {high, away(&shift_1)}, {high, away(&shift_1)},
                           {}};
    tflite.requant.kind = RequantKind::kInt;
    tflite.requant.zero_point = 99;
    tflite.requant.hi = 255;
    tflite.requant.stage_count = 2;
    tflite.requant.stages[0] = high;
    tflite.requant.stages[1] = away(&shift_18);
    MulParams int_product{17, 201, tflite.requant};
    int_product.requant.stages[1] = away(&shift_9);
    MulParams single = int_product;
    single.requant.stage_count = 1;
    single.requant.stages[0].shift = &shift_40;
    lengths(bench::register_measured(name + "/add_int", add_int, kernel, tflite), kernel);
    lengths(bench::register_measured(name + "/mul_int_double", mul, kernel, int_product), kernel);
    lengths(bench::register_measured(name + "/mul_int_single", mul, kernel, single), kernel);
    lengths(bench::register_measured(name + "/add_fma", add, kernel, fma), kernel);
    lengths(bench::register_measured(name + "/add_fma_int8", add, kernel, fma_signed), kernel);
    lengths(bench::register_measured(name + "/add_mul_add", add, kernel, multiply_add), kernel);
    lengths(bench::register_measured(name + "/mul", mul, kernel, product), kernel);
  }
  register_forms();
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt
