// SPDX-License-Identifier: Apache-2.0
// XNNPACK's operators; see operators.h. Written for its API of 2022 (Debian 12).
#include "runtime/providers/xnnpack/operators.h"

#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/gemm/pack.h"

namespace qrt {
namespace {

// Bytes that XNNPACK reads beyond a tensor.
constexpr size_t kSlack = XNN_EXTRA_BYTES;

// Points the operator to its data: xnn_setup_*.
using Setup = std::function<xnn_status(xnn_operator_t op, const void* a, const void* b, void* y,
                                       pthreadpool_t pool)>;

class Operator : public XnnpackOperator {
 public:
  Operator(const char* name, xnn_operator_t op, Setup setup, size_t input_bytes,
           size_t output_bytes)
      : name_(name),
        op_(op),
        setup_(std::move(setup)),
        input_bytes_(input_bytes),
        output_bytes_(output_bytes) {}
  ~Operator() override { xnn_delete_operator(op_); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  void flip() {
    input_.resize(input_bytes_ + kSlack);
    output_.resize(output_bytes_ + kSlack);
  }

  // Sets up once on memory of the right size: tables are allocated and parameters checked here, so
  // that bind() cannot fail.
  bool try_setup(size_t b_bytes) {
    if (!input_.empty()) return setup(input_.data(), nullptr, output_.data(), nullptr);
    const std::vector<uint8_t> a(input_bytes_ + kSlack), b(b_bytes + kSlack);
    std::vector<uint8_t> y(output_bytes_ + kSlack);
    return setup(a.data(), b.data(), y.data(), nullptr);
  }

  void bind(const uint8_t* a, const uint8_t* b, uint8_t* y, pthreadpool* pool) override {
    pool_ = pool;
    if (input_.empty()) {
      setup(a, b, y, pool);
    } else {
      setup(input_.data(), nullptr, output_.data(), pool);
    }
  }
  void run() override { xnn_run_operator(op_, pool_); }

  uint8_t* flipped_input() override { return input_.empty() ? nullptr : input_.data(); }
  uint8_t* flipped_output() override { return output_.empty() ? nullptr : output_.data(); }
  size_t input_bytes() const override { return input_bytes_; }
  size_t output_bytes() const override { return output_bytes_; }
  const char* name() const override { return name_; }

 private:
  bool setup(const void* a, const void* b, void* y, pthreadpool_t pool) {
    return setup_(op_, a, b, y, pool) == xnn_status_success;
  }

  const char* name_;
  xnn_operator_t op_;
  Setup setup_;
  size_t input_bytes_, output_bytes_;
  std::vector<uint8_t> input_, output_;  // empty: the caller's memory is used
  pthreadpool_t pool_ = nullptr;
};

// Owns `op`, which a create function of XNNPACK returned with `status`.
XnnpackPointer finish(xnn_status status, const char* name, xnn_operator_t op, Setup setup,
                      size_t input_bytes, size_t output_bytes, bool is_flipped,
                      size_t b_bytes = 0) {
  if (status != xnn_status_success) return nullptr;
  auto result = std::make_unique<Operator>(name, op, std::move(setup), input_bytes, output_bytes);
  if (is_flipped) result->flip();
  if (!result->try_setup(b_bytes)) return nullptr;
  return result;
}

uint32_t narrow(size_t v) { return static_cast<uint32_t>(v); }

int8_t flipped(int32_t v) { return static_cast<int8_t>(v - 128); }

bool is_byte(int32_t v) { return v >= 0 && v <= 255; }

// Finds the padding behind the image that makes XNNPACK compute `out` positions. Returns false where none does.
bool padding_behind(size_t in, size_t out, size_t kernel, size_t stride, size_t dilation,
                    size_t before, uint32_t* behind) {
  const size_t window = (kernel - 1) * dilation + 1;
  const size_t needed = (out - 1) * stride + window, present = before + in;
  *behind = narrow(needed > present ? needed - present : 0);
  return (present + *behind - window) / stride + 1 == out;
}

// Returns weights [out_c][taps][k] from the packed form of gemm.h.
std::vector<int8_t> unpack_gemm(const XnnpackConv& c) {
  const size_t n = c.out_c / c.groups, kc = (c.k + 3) / 4 * 4;
  const size_t group_bytes = gemm_packed_bytes(n, c.taps, c.k);
  std::vector<int8_t> weights;
  weights.reserve(c.out_c * c.taps * c.k);
  for (size_t o = 0; o < c.out_c; ++o) {
    const int8_t* block = c.weights + o / n * group_bytes + o % n / 16 * (c.taps * kc * 16);
    for (size_t t = 0; t < c.taps; ++t)
      for (size_t k = 0; k < c.k; ++k)
        weights.push_back(block[(t * kc + k / 4 * 4) * 16 + o % n % 16 * 4 + k % 4]);
  }
  return weights;
}

// Returns weights [kernel_h][kernel_w][out_c] from the packed form of depthwise.h.
std::vector<int8_t> unpack_depthwise(const XnnpackConv& c) {
  const size_t row_blocks = (c.kernel_h + 3) / 4;
  std::vector<int8_t> weights;
  weights.reserve(c.kernel_h * c.kernel_w * c.out_c);
  for (size_t y = 0; y < c.kernel_h; ++y)
    for (size_t x = 0; x < c.kernel_w; ++x)
      for (size_t o = 0; o < c.out_c; ++o) {
        const size_t cell = (o / 16 * row_blocks + y / 4) * c.kernel_w + x;
        weights.push_back(c.weights[cell * 64 + o % 16 * 4 + y % 4]);
      }
  return weights;
}

// Returns whether XNNPACK's signed operators compute this requantisation exactly.
bool is_exact(const Requant& r) {
  return r.kind == RequantKind::kF32 && r.round == Round::kHalfEven && !r.zero_point_before &&
         is_byte(r.zero_point) && r.lo < r.hi;
}

XnnpackPointer convolution(const XnnpackConv& c, const char* name, uint32_t flags,
                           const std::vector<int8_t>& weights) {
  if (!has_xnnpack() || !is_exact(c.requant)) return nullptr;
  uint32_t pad_bottom, pad_right;
  if (!padding_behind(c.in_h, c.out_h, c.kernel_h, c.stride_h, c.dilation_h, c.pad_top,
                      &pad_bottom) ||
      !padding_behind(c.in_w, c.out_w, c.kernel_w, c.stride_w, c.dilation_w, c.pad_left,
                      &pad_right)) {
    return nullptr;
  }
  // The file's bias holds -input_zero_point * weight_sum, which XNNPACK adds itself.
  std::vector<int32_t> bias(c.out_c);
  for (size_t o = 0; o < c.out_c; ++o) {
    bias[o] = static_cast<int32_t>(static_cast<uint32_t>(c.bias[o]) +
                                   c.input_zero_point * static_cast<uint32_t>(c.weight_sum[o]));
  }
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_convolution2d_nhwc_qc8(
      narrow(c.pad_top), pad_right, pad_bottom, narrow(c.pad_left), narrow(c.kernel_h),
      narrow(c.kernel_w), narrow(c.stride_h), narrow(c.stride_w), narrow(c.dilation_h),
      narrow(c.dilation_w), narrow(c.groups), c.in_c / c.groups, c.out_c / c.groups, c.in_c,
      c.out_c, flipped(c.input_zero_point), 1.0f, c.requant.scale, weights.data(), bias.data(),
      flipped(c.requant.zero_point), 1.0f, flipped(c.requant.lo), flipped(c.requant.hi), flags,
      &op);
  const size_t images = c.images, h = c.in_h, w = c.in_w;
  return finish(
      status, name, op,
      [=](xnn_operator_t o, const void* a, const void*, void* y, pthreadpool_t pool) {
        return xnn_setup_convolution2d_nhwc_qc8(o, images, h, w, static_cast<const int8_t*>(a),
                                                static_cast<int8_t*>(y), pool);
      },
      images * h * w * c.in_c, images * c.out_h * c.out_w * c.out_c, /*is_flipped=*/true);
}

}  // namespace

bool has_xnnpack() {
  static const bool is_ready = xnn_initialize(nullptr) == xnn_status_success;
  return is_ready;
}

XnnpackPointer xnnpack_convolution(const XnnpackConv& conv) {
  return convolution(conv, "xnnpack_conv_qc8", 0, unpack_gemm(conv));
}

XnnpackPointer xnnpack_depthwise(const XnnpackConv& conv) {
  return convolution(conv, "xnnpack_dwconv_qc8", XNN_FLAG_DEPTHWISE_CONVOLUTION,
                     unpack_depthwise(conv));
}

XnnpackPointer xnnpack_max_pool(size_t images, const PoolShape& s) {
  uint32_t pad_bottom, pad_right;
  if (!has_xnnpack() ||
      !padding_behind(s.in_h, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top,
                      &pad_bottom) ||
      !padding_behind(s.in_w, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left,
                      &pad_right)) {
    return nullptr;
  }
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_max_pooling2d_nhwc_u8(
      narrow(s.pad_top), pad_right, pad_bottom, narrow(s.pad_left), narrow(s.kernel_h),
      narrow(s.kernel_w), narrow(s.stride_h), narrow(s.stride_w), narrow(s.dilation_h),
      narrow(s.dilation_w), s.c, s.c, s.c, 0, 255, 0, &op);
  const size_t h = s.in_h, w = s.in_w;
  return finish(
      status, "xnnpack_max_pool_u8", op,
      [=](xnn_operator_t o, const void* a, const void*, void* y, pthreadpool_t pool) {
        return xnn_setup_max_pooling2d_nhwc_u8(o, images, h, w, static_cast<const uint8_t*>(a),
                                               static_cast<uint8_t*>(y), pool);
      },
      images * h * w * s.c, images * s.out_h * s.out_w * s.c, /*is_flipped=*/false);
}

XnnpackPointer xnnpack_average_pool(size_t images, const AveragePoolArgs& args) {
  const PoolShape& s = args.shape;
  const int32_t output_zero_point = args.output_zero_point + args.output_offset;
  uint32_t pad_bottom, pad_right;
  if (!has_xnnpack() || !is_byte(output_zero_point) ||
      !padding_behind(s.in_h, s.out_h, s.kernel_h, s.stride_h, 1, s.pad_top, &pad_bottom) ||
      !padding_behind(s.in_w, s.out_w, s.kernel_w, s.stride_w, 1, s.pad_left, &pad_right)) {
    return nullptr;
  }
  const bool is_padded = (s.pad_top | s.pad_left | pad_bottom | pad_right) != 0;
  if (is_padded && !args.count_include_pad) return nullptr;
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_average_pooling2d_nhwc_qu8(
      narrow(s.pad_top), pad_right, pad_bottom, narrow(s.pad_left), narrow(s.kernel_h),
      narrow(s.kernel_w), narrow(s.stride_h), narrow(s.stride_w), s.c, s.c, s.c,
      static_cast<uint8_t>(args.input_zero_point), args.input_scale,
      static_cast<uint8_t>(output_zero_point), args.output_scale, 0, 255, 0, &op);
  const size_t h = s.in_h, w = s.in_w;
  return finish(
      status, "xnnpack_average_pool_qu8", op,
      [=](xnn_operator_t o, const void* a, const void*, void* y, pthreadpool_t pool) {
        return xnn_setup_average_pooling2d_nhwc_qu8(o, images, h, w, static_cast<const uint8_t*>(a),
                                                    static_cast<uint8_t*>(y), pool);
      },
      images * h * w * s.c, images * s.out_h * s.out_w * s.c, /*is_flipped=*/false);
}

XnnpackPointer xnnpack_global_average_pool(size_t images, const GlobalSumArgs& args) {
  if (!has_xnnpack() || !is_exact(args.requant) || !is_byte(args.input_zero_point)) return nullptr;
  // The operator divides by the pixels; ours has the quotient in its scale.
  const float scale = args.requant.scale[0] * static_cast<float>(args.pixels);
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_global_average_pooling_nwc_qu8(
      args.c, args.c, args.c, static_cast<uint8_t>(args.input_zero_point), scale,
      static_cast<uint8_t>(args.requant.zero_point), 1.0f, static_cast<uint8_t>(args.requant.lo),
      static_cast<uint8_t>(args.requant.hi), 0, &op);
  const size_t pixels = args.pixels;
  return finish(
      status, "xnnpack_global_average_pool_qu8", op,
      [=](xnn_operator_t o, const void* a, const void*, void* y, pthreadpool_t pool) {
        return xnn_setup_global_average_pooling_nwc_qu8(
            o, images, pixels, static_cast<const uint8_t*>(a), static_cast<uint8_t*>(y), pool);
      },
      images * pixels * args.c, images * args.c, /*is_flipped=*/false);
}

XnnpackPointer xnnpack_add(const XnnpackAdd& add) {
  const AddParams& p = add.params;
  if (!has_xnnpack() || add.a_rank > XNN_MAX_TENSOR_DIMS || add.b_rank > XNN_MAX_TENSOR_DIMS ||
      !is_byte(add.a_zero_point) || !is_byte(add.b_zero_point) || !is_byte(add.output_zero_point) ||
      p.lo >= p.hi) {
    return nullptr;
  }
  // XNNPACK's formula has zero points where ours has a constant: they must say the same.
  const double constant = add.output_zero_point - p.output_offset -
                          double{p.a_scale} * (add.a_zero_point + p.a_offset) -
                          double{p.b_scale} * (add.b_zero_point + p.b_offset);
  if (!(std::fabs(constant - double{p.constant}) < 0.01)) return nullptr;
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_add_nd_qu8(
      static_cast<uint8_t>(add.a_zero_point), p.a_scale, static_cast<uint8_t>(add.b_zero_point),
      p.b_scale, static_cast<uint8_t>(add.output_zero_point), 1.0f, static_cast<uint8_t>(p.lo),
      static_cast<uint8_t>(p.hi), 0, &op);
  const std::vector<size_t> a_dims(add.a_dims, add.a_dims + add.a_rank);
  const std::vector<size_t> b_dims(add.b_dims, add.b_dims + add.b_rank);
  // XNNPACK writes as many elements as the output has: every dimension is the greater of the two.
  size_t a_bytes = 1, b_bytes = 1, output_bytes = 1;
  for (size_t d : a_dims) a_bytes *= d;
  for (size_t d : b_dims) b_bytes *= d;
  for (size_t i = 0; i < std::max(add.a_rank, add.b_rank); ++i) {
    const size_t a = i < add.a_rank ? a_dims[add.a_rank - 1 - i] : 1;
    const size_t b = i < add.b_rank ? b_dims[add.b_rank - 1 - i] : 1;
    output_bytes *= std::max(a, b);
  }
  return finish(
      status, "xnnpack_add_qu8", op,
      [=](xnn_operator_t o, const void* a, const void* b, void* y, pthreadpool_t pool) {
        return xnn_setup_add_nd_qu8(o, a_dims.size(), a_dims.data(), b_dims.size(), b_dims.data(),
                                    static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b),
                                    static_cast<uint8_t*>(y), pool);
      },
      a_bytes, output_bytes, /*is_flipped=*/false, b_bytes);
}

}  // namespace qrt
