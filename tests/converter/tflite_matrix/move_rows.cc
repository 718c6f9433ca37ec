// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: where each comes from.
#include "tests/converter/tflite_matrix/cell.h"

namespace qrt::tflite_matrix {
namespace {

// The options of operators that have none, or none that the converter reads.
const tflite::ReshapeOptionsT kNone;

const std::vector<Dims> kShapes = {{7}, {3, 5}, {2, 3, 4}, {2, 3, 4, 5}};

// Adds an operator that makes element i of `dims` from element from(i) of x.
template <class Options, class F>
void moved(Cell& c, const Tensor& x, B code, const std::vector<int>& inputs, const Options& options,
           const Dims& dims, const F& from) {
  c.b.op(code, inputs, {}, options);
  c.expect({c.filled(Cell::like(x, dims), [&](const Index& i) { return x.at(from(i)); })});
}

struct Maker {
  Row row;
  Maker(B code, std::vector<T> types = kAllTypes) { row.code = code, row.types = std::move(types); }
  // Adds a form for every axis of every shape.
  template <class F>
  Maker& axes(const F& f) {
    for (const Dims& dims : kShapes)
      for (size_t axis = 0; axis < dims.size(); ++axis)
        row.forms.push_back({std::to_string(dims.size()) + "-D, axis " + std::to_string(axis), dims,
                             [=](Cell& c, const Tensor& x) { f(c, x, axis); }});
    return *this;
  }
  template <class F>
  Maker& shapes(const F& f) {
    for (const Dims& dims : kShapes)
      row.forms.push_back({std::to_string(dims.size()) + "-D", dims, f});
    return *this;
  }
  template <class F>
  Maker& form(const char* name, const Dims& dims, const F& f) {
    row.forms.push_back({name, dims, f});
    return *this;
  }
};

// Expects x's elements in another shape.
void reshaped(Cell& c, const Tensor& x, const Dims& dims) {
  Tensor y = x;
  y.dims = dims;
  c.expect({y});
}

int32_t as_int(size_t v) { return static_cast<int32_t>(v); }

Row reshape() {
  return Maker(B::RESHAPE)
      .shapes([](Cell& c, const Tensor& x) {
        const Dims to = {elements(x.dims)};
        tflite::ReshapeOptionsT o;
        o.new_shape = to;
        c.b.op(B::RESHAPE, {x.id, c.integers({-1})}, {}, o);
        reshaped(c, x, to);
      })
      .row;
}

Row squeeze() {
  return Maker(B::SQUEEZE)
      .form("4-D", {2, 1, 5, 1},
            [](Cell& c, const Tensor& x) {
              c.b.op(B::SQUEEZE, {x.id}, {});
              reshaped(c, x, {2, 5});
            })
      .row;
}

Row expand_dims() {
  return Maker(B::EXPAND_DIMS)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        Dims to = x.dims;
        to.insert(to.begin() + as_int(axis), 1);
        c.b.op(B::EXPAND_DIMS, {x.id, c.scalar(as_int(axis))}, {});
        reshaped(c, x, to);
      })
      .row;
}

Row transpose() {
  return Maker(B::TRANSPOSE)
      .shapes([](Cell& c, const Tensor& x) {
        std::vector<int32_t> perm(x.dims.size());
        Dims to;
        for (size_t i = 0; i < perm.size(); ++i) {
          perm[i] = as_int((i + 1) % perm.size());
          to.push_back(x.dims[static_cast<size_t>(perm[i])]);
        }
        moved(c, x, B::TRANSPOSE, {x.id, c.integers(perm)}, kNone, to, [&](const Index& i) {
          Index from(i.size());
          for (size_t k = 0; k < i.size(); ++k) from[static_cast<size_t>(perm[k])] = i[k];
          return from;
        });
      })
      .row;
}

Row tile() {
  return Maker(B::TILE)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        std::vector<int32_t> repeats(x.dims.size(), 1);
        Dims to = x.dims;
        repeats[axis] = 2, to[axis] *= 2;
        moved(c, x, B::TILE, {x.id, c.integers(repeats)}, kNone, to, [&](Index i) {
          i[axis] %= x.dims[axis];
          return i;
        });
      })
      .row;
}

Row broadcast_to() {
  return Maker(B::BROADCAST_TO)
      .form("4-D", {2, 1, 4, 1},
            [](Cell& c, const Tensor& x) {
              moved(c, x, B::BROADCAST_TO, {x.id, c.integers({2, 3, 4, 5})}, kNone, {2, 3, 4, 5},
                    [](Index i) {
                      i[1] = i[3] = 0;
                      return i;
                    });
            })
      .form("2-D of 1-D", {4},
            [](Cell& c, const Tensor& x) {
              moved(c, x, B::BROADCAST_TO, {x.id, c.integers({3, 4})}, kNone, {3, 4},
                    [](const Index& i) { return Index{i[1]}; });
            })
      .row;
}

