// Winograd's convolution on AVX2. Its products are of int16, which VPMADDWD multiplies without the
// widening that bytes need: nothing is paid for exactness that the gemm family would not pay.
#include "kernels/gemm/policy256.h"
#include "kernels/isa/multiply_add_avx2.h"
#include "kernels/winograd/scratch.h"

namespace qrt {
namespace {

// gemm_tile.h on int16: a step is two of them from each side, as many bytes as four int8.
struct Pairs : Policy256 {
  static constexpr int kPhases = 1;
  static constexpr int kLhsBytes = 1;

  QRT_INLINE Rhs load_rhs(const int8_t* p, int) { return load(p); }
  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) { multiply_add(acc, a, b); }
};

constexpr int kTileRows = 6, kVectors = 2;
constexpr size_t kPanel = 16;

// B' of winograd.h times six vectors of int16.
QRT_INLINE void transform_pixels(const __m256i (&d)[6], __m256i (&f)[6]) {
  const auto times_4 = [](__m256i v) QRT_INLINE_LAMBDA { return _mm256_slli_epi16(v, 2); };
  const __m256i even = _mm256_sub_epi16(d[4], times_4(d[2]));
  const __m256i odd = _mm256_sub_epi16(d[3], times_4(d[1]));
  const __m256i outer = _mm256_sub_epi16(d[4], d[2]);
  const __m256i half = _mm256_sub_epi16(d[3], d[1]), inner = _mm256_add_epi16(half, half);
  f[0] = _mm256_add_epi16(times_4(_mm256_sub_epi16(d[0], d[2])), outer);
  f[1] = _mm256_add_epi16(even, odd);
  f[2] = _mm256_sub_epi16(even, odd);
  f[3] = _mm256_add_epi16(outer, inner);
  f[4] = _mm256_sub_epi16(outer, inner);
  f[5] = _mm256_sub_epi16(_mm256_sub_epi16(d[5], d[3]), _mm256_add_epi16(inner, inner));
}

// A' of winograd.h times six vectors of int32.
QRT_INLINE void transform_sums(const __m256i (&m)[6], __m256i (&y)[4]) {
  const auto times = [](__m256i v, int log2)
                         QRT_INLINE_LAMBDA { return _mm256_slli_epi32(v, log2); };
  const __m256i a = _mm256_add_epi32(m[1], m[2]), b = _mm256_sub_epi32(m[1], m[2]);
  const __m256i c = _mm256_add_epi32(m[3], m[4]), d = _mm256_sub_epi32(m[3], m[4]);
  const __m256i last = _mm256_add_epi32(m[5], times(m[5], 1));
  y[0] = _mm256_add_epi32(_mm256_add_epi32(c, times(m[0], 1)), times(_mm256_add_epi32(m[0], a), 2));
  y[1] = times(_mm256_add_epi32(times(b, 1), d), 1);
  y[2] = times(_mm256_add_epi32(a, c), 2);
  y[3] = times(_mm256_add_epi32(b, times(_mm256_add_epi32(d, last), 1)), 2);
}

// acc of the 576 * acc or 24 * acc that transform_sums() leaves in two directions or one.
template <int kRows>
QRT_INLINE __m256i exact_acc(__m256i v) {
  // 9 * 0x38e38e39 = 3 * 0xaaaaaaab = 1 modulo 2^32
  const auto inverse = static_cast<int32_t>(kRows == 6 ? 0x38e38e39 : 0xaaaaaaab);
  return _mm256_srai_epi32(_mm256_mullo_epi32(v, _mm256_set1_epi32(inverse)), kRows == 6 ? 6 : 3);
}

struct Block {
  const WinogradArgs* args;
  size_t tiles;
  uint8_t *pixels, *sums, *tile;  // of the scratch memory
  size_t pixel_stride, sum_stride;
};

struct TilePlace {
  size_t image, y, x;  // of its first output
};

QRT_INLINE size_t first_output(size_t number, size_t out, size_t dilation, size_t tile) {
  const size_t phases = out < dilation ? out : dilation;
  return number / phases * dilation * tile + number % phases;
}

QRT_INLINE TilePlace place_of(const WinogradShape& s, size_t number) {
  const size_t tiles = s.tiles(), in_image = number % tiles;
  return {number / tiles, first_output(in_image / s.tiles_w(), s.out_h, s.dilation_h, s.tile_h()),
          first_output(in_image % s.tiles_w(), s.out_w, s.dilation_w, kWinogradTile)};
}

// Outputs of a tile from `first` on: none where the last places of a dilation are not filled.
QRT_INLINE size_t outputs_from(size_t first, size_t out, size_t dilation, size_t tile) {
  const size_t left = first < out ? (out - first + dilation - 1) / dilation : 0;
  return left < tile ? left : tile;
}

QRT_INLINE __m256i load_pixels(const uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

// The pixels of tile number `i` of the block, transformed. kRows: 6, or 1 of a kernel of one row.
template <int kRows>
void fill_pixels(const Block& block, size_t i) {
  const WinogradArgs& args = *block.args;
  const WinogradShape& s = args.shape;
  const TilePlace place = place_of(s, args.tile_begin + i);
  const uint8_t* pixel[kRows][6];
  for (size_t r = 0; r < kRows; ++r) {
    // What lies before the image wraps around to beyond its size.
    const size_t y = place.y + r * s.dilation_h - s.pad_top;
    for (size_t c = 0; c < 6; ++c) {
      const size_t x = place.x + c * s.dilation_w - s.pad_left;
      pixel[r][c] = y < s.in_h && x < s.in_w
                        ? args.x + ((place.image * s.in_h + y) * s.in_w + x) * args.x_pitch
                        : args.zero;
    }
  }
  __m256i* const tile = reinterpret_cast<__m256i*>(block.tile);
  const size_t channels = winograd_channels(s);
  uint8_t* out = block.pixels + i * channels * sizeof(int16_t);
  for (size_t k = 0; k < channels; k += 16, out += 32) {
    for (size_t c = 0; c < 6 && kRows == 6; ++c) {
      __m256i d[6], f[6];
      QRT_UNROLL
      for (int r = 0; r < kRows; ++r) d[r] = load_pixels(pixel[r][c] + k);
      transform_pixels(d, f);
      QRT_UNROLL
      for (int r = 0; r < 6; ++r) _mm256_store_si256(tile + r * 6 + static_cast<int>(c), f[r]);
    }
    uint8_t* to = out;
    for (size_t r = 0; r < kRows; ++r) {
      __m256i d[6], f[6];
      QRT_UNROLL
      for (int c = 0; c < 6; ++c) {
        d[c] = kRows == 6 ? _mm256_load_si256(tile + r * 6 + static_cast<size_t>(c))
                          : load_pixels(pixel[r][c] + k);
      }
      transform_pixels(d, f);
      QRT_UNROLL
      for (int c = 0; c < 6; ++c, to += block.pixel_stride)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), f[c]);
    }
  }
}

