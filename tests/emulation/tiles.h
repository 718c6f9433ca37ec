// SPDX-License-Identifier: Apache-2.0
// The tiles of AMX in software, as Intel's manual (Software Developer's Manual, volume 2) describes them: state and
// instructions. Uses that the manual makes a fault, and those that the kernels promise not to make
// (kernels/README.md), end the process with a message.
#ifndef QRT_TESTS_EMULATION_TILES_H_
#define QRT_TESTS_EMULATION_TILES_H_

#include <cstddef>
#include <cstdint>

namespace qrt {
namespace testing {

constexpr int kTiles = 8, kTileRows = 16, kTileRowBytes = 64, kTileConfigBytes = 64;

// The tiles of a thread.
class Tiles {
 public:
  void configure(const uint8_t* config);  // LDTILECFG
  void release();                         // TILERELEASE
  void load(int tile, const uint8_t* p, int64_t stride);
  void store(int tile, uint8_t* p, int64_t stride);
  // Emulates TDPBUSD: sum += a times b, bytes of a unsigned, of b signed.
  void multiply(int sum, int a, int b);
  bool is_configured() const { return is_configured_; }

 private:
  struct Tile {
    int rows, row_bytes;
    uint8_t bytes[kTileRows][kTileRowBytes];
  };
  Tile& configured(int tile);

  bool is_configured_;
  Tile tiles_[kTiles];
};

// Gives the process the tile instructions from now on (illegal_instructions.cc).
void emulate_tiles();

// Returns how many TDPBUSD all threads have executed so far.
uint64_t tile_products();

// Ends the process: the message and what the instruction was.
[[noreturn]] void tile_fault(const char* message);

}  // namespace testing
}  // namespace qrt

#endif  // QRT_TESTS_EMULATION_TILES_H_
