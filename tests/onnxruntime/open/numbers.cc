// SPDX-License-Identifier: Apache-2.0
// Sizes that a graph computes from the shapes of its tensors.
#include <algorithm>

#include "tests/onnxruntime/open/sized_maker.h"

namespace qrt::open_onnx {
namespace {

template <class F>
Size map(const Size& a, const F& f) {
  Size r;
  for (size_t i = 0; i < kRuns; ++i) r[i] = f(a[i]);
  return r;
}

template <class F>
Size map(const Size& a, const Size& b, const F& f) {
  Size r;
  for (size_t i = 0; i < kRuns; ++i) r[i] = f(a[i], b[i]);
  return r;
}

}  // namespace

Number SizedMaker::constant(int64_t n) { return {int64s({n}), fixed(n)}; }

Number SizedMaker::dimension(size_t x, int64_t axis) {
  const Live& from = live_[x];
  const Size value = from.dims[static_cast<size_t>(axis)];
  const std::string& source = dice_.coin() && !from.stored.empty() ? from.stored : from.real;
  switch (dice_.integer(0, opset_ >= 15 ? 4 : 3)) {
    case 0: return {b_.node("Gather", {b_.node("Shape", {source}), int64s({axis})}), value};
    case 1:
      return {b_.node("Slice", {b_.node("Shape", {source}), int64s({axis}), int64s({axis + 1})}),
              value};
    case 4:
      return {b_.node("Shape", {source}, {Attr("start", axis), Attr("end", axis + 1)}), value};
    default: {
      const std::string n =
          b_.node("Gather", {b_.node("Shape", {source}), b_.scalar<int64_t>(axis)});
      return {b_.node("Unsqueeze", {n, int64s({0})}), value};
    }
  }
}

std::vector<Number> SizedMaker::dimensions(size_t x) {
  std::vector<Number> all;
  for (size_t d = 0; d < live_[x].dims.size(); ++d)
    all.push_back(is_fixed(live_[x].dims[d]) && dice_.coin()
                      ? constant(live_[x].dims[d][0])
                      : dimension(x, static_cast<int64_t>(d)));
  return all;
}

Number SizedMaker::combine(const char* op, const Number& a, const Number& b) {
  const std::string o = op;
  const Size value = map(a.value, b.value, [&](int64_t x, int64_t y) -> int64_t {
    if (o == "Add") return x + y;
    if (o == "Sub") return x - y;
    if (o == "Mul") return x * y;
    if (o == "Min") return std::min(x, y);
    if (o == "Max") return std::max(x, y);
    if (y == 0) return 0;
    if (o == "Div") return x / y;
    return ((x % y) + y) % y;  // Mod of integers
  });
  return {b_.node(op, {a.name, b.name}), value};
}

Number SizedMaker::select(const char* op, const Number& a, const Number& b, const Number& then,
                          const Number& otherwise) {
  const std::string o = op;
  Size value;
  for (size_t i = 0; i < kRuns; ++i) {
    const int64_t x = a.value[i], y = b.value[i];
    const bool holds = o == "Equal" ? x == y : o == "Less" ? x < y : x > y;
    value[i] = holds ? then.value[i] : otherwise.value[i];
  }
  return {b_.node("Where", {b_.node(op, {a.name, b.name}), then.name, otherwise.name}), value};
}

Number SizedMaker::by_float(const Number& a, float factor, bool up) {
  const std::string real = b_.node("Cast", {a.name}, {Attr("to", 1)});
  const std::string scaled = b_.node("Mul", {real, b_.scalar(factor)});
  const std::string whole = b_.node(up ? "Ceil" : "Floor", {scaled});
  const Size value = map(a.value, [&](int64_t n) {
    const float x = static_cast<float>(n) * factor;
    return static_cast<int64_t>(up ? std::ceil(x) : std::floor(x));
  });
  return {b_.node("Cast", {whole}, {Attr("to", 7)}), value};
}

int64_t SizedMaker::near(const Number& n) {
  if (dice_.one_in(3)) return dice_.pick<int64_t>({1, 2, 3, 4, 8, 16, 20, 32, 50, 64, 128, 512});
  const auto run = static_cast<size_t>(dice_.integer(0, kRuns - 2));
  return std::max<int64_t>(1, n.value[run] + dice_.integer(-1, 1));
}

Number SizedMaker::step(const Number& n) {
  const Number k = constant(dice_.integer(2, dice_.one_in(4) ? 40 : 5));
  switch (dice_.integer(0, 13)) {
    case 0: return combine("Div", n, k);
    case 1: return combine("Div", combine("Add", n, constant(k.value[0] - 1)), k);
    case 2: return combine("Add", n, k);
    case 3: return combine("Sub", n, constant(dice_.integer(1, 3)));
    case 4:
    case 5: return combine("Min", n, constant(near(n)));
    case 6: return combine("Max", n, constant(near(n)));
    case 7: return combine("Sub", n, combine("Mod", n, k));
    case 8: return combine("Mod", n, k);
    case 9: {
      const Number at = constant(near(n));
      return select("Greater", n, at, at, n);
    }
    case 10: return select("Equal", n, constant(near(n)), constant(dice_.integer(1, 4)), n);
    case 11: {
      const Number at = constant(near(n));
      return select("Less", n, at, n, dice_.coin() ? at : combine("Div", n, k));
    }
    case 12:
      return by_float(n, dice_.coin() ? 0.5f : static_cast<float>(dice_.real(0.2, 0.9)),
                      dice_.coin());
    default: {
      const int64_t least = dice_.integer(1, 8), most = std::max(least, near(n));
      const Size value =
          map(n.value, [&](int64_t x) { return std::min(std::max(x, least), most); });
      return {b_.node("Clip", {n.name, b_.scalar(least), b_.scalar(most)}), value};
    }
  }
}

Number SizedMaker::computed(const Number& n, int64_t least) {
  Number m = step(n);
  if (dice_.one_in(3)) m = step(m);
  const bool holds =
      std::all_of(m.value.begin(), m.value.end() - 1, [&](int64_t v) { return v >= least; });
  if (!holds || dice_.one_in(8)) m = combine("Max", m, constant(least));
  return m;
}

std::string SizedMaker::vector_of(const std::vector<Number>& numbers) {
  Names names;
  for (const Number& n : numbers) names.push_back(n.name);
  return names.size() == 1 ? names[0] : b_.node("Concat", names, {Attr("axis", 0)});
}

std::string SizedMaker::scalar_of(const Number& n) {
  return b_.node("Squeeze", {n.name, int64s({0})});
}

std::string SizedMaker::range(const Number& n) {
  return b_.node("Range", {b_.scalar<int64_t>(0), scalar_of(n), b_.scalar<int64_t>(1)});
}

bool SizedMaker::number_output() {
  const size_t x = pick(1, 6);
  if (x == SIZE_MAX) return false;
  const auto axis = dice_.integer(0, static_cast<int64_t>(live_[x].dims.size()) - 1);
  const Number n = computed(dimension(x, axis), 0);
  const auto most = *std::max_element(n.value.begin(), n.value.end());
  if (dice_.coin() || most > 5000) {
    b_.output(n.name);
    return true;
  }
  switch (dice_.integer(0, 2)) {
    case 0: b_.output(range(n)); break;
    case 1:
      b_.output(b_.node("Range", {b_.scalar<int64_t>(dice_.integer(-3, 3)), scalar_of(n),
                                  b_.scalar<int64_t>(dice_.integer(2, 5))}));
      break;
    default: {
      const std::string ones = b_.node("ConstantOfShape", {vector_of({n, constant(2)})});
      b_.output(b_.node("Cast", {ones}, {Attr("to", 7)}));
    }
  }
  return true;
}

}  // namespace qrt::open_onnx
