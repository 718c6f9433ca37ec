// gemm on AMX: TDPBUSD on tiles of 16 rows by 64 bytes. The packed weights are tile operands as they stand:
// 16 lines of a block of 16 channels are 64 k. A block of outputs is two tiles of rows by two of channels:
//
//                 B0 (tmm6)   B1 (tmm7)          16 lines x 16 channels x 4 k each
//               +-----------+-----------+
//   A0 (tmm4)   |   tmm0    |   tmm1    |        up to 16 rows x 64 k each
//   A1 (tmm5)   |   tmm2    |   tmm3    |
//               +-----------+-----------+
//
// The left side is read where it stands, at any distance from row to row; what does not stand so (borders of an
// image, taps that are no multiple of 64 k) is gathered into a buffer first, once for kGroup channels. Outputs go
// through memory: tile registers have no arithmetic but the products.
//
// Tiles are configured on entry and released before return, so that the thread's register state is small again.
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy512.h"

namespace qrt {
namespace {

constexpr size_t kTileRows = 16, kTileChannels = 16, kTileK = 64, kTileBytes = 1024;
constexpr size_t kBlockChannels = 2 * kTileChannels;
// 64 k each. More of them are multiplied in parts, between which accumulators wait in memory: 3 x 3 taps of 128
// channels are one part, and the buffer of a part stays in the second-level cache beside its weights.
constexpr size_t kSteps = 18;
// Channels that share a gathered part of the left side.
constexpr size_t kGroup = 256;

// The assembly touches memory that the compiler does not see.
#define QRT_TILE_LOAD(tile, p, stride) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(p), "r"(stride) : "memory")
#define QRT_TILE_STORE(tile, p, stride) \
  __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(p), "r"(stride) : "memory")
#define QRT_TILE_DOT(acc, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #acc ::)

// A tile of the left side: its first row, and the bytes to the next.
struct Operand {
  const uint8_t* p;
  ptrdiff_t stride;
};

struct Part {
  size_t begin, steps;  // first k of all taps one after the other, and how many times 64
};

// Left and right side of a product, and what a call knows of them.
struct Product {
  explicit Product(const GemmArgs& args)
      : g(args),
        k(args.taps * args.kc),
        steps((k + kTileK - 1) / kTileK),
        parts((steps + kSteps - 1) / kSteps),
        blocks((args.m + 2 * kTileRows - 1) / (2 * kTileRows)),
        rows((args.m + 2 * blocks - 1) / (2 * blocks)),
        in_place(args.taps == 1 || args.kc % kTileK == 0) {}

  Part part(size_t i) const {
    const size_t first = steps * i / parts;
    return {first * kTileK, steps * (i + 1) / parts - first};
  }
  // Tiles spread the rows evenly; the last ones repeat some rows of those before.
  size_t first_row(size_t tile) const {
    return tile * rows + rows <= g.m ? tile * rows : g.m - rows;
  }

  const GemmArgs& g;
  const size_t k, steps, parts;
  const size_t blocks;  // of two tiles of rows
  const size_t rows;    // of a tile
  const bool in_place;  // every step lies in one tap
};

QRT_INLINE void configure(size_t rows) {
  alignas(64) uint8_t config[64] = {};
  config[0] = 1;  // palette
  for (int tile = 0; tile < 8; ++tile) {
    config[16 + 2 * tile] = 64;                                             // bytes a row
    config[48 + tile] = static_cast<uint8_t>(tile < 6 ? rows : kTileRows);  // rows
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(config) : "memory");
}

QRT_INLINE const uint8_t* row_of_tap(const GemmArgs& g, size_t row, size_t tap) {
  if (g.indirection == nullptr) return g.a + row * g.a_stride + tap * g.a_tap_stride;
  const uint8_t* p = g.indirection[row * g.taps + tap];
  return p == g.zero ? p : p + g.a_offset;
}

QRT_INLINE void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
}

