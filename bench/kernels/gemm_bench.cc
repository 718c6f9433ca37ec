// Rows of gemm.inc on the convolutions and products of bench/shapes: a product by strides, a
// convolution by indirection, a convolution of few channels by kernel rows over a padded image, as
// the runtime does it. Bytes are those of the input, the packed weights and the output.
#include <memory>
#include <string>
#include <vector>

#include "bench/kernels/layers.h"
#include "bench/kernels/measure.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/pack.h"

namespace qrt::bench {
namespace {

constexpr uint8_t kZeroPoint = 128;
constexpr size_t kSlack = 64;

// One layer's memory, and the calls that compute it.
class Problem {
 public:
  Problem(const Layer& layer, const GemmKernel& kernel) : kernel_(kernel) {
    const bool is_conv = layer.kind == Layer::Kind::kConv;
    const bool by_rows = is_conv && layer.in_c <= 4;
    const size_t k = by_rows ? layer.kernel * layer.in_c : is_conv ? layer.in_c : layer.k;
    args_.taps = by_rows ? layer.kernel : is_conv ? layer.kernel * layer.kernel : 1;
    args_.kc = (k + 3) / 4 * 4;
    args_.n = is_conv ? layer.out_c : layer.n;
    rows_ = is_conv ? layer.out_h() * layer.out_w() : layer.m;
    macs_ = static_cast<double>(rows_ * args_.n * args_.taps * k);

    make_constants(k);
    if (by_rows) {
      make_padded_image(layer);
    } else if (is_conv) {
      make_indirection(layer);
    } else {
      make_input(layer.m * layer.k);
      args_.a_stride = layer.k;
      args_.m = layer.m;
    }
    output_ = std::make_unique<Buffer>(rows_ * args_.n + kSlack);
    args_.c = output_->data();
    args_.c_stride = args_.n;
  }

  Work work() const {
    return {macs_, static_cast<double>(input_bytes_ + weights_.size() + rows_ * args_.n),
            &peak_loop(kernel_.isa, kernel_.pair_safe_only)};
  }

  void run() const {
    GemmArgs args = args_;
    for (size_t i = 0; i < calls_; ++i) {
      kernel_.fn(args);
      args.a += call_stride_;
      args.c = static_cast<uint8_t*>(args.c) + args.m * args.c_stride;
    }
  }

 private:
  void make_constants(size_t k) {
    const size_t n = args_.n, taps = args_.taps, padded = n + 64;
    // Half of int8's range: pair-safe, so that every kernel may run on them.
    std::vector<int8_t> weights(n * taps * k);
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<int8_t>(static_cast<int>(i * 2654435761u >> 13 & 127) - 64);
    weights_.resize(gemm_packed_bytes(n, taps, k));
    gemm_pack(weights.data(), n, taps, k, weights_.data());
    bias_.assign(padded, 1000);
    scale_.assign(padded, 1.0f / static_cast<float>(16 * taps * k));
    args_.weights = weights_.data();
    args_.bias = bias_.data();
    args_.requant.kind = RequantKind::kF32;
    args_.requant.zero_point = 120;
    args_.requant.hi = 255;
    args_.requant.scale = scale_.data();
  }

  void make_input(size_t bytes) {
    input_bytes_ = bytes;
    input_ = std::make_unique<Buffer>(bytes + kSlack);
    fill(input_->data(), bytes);
    args_.a = input_->data();
  }

  void make_padded_image(const Layer& layer) {
    const size_t row = (layer.in_w + 2 * layer.pad) * layer.in_c;
    make_input((layer.in_h + 2 * layer.pad) * row);
    args_.a_stride = layer.stride * layer.in_c;
    args_.a_tap_stride = row;
    args_.m = layer.out_w();
    calls_ = layer.out_h();
    call_stride_ = layer.stride * row;
  }

  void make_indirection(const Layer& layer) {
    make_input(layer.in_h * layer.in_w * layer.in_c);
    zero_.assign(args_.kc + kSlack, kZeroPoint);
    for (size_t i = 0; i < rows_; ++i) {
      for (size_t t = 0; t < args_.taps; ++t) {
        // Positions before the image wrap around to values beyond its size.
        const size_t y = i / layer.out_w() * layer.stride + t / layer.kernel - layer.pad;
        const size_t x = i % layer.out_w() * layer.stride + t % layer.kernel - layer.pad;
        const bool inside = y < layer.in_h && x < layer.in_w;
        pointers_.push_back(inside ? args_.a + (y * layer.in_w + x) * layer.in_c : zero_.data());
      }
    }
    args_.indirection = pointers_.data();
    args_.zero = zero_.data();
    args_.m = rows_;
  }

  const GemmKernel& kernel_;
  GemmArgs args_{};
  size_t rows_ = 0, calls_ = 1, call_stride_ = 0, input_bytes_ = 0;
  double macs_ = 0;
  std::unique_ptr<Buffer> input_, output_;
  std::vector<int8_t> weights_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
  std::vector<uint8_t> zero_;
  std::vector<const uint8_t*> pointers_;
};

void run_layer(benchmark::State& state, const Layer& layer, const GemmKernel& kernel) {
  const Problem problem(layer, kernel);
  measure(state, problem.work(), [&] {
    problem.run();
    benchmark::ClobberMemory();
  });
}

int register_all() {
  const std::vector<Layer> layers = read_layers();
  size_t count;
  const GemmKernel* kernels = gemm_kernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const GemmKernel& kernel = kernels[i];
    if (!has(detected_isas(), kernel.isa)) {
      register_skipped(kernel.name);
      continue;
    }
    for (const Layer& layer : layers) {
      if (layer.kind == Layer::Kind::kDepthwise) continue;
      register_measured(std::string(kernel.name) + "/" + layer.name, run_layer, layer, kernel);
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace qrt::bench
