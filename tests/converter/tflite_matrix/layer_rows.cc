// SPDX-License-Identifier: Apache-2.0
// Layers with weights, pools, reductions and what chooses places.
#include <cmath>

#include "tests/converter/tflite_matrix/cell.h"

namespace qrt::tflite_matrix {
namespace {

using testing::reference_multiplier;

const std::vector<Dims> kShapes = {{7}, {3, 5}, {2, 3, 4}, {2, 3, 4, 5}};

struct Weights {
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int64_t> bias;
};

// Weights of `dims` whose `axis` counts the outputs, and a bias; returns the inputs of the layer.
std::vector<int> layer_inputs(Cell& c, const Tensor& x, const Dims& dims, size_t axis,
                              bool per_channel, Weights* w) {
  const int out = dims[axis];
  w->codes = testing::random_values<int8_t>(&c.random, elements(dims), -127, 127);
  for (int i = 0; i < (per_channel ? out : 1); ++i) w->scales.push_back(c.random.scale(-9));
  w->bias = testing::random_values<int64_t>(&c.random, out, -2000, 2000);
  const std::vector<int64_t> zeros(w->scales.size(), 0);
  const int id = c.b.constant(T::INT8, dims, w->codes, w->scales, zeros, static_cast<int>(axis));
  if (c.is_int16()) return {x.id, id, c.b.constant(T::INT64, {out}, w->bias)};
  const std::vector<int32_t> narrow(w->bias.begin(), w->bias.end());
  return {x.id, id, c.b.constant(T::INT32, {out}, narrow)};
}

// Returns the output of a sum with bias; `product` is x's scale times that of the weights.
int layer_output(const Cell& c, int64_t acc, double product, const Tensor& y) {
  const ReferenceMultiplier m = reference_multiplier(product / static_cast<double>(y.scale));
  if (!c.is_int16()) return c.clamped(c.scaled(static_cast<int32_t>(acc), m) + y.zero_point);
  const int64_t m16 = m.value < 0x7fff0000 ? (m.value + 0x8000) >> 16 : 0x7fff;
  const int total = 15 - m.shift;
  return c.clamped(((acc * m16 + (int64_t{1} << (total - 1))) >> total) + y.zero_point);
}
int layer_output(const Cell& c, int64_t acc, const Tensor& x, const Weights& w, int k,
                 const Tensor& y) {
  const float s = w.scales[w.scales.size() > 1 ? static_cast<size_t>(k) : 0];
  return layer_output(c, acc, static_cast<double>(x.scale) * static_cast<double>(s), y);
}

// The window along one axis.
struct Window {
  int kernel, stride, dilation, before, out;
};
Window window(int in, int kernel, int stride, int dilation, bool is_same) {
  const int reach = (kernel - 1) * dilation + 1;
  Window w = {kernel, stride, dilation, 0, 0};
  w.out = is_same ? (in + stride - 1) / stride : (in - reach) / stride + 1;
  if (is_same) w.before = std::max((w.out - 1) * stride + reach - in, 0) / 2;
  return w;
}
// Calls f(iy, ix, ky, kx) for the places of a window that lie in the image.
template <class F>
void for_window(const Tensor& x, const Window& rows, const Window& columns, int oy, int ox,
                const F& f) {
  for (int ky = 0; ky < rows.kernel; ++ky) {
    for (int kx = 0; kx < columns.kernel; ++kx) {
      const int iy = oy * rows.stride - rows.before + ky * rows.dilation;
      const int ix = ox * columns.stride - columns.before + kx * columns.dilation;
      if (iy >= 0 && ix >= 0 && iy < x.dims[1] && ix < x.dims[2]) f(iy, ix, ky, kx);
    }
  }
}

struct Geometry {
  const char* name;
  int kernel, stride, dilation;
  bool is_same;
};
const std::vector<Geometry> kGeometries = {{"1x1", 1, 1, 1, false},
                                           {"3x3", 3, 1, 1, true},
                                           {"3x3, stride 2", 3, 2, 1, true},
                                           {"2x2, valid, stride 2", 2, 2, 1, false},
                                           {"2x2, dilated", 2, 1, 2, true}};

const Dims kImage = {2, 6, 7, 5};

// For each geometry, with a scale for all weights or for each channel.
template <class F>
Row windows(B code, const std::vector<T>& types, bool has_weights, bool dilates, const F& f) {
  Row row;
  row.code = code, row.types = types;
  for (const Geometry& g : kGeometries) {
    if (g.dilation > 1 && !dilates) continue;
    for (const bool per_channel : {false, true}) {
      if (per_channel && !has_weights) continue;
      row.forms.push_back({std::string(g.name) + (per_channel ? ", per channel" : ""), kImage,
                           [=](Cell& c, const Tensor& x) {
                             f(c, x, window(x.dims[1], g.kernel, g.stride, g.dilation, g.is_same),
                               window(x.dims[2], g.kernel, g.stride, g.dilation, g.is_same),
                               g.is_same ? tflite::Padding::SAME : tflite::Padding::VALID,
                               per_channel);
                           }});
    }
  }
  return row;
}

Row conv() {
  return windows(
      B::CONV_2D, kSigned, true, true,
      [](Cell& c, const Tensor& x, Window rows, Window columns, tflite::Padding padding,
         bool per_channel) {
        constexpr int kOut = 6;
        const int in = x.dims[3];
        Weights w;
        tflite::Conv2DOptionsT o;
        o.padding = padding;
        o.stride_h = rows.stride, o.stride_w = columns.stride;
        o.dilation_h_factor = rows.dilation, o.dilation_w_factor = columns.dilation;
        c.b.op(B::CONV_2D,
               layer_inputs(c, x, {kOut, rows.kernel, columns.kernel, in}, 0, per_channel, &w), {},
               o);
        const Tensor y = c.fresh({x.dims[0], rows.out, columns.out, kOut});
        c.expect({c.filled(y, [&](const Index& i) {
          int64_t acc = w.bias[static_cast<size_t>(i[3])];
          for_window(x, rows, columns, i[1], i[2], [&](int iy, int ix, int ky, int kx) {
            for (int q = 0; q < in; ++q) {
              const int at = ((i[3] * rows.kernel + ky) * columns.kernel + kx) * in + q;
              acc += (x.at({i[0], iy, ix, q}) - x.zero_point) * w.codes[static_cast<size_t>(at)];
            }
          });
          return layer_output(c, acc, x, w, i[3], y);
        })});
      });
}

Row depthwise() {
  return windows(
      B::DEPTHWISE_CONV_2D, kSigned, true, true,
      [](Cell& c, const Tensor& x, Window rows, Window columns, tflite::Padding padding,
         bool per_channel) {
        const int multiplier = per_channel ? 2 : 1, out = x.dims[3] * multiplier;
        Weights w;
        tflite::DepthwiseConv2DOptionsT o;
        o.padding = padding, o.depth_multiplier = multiplier;
        o.stride_h = rows.stride, o.stride_w = columns.stride;
        o.dilation_h_factor = rows.dilation, o.dilation_w_factor = columns.dilation;
        c.b.op(B::DEPTHWISE_CONV_2D,
               layer_inputs(c, x, {1, rows.kernel, columns.kernel, out}, 3, per_channel, &w), {},
               o);
        const Tensor y = c.fresh({x.dims[0], rows.out, columns.out, out});
        c.expect({c.filled(y, [&](const Index& i) {
          int64_t acc = w.bias[static_cast<size_t>(i[3])];
          for_window(x, rows, columns, i[1], i[2], [&](int iy, int ix, int ky, int kx) {
            const int at = (ky * columns.kernel + kx) * out + i[3];
            acc += (x.at({i[0], iy, ix, i[3] / multiplier}) - x.zero_point) *
                   w.codes[static_cast<size_t>(at)];
          });
          return layer_output(c, acc, x, w, i[3], y);
        })});
      });
}

Row transpose_conv() {
  Row row;
  row.code = B::TRANSPOSE_CONV, row.types = {T::INT8};
  for (const bool per_channel : {false, true})
    row.forms.push_back(
        {per_channel ? "per channel" : "", kImage, [=](Cell& c, const Tensor& x) {
           constexpr int kOut = 4, kKernel = 3, kStride = 2;
           const int in = x.dims[3];
           const Dims to = {x.dims[0], x.dims[1] * kStride, x.dims[2] * kStride, kOut};
           Weights w;
           std::vector<int> inputs =
               layer_inputs(c, x, {kOut, kKernel, kKernel, in}, 0, per_channel, &w);
           tflite::TransposeConvOptionsT o;
           o.padding = tflite::Padding::SAME;
           o.stride_h = o.stride_w = kStride;
           c.b.op(B::TRANSPOSE_CONV, {c.integers(to), inputs[1], inputs[0], inputs[2]}, {}, o);
           const Tensor y = c.fresh(to);
           const int before = (kKernel - kStride) / 2;
           c.expect({c.filled(y, [&](const Index& i) {
             int64_t acc = w.bias[static_cast<size_t>(i[3])];
             for (int iy = 0; iy < x.dims[1]; ++iy) {
               for (int ix = 0; ix < x.dims[2]; ++ix) {
                 const int ky = i[1] - iy * kStride + before, kx = i[2] - ix * kStride + before;
                 if (ky < 0 || kx < 0 || ky >= kKernel || kx >= kKernel) continue;
                 for (int q = 0; q < in; ++q) {
                   const int at = ((i[3] * kKernel + ky) * kKernel + kx) * in + q;
                   acc +=
                       (x.at({i[0], iy, ix, q}) - x.zero_point) * w.codes[static_cast<size_t>(at)];
                 }
               }
             }
             return layer_output(c, acc, x, w, i[3], y);
           })});
         }});
  return row;
}

Row fully_connected() {
  Row row;
  row.code = B::FULLY_CONNECTED, row.types = kSigned;
  for (const Dims& dims : {Dims{3, 8}, Dims{2, 3, 8}, Dims{2, 3, 4, 8}}) {
    for (const bool per_channel : {false, true}) {
      row.forms.push_back(
          {std::to_string(dims.size()) + "-D" + (per_channel ? ", per channel" : ""), dims,
           [=](Cell& c, const Tensor& x) {
             constexpr int kOut = 5;
             const int in = x.dims.back();
             Weights w;
             tflite::FullyConnectedOptionsT o;
             o.keep_num_dims = true;
             c.b.op(B::FULLY_CONNECTED, layer_inputs(c, x, {kOut, in}, 0, per_channel, &w), {}, o);
             Dims to = x.dims;
             to.back() = kOut;
             const Tensor y = c.fresh(to);
             c.expect({c.filled(y, [&](const Index& i) {
               const int k = i.back();
               int64_t acc = w.bias[static_cast<size_t>(k)];
               for (int q = 0; q < in; ++q) {
                 Index from = i;
                 from.back() = q;
                 acc += (x.at(from) - x.zero_point) * w.codes[static_cast<size_t>(k * in + q)];
               }
               if (per_channel) return layer_output(c, acc, x, w, k, y);
               return layer_output(c, acc, static_cast<double>(x.scale * w.scales[0]), y);
             })});
           }});
    }
  }
  return row;
}

// The average has the sum rounded away from 0 at halves.
Row pool(B code) {
  return windows(
      code, code == B::MAX_POOL_2D ? kAllTypes : kSigned, false, false,
      [code](Cell& c, const Tensor& x, Window rows, Window columns, tflite::Padding padding, bool) {
        tflite::Pool2DOptionsT o;
        o.padding = padding;
        o.stride_h = rows.stride, o.stride_w = columns.stride;
        o.filter_height = rows.kernel, o.filter_width = columns.kernel;
        c.b.op(code, {x.id}, {}, o);
        const Dims to = {x.dims[0], rows.out, columns.out, x.dims[3]};
        c.expect({c.filled(Cell::like(x, to), [&](const Index& i) {
          int n = 0, sum = 0, most = -32768;
          for_window(x, rows, columns, i[1], i[2], [&](int iy, int ix, int, int) {
            const int v = x.at({i[0], iy, ix, i[3]});
            ++n, sum += v, most = std::max(most, v);
          });
          if (code == B::MAX_POOL_2D) return most;
          return sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n;
        })});
      });
}

// Over one axis of every shape. f(cell, x, the codes of one row) is an element of y.
template <class F>
Row reduction(B code, const std::vector<T>& types, bool has_own_scale, const F& f) {
  Row row;
  row.code = code, row.types = types;
  for (const Dims& dims : kShapes) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      for (const bool keeps : {false, true}) {
        row.forms.push_back(
            {std::to_string(dims.size()) + "-D, axis " + std::to_string(axis) +
                 (keeps ? "" : ", without it"),
             dims, [=](Cell& c, const Tensor& x) {
               Dims one = x.dims;
               one[axis] = 1;
               tflite::ReducerOptionsT o;
               o.keep_dims = keeps;
               c.b.op(code, {x.id, c.integers({static_cast<int32_t>(axis)})}, {}, o);
               Tensor y = has_own_scale ? c.fresh(one) : Cell::like(x, one);
               y = c.filled(y, [&](Index i) {
                 std::vector<int> codes;
                 for (i[axis] = 0; i[axis] < x.dims[axis]; ++i[axis]) codes.push_back(x.at(i));
                 return f(c, x, codes, y);
               });
               if (!keeps) y.dims.erase(y.dims.begin() + static_cast<std::ptrdiff_t>(axis));
               c.expect({y});
             }});
      }
    }
  }
  return row;
}

