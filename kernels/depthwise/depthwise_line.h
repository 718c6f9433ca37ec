// Kernels of one row and up to three taps on images of one row, as of convolutions over time: inputs
// a dilation apart are the four rows of a quad, which then holds all taps of two outputs, a dilation
// apart too. V: a policy of depthwise_tile.h with kHolds. Included by kernel files only: everything
// has internal linkage.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_LINE_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_LINE_H_

#include "kernels/depthwise/depthwise_slide.h"

namespace qrt {
namespace {

template <class V>
constexpr bool has_lines() {
  return V::kHolds && V::kBands == 1 && V::kTile.group_rows == 4;
}

// Of n channels: registers that are stored whole take whole blocks.
template <class V>
bool is_line(const DepthwiseShape& s, size_t n) {
  return (!V::kStoresWhole || n == 16 * V::kTile.lanes) && s.in_h == 1 && s.out_h == 1 &&
         s.kernel_h == 1 && s.pad_top == 0 && (s.kernel_w == 2 || s.kernel_w == 3) &&
         s.stride_w == 1 && s.multiplier == 1;
}

// Over the weights of prepare(): of each quad all taps, and behind these the same for the output one
// dilation later.
template <class V>
QRT_INLINE void prepare_line(const Block& b) {
  constexpr size_t kCell = V::kTile.quad_bytes;
  using Cell = typename Quads<V>::Unsigned;
  uint8_t* const weights = b.args.scratch + b.plan.weights_offset;
  for (size_t q = 0; q < 4; ++q) {
    Cell taps = {};
    for (size_t kx = 0; kx < b.args.shape.kernel_w; ++kx) {
      Cell one;  // in its lowest byte
      memcpy(&one, weights + (kx * 4 + q) * kCell, kCell);
      taps |= one << static_cast<uint32_t>(8 * kx);
    }
    memcpy(weights + q * kCell, &taps, kCell);
    taps <<= 8;
    memcpy(weights + (4 + q) * kCell, &taps, kCell);
  }
}

// Outputs at `out` and `later`, `count` of each: of the same place the first stays.
template <class V, Store kStore>
QRT_INLINE void compute_run(const Block& b, const Loop& loop, const Held<V, kStore>& held,
                            const typename V::Finish& finish, SourceRow<V> (&from)[4], size_t count,
                            uint8_t* out, uint8_t* later, size_t out_step) {
  constexpr size_t kCell = V::kTile.quad_bytes, kHalf = 8 * V::kTile.lanes;  // of an output
  for (; count > 0; --count) {
    typename V::Row row[4];
    unroll<4>([&](auto r) QRT_INLINE_LAMBDA {
      row[r] = V::load_row(from[r].p);
      from[r].p[0] += from[r].step[0];
    });
    typename V::Data data[4];
    V::interleave(row, data);
    unroll<2>([&](auto i) QRT_INLINE_LAMBDA {
      typename V::Acc acc[4];
      const uint8_t* weights = opaque(loop.weights);
      unroll<4>([&](auto q) QRT_INLINE_LAMBDA {
        acc[q] = held.start(q);
        V::dot(acc[q], data[q], weights + ((1 - i) * 4 + q) * kCell);
      });
      finish.template store<kStore>(acc, held.constants(), i == 0 ? later : out, kHalf, 1);
    });
    out += out_step;
    later += out_step;
  }
}

template <class V, Store kStore>
QRT_NOINLINE void compute_line(const Block& b, const Loop& shared) {
  const Loop loop = shared;
  const DepthwiseShape& s = b.args.shape;
  const typename V::Finish finish(b.args.requant, b.n);
  const Held<V, kStore> held(loop);
  const ptrdiff_t in_w = static_cast<ptrdiff_t>(s.in_w), out_w = static_cast<ptrdiff_t>(s.out_w);
  const ptrdiff_t dilation = static_cast<ptrdiff_t>(s.dilation_w);
  const ptrdiff_t pad = static_cast<ptrdiff_t>(s.pad_left);
  // Outputs first, first + step, ...: all up to the next dilation, or, where that are few, those of
  // one place in it.
  const bool is_near = dilation < 8;
  const ptrdiff_t step = is_near ? 2 * dilation : 1;
  const ptrdiff_t first_end = is_near && dilation < out_w ? dilation : out_w;
  for (ptrdiff_t first = 0; first < first_end; first += is_near ? 1 : 2 * dilation) {
    const ptrdiff_t end = is_near || out_w - first < dilation ? out_w : first + dilation;
    for (ptrdiff_t x = first; x < end;) {
      // As many as have the same inputs outside the image.
      ptrdiff_t until = end;
      const auto limit = [&](ptrdiff_t at) { until = at > x && at < until ? at : until; };
      SourceRow<V> from[4];
      for (ptrdiff_t r = 0; r < 4; ++r) {
        const ptrdiff_t ix = x + r * dilation - pad;
        const bool inside = ix >= 0 && ix < in_w;
        from[r].p[0] =
            b.c + (inside ? b.args.input + ix * static_cast<ptrdiff_t>(s.in_c) : b.args.zero);
        from[r].step[0] = inside ? static_cast<size_t>(step) * s.in_c : 0;
        limit(x - ix);
        limit(x - ix + in_w);
      }
      limit(out_w - dilation);
      uint8_t* const out = b.args.output + static_cast<size_t>(x) * b.channels + b.c;
      uint8_t* const later =
          x + dilation < out_w ? out + static_cast<size_t>(dilation) * b.channels : out;
      const ptrdiff_t count = (until - x + step - 1) / step;
      compute_run<V, kStore>(b, loop, held, finish, from, static_cast<size_t>(count), out, later,
                             static_cast<size_t>(step) * b.channels);
      x += count * step;
    }
  }
}

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_LINE_H_