// The rows of a tile from byte `at` of a tap on. False: they are not equally far apart.
QRT_INLINE bool find_in_place(const Product& p, size_t row, size_t tap, size_t at,
                              Operand* result) {
  const GemmArgs& g = p.g;
  const uint8_t* const first = row_of_tap(g, row, tap);
  if (g.indirection == nullptr) {
    *result = {first + at, static_cast<ptrdiff_t>(g.a_stride)};
    return true;
  }
  const uint8_t* last = p.rows > 1 ? row_of_tap(g, row + 1, tap) : first;
  const ptrdiff_t stride = last - first;
  for (size_t i = 2; i < p.rows; ++i) {
    const uint8_t* const next = row_of_tap(g, row + i, tap);
    if (next - last != stride) return false;
    last = next;
  }
  *result = {first + at, stride};
  return true;
}

// The operands of one tile of rows for every step of a part; `buffer` holds kTileRows rows of the part, kPitch apart.
constexpr size_t kPitch = kSteps * kTileK + 64;  // not a multiple of 4096

void find_lhs(const Product& p, size_t row, const Part& part, uint8_t* buffer, Operand* operands) {
  const GemmArgs& g = p.g;
  if (p.in_place) {
    size_t tap = part.begin / g.kc, at = part.begin - tap * g.kc;
    for (size_t step = 0; step < part.steps;) {
      const size_t left = part.steps - step, of_tap = (g.kc - at + kTileK - 1) / kTileK;
      const size_t n = of_tap < left ? of_tap : left;
      Operand operand;
      if (!find_in_place(p, row, tap, at, &operand)) {
        operand = {buffer + step * kTileK, static_cast<ptrdiff_t>(kPitch)};
        for (size_t i = 0; i < p.rows; ++i)
          copy_bytes(buffer + i * kPitch + step * kTileK, row_of_tap(g, row + i, tap) + at,
                     n * kTileK);
      }
      for (size_t i = 0; i < n; ++i, ++step, operand.p += kTileK) operands[step] = operand;
      ++tap, at = 0;
    }
    return;
  }
  // Taps one after the other. A copy may write up to 60 bytes too many, which the next one mends.
  const size_t bytes =
      p.k - part.begin < part.steps * kTileK ? p.k - part.begin : part.steps * kTileK;
  for (size_t i = 0; i < p.rows; ++i) {
    uint8_t* to = buffer + i * kPitch;
    size_t tap = part.begin / g.kc, at = part.begin - tap * g.kc;
    for (size_t done = 0; done < bytes; ++tap, at = 0) {
      const size_t left = bytes - done, n = g.kc - at < left ? g.kc - at : left;
      copy_bytes(to + done, row_of_tap(g, row + i, tap) + at, n);
      done += n;
    }
  }
  for (size_t step = 0; step < part.steps; ++step)
    operands[step] = {buffer + step * kTileK, static_cast<ptrdiff_t>(kPitch)};
}

// The last, incomplete step's weights of a block of 16 channels, with zeros behind them.
QRT_INLINE void pad_weights(const int8_t* weights, size_t lines, int8_t* to) {
  for (size_t i = 0; i < 16; ++i) {
    const __m512i line = i < lines ? _mm512_loadu_si512(weights + i * 64) : _mm512_setzero_si512();
    _mm512_storeu_si512(to + i * 64, line);
  }
}

// Accumulators of two tiles of rows by two of channels, int32.
struct Sums {
  static constexpr size_t kPitchBytes = kBlockChannels * sizeof(int32_t);
  alignas(64) int32_t rows[2 * kTileRows][kBlockChannels];
};

// Where the accumulators of two tiles of rows stand, or are to stand.
struct Place {
  int32_t* upper;
  int32_t* lower;
  size_t pitch;  // bytes
};

