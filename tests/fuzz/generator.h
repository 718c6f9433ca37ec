// SPDX-License-Identifier: Apache-2.0
// Valid models of random operators, made from a fuzzer's bytes: every operator of schema/ops.inc,
// on tensors that are there or on new model inputs. Some choices make models that verification
// refuses (windows beside the image, for example); that is fine.
#ifndef QRT_TESTS_FUZZ_GENERATOR_H_
#define QRT_TESTS_FUZZ_GENERATOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "tests/fuzz/choices.h"
#include "tests/support/model_builder.h"

namespace qrt::fuzz {

using testing::float_bits;
using testing::ModelBuilder;

class Generator {
 public:
  Generator(const uint8_t* data, size_t size) : choose_(data, size) {}

  std::vector<uint8_t> run();

 private:
  struct Live {
    uint32_t tensor;
    DType dtype;
    Shape shape;  // -1 first
    bool written, read = false;

    bool is_int16() const { return dtype == DType::kInt16; }
  };

  // One for each operator; it may append nothing where no tensor suits it.
#define QRT_OP(Name, stem) void append_##stem();
#include "schema/ops.inc"

  // Returns an existing tensor that fits, the latest first, or a new input.
  template <class Fits, class Make>
  Live pick(const Fits& fits, const Make& make) {
    int skip = choose_.integer(0, 7) == 7 ? choose_.integer(1, 4) : 0;
    for (size_t i = live_.size(); i-- > 0;) {
      if (!fits(live_[i]) || skip-- > 0) continue;
      live_[i].read = true;
      return live_[i];
    }
    const std::pair<DType, Shape> made = make();
    live_.push_back({m_.input(made.second, made.first), made.first, made.second, false, true});
    return live_.back();
  }

  // Returns an image [n, h, w, c] of UINT8, now and then of INT16.
  Live image();
  Live bytes();
  // Returns a UINT8 tensor, or sometimes INT16.
  Live activation();
  Live of_type(DType dtype);
  // Elements of whole bytes.
  Live anything();
  Shape any_shape();
  DType activation_type() { return choose_.integer(0, 3) == 3 ? DType::kInt16 : DType::kUInt8; }
  // Returns a second operand for x: a tensor of the same shape, or a constant that broadcasts.
  uint32_t operand(const Live& x);
  uint32_t random_constant(const Shape& shape, DType dtype);

  template <class Options>
  void emit(Options options, std::vector<uint32_t> inputs, const Shape& shape,
            DType dtype = DType::kUInt8) {
    const uint32_t out = m_.tensor(shape, dtype);
    m_.op(std::move(options), std::move(inputs), {out});
    live_.push_back({out, dtype, shape, true});
  }
  // Adds a further output of an operator with several.
  uint32_t add_output(const Shape& shape, DType dtype) {
    const uint32_t out = m_.tensor(shape, dtype);
    live_.push_back({out, dtype, shape, true});
    return out;
  }

  // INT16 takes integer stages only.
  std::unique_ptr<fb::RequantT> requant(size_t channels, bool allow_acc,
                                        DType dtype = DType::kUInt8);
  std::unique_ptr<fb::RequantT> int_requant(size_t channels, DType dtype);
  std::unique_ptr<fb::RequantStageT> stage(size_t n, bool clips);
  std::vector<std::unique_ptr<fb::RequantStageT>> stages();
  uint32_t bias(size_t channels);
  // Adds the bias of an INT16 layer: 32 or 64 bits.
  uint32_t int64_bias(size_t channels);
  int zero_point_16() { return choose_.coin() ? 0 : choose_.integer(-32768, 32767); }

  // The storage of weights: 8 bits, or 4 or 2 with or without offsets.
  struct Storage {
    int bits = 8, lo = -128, hi = 127;
    std::vector<int8_t> offsets;  // 16 per block
    int offset(size_t lane) const { return offsets.empty() ? 0 : offsets[lane]; }
  };
  Storage choose_storage(size_t blocks);
  uint32_t store(const Shape& shape, fb::Packing packing, const Storage& storage,
                 std::vector<int8_t> packed);
  // Adds packed weights of `groups` x n channels, and sets the options that describe them
  // (weight_sum, pair_safe).
  template <class Options>
  uint32_t gemm_weights(const Shape& shape, size_t groups, size_t taps, size_t k, Options* o);

  // Stride, pads and (where the options have it) dilation; returns the output's size. The kernel
  // is cut to what fits.
  struct Axis {
    int stride, dilation, pad_begin, pad_end, kernel, out;
  };
  Axis axis(int64_t in, int most_kernel, bool dilate, bool is_pool);
  template <class Options>
  void set_window(const Axis& h, const Axis& w, Options* o) {
    o->stride_h = static_cast<uint16_t>(h.stride), o->stride_w = static_cast<uint16_t>(w.stride);
    o->pad_top = static_cast<uint16_t>(h.pad_begin),
    o->pad_left = static_cast<uint16_t>(w.pad_begin);
    o->pad_bottom = static_cast<uint16_t>(h.pad_end),
    o->pad_right = static_cast<uint16_t>(w.pad_end);
  }
  template <class Options>
  void set_dilation(const Axis& h, const Axis& w, Options* o) {
    o->dilation_h = static_cast<uint16_t>(h.dilation);
    o->dilation_w = static_cast<uint16_t>(w.dilation);
  }
  void append_add_int(const Live& x, uint32_t b);
  // Appends a layer whose input's scale and zero point are tensors, where x is rows or images.
  void append_dynamic_layer(const Live& x, uint32_t scale, uint32_t zero);
  template <class Options>
  void scatter(const Live& x);
  std::unique_ptr<fb::ResizeAxisT> resize_axis(int64_t in, fb::ResizeKind kind);
  uint32_t table_of_pairs(bool to_float);
  // Scales and zero points of an edge operator.
  template <class Options>
  void set_edge(const Live& x, int lo, int hi, Options* o) {
    size_t n = 1;
    if (x.shape.rank() >= 2 && choose_.coin()) {
      o->axis = choose_.integer(1, x.shape.rank() - 1);
      n = static_cast<size_t>(x.shape[o->axis]);
    }
    for (size_t i = 0; i < n; ++i) {
      o->scale.push_back(float_bits(choose_.scale(-8, 4)));
      o->zero_point.push_back(choose_.integer(lo, hi));
    }
  }
  // Adds scales and zero points as inputs: constants, per tensor, per axis or in blocks.
  template <class Options>
  std::vector<uint32_t> edge_inputs(const Live& x, DType scale, DType zero_point, Options* o);

  Choices choose_;
  ModelBuilder m_;
  std::vector<Live> live_;
};

}  // namespace qrt::fuzz

#endif  // QRT_TESTS_FUZZ_GENERATOR_H_
