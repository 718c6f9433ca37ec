// SPDX-License-Identifier: Apache-2.0
// Windows over images: convolutions' pads, pools, averages, resizing.
#include <algorithm>

#include "converter/quantize/cvm/operators.h"
#include "converter/quantize/mrt.h"

namespace qrt::quantize {

Status read_cvm_window(const Node& node, const Dims& kernel, const Dims& input, CvmWindow* window) {
  const size_t n = kernel.size();
  const auto read = [&](const char* name, size_t count, int64_t otherwise) {
    std::vector<int64_t> v = node.integers(name);
    if (v.size() != count) v.assign(count, otherwise);
    return v;
  };
  window->kernel = kernel;
  window->stride = read("strides", n, 1);
  window->dilation = read("dilations", n, 1);
  const std::vector<int64_t> pads = read("pads", 2 * n, 0);
  const auto half = pads.begin() + static_cast<ptrdiff_t>(n);
  window->before.assign(pads.begin(), half);
  window->behind.assign(half, pads.end());
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic == "VALID") return {};
  for (size_t i = 0; i < n; ++i) {
    const int64_t s = window->stride[i], reach = window->dilation[i] * (kernel[i] - 1) + 1;
    const int64_t all = std::max<int64_t>(((input[i] + s - 1) / s - 1) * s + reach - input[i], 0);
    window->before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    window->behind[i] = all - window->before[i];
  }
  return {};
}

CvmNumber cvm_slice_along(const CvmNumber& x, size_t axis, int64_t begin, int64_t end,
                          CvmNumbers* numbers) {
  Dims shape = numbers->shape(x);
  std::vector<int64_t> from(shape.size(), 0), to = shape;
  from[axis] = begin;
  to[axis] = end;
  shape[axis] = end - begin;
  return numbers->moved("strided_slice", x, shape,
                        {{"begin", cvm_tuple(from)}, {"end", cvm_tuple(to)}});
}

CvmNumber cvm_joined(const std::vector<CvmNumber>& parts, size_t axis, CvmNumbers* numbers) {
  CvmNumber y = parts[0];
  Dims shape = numbers->shape(y);
  shape[axis] = 0;
  int precision = 0;
  std::vector<int> inputs;
  for (const CvmNumber& p : parts) {
    inputs.push_back(p.entry);
    shape[axis] += numbers->shape(p)[axis];
    precision = std::max(precision, numbers->precision(p));
  }
  y.entry = numbers->add("concatenate", inputs, shape, precision, {{"axis", std::to_string(axis)}});
  return y;
}

namespace {

// Puts `size` more places of real zeros at one end of an axis. They are computed from the image, as
// a constant would hold for a single batch size.
CvmNumber with_border(const CvmNumber& x, size_t axis, int64_t size, bool is_behind,
                      CvmNumbers* numbers) {
  const CvmNumber line = cvm_slice_along(x, axis, 0, 1, numbers);
  CvmNumber border = numbers->sum(line, line, true, numbers->shape(line));
  border = x.zero == 0 ? numbers->clipped(border, numbers->precision(x))
                       : numbers->byte_with_zero(border, x.zero);
  std::vector<CvmNumber> parts(static_cast<size_t>(size), border);
  parts.insert(is_behind ? parts.begin() : parts.end(), x);
  return cvm_joined(parts, axis, numbers);
}

}  // namespace

