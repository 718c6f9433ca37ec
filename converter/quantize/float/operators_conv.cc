// Conv: columns of the image times the weights' rows (gemm.h), or, where a channel has its own few
// filters, tap after tap.
#include <algorithm>
#include <cstring>

#include "converter/quantize/float/window.h"

namespace qrt::quantize {
namespace {

// Filters of one channel up to which the direct form is faster.
constexpr int64_t kFewFilters = 3;
// Floats of a block of columns, which is to stay in the cache of the second level.
constexpr size_t kColumnFloats = size_t{1} << 17;

struct Conv {
  Window window;
  int64_t batch, groups, channels, filters;  // channels, filters: of one group
  const float *x, *w, *bias;                 // bias: null, or one for each filter
  float* y;
};

Status read_conv(Call& call, Conv* conv) {
  QRT_TRY(call.need_reals(0, call.has(2) ? 3 : 2));
  const Dims &x = call.in(0).shape, &w = call.in(1).shape;
  if (x.size() < 3 || x.size() != w.size())
    return call.wrong("an input of shape %s and weights of shape %s", to_string(x).c_str(),
                      to_string(w).c_str());
  conv->groups = call.node.integer("group", 1);
  if (conv->groups < 1 || x[0] < 1 || w[0] < 1 || w[0] % conv->groups != 0 || w[1] < 1 ||
      w[1] > x[1] || x[1] % w[1] != 0 || x[1] / w[1] != conv->groups)
    return call.wrong("%lld groups of an input of shape %s and weights of shape %s",
                      static_cast<long long>(conv->groups), to_string(x).c_str(),
                      to_string(w).c_str());
  QRT_TRY(
      read_window(call, Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end()), &conv->window));
  conv->batch = x[0];
  conv->channels = w[1];
  conv->filters = w[0] / conv->groups;
  if (call.has(2) && call.in(2).size() != w[0])
    return call.wrong("%lld filters, but a bias of shape %s", static_cast<long long>(w[0]),
                      to_string(call.in(2).shape).c_str());
  Dims shape = {x[0], w[0]};
  shape.insert(shape.end(), conv->window.output.begin(), conv->window.output.end());
  const int64_t padded = elements(conv->window.padded());
  if (x[0] * x[1] > kMaxElementsOfValue / padded)
    return call.unsupported("an input of shape %s with its border has more than 2^28 elements",
                            to_string(x).c_str());
  Tensor* y;
  QRT_TRY(call.make(shape, &y));
  if (static_cast<double>(y->size()) * static_cast<double>(call.in(1).size() / w[0]) >
      static_cast<double>(kMaxProductTerms))
    return call.unsupported("more than 2^42 products");
  conv->x = call.in(0).reals.data();
  conv->w = call.in(1).reals.data();
  conv->bias = call.has(2) ? call.in(2).reals.data() : nullptr;
  conv->y = y->reals.data();
  return Status();
}

// Each plane of the result is the sum of shifted planes. They are summed over whole rows of the padded
// image, at every step of 1 of the last dimension; what no window starts at is left out.
void run_direct(const Conv& conv, const float* padded, const WindowTables& tables,
                Machine* machine) {
  const Window& window = conv.window;
  const int64_t plane = elements(window.padded()), positions = elements(window.output);
  const int64_t width = window.output.back(), step = window.stride.back();
  const auto rows = static_cast<size_t>(positions / width);
  const int64_t across = (width - 1) * step + 1;
  const auto taps = static_cast<size_t>(window.taps());
  // Rows that follow each other closely are one.
  const bool joined =
      rows > 1 && step == 1 &&
      tables.bases.back() - tables.bases.front() < 2 * across * static_cast<int64_t>(rows);
  const int64_t run = joined ? tables.bases.back() - tables.bases.front() + 1 : across;
  const size_t room = static_cast<size_t>(run) + 4 * kPanel;
  machine->reserve(room);
  const int64_t filters = conv.filters * conv.groups;
  machine->parallel.chunks(
      static_cast<size_t>(conv.batch * filters), 1, [&](size_t chunk, size_t begin, size_t end) {
        float* sums = machine->scratch(chunk);
        for (size_t i = begin; i < end; ++i) {
          const auto n = static_cast<int64_t>(i) / filters, m = static_cast<int64_t>(i) % filters;
          const float* x = padded + (n * conv.groups + m / conv.filters) * plane;
          float* y = conv.y + static_cast<int64_t>(i) * positions;
          const float start = conv.bias ? conv.bias[m] : 0.0f;
          const float* w = conv.w + m * static_cast<int64_t>(taps);
          if (joined)
            machine->gemm->correlate(x, tables.offsets.data(), w, taps, start, sums,
                                     static_cast<size_t>(run));
          for (size_t r = 0; r < rows; ++r, y += width) {
            const ptrdiff_t base = tables.bases[r * static_cast<size_t>(width)];
            const float* from = joined ? sums + base : sums;
            if (!joined)
              machine->gemm->correlate(x + base, tables.offsets.data(), w, taps, start, sums,
                                       static_cast<size_t>(run));
            for (int64_t j = 0; j < width; ++j) y[j] = from[j * step];
          }
        }
      });
}

// Columns first..first + n of all samples' positions, as panels, from an image of `size` floats. Runs
// of neighbours are copied whole: what is copied too much is overwritten by the next.
void pack_windows(const float* x, ptrdiff_t size, int64_t sample, const WindowTables& tables,
                  size_t first, size_t n, float* panels) {
  const size_t positions = tables.bases.size(), k = tables.offsets.size();
  for (size_t j0 = 0; j0 < n; j0 += kPanel, panels += k * kPanel) {
    const size_t filled = std::min(kPanel, n - j0);
    ptrdiff_t base[kPanel] = {};
    size_t starts[kPanel], runs = 0;
    for (size_t j = 0; j < filled; ++j) {
      const size_t at = first + j0 + j;
      base[j] = static_cast<ptrdiff_t>(at / positions) * sample + tables.bases[at % positions];
      if (j == 0 || base[j] != base[j - 1] + 1) starts[runs++] = j;
    }
    constexpr size_t kFewRuns = 4;
    const ptrdiff_t last = base[starts[runs - 1]] + tables.offsets.back();
    const bool whole = runs <= kFewRuns && last + static_cast<ptrdiff_t>(kPanel) <= size;
    for (size_t i = 0; i < k; ++i) {
      float* to = panels + i * kPanel;
      const float* from = x + tables.offsets[i];
      if (whole) {
        for (size_t r = 0; r < runs; ++r)
          memcpy(to + starts[r], from + base[starts[r]], kPanel * sizeof(float));
      } else {
        for (size_t j = 0; j < filled; ++j) to[j] = from[base[j]];
      }
    }
  }
}

void run_product(const Conv& conv, const float* padded, const WindowTables& tables,
                 Machine* machine) {
  const size_t k = tables.offsets.size(), positions = tables.bases.size();
  const auto filters = static_cast<size_t>(conv.filters), groups = static_cast<size_t>(conv.groups);
  const size_t total = static_cast<size_t>(conv.batch) * positions;
  const int64_t plane = elements(conv.window.padded());
  const int64_t sample = conv.groups * conv.channels * plane;
  const size_t group_floats = row_panels(filters) * kTileRows * k;
  std::vector<float> rows = machine->buffers.take(groups * group_floats);
  for (size_t g = 0; g < groups; ++g)
    pack_rows(conv.w + g * filters * k, k, 1, filters, k, rows.data() + g * group_floats);

  constexpr size_t kWidth = kPanel * kTilePanels;
  const size_t block = std::max<size_t>(1, kColumnFloats / k / kWidth) * kWidth;
  const size_t width = std::min(block, (total + kPanel - 1) / kPanel * kPanel);
  const size_t column_floats = width * k + kPanel;
  machine->reserve(column_floats + filters * width);
  const size_t blocks = (total + width - 1) / width;
  machine->parallel.chunks(groups * blocks, 1, [&](size_t chunk, size_t begin, size_t end) {
    float* columns = machine->scratch(chunk);
    float* sums = columns + column_floats;
    for (size_t task = begin; task < end; ++task) {
      const size_t g = task / blocks, first = task % blocks * width;
      const size_t n = std::min(width, total - first);
      const int64_t skipped = static_cast<int64_t>(g) * conv.channels * plane;
      pack_windows(padded + skipped, conv.batch * sample - skipped, sample, tables, first, n,
                   columns);
      for (size_t r = 0; r < filters; ++r)
        std::fill_n(sums + r * width, n, conv.bias ? conv.bias[g * filters + r] : 0.0f);
      multiply(*machine->gemm, rows.data() + g * group_floats, filters, columns, n, k, sums, width);
      for (size_t at = first; at < first + n;) {  // sample by sample
        const size_t from = at % positions, count = std::min(positions - from, first + n - at);
        float* y = conv.y + (at / positions * groups + g) * filters * positions + from;
        for (size_t r = 0; r < filters; ++r)
          memcpy(y + r * positions, sums + r * width + (at - first), count * sizeof(float));
        at += count;
      }
    }
  });
  machine->buffers.give(std::move(rows));
}

}  // namespace

Status run_conv(Call& call) {
  Conv conv;
  QRT_TRY(read_conv(call, &conv));
  const WindowTables tables = window_tables(conv.window, conv.channels);
  Machine& machine = call.machine;
  const bool direct =
      conv.channels == 1 && conv.filters <= kFewFilters && tables.offsets.size() <= kSumBlock;
  if (!direct && !conv.window.has_border()) {
    run_product(conv, conv.x, tables, &machine);
    return Status();
  }
  std::vector<float> padded = padded_planes(
      conv.window, conv.x, conv.batch * conv.groups * conv.channels, 0.0f, &machine.buffers);
  if (direct)
    run_direct(conv, padded.data(), tables, &machine);
  else
    run_product(conv, padded.data(), tables, &machine);
  machine.buffers.give(std::move(padded));
  return Status();
}

}  // namespace qrt::quantize
