// SPDX-License-Identifier: Apache-2.0
// Pools, reductions and what else looks at images.
#include <algorithm>

#include "converter/import/espdl/qdq/ops.h"

namespace qrt::convert::from_qdq {

void set_pads(const NodeView& n, const std::vector<int64_t>& kernel, espdl::NodeT* to) {
  const std::string mode = n.text("auto_pad", "NOTSET");
  const std::vector<int64_t> strides = n.integers("strides"), dilations = n.integers("dilations");
  const bool is_same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  const bool is_dense =
      std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 1; });
  if (is_same && is_dense && (dilations.empty() || dilations.size() == kernel.size())) {
    std::vector<int64_t> pads(2 * kernel.size());
    for (size_t i = 0; i < kernel.size(); ++i) {
      const int64_t both = (kernel[i] - 1) * (dilations.empty() ? 1 : dilations[i]);
      pads[i] = mode == "SAME_UPPER" ? both / 2 : both - both / 2;
      pads[kernel.size() + i] = both - pads[i];
    }
    set(to, "pads", std::move(pads));
  } else if (is_same) {
    set(to, "auto_pad", mode);  // refused there
  } else if (mode != "VALID") {
    copy_lists(n, {"pads"}, to);
  }
}

namespace {

// Reads an image of one or two axes. Returns false where the node was refused.
bool read_image(Translator& t, const NodeView& n, Term* x) {
  if (!t.read_activation(n, 0, x)) return false;
  if (x->rank == 3 || x->rank == 4) return true;
  (void)t.refuse(n,
                 "its input has " + std::to_string(x->rank) +
                     " dimensions: ESP-DL has images of one and two axes",
                 n.input(0), "reshape its input to one or two spatial dimensions");
  return false;
}

}  // namespace

Status translate_pool(Translator& t, const NodeView& n) {
  Term x;
  if (!read_image(t, n, &x)) return Status();
  const bool is_average = n.op() == "AveragePool";
  Format out = x.format;
  if (is_average && !t.read_format(n, 0, &out)) return Status();
  if (n.output_count() > 1 && n.has_output(1))
    return t.refuse(n, "its indices are an output", n.output(1),
                    "export the model without the output of the indices");
  const std::vector<int64_t> kernel = n.integers("kernel_shape");
  QRT_MODEL_CHECK(kernel.size() + 2 == static_cast<size_t>(x.rank),
                  "the kernel has %zu dimensions, the input %d", kernel.size(), x.rank);
  const Format in{wider(x.format, out), x.format.exponent}, made{in.type, out.exponent};
  std::string y;
  espdl::NodeT& node =
      t.add(n, n.op(), {t.to_last(n, t.in_type(n, x, in.type), in, x.rank)}, made, &y);
  copy_lists(n, {"kernel_shape", "strides", "dilations"}, &node);
  copy_integers(n, {"ceil_mode", "count_include_pad"}, &node);
  set_pads(n, kernel, &node);
  t.finish(n, t.from_last(n, y, made, x.rank), made, out, x.rank);
  return Status();
}

// Translates global pools; GlobalMaxPool becomes a maximum over the spatial dimensions.
Status translate_global_pool(Translator& t, const NodeView& n) {
  Term x;
  if (!read_image(t, n, &x)) return Status();
  const bool is_average = n.op() == "GlobalAveragePool";
  Format out = x.format;
  if (is_average && !t.read_format(n, 0, &out)) return Status();
  const Format in{wider(x.format, out), x.format.exponent}, made{in.type, out.exponent};
  std::string y;
  espdl::NodeT& node = t.add(n, is_average ? "GlobalAveragePool" : "ReduceMax",
                             {t.to_last(n, t.in_type(n, x, in.type), in, x.rank)}, made, &y);
  if (!is_average)
    set(&node, "axes", x.rank == 4 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
  t.finish(n, t.from_last(n, y, made, x.rank), made, out, x.rank);
  return Status();
}

Status translate_reduce(Translator& t, const NodeView& n) {
  Term x;
  std::vector<int64_t> axes;
  if (!t.read_activation(n, 0, &x) || !t.read_integers(n, "axes", 1, &axes)) return Status();
  const bool adds = n.op() == "ReduceMean" || n.op() == "ReduceSum";
  Format out = x.format;
  if (adds && !t.read_format(n, 0, &out)) return Status();
  const bool keeps = n.integer("keepdims", 1) != 0;
  const Format in{wider(x.format, out), x.format.exponent}, made{in.type, out.exponent};
  std::string y;
  espdl::NodeT& node = t.add(n, n.op(), {t.in_type(n, x, in.type)}, made, &y);
  copy_integers(n, {"keepdims", "noop_with_empty_axes"}, &node);
  const int reduced = axes.empty() ? x.rank : static_cast<int>(axes.size());
  if (!axes.empty()) set(&node, "axes", std::move(axes));
  t.finish(n, y, made, out, keeps ? x.rank : std::max(1, x.rank - reduced));
  return Status();
}

// Translates Resize. Scales and sizes keep the order [n, c, ...], which ESP-DL has, too.
Status translate_resize(Translator& t, const NodeView& n) {
  Term x;
  if (!read_image(t, n, &x)) return Status();
  const std::string mode = n.text("mode", "nearest");
  Format out = x.format;
  if (mode != "nearest" && !t.read_format(n, 0, &out)) return Status();
  std::vector<std::string> inputs = {"", "", "", ""};
  const int scales_at = t.opset() < 11 ? 1 : 2;
  if (n.has_input(scales_at)) {
    const Term& scales = t.input(n, scales_at);
    const bool is_list = scales.kind == Term::Kind::kConstant && scales.constant->is_real();
    if (!is_list)
      return t.refuse(n, "the scales '" + n.input(scales_at) + "' are not constants",
                      n.input(scales_at),
                      "fold the model's constants in the exporter before quantising it");
    std::vector<float> values;
    for (int64_t i = 0; i < scales.constant->elements(); ++i)
      values.push_back(scales.constant->real(i));
    if (!values.empty()) inputs[2] = t.writer().add_floats(n.input(scales_at), values);
  }
  if (n.has_input(3)) {
    std::vector<int64_t> sizes;
    if (!t.read_integers(n, nullptr, 3, &sizes)) return Status();
    if (!sizes.empty()) inputs[3] = t.writer().add_integers(n.input(3), sizes);
  }
  const Format in{wider(x.format, out), x.format.exponent}, made{in.type, out.exponent};
  inputs[0] = t.to_last(n, t.in_type(n, x, in.type), in, x.rank);
  std::string y;
  espdl::NodeT& node = t.add(n, "Resize", inputs, made, &y);
  for (const char* name : {"mode", "coordinate_transformation_mode", "nearest_mode"})
    if (n.has(name)) set(&node, name, n.text(name, ""));
  t.finish(n, t.from_last(n, y, made, x.rank), made, out, x.rank);
  return Status();
}

// DepthToSpace and SpaceToDepth.
Status translate_blocks(Translator& t, const NodeView& n) {
  Term x;
  if (!read_image(t, n, &x)) return Status();
  std::string y;
  espdl::NodeT& node = t.add(n, n.op(), {t.to_last(n, x.name, x.format, x.rank)}, x.format, &y);
  copy_integers(n, {"blocksize"}, &node);
  if (n.op() == "DepthToSpace") set(&node, "mode", n.text("mode", "DCR"));
  t.finish(n, t.from_last(n, y, x.format, x.rank), x.format, x.format, x.rank);
  return Status();
}

}  // namespace qrt::convert::from_qdq
