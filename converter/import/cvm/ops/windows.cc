// SPDX-License-Identifier: Apache-2.0
// Maxima of windows, and images enlarged by repeating pixels.
#include <algorithm>

#include "converter/import/common/index_maps.h"
#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

struct Window {
  int64_t size = 1, stride = 1, before = 0, after = 0, out = 1;
};

struct Pool {
  Window h, w;
};

Status read_pool(const Attributes& a, const Shape& x, Pool* pool) {
  QRT_TRY(a.check_names({"pool_size", "strides", "padding", "layout", "ceil_mode"}));
  QRT_MODEL_CHECK(x.rank() == 4, "its input has the shape %s, expected [n, c, h, w]",
                  x.to_string().c_str());
  std::vector<int64_t> size, stride = {1, 1}, padding = {0};
  bool ceil_mode = false;
  QRT_TRY(a.required("pool_size"));
  QRT_TRY(a.tuple("pool_size", 1, 1 << 24, &size));
  QRT_TRY(a.tuple("strides", 1, 4096, &stride));
  QRT_TRY(a.tuple("padding", 0, 4096, &padding));
  QRT_TRY(a.word("layout", {"NCHW"}));
  QRT_TRY(a.boolean("ceil_mode", &ceil_mode));
  QRT_MODEL_CHECK(size.size() == 2 && stride.size() == 2,
                  "pool_size has %zu and strides %zu values, expected 2", size.size(),
                  stride.size());
  QRT_MODEL_CHECK(padding.size() == 1 || padding.size() == 2,
                  "padding has %zu values, expected 1 or 2", padding.size());
  const auto place = [&](size_t axis, Window* w) -> Status {
    w->size = size[axis];
    w->stride = stride[axis];
    w->before = w->after = padding[padding.size() == 2 ? axis : 0];
    const int64_t in = x[2 + static_cast<int>(axis)], padded = in + 2 * w->before;
    QRT_MODEL_CHECK(w->before < w->size && w->size <= padded,
                    "pool_size is %lld with padding %lld of %lld, expected padding < pool_size <= "
                    "the padded size",
                    static_cast<long long>(w->size), static_cast<long long>(w->before),
                    static_cast<long long>(in));
    const int64_t rest = padded - w->size + (ceil_mode ? w->stride - 1 : 0);
    w->out = rest / w->stride + 1;
    const int64_t last = (w->out - 1) * w->stride - w->before;
    QRT_MODEL_CHECK(last < in, "its last window starts at %lld, behind the input's %lld",
                    static_cast<long long>(last), static_cast<long long>(in));
    w->after = std::max<int64_t>(last + w->size - in, 0);
    return Status();
  };
  QRT_TRY(place(0, &pool->h));
  return place(1, &pool->w);
}

// Pools windows along `axis`: their elements side by side, then the greatest of each. Elements
// outside are the least int32.
Status pool_int32(Importer& importer, const Op& op, int axis, const Window& w, Stored* x) {
  Graph& graph = importer.graph();
  const Shape from = graph.values[x->value].type.shape;
  QRT_TRY(check_index_count(w.out * w.size));
  Indices indices;
  for (int64_t o = 0; o < w.out; ++o)
    for (int64_t k = 0; k < w.size; ++k) {
      const int64_t i = o * w.stride + k - w.before;
      indices.push_back(i < 0 || i >= from[axis] ? -1 : static_cast<int32_t>(i));
    }
  IndexMaps maps(from);
  maps.set(axis, std::move(indices));
  const ValueId windows = importer.new_value("", x->storage, maps.to());
  importer.add_node<fb::GatherOptionsT>(op, {x->value}, windows) = maps.options(INT32_MIN);
  // [.., out, size, rest]: one axis more, one of the batch or the channels less.
  Shape split{1, 1, 1, 1};
  for (int d = 0; d < axis; ++d) split[0] *= from[d];
  split[1] = w.out;
  split[2] = w.size;
  for (int d = axis + 1; d < 4; ++d) split[3] *= from[d];
  const ValueId parted = importer.reshaped(op, windows, x->storage, split);
  Shape reduced = split, to = from;
  reduced[2] = 1;
  to[axis] = w.out;
  const ValueId greatest = importer.new_value("", x->storage, reduced);
  auto& o = importer.add_node<fb::ReduceOptionsT>(op, {parted}, greatest);
  o.axis = 2;
  o.maximum = true;
  x->value = importer.reshaped(op, greatest, x->storage, to);
  return Status();
}

}  // namespace

