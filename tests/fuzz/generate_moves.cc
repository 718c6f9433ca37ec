// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, and those that tell where elements stand.
#include <algorithm>

#include "tests/fuzz/generator.h"

namespace qrt::fuzz {

void Generator::append_concat() {
  const Live x = anything();
  if (x.shape.rank() < 2) return;
  fb::ConcatOptionsT o;
  o.axis = static_cast<uint32_t>(choose_.integer(1, x.shape.rank() - 1));
  const int axis = static_cast<int>(o.axis);
  std::vector<uint32_t> inputs = {x.tensor};
  Shape shape = x.shape;
  for (int n = choose_.integer(0, 3); n > 0; --n) {
    const auto fits = [&](const Live& t) {
      bool same = t.dtype == x.dtype && t.shape.rank() == x.shape.rank();
      for (int d = 0; same && d < x.shape.rank(); ++d) same = d == axis || t.shape[d] == x.shape[d];
      return same;
    };
    const Live other = pick(fits, [&] { return std::make_pair(x.dtype, x.shape); });
    inputs.push_back(other.tensor);
    shape[axis] += other.shape[axis];
  }
  emit(o, std::move(inputs), shape, x.dtype);
}

void Generator::append_reshape() {
  const Live x = anything();
  Shape shape = {-1};
  int64_t rest = 1;
  for (int i = 1; i < x.shape.rank(); ++i) rest *= x.shape[i];
  for (int n = choose_.integer(0, 3); n > 0; --n) {
    const int d = choose_.integer(1, 8);
    if (rest % d != 0) continue;
    shape.push_back(d);
    rest /= d;
  }
  shape.push_back(rest);
  fb::ReshapeOptionsT o;
  o.shape.assign(shape.begin(), shape.end());
  emit(std::move(o), {x.tensor}, shape, x.dtype);
}

void Generator::append_transpose() {
  const Live x = anything();
  fb::TransposeOptionsT o;
  for (int i = 0; i < x.shape.rank(); ++i) o.perm.push_back(static_cast<uint8_t>(i));
  // The batch stays first: only dimension 0 may be open.
  for (int i = x.shape.rank() - 1; i > 1; --i)
    std::swap(o.perm[static_cast<size_t>(i)], o.perm[static_cast<size_t>(choose_.integer(1, i))]);
  Shape shape;
  for (uint8_t p : o.perm) shape.push_back(x.shape[p]);
  emit(std::move(o), {x.tensor}, shape, x.dtype);
}

void Generator::append_gather() {
  const Live x = anything();
  fb::GatherOptionsT o;
  o.fill = choose_.integer(-32768, 32767);
  Shape shape = x.shape;
  for (int d = 1; d < shape.rank(); ++d) {
    if (choose_.coin()) continue;
    auto map = std::make_unique<fb::GatherAxisT>();
    map->axis = static_cast<uint8_t>(d);
    const int last = static_cast<int>(shape[d]) - 1, n = choose_.dimension(40);
    const int kind = choose_.integer(0, 3);
    for (int i = 0; i < n; ++i)
      map->index.push_back(kind == 0   ? std::min(i, last)
                           : kind == 1 ? std::max(last - i, -1)
                                       : choose_.integer(kind == 2 ? 0 : -1, last));
    shape[d] = n;
    o.axes.push_back(std::move(map));
  }
  emit(std::move(o), {x.tensor}, shape, x.dtype);
}

void Generator::append_take() {
  const Live x = anything();
  const int rank = x.shape.rank();
  if (rank < 2) return;
  fb::TakeOptionsT o;
  o.axis = static_cast<uint32_t>(choose_.integer(1, rank - 1));
  const int axis = static_cast<int>(o.axis);
  Shape indices, shape;
  uint32_t index;
  if (choose_.coin()) {
    indices = {choose_.dimension(20)};
    o.is_checked = choose_.coin();
    const auto n = static_cast<int>(x.shape[axis]);
    const int least = o.is_checked ? -n : -25, most = o.is_checked ? n - 1 : 25;
    const auto count = static_cast<size_t>(indices[0]);
    index = choose_.coin()
                ? m_.constant(indices, DType::kInt32, choose_.values<int32_t>(count, least, most))
                : m_.constant(indices, DType::kInt64, choose_.values<int64_t>(count, least, most));
  } else {
    const Live live = of_type(DType::kInt32);
    if (rank + live.shape.rank() - 2 > kMaxTensorRank) return;
    indices = live.shape;
    index = live.tensor;
    o.batch_dims = 1;
  }
  for (int d = 0; d < axis; ++d) shape.push_back(x.shape[d]);
  for (int d = static_cast<int>(o.batch_dims); d < indices.rank(); ++d) shape.push_back(indices[d]);
  for (int d = axis + 1; d < rank; ++d) shape.push_back(x.shape[d]);
  emit(o, {x.tensor, index}, shape, x.dtype);
}

// The places are those of greatest elements, which are inside.
template <class Options>
void Generator::scatter(const Live& x) {
  if (x.shape.rank() != 2) return;
  fb::ArgMaxOptionsT greatest;
  greatest.axis = 1;
  greatest.minimum = choose_.coin();
  const uint32_t index = add_output({-1, 1}, choose_.coin() ? DType::kInt64 : DType::kInt32);
  m_.op(greatest, {x.tensor}, {index});
  fb::GatherOptionsT one;
  one.axes.push_back(std::make_unique<fb::GatherAxisT>());
  one.axes[0]->axis = 1;
  one.axes[0]->index = {choose_.integer(0, static_cast<int>(x.shape[1]) - 1)};
  const uint32_t update = add_output({-1, 1}, x.dtype);
  m_.op(std::move(one), {x.tensor}, {update});
  Options o;
  o.batch_dims = 1;
  emit(o, {x.tensor, index, update}, x.shape, x.dtype);
}

void Generator::append_scatter() {
  scatter<fb::ScatterOptionsT>(of_type(choose_.coin() ? DType::kInt32 : DType::kUInt8));
}

void Generator::append_scatter_add() { scatter<fb::ScatterAddOptionsT>(of_type(DType::kInt32)); }

// Inputs of one byte are hardly ever 0: some conditions are constants, which are 0 as often as not.
void Generator::append_choose() {
  const uint32_t condition =
      choose_.coin()
          ? m_.constant<uint8_t>({1}, DType::kUInt8, {choose_.coin()})
          : pick([](const Live& t) { return t.dtype == DType::kUInt8 && t.shape.elements() == 1; },
                 [] { return std::make_pair(DType::kUInt8, Shape{1}); })
                .tensor;
  const Live a = anything();
  const Live b = pick([&](const Live& t) { return t.dtype == a.dtype && t.shape == a.shape; },
                      [&] { return std::make_pair(a.dtype, a.shape); });
  emit(fb::ChooseOptionsT(), {condition, a.tensor, b.tensor}, a.shape, a.dtype);
}

// A loop over the slices of a tensor: each becomes the next state, of bytes the greatest so far.
void Generator::append_loop_begin() {
  const Live x = pick([](const Live& t) { return !is_packed(t.dtype) && t.shape.rank() >= 2; },
                      [&] { return std::make_pair(activation_type(), any_shape()); });
  const int axis = choose_.integer(1, x.shape.rank() - 1);
  Shape slice;
  for (int d = 0; d < x.shape.rank(); ++d)
    if (d != axis) slice.push_back(x.shape[d]);
  const Live first = pick([&](const Live& t) { return t.dtype == x.dtype && t.shape == slice; },
                          [&] { return std::make_pair(x.dtype, slice); });
  const auto slice_options = [&](auto* o, int along) {
    o->states = 1;
    o->slices.push_back(std::make_unique<fb::LoopSliceT>());
    o->slices[0]->axis = static_cast<uint8_t>(along);
    o->slices[0]->reversed = choose_.coin();
  };
  fb::LoopBeginOptionsT begin;
  slice_options(&begin, axis);
  const uint32_t iteration = m_.tensor({1}, DType::kInt64), state = m_.tensor(slice, x.dtype),
                 part = m_.tensor(slice, x.dtype);
  m_.op(std::move(begin), {first.tensor, x.tensor}, {iteration, state, part});
  uint32_t next = part;
  if (x.dtype == DType::kUInt8) {
    next = m_.tensor(slice);
    fb::MinMaxOptionsT most;
    most.maximum = true;
    m_.op(most, {state, part}, {next});
  }
  fb::LoopEndOptionsT end;
  end.trips = static_cast<uint32_t>(x.shape[axis]);
  const int to = choose_.integer(1, slice.rank());
  slice_options(&end, to);
  Shape whole;
  for (int d = 0; d <= slice.rank(); ++d)
    whole.push_back(d == to ? x.shape[axis] : slice[d < to ? d : d - 1]);
  const uint32_t last = add_output(slice, x.dtype), all = add_output(whole, x.dtype);
  m_.op(std::move(end), {iteration, next, state}, {last, all});
}

void Generator::append_loop_end() { append_loop_begin(); }

void Generator::append_arg_max() {
  const Live x = activation();
  fb::ArgMaxOptionsT o;
  o.axis = static_cast<uint32_t>(choose_.integer(0, x.shape.rank() - 1));
  o.keep_dims = choose_.coin();
  o.minimum = choose_.coin();
  o.last_index = choose_.coin();
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i)
    if (static_cast<uint32_t>(i) != o.axis || o.keep_dims)
      shape.push_back(static_cast<uint32_t>(i) == o.axis ? 1 : x.shape[i]);
  emit(o, {x.tensor}, shape, choose_.coin() ? DType::kInt64 : DType::kInt32);
}

void Generator::append_top_k() {
  const Live x = activation();
  Shape shape = x.shape;
  const int last = shape.rank() - 1;
  if (last == 0) return;  // the batch is no row
  fb::TopKOptionsT o;
  o.k = static_cast<uint32_t>(choose_.integer(1, static_cast<int>(shape[last])));
  o.smallest = choose_.coin();
  shape[last] = o.k;
  const uint32_t values = add_output(shape, x.dtype);
  const DType dtype = choose_.coin() ? DType::kInt64 : DType::kInt32;
  const uint32_t indices = add_output(shape, dtype);
  m_.op(o, {x.tensor}, {values, indices});
}

}  // namespace qrt::fuzz
