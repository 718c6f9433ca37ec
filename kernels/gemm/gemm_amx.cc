// SPDX-License-Identifier: Apache-2.0
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
// through memory: tile registers have no arithmetic but the products. A block's sums become outputs while the tiles
// multiply the next block: the vector units have nothing else to do, and no core looks far enough ahead to find that
// work by itself.
//
// Tiles are configured on entry and released before return, so that the thread's register state is small again.
#include "kernels/gemm/amx_left.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy512.h"

namespace qrt {
namespace {

// Channels that share a gathered part of the left side.
constexpr size_t kGroup = 256;
// Weights beyond this do not stay in the second-level cache from one block of rows to the next.
constexpr size_t kCachedWeights = 1024 * 1024;

// The assembly touches memory that the compiler does not see.
#define QRT_TILE_LOAD(tile, p, stride) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(p), "r"(stride) : "memory")
#define QRT_TILE_STORE(tile, p, stride) \
  __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(p), "r"(stride) : "memory")
#define QRT_TILE_DOT(acc, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #acc ::)

QRT_INLINE void configure(size_t rows) {
  alignas(64) uint8_t config[64] = {};
  config[0] = 1;  // palette
  for (int tile = 0; tile < 8; ++tile) {
    config[16 + 2 * tile] = 64;                                             // bytes a row
    config[48 + tile] = static_cast<uint8_t>(tile < 6 ? rows : kTileRows);  // rows
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(config) : "memory");
}

// Copies the weights of the last, incomplete step of a block of 16 channels, with zeros behind them.
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

// A block's sums on their way to the outputs, in pieces of four rows.
class Pending {
 public:
  Pending(const Product& p, const Output<Avx512Vnni>& output) : p_(p), output_(output) {}

  void set(size_t channel, size_t columns, size_t block, Sums* sums) {
    is_pair_ = columns > kTileChannels;
    if (const auto* epilogue = output_.in_registers()) {
      if (is_pair_)
        pair_.set(*epilogue, channel, columns);
      else
        single_.set(*epilogue, channel, columns);
    }
    channel_ = channel;
    columns_ = columns;
    block_ = block;
    sums_ = sums;
    tile_ = row_ = 0;
    // Results that go through memory are stored by whole tiles.
    piece_rows_ = output_.in_registers() == nullptr || p_.rows < kPieceRows ? p_.rows : kPieceRows;
    left_ = 2 * ((p_.rows + piece_rows_ - 1) / piece_rows_);
  }

  // Pieces in one of `shares` equal parts of what is left, rounded up.
  size_t quota(size_t shares) const { return (left_ + shares - 1) / shares; }

  // Stores the next `count` pieces, or as many as are left.
  __attribute__((always_inline)) void store(size_t count) {
    if (left_ > 0) store_next_rows(count < left_ ? count : left_);
  }

 private:
  static constexpr size_t kPieceRows = 4;

  __attribute__((noinline)) void store_next_rows(size_t count) {
    left_ -= count;
    for (; count > 0; --count) {
      // The last rows of a tile repeat some of those before.
      const size_t row = row_ + piece_rows_ <= p_.rows ? row_ : p_.rows - piece_rows_;
      uint8_t* const c =
          static_cast<uint8_t*>(p_.g.c) + (p_.first_row(2 * block_ + tile_) + row) * p_.g.c_stride;
      store_rows(sums_->rows[tile_ * p_.rows + row], c);
      row_ += piece_rows_;
      if (row_ >= p_.rows) row_ = 0, ++tile_;
    }
  }

  // Requantises and stores the rows of a piece; c: of the first one.
  void store_rows(int32_t* sums, uint8_t* c) {
    const size_t c_stride = p_.g.c_stride;
    if (output_.in_registers() == nullptr) {
      store_memory<Avx512Vnni>(p_.g, output_, channel_, sums, p_.rows, kBlockChannels, columns_, c);
    } else if (piece_rows_ == kPieceRows) {
      c += channel_;
      if (is_pair_)
        store_some<kPieceRows>(pair_, sums, c, c_stride);
      else
        store_some<kPieceRows>(single_, sums, c, c_stride);
    } else {
      c += channel_;
      for (size_t i = 0; i < piece_rows_; ++i, sums += kBlockChannels, c += c_stride) {
        if (is_pair_)
          store_some<1>(pair_, sums, c, c_stride);
        else
          store_some<1>(single_, sums, c, c_stride);
      }
    }
  }

  template <int kRows, int kTiles>
  static void store_some(const Avx512Vnni::Store<kTiles>& store, const int32_t* sums, uint8_t* c,
                         size_t c_stride) {
    __m512i acc[kRows][kTiles];
    QRT_UNROLL
    for (int i = 0; i < kRows; ++i) {
      QRT_UNROLL
      for (int v = 0; v < kTiles; ++v) acc[i][v] = _mm512_load_si512(sums + i * 32 + v * 16);
    }
    store.rows(acc, c, c_stride);
  }

  const Product& p_;
  const Output<Avx512Vnni>& output_;
  bool is_pair_ = false;
  Avx512Vnni::Store<1> single_;
  Avx512Vnni::Store<2> pair_;
  size_t channel_ = 0, columns_ = 0, block_ = 0;
  Sums* sums_ = nullptr;
  size_t piece_rows_ = 0;
  size_t tile_ = 0, row_ = 0;  // of the next piece
  size_t left_ = 0;            // pieces
};

QRT_INLINE void fetch_far(const int8_t* p, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) Avx512Vnni::prefetch_far(p + i);
}

