// SPDX-License-Identifier: Apache-2.0
#include "tests/emulation/tiles.h"

#include <string.h>

#include <atomic>

namespace qrt {
namespace testing {
namespace {

std::atomic<uint64_t> products{0};

bool all_zero(const uint8_t* begin, const uint8_t* end) {
  while (begin < end && *begin == 0) ++begin;
  return begin == end;
}

}  // namespace

uint64_t tile_products() { return products; }

void Tiles::configure(const uint8_t* config) {
  constexpr int kReserved = 2, kRowBytes = 16, kRows = 48;
  if (is_configured_) tile_fault("tiles that another call left configured");
  if (config[0] != 1) tile_fault("another palette than 1");
  if (config[1] != 0) tile_fault("a start row, which only interrupted loads have");
  if (!all_zero(config + kReserved, config + kRowBytes) ||
      !all_zero(config + kRowBytes + 2 * kTiles, config + kRows) ||
      !all_zero(config + kRows + kTiles, config + kTileConfigBytes))
    tile_fault("reserved bytes that are not zero");
  for (int i = 0; i < kTiles; ++i) {
    Tile& tile = tiles_[i];
    tile.row_bytes = config[kRowBytes + 2 * i] | config[kRowBytes + 2 * i + 1] << 8;
    tile.rows = config[kRows + i];
    if (tile.row_bytes > kTileRowBytes || tile.rows > kTileRows)
      tile_fault("a tile beyond 16 rows of 64 bytes");
    if ((tile.rows == 0) != (tile.row_bytes == 0)) tile_fault("a tile of rows or of bytes alone");
    memset(tile.bytes, 0, sizeof tile.bytes);
  }
  is_configured_ = true;
}

void Tiles::release() {
  memset(tiles_, 0, sizeof tiles_);
  is_configured_ = false;
}

Tiles::Tile& Tiles::configured(int tile) {
  if (!is_configured_) tile_fault("no tiles are configured");
  if (tiles_[tile].rows == 0) tile_fault("this tile is not configured");
  return tiles_[tile];
}

void Tiles::load(int tile, const uint8_t* p, int64_t stride) {
  Tile& t = configured(tile);
  memset(t.bytes, 0, sizeof t.bytes);
  for (int i = 0; i < t.rows; ++i) memcpy(t.bytes[i], p + i * stride, t.row_bytes);
}

void Tiles::store(int tile, uint8_t* p, int64_t stride) {
  const Tile& t = configured(tile);
  for (int i = 0; i < t.rows; ++i) memcpy(p + i * stride, t.bytes[i], t.row_bytes);
}

void Tiles::multiply(int sum, int a, int b) {
  Tile& s = configured(sum);
  const Tile &x = configured(a), &w = configured(b);
  if (sum == a || sum == b || a == b) tile_fault("the same tile twice");
  if (s.row_bytes % 4 != 0 || x.row_bytes % 4 != 0 || w.row_bytes % 4 != 0)
    tile_fault("rows of no whole words");
  if (s.rows != x.rows || x.row_bytes / 4 != w.rows || s.row_bytes != w.row_bytes)
    tile_fault("tiles whose shapes do not match");
  for (int m = 0; m < s.rows; ++m) {
    uint32_t sums[kTileRowBytes / 4];
    memcpy(sums, s.bytes[m], sizeof sums);
    for (int k = 0; k < w.rows; ++k)
      for (int n = 0; n < s.row_bytes / 4; ++n)
        for (int j = 0; j < 4; ++j)
          sums[n] += static_cast<uint32_t>(x.bytes[m][4 * k + j] *
                                           static_cast<int8_t>(w.bytes[k][4 * n + j]));
    memset(s.bytes[m], 0, sizeof s.bytes[m]);
    memcpy(s.bytes[m], sums, s.row_bytes);
  }
  for (int m = s.rows; m < kTileRows; ++m) memset(s.bytes[m], 0, sizeof s.bytes[m]);
  ++products;
}

}  // namespace testing
}  // namespace qrt
