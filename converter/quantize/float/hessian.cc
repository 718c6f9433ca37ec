// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/hessian.h"

#include <algorithm>
#include <cmath>

#include "converter/quantize/float/gemm.h"
#include "converter/quantize/float/window.h"
#include "runtime/allowed_isas.h"

namespace qrt::quantize {
namespace {

// The fraction of the diagonal's mean that is added to the diagonal, since linearly dependent
// inputs make the matrix singular otherwise.
constexpr double kDamping = 0.01;
// The number of positions summed in float before the sums are added to doubles.
constexpr size_t kChunk = 4096;
// The number of rows of weights that are rounded side by side, and of updates of a row that are
// done in one pass.
constexpr int64_t kTogether = 8;
constexpr size_t kUpdates = 4;

// Adds the lower triangle of x * x^T, x [terms, n], to `sums` [terms, terms].
void add_products(const GemmKernel& kernel, const std::vector<float>& x, size_t terms, size_t n,
                  double* sums) {
  constexpr size_t kBlock = kPanel * kTilePanels;  // rows of a block: whole panels of rows and
                                                   // columns
  std::vector<float> rows(row_panels(terms) * kTileRows * n);
  std::vector<float> columns(column_panels(terms) * kPanel * n);
  std::vector<float> product(kBlock * terms), zeros(kBlock);
  pack_rows(x.data(), n, 1, terms, n, rows.data());
  pack_columns(x.data(), 1, n, n, terms, columns.data());
  for (size_t first = 0; first < terms; first += kBlock) {
    const size_t end = std::min(first + kBlock, terms);
    multiply(kernel, rows.data() + first * n, end - first, columns.data(), end, n, zeros.data(),
             product.data(), terms);
    for (size_t i = first; i < end; ++i)
      for (size_t j = 0; j <= i; ++j)
        sums[i * terms + j] += static_cast<double>(product[(i - first) * terms + j]);
  }
}

Status start(int64_t groups, int64_t terms, Gram* gram) {
  constexpr int64_t kMostTerms = 1 << 13;
  if (terms < 1 || terms > kMostTerms)
    return error(Code::kUnsupported, "%lld weights of an output, at most %lld can be rounded so",
                 static_cast<long long>(terms), static_cast<long long>(kMostTerms));
  if (gram->sums.empty()) {
    gram->groups = groups;
    gram->terms = terms;
    gram->sums.assign(static_cast<size_t>(groups * terms * terms), 0.0);
  }
  if (gram->groups == groups && gram->terms == terms) return Status();
  return error(Code::kInternal, "sums of a layer of another shape");
}

Status add_conv(const Call& call, const Tensor& x, const Dims& weights, const GemmKernel& kernel,
                Gram* gram) {
  const int64_t groups = call.node.integer("group", 1), channels = weights[1];
  if (x.shape.size() != weights.size() || groups < 1 || x.shape[1] != groups * channels)
    return call.wrong("an input of shape %s and weights of shape %s", to_string(x.shape).c_str(),
                      to_string(weights).c_str());
  Window window;
  QRT_TRY(read_window(call, Dims(x.shape.begin() + 2, x.shape.end()),
                      Dims(weights.begin() + 2, weights.end()), &window));
  const WindowTables tables = window_tables(window, channels);
  const size_t terms = tables.offsets.size(), positions = tables.bases.size();
  QRT_TRY(start(groups, static_cast<int64_t>(terms), gram));
  const std::vector<float> padded =
      padded_planes(window, x.reals.data(), x.shape[0] * x.shape[1], 0.0f, &call.machine.buffers);
  const int64_t plane = elements(window.padded());
  const size_t total = static_cast<size_t>(x.shape[0]) * positions;
  std::vector<float> columns;
  for (int64_t g = 0; g < groups; ++g)
    for (size_t first = 0; first < total; first += kChunk) {
      const size_t n = std::min(kChunk, total - first);
      columns.resize(terms * n);
      for (size_t j = 0; j < n; ++j) {
        const auto sample = static_cast<int64_t>((first + j) / positions);
        const float* from = padded.data() + (sample * groups + g) * channels * plane +
                            tables.bases[(first + j) % positions];
        for (size_t t = 0; t < terms; ++t) columns[t * n + j] = from[tables.offsets[t]];
      }
      add_products(kernel, columns, terms, n,
                   gram->sums.data() + static_cast<size_t>(g) * terms * terms);
    }
  return Status();
}

}  // namespace

Status add_gram(const Node& node, const Tensor& x, const Dims& weights, Gram* gram) {
  Result<IsaSet> isas = allowed_isas(nullptr);
  if (!isas.ok()) return std::move(isas.status());
  const GemmKernel& kernel = *select_gemm(*isas);
  Machine machine;
  std::vector<Tensor> none;
  const std::vector<const Tensor*> inputs = {&x};
  const Call call(node, inputs, &none, &machine);
  QRT_TRY(call.need_reals(0, 1));
  if (x.size() == 0) return Status();
  if (node.op == "Conv" && weights.size() >= 3) return add_conv(call, x, weights, kernel, gram);
  const bool is_gemm = node.op == "Gemm" && node.integer("transA", 0) == 0;
  if ((!is_gemm && node.op != "MatMul") || weights.size() != 2)
    return call.unsupported("weights of shape %s cannot be rounded by their inputs",
                            to_string(weights).c_str());
  const int64_t terms = weights[is_gemm && node.integer("transB", 0) != 0 ? 1 : 0];
  if (x.shape.empty() || x.shape.back() != terms)
    return call.wrong("an input of shape %s and weights of shape %s", to_string(x.shape).c_str(),
                      to_string(weights).c_str());
  QRT_TRY(start(1, terms, gram));
  const auto k = static_cast<size_t>(terms);
  const size_t total = x.reals.size() / k;
  std::vector<float> columns;
  for (size_t first = 0; first < total; first += kChunk) {
    const size_t n = std::min(kChunk, total - first);
    columns.resize(k * n);
    for (size_t j = 0; j < n; ++j)
      for (size_t t = 0; t < k; ++t) columns[t * n + j] = x.reals[(first + j) * k + t];
    add_products(kernel, columns, k, n, gram->sums.data());
  }
  return Status();
}

namespace {

// Subtracts f[u] * rows[u][m] from to[m] for m < n, one u after the other.
void subtract(const double* f, const double* const* rows, size_t n, double* to) {
  static_assert(kUpdates == 4);
  const double fa = f[0], fb = f[1], fc = f[2], fd = f[3];
  const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  for (size_t m = 0; m < n; ++m)
    to[m] = (((to[m] - fa * a[m]) - fb * b[m]) - fc * c[m]) - fd * d[m];
}

// Computes rows end - 1 ... begin of R^T, and subtracts the outer product of each row j from rows
// begin ... j - 1. Works on the lower half of H, which is symmetric. Returns false where H is not
// positive definite.
bool factor_rows(size_t begin, size_t end, size_t k, double* h) {
  for (size_t j = end; j-- > begin;) {
    double* row = h + j * k;
    if (!(row[j] > 0) || !std::isfinite(row[j])) return false;
    const double root = std::sqrt(row[j]);
    for (size_t i = 0; i < j; ++i) row[i] /= root;
    row[j] = root;
    for (size_t i = begin; i < j; ++i)
      for (size_t m = 0; m <= i; ++m) h[i * k + m] -= row[i] * row[m];
  }
  return true;
}

// Factors H = R R^T in place, R upper triangular, then inverts R. Works on whole rows, so that
// every sum is in the order of the loops. Returns false where H is not positive definite.
bool inverse_factor(std::vector<double>* matrix, size_t k) {
  std::vector<double>& h = *matrix;
  double f[kUpdates];
  const double* rows[kUpdates];
  for (size_t begin, end = k; end > 0; end = begin) {
    begin = end > kUpdates ? end - kUpdates : 0;
    if (!factor_rows(begin, end, k, h.data())) return false;
    for (size_t i = 0; i < begin; ++i) {
      for (size_t u = 0; u < kUpdates; ++u) {
        rows[u] = &h[(end - 1 - u) * k];
        f[u] = rows[u][i];
      }
      subtract(f, rows, i + 1, &h[i * k]);
    }
  }
  // h holds R^T in its lower half: row j is column j of R. Its inverse L = R^-T, row by row:
  // L_j = (e_j - sum over i < j of rt[j][i] L_i) / rt[j][j]
  std::vector<double> inverse(k * k, 0.0);
  for (size_t j = 0; j < k; ++j) {
    double* to = &inverse[j * k];
    to[j] = 1;
    size_t i = 0;
    for (; i + kUpdates <= j; i += kUpdates) {
      for (size_t u = 0; u < kUpdates; ++u) {
        rows[u] = &inverse[(i + u) * k];
        f[u] = h[j * k + i + u];
      }
      subtract(f, rows, i + kUpdates, to);  // behind their diagonals rows are 0
    }
    for (; i < j; ++i)
      for (size_t m = 0; m <= i; ++m) to[m] -= h[j * k + i] * inverse[i * k + m];
    for (size_t m = 0; m <= j; ++m) to[m] /= h[j * k + j];
  }
  h = std::move(inverse);
  return true;
}

}  // namespace

Status round_weights(const float* w, int64_t n, int64_t k, const double* hessian,
                     const float* scale, int lo, int hi, int32_t* q) {
  const auto size = static_cast<size_t>(k);
  std::vector<double> h(hessian, hessian + size * size);
  double mean = 0;
  for (size_t i = 0; i < size; ++i) mean += h[i * size + i] / static_cast<double>(k);
  if (!(mean >= 0) || !std::isfinite(mean))
    return error(Code::kInvalidArgument, "sums of squares are not finite");
  for (size_t i = 0; i < size; ++i) h[i * size + i] += mean > 0 ? kDamping * mean : 1.0;
  if (!inverse_factor(&h, size))
    return error(Code::kInvalidArgument, "sums of squares are not those of real inputs");
  std::vector<double> by_column(size * size), together(size * kTogether);
  // Row i of U = R^-1, whose transpose h is.
  for (size_t i = 0; i < size; ++i)
    for (size_t j = i; j < size; ++j) by_column[i * size + j] = h[j * size + i];
  for (int64_t first = 0; first < n; first += kTogether) {
    const auto filled = static_cast<size_t>(std::min<int64_t>(kTogether, n - first));
    for (size_t r = 0; r < filled; ++r)
      for (size_t i = 0; i < size; ++i)
        together[i * kTogether + r] = w[(static_cast<size_t>(first) + r) * size + i];
    for (size_t i = 0; i < size; ++i) {
      const double* u = &by_column[i * size];
      double error_of[kTogether] = {};
      for (size_t r = 0; r < filled; ++r) {
        const auto row = static_cast<size_t>(first) + r;
        const double step = static_cast<double>(scale[row]), value = together[i * kTogether + r];
        const double rounded = std::nearbyint(value / step);
        const double kept =
            std::min(std::max(rounded, static_cast<double>(lo)), static_cast<double>(hi));
        q[row * size + i] = kept == kept ? static_cast<int32_t>(kept) : 0;
        error_of[r] = (value - kept * step) / u[i];
      }
      for (size_t j = i + 1; j < size; ++j)
        for (size_t r = 0; r < kTogether; ++r) together[j * kTogether + r] -= error_of[r] * u[j];
    }
  }
  return Status();
}

}  // namespace qrt::quantize
