// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/spectrum.h"

#include <cmath>
#include <string>

#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/products.h"

namespace qrt::convert::from_onnx {
namespace {

struct Angle {
  double cosine, sine;
};

// Returns those of 2 pi i / n, 0 <= i < n. Taylor series of at most an eighth of a turn, whose terms are added in a fixed order:
// the C library's differ between hosts.
Angle angle_of(int64_t i, int64_t n) {
  // Whole octants before the angle. In every other octant the rest is measured from its end.
  const int64_t octants = 8 * i / n;
  const int64_t rest = 8 * i - octants * n, part = octants % 2 == 0 ? rest : n - rest;
  const double x = static_cast<double>(part) / static_cast<double>(n) * 0.78539816339744830962;
  double cosine = 0, sine = 0;
  for (int k = 11; k >= 0; --k) {
    cosine = 1 - cosine * x * x / ((2 * k + 1) * (2 * k + 2));
    sine = 1 - sine * x * x / ((2 * k + 2) * (2 * k + 3));
  }
  sine *= x;
  // Octant 1 is 0 mirrored at an eighth of a turn, and so on.
  switch (octants) {
    case 0: return {cosine, sine};
    case 1: return {sine, cosine};
    case 2: return {-sine, cosine};
    case 3: return {-cosine, sine};
    case 4: return {-cosine, -sine};
    case 5: return {-sine, -cosine};
    case 6: return {sine, -cosine};
    default: return {cosine, -sine};
  }
}

// A transform of n values, or of n pairs of real and imaginary part, to pairs of which the first `bins` are made.
struct Transform {
  int64_t n, bins;
  bool is_complex, is_inverse;
  const std::vector<float>* window;  // null: none

  int64_t parts() const { return is_complex ? 2 : 1; }
};

// Makes the matrix [n * parts, 2 * bins] of a transform.
Status matrix_of(FloatGraph* f, const Transform& t, ValueId* y) {
  const int64_t rows = t.n * t.parts(), columns = 2 * t.bins;
  QRT_TRY(f->importer().tensors().reserve(
      static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) * sizeof(float),
      f->importer().graph()));
  std::vector<float> m(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < t.n; ++j) {
    double factor =
        t.window != nullptr ? static_cast<double>((*t.window)[static_cast<size_t>(j)]) : 1;
    if (t.is_inverse) factor /= static_cast<double>(t.n);
    for (int64_t k = 0; k < t.bins; ++k) {
      const Angle a = angle_of(j * k % t.n, t.n);
      const double cosine = factor * a.cosine, sine = factor * (t.is_inverse ? a.sine : -a.sine);
      float* const real = m.data() + j * t.parts() * columns + 2 * k;
      real[0] = static_cast<float>(cosine);
      real[1] = static_cast<float>(sine);
      if (!t.is_complex) continue;
      real[columns] = static_cast<float>(-sine);
      real[columns + 1] = static_cast<float>(cosine);
    }
  }
  *y = f->constant({rows, columns}, m);
  return Status();
}

// Transforms rows, the last dimension of x: [..., bins, 2] where x is [..., n * parts].
Status transform(FloatGraph* f, const Transform& t, ValueId x, ValueId* y) {
  ValueId matrix, product = kNoValue;
  QRT_TRY(matrix_of(f, t, &matrix));
  float_matmul(f, x, matrix, &product);
  if (product == kNoValue) return Status();
  Shape shape = f->shape_of(product);
  if (shape.rank() + 1 > kMaxTensorRank) return Status();
  shape[shape.rank() - 1] = t.bins;
  shape.push_back(2);
  *y = f->builder().reshape(f->node(), product, shape);
  return Status();
}

// Reads an integer constant. Returns false where input i is none, or is missing.
bool read_count(const FloatGraph& f, int i, int64_t* count) {
  if (!f.node().has_input(i)) return false;
  const Tensor& t = f.importer().input(f.node(), i);
  if (!t.is_plain_constant() || !t.constant->is_integer() || t.constant->elements() != 1)
    return false;
  *count = t.constant->integer(0);
  return true;
}

}  // namespace

Status float_stft(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  const Shape s = f->shape_of(x);
  int64_t step, n = 0;
  std::vector<float> window;
  if (s.rank() < 2 || s.rank() > 3 || (s.rank() == 3 && s[2] != 1)) return Status();
  if (!read_count(*f, 1, &step) || (node.has_input(3) && !read_count(*f, 3, &n))) return Status();
  if (node.has_input(2)) {
    const Tensor& given = f->importer().input(node, 2);
    if (!given.is_constant() || !constant_floats(given, &window)) return Status();
    if (!node.has_input(3)) n = static_cast<int64_t>(window.size());
  }
  QRT_MODEL_CHECK(step >= 1 && n >= 1 && n <= s[1] &&
                      (window.empty() || n == static_cast<int64_t>(window.size())),
                  "frames of %lld samples, %lld apart, of a signal of %lld and a window of %zu",
                  static_cast<long long>(n), static_cast<long long>(step),
                  static_cast<long long>(s[1]), window.size());
  const int64_t frames = (s[1] - n) / step + 1;
  QRT_TRY(check_index_count(frames * n));
  const Shape line = {s[0], s[1]};
  IndexMaps maps(line);
  Indices indices;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < n; ++i) indices.push_back(static_cast<int32_t>(frame * step + i));
  maps.set(1, std::move(indices));
  if (s != line) x = f->builder().reshape(node, x, line);
  x = f->builder().gather(node, x, maps, float_bits(0));
  x = f->builder().reshape(node, x, {s[0], frames, n});
  const int64_t bins = node.integer("onesided", 1) != 0 ? n / 2 + 1 : n;
  return transform(f, {n, bins, false, false, window.empty() ? nullptr : &window}, x, y);
}

// Transforms along the axis before the last one, which keeps its length; any other DFT is left alone.
Status float_dft(FloatGraph* f, ValueId x, ValueId* y) {
  const NodeView& node = f->node();
  const Shape s = f->shape_of(x);
  if (s.rank() < 2) return Status();
  const int last = s.rank() - 1;
  int64_t axis = node.integer("axis", 1), length = s[last - 1];
  if (f->importer().opset(node) >= 20) axis = -2;
  if (node.has_input(2) && !read_count(*f, 2, &axis)) return Status();
  if (node.has_input(1) && !read_count(*f, 1, &length)) return Status();
  const bool is_last = axis == last - 1 || axis == -2;
  const bool is_inverse = node.integer("inverse", 0) != 0;
  const bool is_half = node.integer("onesided", 0) != 0;
  if (!is_last || length != s[last - 1] || s[last] < 1 || s[last] > 2 || (is_inverse && is_half))
    return Status();
  const bool is_complex = s[last] == 2;
  Shape rows;
  for (int i = 0; i < last; ++i) rows.push_back(i == last - 1 ? length * s[last] : s[i]);
  x = f->builder().reshape(node, x, rows);
  return transform(f, {length, is_half ? length / 2 + 1 : length, is_complex, is_inverse, nullptr},
                   x, y);
}

}  // namespace qrt::convert::from_onnx
