// SPDX-License-Identifier: Apache-2.0
// Max pools, which move integers.
#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/plane_layer.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns whether a window along an axis of `size` positions reads none of them: the first one is the
// furthest before it, the last one behind it, and steps greater than the image may pass over it. True
// also where so many windows begin before such an image that it is not worth looking.
bool misses_image(const WindowAxis& w, int64_t size) {
  constexpr int64_t kMostLooked = 1 << 16;
  if (w.output == 0) return false;
  if (w.before > (w.kernel - 1) * w.dilation || (w.output - 1) * w.stride - w.before >= size)
    return true;
  if (w.dilation <= size) return false;
  for (int64_t o = 0; o < w.output && o * w.stride < w.before; ++o) {
    const int64_t before = w.before - o * w.stride,
                  outside = (before + w.dilation - 1) / w.dilation;
    if (o == kMostLooked || outside * w.dilation - before >= size) return true;
  }
  return false;
}
bool misses_image(const Window& w, const Image& image) {
  return misses_image(w.depth, image.depth) || misses_image(w.axis(0), image.size[0] - w.skip[0]) ||
         misses_image(w.axis(1), image.size[1] - w.skip[1]);
}

// Images with the window's padding as elements, the least of their type, which is what ONNX
// Runtime makes of a window that reads nothing of the image.
ValueId padded_for_max(Importer& importer, const NodeView& node, Window* w, ValueId x) {
  IndexMaps maps(importer.builder().shape_of(x));
  const int height = maps.from().rank() - 3;
  for (int i = 0; i < 2; ++i) {
    maps.set(height + i,
             padded(maps.from()[height + i], w->before[i], w->after[i], PadMode::kConstant));
    w->before[i] = w->after[i] = 0;
  }
  const bool is_int16 = importer.graph().values[x].type.dtype == DType::kInt16;
  return importer.builder().gather(node, x, maps, is_int16 ? -32768 : 0);
}

// Adds the pool over images, each as a whole where there is no window.
ValueId add_max_pool(Importer& importer, const NodeView& node, const Window* window, ValueId x) {
  Graph& graph = importer.graph();
  Node n = make_node<fb::MaxPool2DOptionsT>(node.name(), node.op(), {}, {});
  auto& o = options<fb::MaxPool2DOptionsT>(n);
  const int height = importer.builder().shape_of(x).rank() - 3;
  Shape shape;
  if (window) {
    Window w = *window;
    x = without_skipped(importer, node, w, height, x);
    shape = importer.builder().shape_of(x);
    if (misses_image(w.axis(0), shape[height]) || misses_image(w.axis(1), shape[height + 1]))
      x = padded_for_max(importer, node, &w, x);
    set_kernel(w, &o);
    set_window(w, &o);
    set_dilation(w, &o);
    shape[height] = w.output[0], shape[height + 1] = w.output[1];
  } else {
    o.kernel_h = o.kernel_w = 0;
    shape = importer.builder().shape_of(x);
    shape[height] = shape[height + 1] = 1;
  }
  n.inputs = {x};
  const ValueId y = importer.builder().new_value("", graph.values[x].type.dtype, shape);
  const Quantization& quantization = graph.values[x].quantization;
  if (quantization.axis < 0) graph.values[y].quantization = quantization;
  n.outputs = {y};
  graph.nodes.push_back(std::move(n));
  return y;
}

// Pools a volume: the windows of each plane, then those along depth.
ValueId max_of_volume(Importer& importer, const NodeView& node, const Image& image,
                      const Window* window, ValueId x) {
  GraphBuilder& builder = importer.builder();
  if (!window) {
    x = builder.reshape(node, x, {image.n, image.depth * image.size[0], image.size[1], image.c});
    return add_max_pool(importer, node, nullptr, x);
  }
  if (!reads_pixels(*window)) x = add_max_pool(importer, node, window, x);
  const int64_t* size = window->output;
  const Window rows = depth_as_rows(*window);
  if (reads_pixels(rows)) return x;
  x = builder.reshape(node, x, {image.n, image.depth, size[0] * size[1], image.c});
  return add_max_pool(importer, node, &rows, x);
}

