// SPDX-License-Identifier: Apache-2.0
#include "tests/converter/tflite_matrix/cell.h"

namespace qrt::tflite_matrix {

const char* name_of(Source source) {
  switch (source) {
    case Source::kInput: return "an input";
    case Source::kTransposed: return "a TRANSPOSE";
    case Source::kReshaped: return "a RESHAPE";
    case Source::kSliced: return "a SLICE";
    case Source::kRequantized: return "a QUANTIZE";
  }
  return "";
}

Bytes Cell::bytes(const Tensor& x) {
  Bytes all;
  const int size = x.type == T::INT32 ? 4 : x.type == T::INT16 ? 2 : 1;
  for (const int v : x.codes)
    for (int i = 0; i < size; ++i) all.push_back(static_cast<uint8_t>(v >> (8 * i)));
  return all;
}

void Cell::add_content(Tensor* x) {
  const int lo = least(type_), hi = most(type_);
  x->codes.resize(static_cast<size_t>(elements(x->dims)));
  const bool has_extremes = pick(0, 3) == 0;
  for (int& v : x->codes) v = has_extremes ? (pick(0, 1) ? lo : hi) : pick(lo, hi);
}

Tensor Cell::fresh(const Dims& dims) {
  Tensor x;
  x.type = type_, x.dims = dims;
  x.scale = random.scale(pick(-7, -4) - (is_int16() ? 8 : 0));
  x.zero_point = is_int16() ? 0 : pick(least(type_) / 2 + most(type_) / 4, most(type_) / 2);
  return x;
}

Tensor Cell::input(const Dims& dims) {
  Tensor x = fresh(dims);
  x.id = b.input(type_, dims, x.scale, x.zero_point);
  add_content(&x);
  inputs_.push_back(bytes(x));
  return x;
}

Tensor Cell::constant(const Dims& dims) {
  Tensor x = fresh(dims);
  add_content(&x);
  const std::vector<float> scale = {x.scale};
  const std::vector<int64_t> zero = {x.zero_point};
  if (is_int16())
    x.id =
        b.constant(type_, dims, std::vector<int16_t>(x.codes.begin(), x.codes.end()), scale, zero);
  else
    x.id =
        b.constant(type_, dims, std::vector<uint8_t>(x.codes.begin(), x.codes.end()), scale, zero);
  return x;
}

Tensor Cell::requantized(const Dims& dims) {
  const Tensor x = input(dims);
  Tensor y = fresh(dims);
  y.id = b.activation(type_, dims, y.scale, y.zero_point);
  const ReferenceMultiplier m =
      testing::reference_multiplier(static_cast<double>(x.scale) / static_cast<double>(y.scale));
  b.op(B::QUANTIZE, {x.id}, {y.id});
  return filled(y, [&](const Index& i) {
    return clamped(int64_t{scaled(x.at(i) - x.zero_point, m)} + y.zero_point);
  });
}

Tensor Cell::produced(const Dims& dims) {
  const auto moved = [&](const Tensor& x) {
    Tensor y = like(x, dims);
    y.id = b.activation(type_, dims, x.scale, x.zero_point);
    return y;
  };
  switch (source_) {
    case Source::kInput: return input(dims);
    case Source::kRequantized: return requantized(dims);
    case Source::kReshaped: {
      const Tensor x = input({elements(dims)});
      Tensor y = moved(x);
      y.codes = x.codes;
      tflite::ReshapeOptionsT o;
      o.new_shape = dims;
      b.op(B::RESHAPE, {x.id, integers(dims)}, {y.id}, o);
      return y;
    }
    case Source::kTransposed: {
      const Tensor x = input(Dims(dims.rbegin(), dims.rend()));
      std::vector<int32_t> perm;
      for (size_t i = dims.size(); i-- > 0;) perm.push_back(static_cast<int32_t>(i));
      const Tensor y = moved(x);
      b.op(B::TRANSPOSE, {x.id, integers(perm)}, {y.id});
      return filled(y, [&](const Index& i) { return x.at(Index(i.rbegin(), i.rend())); });
    }
    case Source::kSliced: {
      Dims more = dims;
      for (int32_t& d : more) ++d;
      const Tensor x = input(more), y = moved(x);
      const std::vector<int32_t> begin(dims.size(), 1);
      b.op(B::SLICE, {x.id, integers(begin), integers(dims)}, {y.id});
      return filled(y, [&](Index i) {
        for (int& v : i) ++v;
        return x.at(i);
      });
    }
  }
  return {};
}

void Cell::expect(const std::vector<Tensor>& outputs) {
  auto& op = *b.graph().operators.back();
  op.outputs.clear();
  for (const Tensor& y : outputs) {
    op.outputs.push_back(b.output(y.type, y.dims, y.scale, y.zero_point));
    expected_.push_back(bytes(y));
  }
}

void Cell::expect_floats(Tensor y, const std::vector<float>& values) {
  b.graph().operators.back()->outputs = {b.output(T::FLOAT32, y.dims)};
  expected_.push_back(testing::to_bytes(values));
}

bool Cell::check(std::string* why) {
  const auto reference =
      is_single_ ? TfliteReference::kSingleRounding : TfliteReference::kDoubleRounding;
  testing::Imported imported = b.import(reference);
  if (imported.refusals() > 0) {
    *why = imported.rule();
    return false;
  }
  EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
  if (!imported.status.ok()) return true;
  EXPECT_EQ(testing::run_graph(std::move(imported.graph), true, inputs_).outputs, expected_);
  return true;
}

}  // namespace qrt::tflite_matrix