int sum_of(const std::vector<int>& codes, int zero_point) {
  int sum = 0;
  for (const int v : codes) sum += v - zero_point;
  return sum;
}

Row mean() {
  return reduction(
      B::MEAN, kSigned, true,
      [](Cell& c, const Tensor& x, const std::vector<int>& codes, const Tensor& y) {
        const int n = static_cast<int>(codes.size());
        const auto whole =
            reference_multiplier(static_cast<double>(x.scale) / static_cast<double>(y.scale));
        const int k =
            std::min({63 - __builtin_clzll(static_cast<uint64_t>(n)), 32, 31 + whole.shift});
        const ReferenceMultiplier m = {static_cast<int32_t>((int64_t{whole.value} << k) / n),
                                       whole.shift - k};
        return c.clamped(c.scaled(sum_of(codes, x.zero_point), m) + y.zero_point);
      });
}

Row sum() {
  return reduction(B::SUM, kSigned, true,
                   [](Cell& c, const Tensor& x, const std::vector<int>& codes, const Tensor& y) {
                     const auto m = reference_multiplier(static_cast<double>(x.scale) /
                                                         static_cast<double>(y.scale));
                     return c.clamped(c.scaled(sum_of(codes, x.zero_point), m) + y.zero_point);
                   });
}

Row reduce_extreme(B code) {
  return reduction(code, kSigned, false,
                   [code](Cell&, const Tensor&, const std::vector<int>& codes, const Tensor&) {
                     return code == B::REDUCE_MAX ? *std::max_element(codes.begin(), codes.end())
                                                  : *std::min_element(codes.begin(), codes.end());
                   });
}