// Adds the products of a part to the accumulators, which start from `start` (one row) or from what stands at `sums`;
// kTiles: of channels.
template <int kTiles>
QRT_INLINE void multiply(const Product& p, const Part& part, const Operand (&lhs)[2][kSteps],
                         const int8_t* weights, const int8_t (*padded)[kTileBytes],
                         const int32_t* start, const Place& sums, const Place& results) {
  if (start != nullptr) {
    const size_t same = 0;  // every row
    QRT_TILE_LOAD(0, start, same);
    QRT_TILE_LOAD(2, start, same);
    if constexpr (kTiles == 2) {
      QRT_TILE_LOAD(1, start + kTileChannels, same);
      QRT_TILE_LOAD(3, start + kTileChannels, same);
    }
  } else {
    QRT_TILE_LOAD(0, sums.upper, sums.pitch);
    QRT_TILE_LOAD(2, sums.lower, sums.pitch);
    if constexpr (kTiles == 2) {
      QRT_TILE_LOAD(1, sums.upper + kTileChannels, sums.pitch);
      QRT_TILE_LOAD(3, sums.lower + kTileChannels, sums.pitch);
    }
  }
  const size_t line = 64, block_bytes = p.k * kBlock;
  const int8_t* w = weights + part.begin * kBlock;
  const bool ends = part.begin + part.steps * kTileK > p.k;
  for (size_t step = 0; step < part.steps; ++step, w += kTileBytes) {
    const bool pads = ends && step + 1 == part.steps;
    const int8_t* const b0 = pads ? padded[0] : w;
    QRT_TILE_LOAD(4, lhs[0][step].p, lhs[0][step].stride);
    QRT_TILE_LOAD(6, b0, line);
    QRT_TILE_DOT(0, 4, 6);
    QRT_TILE_LOAD(5, lhs[1][step].p, lhs[1][step].stride);
    QRT_TILE_DOT(2, 5, 6);
    if constexpr (kTiles == 2) {
      const int8_t* const b1 = pads ? padded[1] : w + block_bytes;
      QRT_TILE_LOAD(7, b1, line);
      QRT_TILE_DOT(1, 4, 7);
      QRT_TILE_DOT(3, 5, 7);
    }
  }
  QRT_TILE_STORE(0, results.upper, results.pitch);
  QRT_TILE_STORE(2, results.lower, results.pitch);
  if constexpr (kTiles == 2) {
    QRT_TILE_STORE(1, results.upper + kTileChannels, results.pitch);
    QRT_TILE_STORE(3, results.lower + kTileChannels, results.pitch);
  }
}

template <int kTiles, int kRows>
QRT_INLINE void store_some(const Avx512Vnni::Store<kTiles>& store, const int32_t* sums, uint8_t* c,
                           size_t c_stride) {
  __m512i acc[kRows][kTiles];
  QRT_UNROLL
  for (int i = 0; i < kRows; ++i) {
    QRT_UNROLL
    for (int v = 0; v < kTiles; ++v) acc[i][v] = _mm512_load_si512(sums + i * 32 + v * 16);
  }
  store.rows(acc, c, c_stride);
}

// Rows of accumulators to outputs in registers, four at a time; the last ones repeat some of those before.
template <int kTiles>
QRT_INLINE void store_rows(const Avx512Vnni::Store<kTiles>& store, const int32_t* sums, size_t rows,
                           uint8_t* c, size_t c_stride) {
  if (rows < 4) {
    for (size_t i = 0; i < rows; ++i)
      store_some<kTiles, 1>(store, sums + i * kBlockChannels, c + i * c_stride, c_stride);
    return;
  }
  for (size_t i = 0; i < rows; i += 4) {
    const size_t row = i + 4 <= rows ? i : rows - 4;
    store_some<kTiles, 4>(store, sums + row * kBlockChannels, c + row * c_stride, c_stride);
  }
}

template <int kTiles>
QRT_INLINE void store(const Product& p, const Output<Avx512Vnni>& output, size_t channel,
                      size_t columns, size_t block, Sums* sums) {
  const GemmArgs& g = p.g;
  const auto* const epilogue = output.in_registers();
  typename Avx512Vnni::Store<kTiles> registers;
  if (epilogue != nullptr) registers.set(*epilogue, channel, columns);
  for (size_t tile = 0; tile < 2; ++tile) {
    int32_t* const from = sums->rows[tile * p.rows];
    uint8_t* const c = static_cast<uint8_t*>(g.c) + p.first_row(2 * block + tile) * g.c_stride;
    if (epilogue != nullptr) {
      store_rows<kTiles>(registers, from, p.rows, c + channel, g.c_stride);
    } else {
      store_memory<Avx512Vnni>(g, output, channel, from, p.rows, kBlockChannels, columns, c);
    }
  }
}