Status add_cvm_conv(const CvmNumber& from, int weights, int bias, int precision, int64_t groups,
                    const CvmWindow& given, CvmNumbers* numbers, CvmNumber* y) {
  CvmNumber x = from;
  Dims shape = numbers->shape(x), want = shape;
  want[1] = numbers->symbol().entry(weights).shape[0];
  CvmWindow window = given;
  // CVM pads both sides alike, with 0: by as much as before, with a border joined behind where that is
  // too little, and results dropped where it is too much.
  for (size_t i = 0; i < 2; ++i) {
    const auto join = [&](int64_t size, bool is_behind) {
      if (size > 0) x = with_border(x, i + 2, size, is_behind, numbers);
    };
    const int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    const int64_t padded = shape[i + 2] + window.before[i] + window.behind[i];
    if (padded < reach)
      return error(Code::kUnsupported, "its window is larger than the image with its border");
    want[i + 2] = (padded - reach) / window.stride[i] + 1;
    if (x.zero == 0) {
      join(window.behind[i] - window.before[i], true);
      continue;
    }
    join(window.before[i], false);
    join(window.behind[i], true);
    window.before[i] = window.behind[i] = 0;
  }
  shape = numbers->shape(x);
  Dims made = want;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    made[i + 2] = (shape[i + 2] + 2 * window.before[i] - reach) / window.stride[i] + 1;
  }
  std::vector<int> inputs = {x.entry, weights};
  if (bias >= 0) inputs.push_back(bias);
  y->entry = numbers->add("conv2d", inputs, made, precision,
                          {{"channels", std::to_string(want[1])},
                           {"kernel_size", cvm_tuple(window.kernel)},
                           {"strides", cvm_tuple(window.stride)},
                           {"padding", cvm_tuple(window.before)},
                           {"dilation", cvm_tuple(window.dilation)},
                           {"groups", std::to_string(groups)},
                           {"use_bias", bias >= 0 ? "True" : "False"}});
  y->step = x.step;
  for (size_t i = 2; i < 4; ++i)
    if (made[i] != want[i]) *y = cvm_slice_along(*y, i, 0, want[i], numbers);
  return {};
}

Status cvm_max_pool(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  CvmNumber x;
  QRT_TRY(cvm_movable(node.inputs[0], values, &x));
  const Dims shape = numbers.shape(x);
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  if (shape.size() != 4 || kernel.size() != 2)
    return error(Code::kUnsupported, "CVM's max_pool2d is of images of two dimensions");
  CvmWindow w;
  QRT_TRY(read_cvm_window(node, kernel, Dims(shape.begin() + 2, shape.end()), &w));
  if (w.before != w.behind || w.dilation != std::vector<int64_t>{1, 1} ||
      w.before[0] >= kernel[0] || w.before[1] >= kernel[1])
    return error(Code::kUnsupported,
                 "CVM's max_pool2d has equal pads on both sides, smaller than its window, and no "
                 "dilation");
  Dims result;
  QRT_TRY(values->shape(node.outputs[0], &result));
  const bool is_ceil = node.integer("ceil_mode", 0) != 0;
  values->set(node.outputs[0], numbers.moved("max_pool2d", x, result,
                                             {{"pool_size", cvm_tuple(kernel)},
                                              {"strides", cvm_tuple(w.stride)},
                                              {"padding", cvm_tuple(w.before)},
                                              {"ceil_mode", is_ceil ? "True" : "False"}}));
  return {};
}

// Sums of each window of each channel: a convolution with ones.
Status cvm_average_pool(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  CvmNumber x, y;
  QRT_TRY(values->as_byte(node.inputs[0], &x));
  const Dims shape = numbers.shape(x);
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  CvmWindow w;
  if (shape.size() != 4 || kernel.size() != 2)
    return error(Code::kUnsupported, "CVM averages images of two dimensions");
  QRT_TRY(read_cvm_window(node, kernel, Dims(shape.begin() + 2, shape.end()), &w));
  const std::vector<int64_t> none = {0, 0};
  const bool has_border = w.before != none || w.behind != none;
  if ((has_border && node.integer("count_include_pad", 0) == 0) ||
      node.integer("ceil_mode", 0) != 0)
    return error(Code::kUnsupported,
                 "CVM averages windows of one size: without a border, or with "
                 "count_include_pad, and without ceil_mode");
  const int64_t taps = kernel[0] * kernel[1];
  const std::vector<int32_t> ones(static_cast<size_t>(shape[1] * taps), 1);
  const int weights = numbers.symbol().add_parameter({shape[1], 1, kernel[0], kernel[1]}, 2, ones);
  QRT_TRY(add_cvm_conv(x, weights, -1, mrt::product_precision(numbers.precision(x), 2, taps, 0),
                       shape[1], w, &numbers, &y));
  y.step = x.step / static_cast<double>(taps);
  values->set(node.outputs[0], y);
  return {};
}