Row reverse() {
  return Maker(B::REVERSE_V2)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        moved(c, x, B::REVERSE_V2, {x.id, c.integers({as_int(axis)})}, kNone, x.dims, [&](Index i) {
          i[axis] = x.dims[axis] - 1 - i[axis];
          return i;
        });
      })
      .row;
}

Row gather() {
  return Maker(B::GATHER)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        tflite::GatherOptionsT o;
        o.axis = as_int(axis);
        const std::vector<int32_t> at = {x.dims[axis] - 1, 0, 1, 1};
        Dims to = x.dims;
        to[axis] = 4;
        moved(c, x, B::GATHER, {x.id, c.integers(at)}, o, to, [&](Index i) {
          i[axis] = at[static_cast<size_t>(i[axis])];
          return i;
        });
      })
      .row;
}

Row gather_nd() {
  return Maker(B::GATHER_ND)
      .form("rows", {2, 3, 4},
            [](Cell& c, const Tensor& x) {
              const std::vector<int32_t> at = {1, 2, 0, 1, 1, 0};
              const int id = c.b.constant(T::INT32, {3, 2}, at);
              moved(c, x, B::GATHER_ND, {x.id, id}, kNone, {3, 4}, [&](const Index& i) {
                const auto k = static_cast<size_t>(2 * i[0]);
                return Index{at[k], at[k + 1], i[1]};
              });
            })
      .row;
}

Row strided_slice() {
  return Maker(B::STRIDED_SLICE)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        std::vector<int32_t> begin(x.dims.size(), 0), end = x.dims, stride(x.dims.size(), 1);
        begin[axis] = 1, stride[axis] = 2;
        Dims to = x.dims;
        to[axis] = x.dims[axis] / 2;
        moved(c, x, B::STRIDED_SLICE,
              {x.id, c.integers(begin), c.integers(end), c.integers(stride)},
              tflite::StridedSliceOptionsT(), to, [&](Index i) {
                i[axis] = 1 + 2 * i[axis];
                return i;
              });
      })
      .row;
}

Row slice() {
  return Maker(B::SLICE)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        std::vector<int32_t> begin(x.dims.size(), 0), size(x.dims.size(), -1);
        begin[axis] = 1;
        Dims to = x.dims;
        --to[axis];
        moved(c, x, B::SLICE, {x.id, c.integers(begin), c.integers(size)}, kNone, to, [&](Index i) {
          ++i[axis];
          return i;
        });
      })
      .row;
}

// Pieces of x along an axis, of these sizes.
std::vector<Tensor> splits_along(Cell& c, const Tensor& x, size_t axis,
                                 const std::vector<int>& sizes) {
  std::vector<Tensor> all;
  int first = 0;
  for (const int size : sizes) {
    Dims to = x.dims;
    to[axis] = size;
    all.push_back(c.filled(Cell::like(x, to), [&](Index i) {
      i[axis] += first;
      return x.at(i);
    }));
    first += size;
  }
  return all;
}

Row split() {
  Maker maker(B::SPLIT);
  for (const Dims& dims : {Dims{6}, Dims{4, 6}, Dims{2, 4, 6}, Dims{2, 4, 6, 8}})
    for (size_t axis = 0; axis < dims.size(); ++axis)
      maker.row.forms.push_back({std::to_string(dims.size()) + "-D, axis " + std::to_string(axis),
                                 dims, [axis](Cell& c, const Tensor& x) {
                                   const int half = x.dims[axis] / 2;
                                   c.b.op(B::SPLIT, {c.scalar(as_int(axis)), x.id}, {});
                                   c.expect(splits_along(c, x, axis, {half, half}));
                                 }});
  return maker.row;
}

Row split_v() {
  return Maker(B::SPLIT_V)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        const int rest = x.dims[axis] - 1;
        c.b.op(B::SPLIT_V, {x.id, c.integers({1, -1}), c.scalar(as_int(axis))}, {});
        c.expect(splits_along(c, x, axis, {1, rest}));
      })
      .row;
}

Row unpack() {
  return Maker(B::UNPACK)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        tflite::UnpackOptionsT o;
        o.num = x.dims[axis], o.axis = as_int(axis);
        c.b.op(B::UNPACK, {x.id}, {}, o);
        std::vector<Tensor> all =
            splits_along(c, x, axis, std::vector<int>(static_cast<size_t>(x.dims[axis]), 1));
        for (Tensor& y : all) y.dims.erase(y.dims.begin() + as_int(axis));
        c.expect(all);
      })
      .row;
}