QRT_INLINE Place place_in_output(const Product& p, size_t block, size_t channel) {
  const GemmArgs& g = p.g;
  uint8_t* const c = static_cast<uint8_t*>(g.c) + channel * sizeof(int32_t);
  return {reinterpret_cast<int32_t*>(c + p.first_row(2 * block) * g.c_stride),
          reinterpret_cast<int32_t*>(c + p.first_row(2 * block + 1) * g.c_stride), g.c_stride};
}

// Two tiles of rows against channels [begin, end), at most kGroup of them.
void run_block(const Product& p, const Output<Avx512Vnni>& output, size_t block, size_t begin,
               size_t end, uint8_t (*buffer)[kTileRows * kPitch], Sums* sums,
               Operand (&lhs)[2][kSteps], bool finds) {
  const GemmArgs& g = p.g;
  const size_t block_bytes = p.k * kBlock;
  const auto* const epilogue = output.in_registers();
  for (size_t i = 0; i < p.parts; ++i) {
    const Part part = p.part(i);
    const bool is_last = i + 1 == p.parts;
    if (finds || p.parts > 1)
      for (size_t tile = 0; tile < 2; ++tile)
        find_lhs(p, p.first_row(2 * block + tile), part, buffer[tile], lhs[tile]);
    for (size_t j = begin; j < end; j += kBlockChannels) {
      Sums* const s = p.parts == 1 ? sums : sums + (j - begin) / kBlockChannels;
      const int8_t* const weights = g.weights + j / kBlock * block_bytes;
      const bool is_pair = j + kTileChannels < end;
      alignas(64) int8_t padded[2][kTileBytes];
      if (is_last && p.k % kTileK != 0) {
        const size_t last = p.k / kTileK * kTileK, lines = (p.k - last) / 4;
        pad_weights(weights + last * kBlock, lines, padded[0]);
        if (is_pair) pad_weights(weights + last * kBlock + block_bytes, lines, padded[1]);
      }
      alignas(64) int32_t start[kBlockChannels];
      if (i == 0) {
        for (size_t v = 0; v < kBlockChannels; v += kTileChannels) {
          const __m512i bias = _mm512_loadu_si512(g.bias + j + v);
          _mm512_store_si512(start + v, epilogue != nullptr ? epilogue->start(bias) : bias);
        }
      }
      const int32_t* const from = i == 0 ? start : nullptr;
      const size_t columns = end - j < kBlockChannels ? end - j : kBlockChannels;
      const Place waiting = {s->rows[0], s->rows[p.rows], Sums::kPitchBytes};
      // Whole tiles of sums that are the output need no copy.
      const bool is_output = is_last && g.requant.kind == RequantKind::kAcc &&
                             columns == (is_pair ? 2 : 1) * kTileChannels;
      const Place results = is_output ? place_in_output(p, block, j) : waiting;
      if (is_pair) {
        multiply<2>(p, part, lhs, weights, padded, from, waiting, results);
        if (is_last && !is_output) store<2>(p, output, j, columns, block, s);
      } else {
        multiply<1>(p, part, lhs, weights, padded, from, waiting, results);
        if (is_last && !is_output) store<1>(p, output, j, columns, block, s);
      }
    }
  }
}

}  // namespace

void gemm_u8s8_32x32_k64_amx(const GemmArgs& args) {
  const Product p(args);
  const Output<Avx512Vnni> output(args);
  alignas(64) uint8_t buffer[2][kTileRows * kPitch];
  alignas(64) Sums sums[kGroup / kBlockChannels];
  Operand lhs[2][kSteps];
  configure(p.rows);
  for (size_t block = 0; block < p.blocks; ++block) {
    for (size_t j = 0; j < args.n; j += kGroup) {
      run_block(p, output, block, j, args.n - j < kGroup ? args.n : j + kGroup, buffer, sums, lhs,
                j == 0);
    }
  }
  __asm__ volatile("tilerelease" ::);
}

}  // namespace qrt
