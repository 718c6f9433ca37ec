// SPDX-License-Identifier: Apache-2.0
// Operators that move numbers without changing them.
#include "converter/quantize/cvm/operators.h"

namespace qrt::quantize {

Status cvm_movable(const std::string& x, CvmValues* values, CvmNumber* y) {
  return values->is_coded(x) ? values->as_coded(x, y) : values->as_int32(x, y);
}

namespace {

Status rank_within_cvm(const Dims& shape) {
  if (shape.size() >= 1 && shape.size() <= 6) return {};
  return error(Code::kUnsupported, "CVM's tensors have 1 to 6 dimensions, not %zu", shape.size());
}

CvmNumber transposed(const CvmNumber& x, const std::vector<int64_t>& order, CvmNumbers* numbers) {
  Dims to;
  for (const int64_t d : order) to.push_back(numbers->shape(x)[static_cast<size_t>(d)]);
  return numbers->moved("transpose", x, to, {{"axes", cvm_tuple(order)}});
}

}  // namespace

Status cvm_reshape(const Node& node, CvmValues* values) {
  CvmNumber x;
  Dims to;
  QRT_TRY(cvm_movable(node.inputs[0], values, &x));
  QRT_TRY(values->shape(node.outputs[0], &to));
  QRT_TRY(rank_within_cvm(to));
  values->set(node.outputs[0], values->numbers().reshaped(x, to));
  return {};
}

Status cvm_transpose(const Node& node, CvmValues* values) {
  CvmNumber x;
  QRT_TRY(cvm_movable(node.inputs[0], values, &x));
  std::vector<int64_t> order = node.integers("perm");
  for (size_t d = values->numbers().shape(x).size(); order.empty() && d-- > 0;)
    order.push_back(static_cast<int64_t>(d));
  values->set(node.outputs[0], transposed(x, order, &values->numbers()));
  return {};
}

// Parts of axes, step 1.
Status cvm_slice(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  CvmNumber x;
  QRT_TRY(cvm_movable(node.inputs[0], values, &x));
  Dims to;
  QRT_TRY(values->shape(node.outputs[0], &to));
  const auto list = [&](size_t i) {
    const Tensor* t = node.has_input(i) ? values->model().constant(node.inputs[i]) : nullptr;
    return t ? t->integers : std::vector<int64_t>();
  };
  const std::vector<int64_t> starts = list(1), steps = list(4);
  std::vector<int64_t> axes = list(3);
  for (size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (starts.empty()) return error(Code::kUnsupported, "its limits are computed by the model");
  for (const int64_t s : steps)
    if (s != 1) return error(Code::kUnsupported, "it has the step %lld", static_cast<long long>(s));
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto rank = static_cast<int64_t>(to.size());
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
    const int64_t size = numbers.shape(x)[axis];
    int64_t begin = starts[i] < 0 ? starts[i] + size : starts[i];
    begin = begin < 0 ? 0 : begin;
    if (to[axis] != size) x = cvm_slice_along(x, axis, begin, begin + to[axis], &numbers);
  }
  values->set(node.outputs[0], x);
  return {};
}

Status cvm_concat(const Node& node, CvmValues* values) {
  const std::string& y = node.outputs[0];
  if (!values->is_coded(y)) return error(Code::kUnsupported, "its result is not quantised");
  Dims to;
  QRT_TRY(values->shape(y, &to));
  int64_t axis = node.integer("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(to.size());
  std::vector<CvmNumber> parts(node.inputs.size());
  for (size_t i = 0; i < parts.size(); ++i)
    QRT_TRY(values->as(node.inputs[i], values->step(y), values->precision(y), &parts[i]));
  values->set(y, cvm_joined(parts, static_cast<size_t>(axis), &values->numbers()));
  return {};
}

// Blocks of b x b pixels from b * b channels.
Status cvm_depth_to_space(const Node& node, CvmValues* values) {
  CvmNumbers& numbers = values->numbers();
  CvmNumber x;
  QRT_TRY(cvm_movable(node.inputs[0], values, &x));
  const Dims from = numbers.shape(x);
  const int64_t b = node.integer("blocksize", 1), c = from[1] / (b * b), h = from[2], w = from[3];
  const bool is_crd = node.text("mode", "DCR") == "CRD";
  // One dimension more is not needed for the batch, which stays in front.
  x = numbers.reshaped(x, is_crd ? Dims{from[0], c, b, b, h, w} : Dims{from[0], b, b, c, h, w});
  x = transposed(x, is_crd ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2}, &numbers);
  values->set(node.outputs[0], numbers.reshaped(x, {from[0], c, h * b, w * b}));
  return {};
}

}  // namespace qrt::quantize
