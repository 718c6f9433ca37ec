// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/ops/transposed_geometry.h"

#include <algorithm>
#include <string>
#include <vector>

namespace qrt::convert::from_onnx {
namespace {

// Finds padding and output size, as the operator's specification has them.
Status read_output(const NodeView& node, TransposedGeometry* c) {
  constexpr int kAxes = TransposedGeometry::kAxes;
  const int d = c->image.dimensions;
  int64_t extra[kAxes] = {}, pads_before[kAxes] = {}, pads_after[kAxes] = {};
  QRT_TRY(read_extents(node, "strides", d, 1, c->stride));
  QRT_TRY(read_extents(node, "dilations", d, 1, c->dilation));
  QRT_TRY(read_extents(node, "output_padding", d, 0, extra));
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const bool upper = auto_pad == "SAME_UPPER", same = upper || auto_pad == "SAME_LOWER";
  QRT_MODEL_CHECK(same || auto_pad == "NOTSET" || auto_pad == "VALID" || auto_pad.empty(),
                  "auto_pad is '%s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER",
                  auto_pad.c_str());
  if (!same && auto_pad != "VALID") QRT_TRY(read_pads(node, d, pads_before, pads_after));
  std::vector<int64_t> wanted = node.integers("output_shape");
  if (static_cast<int>(wanted.size()) == d + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  QRT_MODEL_CHECK(wanted.empty() || static_cast<int>(wanted.size()) == d,
                  "output_shape has %zu entries, expected %d", wanted.size(), d);
  for (int i = kAxes - d; i < kAxes; ++i) {
    const int64_t full =
        c->stride[i] * (c->input(i) - 1) + extra[i] + c->dilation[i] * (c->kernel[i] - 1) + 1;
    int64_t out = full - pads_before[i] - pads_after[i];
    c->before[i] = pads_before[i];
    if (!wanted.empty() || same) {
      // SAME does not enlarge the output where a kernel smaller than its stride leaves gaps.
      out = wanted.empty() ? std::min(c->input(i) * c->stride[i], full)
                           : wanted[static_cast<size_t>(i - (kAxes - d))];
      const int64_t total = std::max<int64_t>(0, full - out);
      c->before[i] = upper ? total / 2 : total - total / 2;
    }
    QRT_MODEL_CHECK(out >= 1 && out <= INT32_MAX,
                    "the output has %lld positions along axis %d, expected 1 to 2^31 - 1",
                    static_cast<long long>(out), i + d - 1);
    c->output[i] = out;
  }
  return Status();
}

}  // namespace

Status read_transposed(Importer& importer, const NodeView& node, const Shape& x, const Shape& w,
                       TransposedGeometry* c, bool* known) {
  QRT_TRY(read_image(importer, node, x, false, kMostDimensions, &c->image, known));
  if (!*known) return Status();
  c->groups = node.integer("group", 1);
  QRT_MODEL_CHECK(w.rank() == x.rank() && c->groups >= 1 && w[0] == c->image.c &&
                      c->image.c % c->groups == 0 && w[1] >= 1,
                  "weights of shape %s do not fit an input of shape %s in %lld groups",
                  w.to_string().c_str(), x.to_string().c_str(), static_cast<long long>(c->groups));
  c->out = w[1] * c->groups;
  const std::vector<int64_t> kernel(w.begin() + 2, w.end());
  QRT_MODEL_CHECK(!node.has("kernel_shape") || node.integers("kernel_shape") == kernel,
                  "kernel_shape differs from the weights' shape %s", w.to_string().c_str());
  for (int i = 0; i < c->image.dimensions; ++i) {
    const int64_t k = kernel[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(k >= 1 && k <= kMaxWindowField,
                    "the kernel has extent %lld, expected 1 to %lld", static_cast<long long>(k),
                    static_cast<long long>(kMaxWindowField));
    c->kernel[TransposedGeometry::kAxes - c->image.dimensions + i] = k;
  }
  return read_output(node, c);
}

}  // namespace qrt::convert::from_onnx
