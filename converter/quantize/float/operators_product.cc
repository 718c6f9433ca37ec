// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm, ConvTranspose.
#include <algorithm>
#include <cstring>

#include "converter/quantize/float/broadcast.h"
#include "converter/quantize/float/window.h"

namespace qrt::quantize {
namespace {

// Rows that a task multiplies.
constexpr size_t kRowsOfTask = 64;

// y [rows, n] += a [rows, k] times b [k, n], both with any steps.
struct Product {
  const float *a, *b;
  size_t a_row_step, a_k_step, b_k_step, b_column_step;
  size_t rows, k, n;
  float* y;
};

// Computes products of one shape and steps; those that follow each other with the same b pack it once.
void run_products(const std::vector<Product>& products, Machine* machine) {
  if (products.empty() || products[0].rows == 0 || products[0].n == 0 || products[0].k == 0) return;
  const Product& one = products[0];
  const size_t b_floats = column_panels(one.n) * kPanel * one.k;
  std::vector<float> columns = machine->buffers.take(b_floats);
  const size_t row_floats = kRowsOfTask * one.k;
  machine->reserve(row_floats);
  const float* packed = nullptr;
  for (const Product& p : products) {
    if (p.b != packed) pack_columns(p.b, p.b_k_step, p.b_column_step, p.k, p.n, columns.data());
    packed = p.b;
    machine->parallel.chunks(p.rows, kRowsOfTask, [&](size_t chunk, size_t begin, size_t end) {
      float* rows = machine->scratch(chunk);
      for (size_t r = begin; r < end; r += kRowsOfTask) {
        const size_t count = std::min(kRowsOfTask, end - r);
        pack_rows(p.a + r * p.a_row_step, p.a_row_step, p.a_k_step, count, p.k, rows);
        multiply(*machine->gemm, rows, count, columns.data(), p.n, p.k, nullptr, p.y + r * p.n,
                 p.n);
      }
    });
  }
  machine->buffers.give(std::move(columns));
}

}  // namespace

Status run_matmul(Call& call) {
  QRT_TRY(call.need_reals(0, 2));
  Dims a = call.in(0).shape, b = call.in(1).shape;
  if (a.empty() || b.empty()) return call.wrong("an operand without dimensions");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  const Dims a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
  Dims batch;
  if (b[b.size() - 2] != k || !broadcast_shape({&a_batch, &b_batch}, &batch))
    return call.wrong("shapes %s and %s", to_string(call.in(0).shape).c_str(),
                      to_string(call.in(1).shape).c_str());
  Dims shape = batch;
  if (!row) shape.push_back(m);
  if (!column) shape.push_back(n);
  Tensor* y;
  QRT_TRY(call.make(shape, &y, k));
  std::fill(y->reals.begin(), y->reals.end(), 0.0f);
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  Product product = {call.in(0).reals.data(),
                     call.in(1).reals.data(),
                     size(k),
                     1,
                     size(n),
                     1,
                     size(m),
                     size(k),
                     size(n),
                     y->reals.data()};
  std::vector<Product> products;
  if (elements(b_batch) == 1) {  // all rows by the same matrix
    product.rows = size(elements(batch) * m);
    products.push_back(product);
  } else if (y->size() > 0) {
    const Walk walk(batch, {broadcast_steps(a_batch, batch), broadcast_steps(b_batch, batch)});
    walk.runs([&](const int64_t* offsets, int64_t count, const int64_t* steps) {
      for (int64_t i = 0; i < count; ++i) {
        products.push_back(product);
        products.back().a += (offsets[0] + i * steps[0]) * m * k;
        products.back().b += (offsets[1] + i * steps[1]) * k * n;
        product.y += m * n;
      }
    });
  }
  run_products(products, &call.machine);
  return Status();
}

Status run_gemm(Call& call) {
  QRT_TRY(call.need_reals(0, call.has(2) ? 3 : 2));
  const Dims &a = call.in(0).shape, &b = call.in(1).shape;
  const bool a_turned = call.node.integer("transA", 0) != 0;
  const bool b_turned = call.node.integer("transB", 0) != 0;
  const float alpha = call.node.real("alpha", 1.0f), beta = call.node.real("beta", 1.0f);
  if (a.size() != 2 || b.size() != 2 || a[a_turned ? 0 : 1] != b[b_turned ? 1 : 0])
    return call.wrong("shapes %s and %s", to_string(a).c_str(), to_string(b).c_str());
  const int64_t m = a[a_turned ? 1 : 0], k = a[a_turned ? 0 : 1], n = b[b_turned ? 0 : 1];
  Tensor* y;
  QRT_TRY(call.make({m, n}, &y, k));
  Tensor addend;
  if (call.has(2)) {
    Dims shape;
    if (!broadcast_shape({&call.in(2).shape, &y->shape}, &shape) || shape != y->shape)
      return call.wrong("an addend of shape %s to %s", to_string(call.in(2).shape).c_str(),
                        to_string(y->shape).c_str());
    addend.shape = y->shape;
    addend.reals = call.machine.buffers.take(y->reals.size());
    copy_elements(call.in(2), 0, broadcast_steps(call.in(2).shape, y->shape), &addend);
  }
  const bool plain = alpha == 1.0f && beta == 1.0f && call.has(2);
  if (plain)
    y->reals.swap(addend.reals);
  else
    std::fill(y->reals.begin(), y->reals.end(), 0.0f);
  const auto size = [](int64_t v) { return static_cast<size_t>(v); };
  run_products({{call.in(0).reals.data(), call.in(1).reals.data(), a_turned ? 1 : size(k),
                 a_turned ? size(m) : 1, b_turned ? 1 : size(n), b_turned ? size(k) : 1, size(m),
                 size(k), size(n), y->reals.data()}},
               &call.machine);
  if (!plain)
    for (size_t i = 0; i < y->reals.size(); ++i)
      y->reals[i] = alpha * y->reals[i] + (call.has(2) ? beta * addend.reals[i] : 0.0f);
  call.machine.buffers.give(std::move(addend.reals));
  return Status();
}

namespace {

// Finds the window with which a Conv would lead from the result y of a ConvTranspose to its input x.
Status read_transposed(Call& call, const Dims& x, const Dims& kernel, Window* window) {
  QRT_TRY(read_window_attributes(call, kernel, window));
  const size_t rank = kernel.size();
  Dims extra = call.node.integers("output_padding"), wanted = call.node.integers("output_shape");
  if (extra.empty()) extra.assign(rank, 0);
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (extra.size() != rank || (!wanted.empty() && wanted.size() != rank))
    return call.wrong("output_padding or output_shape is not of %zu elements", rank);
  const std::string automatic = call.node.text("auto_pad", "NOTSET");
  const bool same_upper = automatic == "SAME_UPPER", same = same_upper || automatic == "SAME_LOWER";
  window->output = x;
  window->input.resize(rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t reach = (kernel[d] - 1) * window->dilation[d] + 1;
    if (x[d] < 1 || x[d] > call.machine.limits.value || extra[d] < 0 ||
        extra[d] >= call.machine.limits.value)
      return call.wrong("an image of shape %s, output_padding %s", to_string(x).c_str(),
                        to_string(extra).c_str());
    const int64_t full = (x[d] - 1) * window->stride[d] + extra[d] + reach;
    int64_t made = full - window->begin[d] - window->end[d];
    if (same || !wanted.empty()) {
      made = wanted.empty() ? x[d] * window->stride[d] : wanted[d];
      const int64_t total = std::max<int64_t>(0, full - made);
      window->begin[d] = same_upper ? total / 2 : total - total / 2;
    } else if (automatic == "VALID") {
      window->begin[d] = 0;
      made = full;
    }
    if (made < 1 || made > call.machine.limits.value)
      return call.wrong("its result would have %lld elements along dimension %zu",
                        static_cast<long long>(made), d + 2);
    window->input[d] = made;
    window->end[d] = std::max<int64_t>(0, full - made - window->begin[d]);
  }
  return Status();
}

}  // namespace

// Adds every element of x, times the weights of its channel, to its window of the result: a matrix
// product gives the terms, which are added tap by tap in the order of the weights.
Status run_conv_transpose(Call& call) {
  QRT_TRY(call.need_reals(0, call.has(2) ? 3 : 2));
  const Dims &x = call.in(0).shape, &w = call.in(1).shape;
  const int64_t groups = call.node.integer("group", 1);
  if (x.size() < 3 || x.size() != w.size() || groups < 1 || x[0] < 1 || x[1] < 1 || x[1] != w[0] ||
      w[0] % groups != 0 || w[1] < 1)
    return call.wrong("%lld groups of an input of shape %s and weights of shape %s",
                      static_cast<long long>(groups), to_string(x).c_str(), to_string(w).c_str());
  Window window;
  QRT_TRY(
      read_transposed(call, Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end()), &window));
  const int64_t channels = x[1] / groups, filters = w[1], taps = window.taps();
  if (filters > call.machine.limits.value / groups)
    return call.wrong("weights of shape %s", to_string(w).c_str());
  if (call.has(2) && call.in(2).size() != groups * filters)
    return call.wrong("%lld filters, but a bias of shape %s",
                      static_cast<long long>(groups * filters),
                      to_string(call.in(2).shape).c_str());
  Dims shape = {x[0], groups * filters};
  shape.insert(shape.end(), window.input.begin(), window.input.end());
  Tensor* y;
  QRT_TRY(call.make(shape, &y));
  int64_t plane = 1;  // elements of a plane of the result, padding included
  for (int64_t d : window.padded()) {
    if (plane > call.machine.limits.value / d)
      return call.beyond(static_cast<double>(call.machine.limits.value), "elements",
                         "its result with the border");
    plane *= d;
  }
  const int64_t positions = elements(window.output);
  QRT_TRY(call.need_terms(x[0] * x[1] * positions, filters * taps));
  if (filters * taps > call.machine.limits.value / positions)
    return call.beyond(static_cast<double>(call.machine.limits.value), "terms",
                       "its result of one sample");
  const WindowTables tables = window_tables(window, 1);
  Machine& machine = call.machine;
  Tensor terms, padded;
  terms.reals = machine.buffers.take(static_cast<size_t>(filters * taps * positions));
  padded.shape = window.padded();
  padded.reals = machine.buffers.take(static_cast<size_t>(plane));
  Tensor inside;
  inside.shape = window.input;
  const Dims steps = dense_steps(padded.shape);
  int64_t first = 0;
  for (size_t d = 0; d < steps.size(); ++d) first += steps[d] * window.begin[d];
  const int64_t size = elements(window.input);
  inside.reals = machine.buffers.take(static_cast<size_t>(size));
  const auto z = [](int64_t v) { return static_cast<size_t>(v); };
  for (int64_t ng = 0; ng < x[0] * groups; ++ng) {
    std::fill(terms.reals.begin(), terms.reals.end(), 0.0f);
    const float* weights = call.in(1).reals.data() + ng % groups * channels * filters * taps;
    run_products(
        {{weights, call.in(0).reals.data() + ng * channels * positions, 1, z(filters * taps),
          z(positions), 1, z(filters * taps), z(channels), z(positions), terms.reals.data()}},
        &machine);
    for (int64_t m = 0; m < filters; ++m) {
      const int64_t filter = ng % groups * filters + m;
      std::fill(padded.reals.begin(), padded.reals.end(),
                call.has(2) ? call.in(2).reals[z(filter)] : 0.0f);
      const float* term = terms.reals.data() + m * taps * positions;
      for (ptrdiff_t offset : tables.offsets)
        for (ptrdiff_t base : tables.bases) padded.reals[z(base + offset)] += *term++;
      copy_elements(padded, first, steps, &inside);
      memcpy(y->reals.data() + (ng * filters + m) * size, inside.reals.data(),
             z(size) * sizeof(float));
    }
  }
  machine.buffers.give(std::move(terms.reals));
  machine.buffers.give(std::move(padded.reals));
  machine.buffers.give(std::move(inside.reals));
  return Status();
}

}  // namespace qrt::quantize