Row arg(B code) {
  Row row;
  row.code = code, row.types = {T::INT8};
  for (const Dims& dims : kShapes) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      row.forms.push_back({std::to_string(dims.size()) + "-D, axis " + std::to_string(axis), dims,
                           [=](Cell& c, const Tensor& x) {
                             Dims one = x.dims;
                             one[axis] = 1;
                             const int at = c.scalar(static_cast<int32_t>(axis));
                             if (code == B::ARG_MAX) {
                               tflite::ArgMaxOptionsT o;
                               o.output_type = T::INT32;
                               c.b.op(code, {x.id, at}, {}, o);
                             } else {
                               tflite::ArgMinOptionsT o;
                               o.output_type = T::INT32;
                               c.b.op(code, {x.id, at}, {}, o);
                             }
                             Tensor y = c.filled(c.plain(T::INT32, one), [&](Index i) {
                               int best = 0, found = 0;
                               for (i[axis] = 0; i[axis] < x.dims[axis]; ++i[axis]) {
                                 const int v = x.at(i);
                                 if (i[axis] == 0 || (code == B::ARG_MAX ? v > best : v < best))
                                   best = v, found = i[axis];
                               }
                               return found;
                             });
                             y.dims.erase(y.dims.begin() + static_cast<std::ptrdiff_t>(axis));
                             c.expect({y});
                           }});
    }
  }
  return row;
}

