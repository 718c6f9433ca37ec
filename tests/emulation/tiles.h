// SPDX-License-Identifier: Apache-2.0
// The tiles of AMX in software, as Intel's manual (Software Developer's Manual, volume 2) describes
// them: state and instructions. Uses that are faults by the manual, and uses that the kernels
// promise to avoid (kernels/README.md), end the process with a message.
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
  // Emulates TDPBUSD: sum += a * b, a matrix product with unsigned bytes in a and signed bytes in
  // b.
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

// Makes the process emulate tile instructions from now on (illegal_instructions.cc).
void emulate_tiles();

// Returns how many TDPBUSD all threads have executed so far.
uint64_t tile_products();

// Prints the message and the bytes of the instruction to standard error, and aborts.
[[noreturn]] void tile_fault(const char* message);

}  // namespace testing
}  // namespace qrt

#endif  // QRT_TESTS_EMULATION_TILES_H_
