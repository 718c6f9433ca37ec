// SPDX-License-Identifier: Apache-2.0
// Window geometry; see image.h.
#include "runtime/ops/image.h"

namespace qrt {
namespace {

using ll = long long;

// The number of windows in the padding that are looked at one by one: no model has as many.
constexpr int64_t kMaxPaddedWindows = 1024;

}  // namespace

Status infer_window(const char* name, WindowAxis* axis) {
  QRT_MODEL_CHECK(axis->kernel >= 1, "kernel %s is %lld, expected at least 1", name,
                  ll{axis->kernel});
  QRT_MODEL_CHECK(axis->stride >= 1, "stride of the %s is 0, expected at least 1", name);
  QRT_MODEL_CHECK(axis->dilation >= 1, "dilation of the %s is 0, expected at least 1", name);
  const int64_t extent = (axis->kernel - 1) * axis->dilation + 1;
  const int64_t padded = axis->in + axis->pad_begin + axis->pad_end;
  QRT_MODEL_CHECK(extent <= padded,
                  "kernel %s %lld with dilation %lld covers %lld positions, the padded input has "
                  "only %lld",
                  name, ll{axis->kernel}, ll{axis->dilation}, ll{extent}, ll{padded});
  axis->out = (padded - extent) / axis->stride + 1;
  return Status();
}

Status infer_windows(const Shape& x, WindowAxes* axes, Window2D* window) {
  const ImageShape image = image_shape(x);
  WindowAxis &h = axes->height, &w = axes->width;
  h.in = image.h, w.in = image.w;
  QRT_TRY(infer_window("height", &h));
  QRT_TRY(infer_window("width", &w));
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  *window = {size(h.in),       size(w.in),       size(h.out),       size(w.out),
             size(h.kernel),   size(w.kernel),   size(h.stride),    size(w.stride),
             size(h.dilation), size(w.dilation), size(h.pad_begin), size(w.pad_begin)};
  return Status();
}

Status check_windows_inside(const char* name, const WindowAxis& axis) {
  const int64_t last = (axis.out - 1) * axis.stride - axis.pad_begin;
  QRT_MODEL_CHECK(last < axis.in,
                  "padding after the %s is %lld: the last window starts at %lld, outside the image "
                  "of %lld",
                  name, ll{axis.pad_end}, ll{last}, ll{axis.in});
  // The first window that starts before the image reaches furthest out. Its first position at or
  // past 0 is inside, unless steps of `dilation` can pass over the whole image.
  const int64_t windows = axis.dilation <= axis.in ? 1 : axis.out;
  if (windows > kMaxPaddedWindows && axis.pad_begin > kMaxPaddedWindows * axis.stride)
    return error(Code::kUnsupported,
                 "more than %lld windows start in the padding before the %s, in steps wider than "
                 "the image",
                 ll{kMaxPaddedWindows}, name);
  for (int64_t o = 0; o < windows; ++o) {
    const int64_t start = o * axis.stride - axis.pad_begin;
    if (start >= 0) break;
    const int64_t i = (-start + axis.dilation - 1) / axis.dilation;
    QRT_MODEL_CHECK(i < axis.kernel && start + i * axis.dilation < axis.in,
                    "padding before the %s is %lld: window %lld lies outside the image of %lld",
                    name, ll{axis.pad_begin}, ll{o}, ll{axis.in});
  }
  return Status();
}

}  // namespace qrt
