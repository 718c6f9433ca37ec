// Table look-up byte by byte.
#include "kernels/lut/entry.h"

namespace qrt {

void lut_map_scalar(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

// Walks the rows once for every block of channels: a block's tables (16 KiB) stay in the L1 cache.
void lut_map_channels_scalar(const uint8_t* tables, const uint8_t* x, uint8_t* y, size_t rows,
                             size_t channels) {
  constexpr size_t kBlock = 64;
  for (size_t first = 0; first < channels; first += kBlock) {
    const size_t end = channels - first < kBlock ? channels : first + kBlock;
    for (size_t r = 0; r < rows; ++r) {
      const uint8_t* from = x + r * channels;
      uint8_t* to = y + r * channels;
      for (size_t c = first; c < end; ++c) to[c] = tables[256 * c + from[c]];
    }
  }
}

// A look-up that misses the first-level cache is a load of the second; none depends on the one
// before, so they overlap.
void lut_map_pairs_scalar(const uint8_t* table, const uint8_t* a, const uint8_t* b, uint8_t* y,
                          size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = table[size_t{256} * a[i] + b[i]];
}

}  // namespace qrt