Row top_k() {
  Row row;
  row.code = B::TOPK_V2, row.types = {T::INT8};
  for (const Dims& dims : kShapes)
    row.forms.push_back({std::to_string(dims.size()) + "-D", dims, [](Cell& c, const Tensor& x) {
                           Dims two = x.dims;
                           two.back() = 2;
                           const auto place = [&](Index i) {
                             std::vector<int> order(static_cast<size_t>(x.dims.back()));
                             for (size_t k = 0; k < order.size(); ++k)
                               order[k] = static_cast<int>(k);
                             const auto value = [&](int k) { return i.back() = k, x.at(i); };
                             const auto rank = static_cast<size_t>(i.back());
                             std::stable_sort(order.begin(), order.end(),
                                              [&](int p, int q) { return value(p) > value(q); });
                             return order[rank];
                           };
                           c.b.op(B::TOPK_V2, {x.id, c.scalar(2)}, {});
                           const Tensor values = c.filled(Cell::like(x, two), [&](Index i) {
                             i.back() = place(i);
                             return x.at(i);
                           });
                           c.expect({values, c.filled(c.plain(T::INT32, two), place)});
                         }});
  return row;
}

Row batch_matmul() {
  Row row;
  row.code = B::BATCH_MATMUL, row.types = {T::INT8};
  for (const Dims& dims : {Dims{3, 8}, Dims{2, 3, 8}, Dims{2, 3, 4, 8}}) {
    for (const bool transposed : {false, true}) {
      row.forms.push_back({std::to_string(dims.size()) + "-D" + (transposed ? ", transposed" : ""),
                           dims, [=](Cell& c, const Tensor& x) {
                             constexpr int kColumns = 5;
                             const size_t rank = x.dims.size();
                             const int depth = x.dims.back();
                             Dims other = x.dims, to = x.dims;
                             other[rank - 2] = transposed ? kColumns : depth;
                             other[rank - 1] = transposed ? depth : kColumns;
                             to.back() = kColumns;
                             const Tensor w = c.input(other), y = c.fresh(to);
                             tflite::BatchMatMulOptionsT o;
                             o.adj_y = transposed;
                             c.b.op(B::BATCH_MATMUL, {x.id, w.id}, {}, o);
                             const auto m = reference_multiplier(static_cast<double>(x.scale) *
                                                                 static_cast<double>(w.scale) /
                                                                 static_cast<double>(y.scale));
                             c.expect({c.filled(y, [&](const Index& i) {
                               int acc = 0;
                               for (int k = 0; k < depth; ++k) {
                                 Index p = i, q = i;
                                 p[rank - 1] = k;
                                 q[rank - 2] = transposed ? i[rank - 1] : k;
                                 q[rank - 1] = transposed ? k : i[rank - 1];
                                 acc += (x.at(p) - x.zero_point) * (w.at(q) - w.zero_point);
                               }
                               return c.clamped(c.scaled(acc, m) + y.zero_point);
                             })});
                           }});
    }
  }
  return row;
}

