// Rows of depthwise.inc on the depthwise layers of bench/shapes. Bytes are those of the input, the
// packed weights and the output.
#include <string>
#include <vector>

#include "bench/kernels/layers.h"
#include "bench/kernels/measure.h"
#include "kernels/depthwise/depthwise.h"
#include "kernels/depthwise/pack.h"

namespace qrt::bench {
namespace {

constexpr size_t kSlack = 64;

DepthwiseShape shape_of(const Layer& l) {
  return {l.in_h,   l.in_w,   l.in_c, l.out_h(), l.out_w(), l.kernel, l.kernel,
          l.stride, l.stride, 1,      1,         l.pad,     l.pad,    1};
}

void run_layer(benchmark::State& state, const Layer& layer, const DepthwiseKernel& kernel) {
  const DepthwiseShape shape = shape_of(layer);
  const size_t c = shape.in_c, taps = shape.kernel_h * shape.kernel_w;
  const size_t input_bytes = shape.in_h * shape.in_w * c;
  const size_t output_bytes = shape.out_h * shape.out_w * c;
  std::vector<int8_t> weights(taps * c);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<int8_t>(i * 2654435761u >> 13);
  std::vector<int8_t> packed(depthwise_packed_bytes(c, shape.kernel_h, shape.kernel_w));
  depthwise_pack(weights.data(), c, shape.kernel_h, shape.kernel_w, packed.data());
  const std::vector<int32_t> bias(c + 64, 1000);
  const std::vector<float> scale(c + 64, 1.0f / static_cast<float>(16 * taps));
  const std::vector<uint8_t> zero(c + kSlack, 128);
  const Buffer input(input_bytes + kSlack), output(output_bytes + kSlack);
  const Buffer scratch(kernel.scratch_bytes(shape) + kSlack);
  fill(input.data(), input_bytes);

  DepthwiseArgs args{};
  args.shape = shape;
  args.input = input.data();
  args.zero = zero.data();
  args.weights = packed.data();
  args.bias = bias.data();
  args.requant.kind = RequantKind::kF32;
  args.requant.zero_point = 120;
  args.requant.hi = 255;
  args.requant.scale = scale.data();
  args.output = output.data();
  args.row_end = shape.out_h;
  args.scratch = scratch.data();
  const Work work = {static_cast<double>(output_bytes * taps),
                     static_cast<double>(input_bytes + packed.size() + output_bytes),
                     &peak_loop(kernel.isa, false)};
  measure(state, work, [&] {
    kernel.fn(args);
    benchmark::ClobberMemory();
  });
}

int register_all() {
  const std::vector<Layer> layers = read_layers();
  size_t count;
  const DepthwiseKernel* kernels = depthwise_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const DepthwiseKernel& kernel = kernels[i];
    if (!has(detected_isas(), kernel.isa)) {
      register_skipped(kernel.name);
      continue;
    }
    for (const Layer& layer : layers) {
      if (layer.kind != Layer::Kind::kDepthwise || !kernel.supports(shape_of(layer))) continue;
      register_measured(std::string(kernel.name) + "/" + layer.name, run_layer, layer, kernel);
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