Status infer_max_pool2d(Inference* inference) {
  Pool pool;
  const Form& x = inference->input();
  QRT_TRY(read_pool(inference->attributes(), x.shape, &pool));
  return inference->output({x.shape[0], x.shape[1], pool.h.out, pool.w.out}, x.precision);
}

Status import_max_pool2d(Importer& importer, const Op& op) {
  Pool pool;
  QRT_TRY(read_pool(Attributes(op.node.attributes), importer.shape(op.input()), &pool));
  Stored x = importer.stored(op.input());
  if (x.storage.dtype == DType::kInt32) {
    QRT_TRY(pool_int32(importer, op, 2, pool.h, &x));
    QRT_TRY(pool_int32(importer, op, 3, pool.w, &x));
    importer.set_output(op, x, "Gather, Reduce");
    return Status();
  }
  const Shape& y = importer.shape(op.output());
  const ValueId image = importer.transposed(op, x.value, x.storage, {0, 2, 3, 1});
  const ValueId made = importer.new_value("", x.storage, {y[0], y[2], y[3], y[1]});
  auto& o = importer.add_node<fb::MaxPool2DOptionsT>(op, {image}, made);
  o.kernel_h = static_cast<uint32_t>(pool.h.size);
  o.kernel_w = static_cast<uint32_t>(pool.w.size);
  o.stride_h = static_cast<uint16_t>(pool.h.stride);
  o.stride_w = static_cast<uint16_t>(pool.w.stride);
  o.pad_top = static_cast<uint16_t>(pool.h.before);
  o.pad_left = static_cast<uint16_t>(pool.w.before);
  o.pad_bottom = static_cast<uint16_t>(pool.h.after);
  o.pad_right = static_cast<uint16_t>(pool.w.after);
  x.value = importer.transposed(op, made, x.storage, {0, 3, 1, 2});
  importer.set_output(op, x, "MaxPool2D");
  return Status();
}

namespace {

Status read_scale(const Attributes& a, const Shape& x, int64_t* scale) {
  QRT_TRY(a.check_names({"scale", "layout", "method"}));
  QRT_MODEL_CHECK(x.rank() == 4, "its input has the shape %s, expected [n, c, h, w]",
                  x.to_string().c_str());
  QRT_TRY(a.word("layout", {"NCHW"}));
  QRT_TRY(a.word("method", {"NEAREST_NEIGHBOR"}));
  return a.required_integer("scale", 1, 4096, scale);
}

}  // namespace

Status infer_upsampling(Inference* inference) {
  int64_t scale = 1;
  const Form& x = inference->input();
  QRT_TRY(read_scale(inference->attributes(), x.shape, &scale));
  return inference->output({x.shape[0], x.shape[1], x.shape[2] * scale, x.shape[3] * scale},
                           x.precision);
}

Status import_upsampling(Importer& importer, const Op& op) {
  int64_t scale = 1;
  QRT_TRY(read_scale(Attributes(op.node.attributes), importer.shape(op.input()), &scale));
  Stored x = importer.stored(op.input());
  IndexMaps maps(importer.shape(op.input()));
  for (const int axis : {2, 3}) {
    const int64_t size = importer.shape(op.output())[axis];
    QRT_TRY(check_index_count(size));
    Indices indices;
    for (int64_t i = 0; i < size; ++i) indices.push_back(static_cast<int32_t>(i / scale));
    maps.set(axis, std::move(indices));
  }
  const ValueId made = importer.new_value("", x.storage, maps.to());
  importer.add_node<fb::GatherOptionsT>(op, {x.value}, made) = maps.options(0);
  x.value = made;
  importer.set_output(op, x, "Gather");
  return Status();
}

}  // namespace qrt::convert::from_cvm