// How 16 channels become outputs.
struct Panel {
  const GemmArgs* outputs;
  const Output<Pairs>* output;
  size_t channel, columns;
  Pairs::Store<kVectors> store;  // where they do so in registers
};

// The sums of the panel's channels, which begin in column `column` of the chunk, of tile number `i`
// of the block, to outputs.
template <int kRows>
void store_tile(const Block& block, const Panel& panel, size_t i, size_t column) {
  const WinogradArgs& args = *block.args;
  const WinogradShape& s = args.shape;
  __m256i* const tile = reinterpret_cast<__m256i*>(block.tile);
  const uint8_t* const sums = block.sums + (i * kWinogradColumns + column) * sizeof(int32_t);
  for (size_t v = 0; v < kVectors && kRows == 6; ++v) {
    for (size_t c = 0; c < 6; ++c) {
      __m256i m[6], y[4];
      QRT_UNROLL
      for (int r = 0; r < 6; ++r) {
        m[r] = Pairs::load(sums + (static_cast<size_t>(r) * 6 + c) * block.sum_stride + v * 32);
      }
      transform_sums(m, y);
      QRT_UNROLL
      for (int r = 0; r < 4; ++r)
        _mm256_store_si256(tile + (static_cast<size_t>(r) * 6 + c) * kVectors + v, y[r]);
    }
  }
  const TilePlace place = place_of(s, args.tile_begin + i);
  const size_t rows = outputs_from(place.y, s.out_h, s.dilation_h, s.tile_h());
  const size_t pixels = outputs_from(place.x, s.out_w, s.dilation_w, kWinogradTile);
  if (pixels == 0) return;
  const size_t channel = panel.channel, pitch = panel.outputs->c_stride;
  const Pairs::Epilogue* const epilogue = panel.output->in_registers();
  uint8_t* y = args.y + ((place.image * s.out_h + place.y) * s.out_w + place.x) * args.y_pitch;
  for (size_t r = 0; r < rows; ++r, y += s.dilation_h * s.out_w * args.y_pitch) {
    __m256i acc[4][kVectors];
    QRT_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      __m256i bias = Pairs::load_acc(args.bias + channel + static_cast<size_t>(v) * 8);
      if (epilogue != nullptr) bias = epilogue->start(bias);
      __m256i m[6], out[4];
      QRT_UNROLL
      for (int c = 0; c < 6; ++c) {
        const size_t at = static_cast<size_t>(c);
        m[c] = kRows == 6
                   ? _mm256_load_si256(tile + (r * 6 + at) * kVectors + static_cast<size_t>(v))
                   : Pairs::load(sums + at * block.sum_stride + static_cast<size_t>(v) * 32);
      }
      transform_sums(m, out);
      QRT_UNROLL
      for (int p = 0; p < 4; ++p) acc[p][v] = _mm256_add_epi32(exact_acc<kRows>(out[p]), bias);
    }
    if (epilogue != nullptr && pixels == 4) {
      panel.store.rows(acc, y + channel, pitch);
    } else {
      store_through_memory<Pairs, 4, kVectors>(*panel.outputs, *panel.output, channel,
                                               panel.columns, acc, y, pixels);
    }
  }
}

