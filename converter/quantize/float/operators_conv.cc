// SPDX-License-Identifier: Apache-2.0
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
  if (x[0] * x[1] > call.machine.limits.value / padded)
    return call.beyond(static_cast<double>(call.machine.limits.value), "elements",
                       "an input of shape %s with its border", to_string(x).c_str());
  Tensor* y;
  QRT_TRY(call.make(shape, &y, call.in(1).size() / w[0]));
  conv->x = call.in(0).reals.data();
  conv->w = call.in(1).reals.data();
  conv->bias = call.has(2) ? call.in(2).reals.data() : nullptr;
  conv->y = y->reals.data();
  return Status();
}

// Computes each plane of the result as a sum of shifted planes. They are summed over whole rows of the
// padded plane, with a step of 1 along the last dimension; positions at which no window starts are left out.
void run_direct(const Conv& conv, const WindowTables& tables, Machine* machine) {
  const Window& window = conv.window;
  const PlanePadder padder(window);
  const int64_t own = elements(window.input), positions = elements(window.output);
  const int64_t width = window.output.back(), step = window.stride.back();
  const auto rows = static_cast<size_t>(positions / width);
  const int64_t across = (width - 1) * step + 1;
  const auto taps = static_cast<size_t>(window.taps());
  // Joins rows that are contiguous into one.
  const int64_t reach = tables.bases.back() + 1;
  const bool joined = rows > 1 && step == 1 && reach < 2 * across * static_cast<int64_t>(rows);
  const int64_t run = joined ? reach : across;
  machine->reserve(padder.floats() + static_cast<size_t>(run) + 4 * kPanel);
  const int64_t filters = conv.filters * conv.groups;
  machine->parallel.chunks(
      static_cast<size_t>(conv.batch * filters), 1, [&](size_t chunk, size_t begin, size_t end) {
        float* x = machine->scratch(chunk);
        float* sums = x + padder.floats();
        std::fill_n(x, padder.floats(), 0.0f);
        int64_t plane = -1;  // that lies in x
        for (size_t i = begin; i < end; ++i) {
          const auto n = static_cast<int64_t>(i) / filters, m = static_cast<int64_t>(i) % filters;
          const int64_t wanted = n * conv.groups + m / conv.filters;
          if (wanted != plane) padder.put(conv.x + wanted * own, x);
          plane = wanted;
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
            if (step == 1) {
              memcpy(y, from, static_cast<size_t>(width) * sizeof(float));
            } else {
              for (int64_t j = 0; j < width; ++j) y[j] = from[j * step];
            }
          }
        }
      });
}

// The place of a panel's columns in the image: runs of neighbours.
struct Panel {
  size_t filled, runs;
  bool whole;  // each run may be copied as kPanel floats
  size_t starts[kPanel];
  ptrdiff_t base[kPanel];
};

// Columns first..first + n of all samples' positions, as panels, from an image of `size` floats. Runs
// of neighbours are copied whole: what is copied too much is overwritten by the next, which in the last
// line there is none to do.
void pack_windows(const float* x, ptrdiff_t size, int64_t sample, const WindowTables& tables,
                  size_t first, size_t n, std::vector<Panel>* panels, float* columns) {
  constexpr size_t kFewRuns = 4;
  const size_t positions = tables.bases.size(), k = tables.offsets.size();
  panels->resize((n + kPanel - 1) / kPanel);
  for (size_t p = 0; p < panels->size(); ++p) {
    Panel& panel = (*panels)[p];
    panel.filled = std::min(kPanel, n - p * kPanel);
    panel.runs = 0;
    for (size_t j = 0; j < panel.filled; ++j) {
      const size_t at = first + p * kPanel + j;
      panel.base[j] =
          static_cast<ptrdiff_t>(at / positions) * sample + tables.bases[at % positions];
      if (j == 0 || panel.base[j] != panel.base[j - 1] + 1) panel.starts[panel.runs++] = j;
    }
    const ptrdiff_t last = panel.base[panel.starts[panel.runs - 1]] + tables.offsets.back();
    panel.whole = panel.runs <= kFewRuns && last + static_cast<ptrdiff_t>(kPanel) <= size;
  }
  for (size_t i = 0; i < k; ++i) {
    const float* from = x + tables.offsets[i];
    float* to = columns + i * kPanel;
    for (const Panel& panel : *panels) {
      if (panel.whole && (panel.runs == 1 || i + 1 < k)) {
        for (size_t r = 0; r < panel.runs; ++r)
          memcpy(to + panel.starts[r], from + panel.base[panel.starts[r]], kPanel * sizeof(float));
      } else {
        for (size_t j = 0; j < panel.filled; ++j) to[j] = from[panel.base[j]];
      }
      to += k * kPanel;
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

  // Positions of one sample lie as the result has them. Small images go together, and their sums are
  // laid out in the end.
  constexpr size_t kWidth = kPanel * kTilePanels;
  const bool alone = positions >= kWidth || conv.batch == 1;
  std::vector<float> start(filters * groups);
  if (conv.bias) std::copy_n(conv.bias, start.size(), start.data());
  const size_t line = alone ? positions : total;  // of columns
  const size_t block = std::max<size_t>(1, kColumnFloats / k / kWidth) * kWidth;
  const size_t width = std::min(block, (line + kPanel - 1) / kPanel * kPanel);
  const size_t column_floats = width * k + kPanel;
  machine->reserve(column_floats + (alone ? 0 : filters * width));
  std::vector<std::vector<Panel>> panels(machine->parallel.threads,
                                         std::vector<Panel>(width / kPanel));
  const size_t blocks = (line + width - 1) / width;
  machine->parallel.chunks(
      groups * total / line * blocks, 1, [&](size_t chunk, size_t begin, size_t end) {
        float* columns = machine->scratch(chunk);
        for (size_t task = begin; task < end; ++task) {
          const size_t g = task / blocks % groups, n0 = task / blocks / groups;
          const size_t first = n0 * line + task % blocks * width;
          const size_t n = std::min(width, (n0 + 1) * line - first);
          const int64_t skipped = static_cast<int64_t>(g) * conv.channels * plane;
          pack_windows(padded + skipped, conv.batch * sample - skipped, sample, tables, first, n,
                       &panels[chunk], columns);
          float* sums = columns + column_floats;
          size_t step = width;
          if (alone) {
            sums = conv.y + (n0 * groups + g) * filters * positions + first % positions;
            step = positions;
          }
          multiply(*machine->gemm, rows.data() + g * group_floats, filters, columns, n, k,
                   start.data() + g * filters, sums, step);
          for (size_t at = first; !alone && at < first + n;) {  // sample by sample
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
  if (direct) {
    run_direct(conv, tables, &machine);
    return Status();
  }
  if (!conv.window.has_border()) {
    run_product(conv, conv.x, tables, &machine);
    return Status();
  }
  std::vector<float> padded = padded_planes(
      conv.window, conv.x, conv.batch * conv.groups * conv.channels, 0.0f, &machine.buffers);
  run_product(conv, padded.data(), tables, &machine);
  machine.buffers.give(std::move(padded));
  return Status();
}

}  // namespace qrt::quantize