ValueId emit_max(Importer& importer, const NodeView& node, const Image& image, const Window* window,
                 ValueId x) {
  const bool nhwc = importer.builder().is_marked(x);
  const ValueId from = image_to_nhwc(importer, node, image, x);
  const ValueId y = image.is_volume() ? max_of_volume(importer, node, image, window, from)
                                      : add_max_pool(importer, node, window, from);
  importer.became(node, "MaxPool2D", "I0");
  const ValueId result = from_planes(importer, node, image, window ? *window : Window(), y);
  if (nhwc) importer.builder().mark(result);
  return result;
}

// Sets *in_float to whether ONNX Runtime pools the floats: between a DequantizeLinear and a
// QuantizeLinear of other parameters. Elsewhere it moves the DequantizeLinear behind the pool.
Status is_pooled_in_float(Importer& importer, const NodeView& node, const Tensor& x,
                          bool* in_float) {
  *in_float = false;
  const std::vector<int>& readers = importer.model().readers(node.output(0));
  if (x.is_value() || readers.size() != 1) return Status();
  const NodeView& reader = importer.node(readers[0]);
  if (reader.op() != "QuantizeLinear" || !reader.has_input(2)) return Status();
  for (int i = 1; i <= 2; ++i) QRT_TRY(importer.tensors().load_initializer(reader.input(i)));
  const Tensor &scale = importer.input(reader, 1), &zero = importer.input(reader, 2);
  const bool alike = x.is_dequantized() && x.quant->per_tensor() && scale.is_plain_constant() &&
                     scale.constant->is_real() && scale.constant->elements() == 1 &&
                     scale.constant->real(0) == x.quant->scale[0] && zero.is_plain_constant() &&
                     zero.constant->elements() == 1 &&
                     zero.constant->integer(0) == x.quant->zero_point[0];
  *in_float = !alike;
  return Status();
}

Status max_pool(Importer& importer, const NodeView& node, bool global) {
  const Tensor& x = importer.input(node, 0);
  const bool on_codes = keeps_order(x);
  // Rounding keeps the order, too: a maximum of values is one of what they are quantised to.
  const std::shared_ptr<Pending> waits = on_codes ? nullptr : own_pending(importer, node, 0);
  if (!on_codes && !waits) return importer.refuse_float(node, 0);
  Image image;
  bool known;
  QRT_TRY(read_image(importer, node, x.shape, false, kMostDimensions, &image, &known));
  if (!known) return Status();
  Window window;
  if (!global) {
    QRT_TRY(read_window(node, image, node.integers("kernel_shape"), true, &window));
    bool in_float = false;
    if (misses_image(window, image)) QRT_TRY(is_pooled_in_float(importer, node, x, &in_float));
    if (in_float)
      return importer.refuse(node,
                             "a window reads nothing of the image, of which the least float comes",
                             node.output(0), "pad by less than the window's size on each side");
  }
  if (node.has_output(1) && importer.uses(node.output(1)) > 0)
    return importer.refuse(node, "its indices are used", node.output(1),
                           "export the model without the output of the indices");
  const Shape shape = image.shape(image.c, window.depth.output, window.output);
  const auto pool = [&importer, &node, image, window, global](ValueId v) {
    return emit_max(importer, node, image, global ? nullptr : &window, v);
  };
  if (waits) {
    follow(importer, node, waits, shape, [&importer, &node, pool](const Quant* out, ValueId* v) {
      if (!out) return step_in_float(importer, node, v);
      *v = pool(*v);
      return Status();
    });
    return Status();
  }
  Tensor y = x;
  y.shape = shape;
  y.value = pool(x.value);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace

Status import_max_pool(Importer& importer, const NodeView& node) {
  return max_pool(importer, node, false);
}

Status import_global_max_pool(Importer& importer, const NodeView& node) {
  return max_pool(importer, node, true);
}

}  // namespace qrt::convert::from_onnx