// Adds a mean as a sum whose step is smaller by the number of terms.
Status cvm_mean(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  CvmNumber x;
  QRT_TRY(values->as_int32(node.inputs[0], &x));
  const Dims shape = numbers.shape(x);
  Dims result;
  QRT_TRY(values->shape(node.outputs[0], &result));
  std::vector<int64_t> axes;
  const Tensor* given = node.has_input(1) ? values->model().constant(node.inputs[1]) : nullptr;
  if (given) axes = given->integers;
  for (size_t d = given ? shape.size() : 2; d < shape.size(); ++d)
    axes.push_back(static_cast<int64_t>(d));  // of GlobalAveragePool
  for (int64_t& a : axes)
    if (a < 0) a += static_cast<int64_t>(shape.size());
  std::sort(axes.begin(), axes.end());
  if (axes.empty() || axes[0] == 0) return error(Code::kUnsupported, "it sums over the batch");
  const int64_t n = elements(shape) / std::max<int64_t>(elements(result), 1);
  if (mrt::sum_precision(numbers.precision(x), n) > 32) {
    QRT_TRY(values->as_coded(node.inputs[0], &x));
    if (mrt::sum_precision(numbers.precision(x), n) > 32)
      return error(Code::kUnsupported, "its sums of %lld elements take more than 32 bits",
                   static_cast<long long>(n));
  }
  const bool keeps = node.op == "GlobalAveragePool" || node.integer("keepdims", 1) != 0;
  CvmNumber y = x;
  y.entry = numbers.add("sum", {x.entry}, result, mrt::sum_precision(numbers.precision(x), n),
                        {{"axis", cvm_tuple(axes)}, {"keepdims", keeps ? "True" : "False"}});
  if (node.op != "ReduceSum") y.step = x.step / static_cast<double>(n);
  values->set(node.outputs[0], y);
  return {};
}

namespace {

CvmNumber repeated_border(const CvmNumber& x, CvmNumbers* numbers) {
  CvmNumber y = x;
  for (const size_t axis : {size_t{2}, size_t{3}}) {
    const int64_t n = numbers->shape(y)[axis];
    y = cvm_joined(
        {cvm_slice_along(y, axis, 0, 1, numbers), y, cvm_slice_along(y, axis, n - 1, n, numbers)},
        axis, numbers);
  }
  return y;
}

// Doubles an image linearly, with half-pixel centres: a filter 1 2 1 in both directions over pixels
// that are doubled.
Status doubled(const Node& node, const CvmNumber& large, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  const int64_t channels = numbers.shape(large)[1];
  std::vector<int32_t> taps;
  for (int64_t c = 0; c < channels; ++c)
    for (const int32_t v : {1, 2, 1, 2, 4, 2, 1, 2, 1}) taps.push_back(v);
  const int weights = numbers.symbol().add_parameter({channels, 1, 3, 3}, 4, taps);
  const CvmWindow window = {{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  const int precision = mrt::product_precision(numbers.precision(large), 4, 9, 0);
  CvmNumber y;
  QRT_TRY(add_cvm_conv(repeated_border(large, &numbers), weights, -1, precision, channels, window,
                       &numbers, &y));
  y.step = large.step / 16;
  values->set(node.outputs[0], y);
  return {};
}

}  // namespace

Status cvm_resize(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  Dims from, to;
  QRT_TRY(values->shape(node.inputs[0], &from));
  QRT_TRY(values->shape(node.outputs[0], &to));
  const std::string mode = node.text("mode", "nearest");
  const std::string place = node.text("coordinate_transformation_mode", "half_pixel");
  const bool is_linear = mode == "linear";
  const bool is_even = place == "half_pixel" || place == "pytorch_half_pixel";
  const std::string nearest = node.text("nearest_mode", "round_prefer_floor");
  if (from.size() != 4 || from[1] != to[1] || to[2] % from[2] != 0 || to[3] % from[3] != 0 ||
      to[2] / from[2] != to[3] / from[3] || !(is_linear || mode == "nearest") ||
      (is_linear && (!is_even || to[2] != 2 * from[2])) ||
      (!is_linear && !is_even && !(place == "asymmetric" && nearest == "floor")))
    return error(
        Code::kUnsupported,
        "CVM enlarges images by whole factors, the nearest pixel repeated, and qrt by two, "
        "linear with half pixels");
  CvmNumber x;
  if (is_linear)
    QRT_TRY(values->as_byte(node.inputs[0], &x));
  else
    QRT_TRY(cvm_movable(node.inputs[0], values, &x));
  const CvmNumber large =
      numbers.moved("upsampling", x, to,
                    {{"scale", std::to_string(to[2] / from[2])}, {"method", "NEAREST_NEIGHBOR"}});
  if (is_linear) return doubled(node, large, values);
  values->set(node.outputs[0], large);
  return {};
}

}  // namespace qrt::quantize
