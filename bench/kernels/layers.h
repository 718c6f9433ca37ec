// SPDX-License-Identifier: Apache-2.0
// Layer shapes for kernel benchmarks, from the text files of bench/shapes (README.md there).
#ifndef QRT_BENCH_KERNELS_LAYERS_H_
#define QRT_BENCH_KERNELS_LAYERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/window2d.h"

namespace qrt::bench {

struct Layer {
  enum class Kind { kConv, kDepthwise, kGrouped, kProduct };
  Kind kind;
  std::string name;  // "resnet50/conv_56x56x64_64_3x3s1"

  // kConv, kDepthwise and kGrouped (out_c = in_c): square kernels and equal padding on all sides.
  size_t in_h, in_w, in_c, out_c, kernel, stride, pad;
  size_t group;  // kGrouped: channels
  Window2D window() const {
    return {in_h, in_w, out_h(), out_w(), kernel, kernel, stride, stride, 1, 1, pad, pad};
  }
  size_t out_h() const { return (in_h + 2 * pad - kernel) / stride + 1; }
  size_t out_w() const { return (in_w + 2 * pad - kernel) / stride + 1; }

  size_t count;  // how often the file has it

  // kProduct: c[m][n] = a[m][k] * w[k][n]. A 1x1 convolution of stride 1 is one, too.
  size_t m, k, n;

  double macs() const;
  // Returns whether the layer is one product of matrices.
  bool is_gemm() const { return kind == Kind::kConv || kind == Kind::kProduct; }
};

// Returns a matrix product as the 1x1 convolution over m pixels that it is, too; other layers as they are.
Layer as_conv(Layer layer);

// Reads every layer of every file, file by file in order of their names, each layer once per file.
// Ends the program with a message if a file is missing or malformed.
std::vector<Layer> read_layers();

}  // namespace qrt::bench

#endif  // QRT_BENCH_KERNELS_LAYERS_H_