Row pack() {
  return Maker(B::PACK)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        tflite::PackOptionsT o;
        o.values_count = 2, o.axis = as_int(axis);
        Dims to = x.dims;
        to.insert(to.begin() + as_int(axis), 2);
        moved(c, x, B::PACK, {x.id, x.id}, o, to, [&](Index i) {
          i.erase(i.begin() + as_int(axis));
          return i;
        });
      })
      .row;
}

Row concatenation() {
  return Maker(B::CONCATENATION)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        Tensor other = c.input(x.dims);
        other.scale = x.scale, other.zero_point = x.zero_point;
        c.b.at(other.id).quantization->scale = {x.scale};
        c.b.at(other.id).quantization->zero_point = {x.zero_point};
        tflite::ConcatenationOptionsT o;
        o.axis = as_int(axis);
        Dims to = x.dims;
        to[axis] *= 2;
        c.b.op(B::CONCATENATION, {x.id, other.id}, {}, o);
        c.expect({c.filled(Cell::like(x, to), [&](Index i) {
          if (i[axis] < x.dims[axis]) return x.at(i);
          i[axis] -= x.dims[axis];
          return other.at(i);
        })});
      })
      .row;
}

// Pads x with one more element before and two behind along an axis; outside it, f(index beyond).
template <class Options, class F>
void padded(Cell& c, const Tensor& x, B code, size_t axis, const std::vector<int>& more,
            const Options& options, const F& outside) {
  std::vector<int32_t> pads(2 * x.dims.size(), 0);
  pads[2 * axis] = 1, pads[2 * axis + 1] = 2;
  std::vector<int> inputs = {x.id, c.b.constant(T::INT32, {as_int(x.dims.size()), 2}, pads)};
  inputs.insert(inputs.end(), more.begin(), more.end());
  Dims to = x.dims;
  to[axis] += 3;
  c.b.op(code, inputs, {}, options);
  c.expect({c.filled(Cell::like(x, to), [&](Index i) {
    --i[axis];
    return i[axis] >= 0 && i[axis] < x.dims[axis] ? x.at(i) : outside(i);
  })});
}

Row pad() {
  return Maker(B::PAD)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        padded(c, x, B::PAD, axis, {}, kNone, [&](const Index&) { return x.zero_point; });
      })
      .row;
}

Row pad_v2() {
  return Maker(B::PADV2)
      .axes([](Cell& c, const Tensor& x, size_t axis) {
        Tensor value = c.constant({1});
        c.b.at(value.id).quantization->scale = {x.scale};
        c.b.at(value.id).quantization->zero_point = {x.zero_point};
        padded(c, x, B::PADV2, axis, {value.id}, kNone,
               [&](const Index&) { return value.codes[0]; });
      })
      .row;
}

Row mirror_pad() {
  Maker maker(B::MIRROR_PAD);
  for (const auto mode : {tflite::MirrorPadMode::REFLECT, tflite::MirrorPadMode::SYMMETRIC}) {
    maker.axes([mode](Cell& c, const Tensor& x, size_t axis) {
      tflite::MirrorPadOptionsT o;
      o.mode = mode;
      const int skips = mode == tflite::MirrorPadMode::REFLECT ? 1 : 0;
      // Two places behind need at least two elements.
      padded(c, x, B::MIRROR_PAD, axis, {}, o, [&](Index i) {
        const int n = x.dims[axis];
        i[axis] = i[axis] < 0 ? -1 - i[axis] + skips : 2 * n - 1 - i[axis] - skips;
        return x.at(i);
      });
    });
  }
  // Two elements cannot be reflected to make two others.
  auto& forms = maker.row.forms;
  forms.erase(std::remove_if(forms.begin(), forms.end(),
                             [](const Form& f) {
                               const size_t axis = static_cast<size_t>(f.name.back() - '0');
                               return f.dims[axis] < 3;
                             }),
              forms.end());
  return maker.row;
}

Row depth_to_space() {
  return Maker(B::DEPTH_TO_SPACE)
      .form("4-D", {2, 3, 4, 8},
            [](Cell& c, const Tensor& x) {
              tflite::DepthToSpaceOptionsT o;
              o.block_size = 2;
              moved(c, x, B::DEPTH_TO_SPACE, {x.id}, o, {2, 6, 8, 2}, [](const Index& i) {
                return Index{i[0], i[1] / 2, i[2] / 2, (i[1] % 2 * 2 + i[2] % 2) * 2 + i[3]};
              });
            })
      .row;
}