// The bytes to prefetch into the second-level cache: while the first rows read weights for the first time, the
// weights of the next channels; later the bytes that the caller wants ahead, an even share in every step.
struct Streams {
  explicit Streams(const Product& p)
      : ahead(p.g.ahead),
        ahead_step(p.g.ahead == nullptr || p.blocks == 1
                       ? 0
                       : p.g.ahead_bytes / ((p.blocks - 1) * p.steps *
                                            ((p.g.n + kBlockChannels - 1) / kBlockChannels)) +
                             1) {}

  // Prefetches weights. `next` is two blocks of 16 channels behind the weights of this step.
  __attribute__((always_inline)) void fetch(const int8_t* next, size_t block_bytes) {
    if (is_first) {
      fetch_far(next, kTileBytes);
      fetch_far(next + block_bytes, kTileBytes);
    } else {
      fetch_far(ahead, ahead_step);
      ahead += ahead_step;
    }
  }

  bool is_first = true;
  const int8_t* ahead;
  const size_t ahead_step;  // bytes
};

// The address of the accumulators of two tiles of rows in memory.
struct TilePosition {
  int32_t* upper;
  int32_t* lower;
  size_t pitch;  // bytes
};

// Adds the products of a part to the accumulators, which start from `start` (one row) or from the sums in memory;
// kTiles: of channels. Pending results are stored before the new ones, which may take their place.
template <int kTiles>
QRT_INLINE void multiply(const Product& p, const KBlock& k_block, const Operand (&lhs)[2][kSteps],
                         const int8_t* weights, const int8_t (*padded)[kTileBytes],
                         const int32_t* start, const TilePosition& sums,
                         const TilePosition& results, Pending* pending, Streams* streams) {
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
  const int8_t* w = weights + k_block.begin * kBlock;
  const bool ends = k_block.begin + k_block.steps * kTileK > p.k;
  const size_t quota = pending->quota(k_block.steps);
  for (size_t step = 0; step < k_block.steps; ++step, w += kTileBytes) {
    const bool pads = ends && step + 1 == k_block.steps;
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
    streams->fetch(w + 2 * block_bytes, block_bytes);
    pending->store(quota);
  }
  QRT_TILE_STORE(0, results.upper, results.pitch);
  QRT_TILE_STORE(2, results.lower, results.pitch);
  if constexpr (kTiles == 2) {
    QRT_TILE_STORE(1, results.upper + kTileChannels, results.pitch);
    QRT_TILE_STORE(3, results.lower + kTileChannels, results.pitch);
  }
}

QRT_INLINE TilePosition place_in_output(const Product& p, size_t block, size_t channel) {
  const GemmArgs& g = p.g;
  uint8_t* const c = static_cast<uint8_t*>(g.c) + channel * sizeof(int32_t);
  return {reinterpret_cast<int32_t*>(c + p.first_row(2 * block) * g.c_stride),
          reinterpret_cast<int32_t*>(c + p.first_row(2 * block + 1) * g.c_stride), g.c_stride};
}

// Multiplies two tiles of rows by channels [begin, end), at most kGroup of them.
void run_block(const Product& p, const Output<Avx512Vnni>& output, size_t block, size_t begin,
               size_t end, uint8_t (*buffer)[kTileRows * kPitch], Sums* sums,
               Operand (&lhs)[2][kSteps], bool finds, Pending* pending, Streams* streams) {
  const GemmArgs& g = p.g;
  const size_t block_bytes = p.k * kBlock;
  const auto* const epilogue = output.in_registers();
  for (size_t i = 0; i < p.k_blocks; ++i) {
    const KBlock k_block = p.k_block(i);
    const bool is_last = i + 1 == p.k_blocks;
    if (finds || p.k_blocks > 1)
      for (size_t tile = 0; tile < 2; ++tile)
        find_lhs(p, p.first_row(2 * block + tile), k_block, buffer[tile], lhs[tile]);
    for (size_t j = begin; j < end; j += kBlockChannels) {
      Sums* const s = p.k_blocks == 1 ? sums : sums + (j - begin) / kBlockChannels;
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
      const TilePosition waiting = {s->rows[0], s->rows[p.rows], Sums::kPitchBytes};
      // Whole tiles of sums that are the output need no copy.
      const bool is_output = is_last && g.requant.kind == RequantKind::kAcc &&
                             columns == (is_pair ? 2 : 1) * kTileChannels;
      const TilePosition results = is_output ? place_in_output(p, block, j) : waiting;
      if (is_pair) {
        multiply<2>(p, k_block, lhs, weights, padded, from, waiting, results, pending, streams);
      } else {
        multiply<1>(p, k_block, lhs, weights, padded, from, waiting, results, pending, streams);
      }
      if (is_last && !is_output) pending->set(j, columns, block, s);
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
  Pending pending(p, output);
  Streams streams(p);
  // All channels of a block of rows, whose left side is found once; or all rows for a group of channels.
  const bool by_group = p.k * args.n > kCachedWeights;
  const size_t groups = (args.n + kGroup - 1) / kGroup;
  configure(p.rows);
  for (size_t i = 0; i < p.blocks * groups; ++i) {
    const size_t block = by_group ? i % p.blocks : i / groups;
    const size_t group = by_group ? i / p.blocks : i % groups, begin = group * kGroup;
    streams.is_first = block == 0;
    run_block(p, output, block, begin, args.n - begin < kGroup ? args.n : begin + kGroup, buffer,
              sums, lhs, by_group || group == 0, &pending, &streams);
  }
  __asm__ volatile("tilerelease" ::);
  pending.store(pending.quota(1));
}

}  // namespace qrt