Row resize_bilinear() {
  Row row;
  row.code = B::RESIZE_BILINEAR, row.types = {T::INT8};
  for (const int mode : {0, 1, 2}) {
    for (const Dims& to : {Dims{7, 9}, Dims{3, 4}}) {
      row.forms.push_back({mode == 0   ? "plain"
                           : mode == 1 ? "corners"
                                       : "half pixels",
                           kImage, [=](Cell& c, const Tensor& x) {
                             tflite::ResizeBilinearOptionsT o;
                             o.align_corners = mode == 1, o.half_pixel_centers = mode == 2;
                             struct Tap {
                               int at, lower, upper;
                             };
                             const auto place = [&](int v, int in, int out) {
                               const int step = mode == 1
                                                    ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1)
                                                    : (1024 * in + out / 2) / out;
                               Tap p;
                               p.at = mode == 2 ? v * step + step / 2 - 512 : v * step;
                               p.lower = std::max(p.at / 1024, 0);
                               p.upper = std::min((p.at + 1023) / 1024, in - 1);
                               return p;
                             };
                             c.b.op(B::RESIZE_BILINEAR, {x.id, c.integers(to)}, {}, o);
                             const Dims dims = {x.dims[0], to[0], to[1], x.dims[3]};
                             c.expect({c.filled(Cell::like(x, dims), [&](const Index& i) {
                               const Tap y = place(i[1], x.dims[1], to[0]),
                                         z = place(i[2], x.dims[2], to[1]);
                               const auto v = [&](int row_, int column) {
                                 return int64_t{x.at({i[0], row_, column, i[3]})};
                               };
                               const int64_t dy = y.at - 1024 * y.lower, dz = z.at - 1024 * z.lower;
                               const int64_t sum = v(y.lower, z.lower) * (1024 - dy) * (1024 - dz) +
                                                   v(y.upper, z.lower) * dy * (1024 - dz) +
                                                   v(y.lower, z.upper) * (1024 - dy) * dz +
                                                   v(y.upper, z.upper) * dy * dz;
                               if (c.is_single()) return (sum + (1 << 19)) >> 20;
                               return (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20);
                             })});
                           }});
    }
  }
  return row;
}

}  // namespace

std::vector<Row> layer_rows() {
  return {conv(),
          depthwise(),
          transpose_conv(),
          fully_connected(),
          pool(B::MAX_POOL_2D),
          pool(B::AVERAGE_POOL_2D),
          mean(),
          sum(),
          reduce_extreme(B::REDUCE_MAX),
          reduce_extreme(B::REDUCE_MIN),
          arg(B::ARG_MAX),
          arg(B::ARG_MIN),
          top_k(),
          batch_matmul(),
          resize_bilinear()};
}

}  // namespace qrt::tflite_matrix