template <int kRows>
void run_block(const WinogradArgs& args) {
  const avx2::RoundDown down(args.requant);
  alignas(64) static constexpr int32_t kNoBias[kWinogradColumns] = {};
  const WinogradShape& s = args.shape;
  Block block;
  block.args = &args;
  block.tiles = args.tile_end - args.tile_begin;
  block.pixel_stride = winograd_pixel_stride(s, block.tiles);
  block.sum_stride = winograd_sum_stride(block.tiles);
  block.tile = args.scratch;
  block.pixels = block.tile + kWinogradTileBytes;
  block.sums = block.pixels + s.positions() * block.pixel_stride;
  for (size_t i = 0; i < block.tiles; ++i) fill_pixels<kRows>(block, i);

  GemmArgs product = {};  // of one position
  product.m = block.tiles;
  product.taps = 1;
  product.kc = s.kc() * sizeof(int16_t);
  product.a_stride = winograd_channels(s) * sizeof(int16_t);
  product.bias = kNoBias;
  product.requant.kind = RequantKind::kAcc;
  product.c_stride = kWinogradColumns * sizeof(int32_t);
  const Output<Pairs> sums(product);
  GemmArgs outputs = {};
  outputs.n = s.out_c;
  outputs.requant = args.requant;
  outputs.bias = args.bias;
  outputs.c_stride = s.dilation_w * args.y_pitch;  // from output to output of a tile
  const Output<Pairs> output(outputs);

  const size_t all = (s.out_c + kPanel - 1) / kPanel * kPanel, position_bytes = all * product.kc;
  for (size_t first = 0; first < s.out_c; first += kWinogradColumns) {
    product.n = all - first < kWinogradColumns ? all - first : kWinogradColumns;
    product.weights = reinterpret_cast<const int8_t*>(args.weights) + first * product.kc;
    for (size_t p = 0; p < s.positions(); ++p, product.weights += position_bytes) {
      product.a = block.pixels + p * block.pixel_stride;
      product.c = block.sums + p * block.sum_stride;
      run_rows<Pairs, kTileRows, kVectors>(product, 0, product.m, sums);
    }
    for (size_t column = 0; column < product.n; column += kPanel) {
      const size_t channel = first + column, left = s.out_c - channel;
      Panel panel = {&outputs, &output, channel, left < kPanel ? left : kPanel, {}};
      if (const auto* epilogue = output.in_registers())
        panel.store.set(*epilogue, channel, panel.columns);
      for (size_t i = 0; i < block.tiles; ++i) store_tile<kRows>(block, panel, i, column);
    }
  }
}

}  // namespace

void winograd_u8s8_4x4_avx2(const WinogradArgs& args) { run_block<6>(args); }

void winograd_u8s8_1x4_avx2(const WinogradArgs& args) { run_block<1>(args); }

}  // namespace qrt