Row space_to_depth() {
  return Maker(B::SPACE_TO_DEPTH)
      .form("4-D", {2, 4, 6, 3},
            [](Cell& c, const Tensor& x) {
              tflite::SpaceToDepthOptionsT o;
              o.block_size = 2;
              moved(c, x, B::SPACE_TO_DEPTH, {x.id}, o, {2, 2, 3, 12}, [](const Index& i) {
                const int block = i[3] / 3;
                return Index{i[0], 2 * i[1] + block / 2, 2 * i[2] + block % 2, i[3] % 3};
              });
            })
      .row;
}

Row space_to_batch() {
  return Maker(B::SPACE_TO_BATCH_ND)
      .form("4-D", {2, 4, 6, 3},
            [](Cell& c, const Tensor& x) {
              const int pads = c.b.constant(T::INT32, {2, 2}, std::vector<int32_t>{0, 0, 0, 0});
              moved(c, x, B::SPACE_TO_BATCH_ND, {x.id, c.integers({2, 3}), pads}, kNone,
                    {12, 2, 2, 3}, [](const Index& i) {
                      const int block = i[0] / 2;
                      return Index{i[0] % 2, 2 * i[1] + block / 3, 3 * i[2] + block % 3, i[3]};
                    });
            })
      .row;
}

Row batch_to_space() {
  return Maker(B::BATCH_TO_SPACE_ND)
      .form("4-D", {12, 2, 2, 3},
            [](Cell& c, const Tensor& x) {
              const int crops = c.b.constant(T::INT32, {2, 2}, std::vector<int32_t>{1, 0, 0, 2});
              moved(c, x, B::BATCH_TO_SPACE_ND, {x.id, c.integers({2, 3}), crops}, kNone,
                    {2, 3, 4, 3}, [](const Index& i) {
                      const int y = i[1] + 1, block = y % 2 * 3 + i[2] % 3;
                      return Index{block * 2 + i[0], y / 2, i[2] / 3, i[3]};
                    });
            })
      .row;
}

Row resize_nearest() {
  Maker maker(B::RESIZE_NEAREST_NEIGHBOR);
  for (const int mode : {0, 1, 2}) {
    for (const Dims& to : {Dims{7, 9}, Dims{2, 3}}) {
      maker.form(mode == 0   ? "plain"
                 : mode == 1 ? "corners"
                             : "half pixels",
                 {2, 4, 5, 3}, [mode, to](Cell& c, const Tensor& x) {
                   tflite::ResizeNearestNeighborOptionsT o;
                   o.align_corners = mode == 1, o.half_pixel_centers = mode == 2;
                   const auto place = [&](int v, int in, int out) {
                     const float step =
                         mode == 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                   : static_cast<float>(in) / static_cast<float>(out);
                     const float at = (static_cast<float>(v) + (mode == 2 ? 0.5f : 0.0f)) * step;
                     const int k = static_cast<int>(mode == 1 ? std::round(at) : std::floor(at));
                     return std::clamp(k, 0, in - 1);
                   };
                   moved(c, x, B::RESIZE_NEAREST_NEIGHBOR, {x.id, c.integers(to)}, o,
                         {2, to[0], to[1], 3}, [&](const Index& i) {
                           return Index{i[0], place(i[1], 4, to[0]), place(i[2], 5, to[1]), i[3]};
                         });
                 });
    }
  }
  return maker.row;
}

Row shape() {
  return Maker(B::SHAPE, kBytes)
      .form("reshapes another", {2, 3, 4},
            [](Cell& c, const Tensor& x) {
              const Tensor row = c.input({24});
              const int id = c.b.tensor(T::INT32, {3});
              c.b.op(B::SHAPE, {x.id}, {id}, tflite::ShapeOptionsT());
              c.b.op(B::RESHAPE, {row.id, id}, {}, tflite::ReshapeOptionsT());
              reshaped(c, row, x.dims);
            })
      .row;
}

}  // namespace

std::vector<Row> move_rows() {
  return {reshape(),
          squeeze(),
          expand_dims(),
          transpose(),
          tile(),
          broadcast_to(),
          reverse(),
          gather(),
          gather_nd(),
          strided_slice(),
          slice(),
          split(),
          split_v(),
          unpack(),
          pack(),
          concatenation(),
          pad(),
          pad_v2(),
          mirror_pad(),
          depth_to_space(),
          space_to_depth(),
          space_to_batch(),
          batch_to_space(),
          resize_nearest(),
          shape()};
}

}  // namespace qrt::tflite_matrix
