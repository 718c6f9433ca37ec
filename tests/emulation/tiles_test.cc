// SPDX-License-Identifier: Apache-2.0
// The emulated instructions: operands in every encoding, products, and what is a fault.
#include "tests/emulation/tiles.h"

#include <cpuid.h>
#include <gtest/gtest.h>
#include <string.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kernels/isa.h"
#include "tests/support/random.h"

namespace qrt {
namespace testing {
namespace {

struct Config {
  explicit Config(int rows = kTileRows, int row_bytes = kTileRowBytes) {
    bytes[0] = 1;
    for (int i = 0; i < kTiles; ++i) set(i, rows, row_bytes);
  }
  void set(int tile, int rows, int row_bytes) {
    bytes[16 + 2 * tile] = static_cast<uint8_t>(row_bytes);
    bytes[48 + tile] = static_cast<uint8_t>(rows);
  }
  uint8_t bytes[kTileConfigBytes] = {};
};

void configure(const Config& config) { __asm__ volatile("ldtilecfg %0" ::"m"(config) : "memory"); }
void release() { __asm__ volatile("tilerelease"); }

#define QRT_LOAD(tile, p, stride) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(p), "r"(stride) : "memory")
#define QRT_STORE(tile, p, stride) \
  __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(p), "r"(stride) : "memory")
#define QRT_PRODUCT(sum, a, b) __asm__ volatile("tdpbusd %tmm" #b ", %tmm" #a ", %tmm" #sum)

constexpr int64_t kRow = kTileRowBytes;
using Bytes = std::vector<uint8_t>;

class EmulatedTiles : public ::testing::Test {
 protected:
  EmulatedTiles() : isas_(detected_isas()), data_(1 << 16) { random_.fill(data_, 0, 255); }
  ~EmulatedTiles() override { release(); }

  // Expects that tile 3 holds the rows from `at` on, `stride` apart.
  void expect_tile(int64_t at, int64_t stride) const {
    uint8_t stored[kTileRows][kTileRowBytes];
    QRT_STORE(3, stored, kRow);
    for (int i = 0; i < kTileRows; ++i)
      ASSERT_EQ(memcmp(stored[i], middle() + at + i * stride, kTileRowBytes), 0) << i;
  }
  const uint8_t* middle() const { return data_.data() + data_.size() / 2; }

  const IsaSet isas_;
  Random random_;
  Bytes data_;
};

TEST_F(EmulatedTiles, AreThereWithAvxVnni) {
  EXPECT_TRUE(has(isas_, Isa::kAvxVnni));
  EXPECT_TRUE(has(isas_, Isa::kAmx));
}

// On a CPU with AVX-VNNI the emulated tiles run beside the dot products of the CPU, in the code
// that is shipped.
TEST_F(EmulatedTiles, StandBesideTheDotProductsOfTheCpu) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool is_native = __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax >> 4 & 1);
#ifdef QRT_EMULATED_AVXVNNI
  EXPECT_FALSE(is_native);
#else
  EXPECT_TRUE(is_native);
#endif
}

// `operand` with the middle in register `base` and 68 in `index`: rows from `at` on, `stride` apart.
#define QRT_EXPECT_OPERAND(base, index, operand, at, stride)                           \
  {                                                                                    \
    SCOPED_TRACE(#base " " #index " " operand);                                        \
    const uint8_t* const middle_of_data = middle();                                    \
    register const uint8_t* in_base __asm__(#base) = middle_of_data;                   \
    register int64_t in_index __asm__(#index) = 68;                                    \
    __asm__ volatile("tileloadd " operand ", %%tmm3" ::"r"(in_base), "r"(in_index) :); \
    expect_tile(at, stride);                                                           \
  }
#define QRT_EXPECT_BASE(base)                                     \
  QRT_EXPECT_OPERAND(base, rcx, "(%0,%1,1)", 0, 68)               \
  QRT_EXPECT_OPERAND(base, rcx, "64(%0,%1,2)", 64, 136)           \
  QRT_EXPECT_OPERAND(base, rcx, "-128(%0,%1,4)", -128, 272)       \
  QRT_EXPECT_OPERAND(base, rcx, "-0x2345(%0,%1,8)", -0x2345, 544) \
  QRT_EXPECT_OPERAND(base, rcx, "0x1234(%0)", 0x1234, 0)
#define QRT_EXPECT_INDEX(index) QRT_EXPECT_OPERAND(rax, index, "1000(%0,%1,2)", 1000, 136)

TEST_F(EmulatedTiles, FindTheirRows) {
  configure(Config());
  QRT_EXPECT_BASE(rax)
  QRT_EXPECT_BASE(rdx)
  QRT_EXPECT_BASE(rbx)
  QRT_EXPECT_BASE(rsi)
  QRT_EXPECT_BASE(rdi)
  QRT_EXPECT_BASE(r8)
  QRT_EXPECT_BASE(r9)
  QRT_EXPECT_BASE(r10)
  QRT_EXPECT_BASE(r11)
  QRT_EXPECT_BASE(r12)
  QRT_EXPECT_BASE(r13)
  QRT_EXPECT_BASE(r14)
  QRT_EXPECT_BASE(r15)
  QRT_EXPECT_INDEX(rcx)
  QRT_EXPECT_INDEX(rdx)
  QRT_EXPECT_INDEX(rbx)
  QRT_EXPECT_INDEX(rsi)
  QRT_EXPECT_INDEX(rdi)
  QRT_EXPECT_INDEX(r8)
  QRT_EXPECT_INDEX(r9)
  QRT_EXPECT_INDEX(r10)
  QRT_EXPECT_INDEX(r11)
  QRT_EXPECT_INDEX(r12)
  QRT_EXPECT_INDEX(r13)
  QRT_EXPECT_INDEX(r14)
  QRT_EXPECT_INDEX(r15)
}

// The emulation finds tile configurations on the stack, at a register, and beside the code.
TEST_F(EmulatedTiles, FindTheirConfiguration) {
  alignas(64) static const Config beside(4, 32);
  Bytes stored(2 * kTileRows * kTileRowBytes, 7);
  __asm__ volatile("ldtilecfg %0" ::"m"(beside) : "memory");
  QRT_LOAD(5, middle(), kRow);
  release();
  const Config far[2] = {Config(1, 4), Config(4, 32)};
  for (const uint8_t* p : {far[1].bytes, far[1].bytes + 1000}) {
    if (p == far[1].bytes)
      __asm__ volatile("ldtilecfg (%0)" ::"r"(p) : "memory");
    else
      __asm__ volatile("ldtilecfg -1000(%0)" ::"r"(p) : "memory");
    QRT_LOAD(5, middle(), kRow);
    QRT_STORE(5, stored.data(), kRow);
    release();
    Bytes expected(stored.size(), 7);
    for (int i = 0; i < 4; ++i) memcpy(expected.data() + i * kRow, middle() + i * kRow, 32);
    ASSERT_EQ(stored, expected);
  }
}

// Rows of sums, of four bytes of a and b, of outputs.
void expect_products(Random* random, int rows, int steps, int columns) {
  SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(steps) + "x" + std::to_string(columns));
  Config config;
  config.set(2, rows, 4 * columns);
  config.set(7, rows, 4 * steps);
  config.set(4, steps, 4 * columns);
  std::vector<int32_t> sums = random_values<int32_t>(random, kTileRows * 16, INT32_MIN, INT32_MAX);
  Bytes a(kTileRows * kTileRowBytes);
  std::vector<int8_t> b(kTileRows * kTileRowBytes);
  random->fill(a, 0, 255);
  random->fill(b, -128, 127);
  std::vector<int32_t> expected = sums;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      int64_t sum = sums[m * 16 + n];
      for (int k = 0; k < 4 * steps; ++k)
        sum += int64_t{a[m * kRow + k]} * b[k / 4 * kRow + 4 * n + k % 4];
      expected[m * 16 + n] = static_cast<int32_t>(static_cast<uint64_t>(sum));
    }
  const uint64_t before = tile_products();
  configure(config);
  QRT_LOAD(2, sums.data(), kRow);
  QRT_LOAD(7, a.data(), kRow);
  QRT_LOAD(4, b.data(), kRow);
  QRT_PRODUCT(2, 7, 4);
  QRT_STORE(2, sums.data(), kRow);
  release();
  ASSERT_EQ(sums, expected);
  ASSERT_EQ(tile_products(), before + 1);
}

TEST_F(EmulatedTiles, Multiply) {
  for (int rows : {1, 7, 16})
    for (int steps : {1, 5, 16})
      for (int columns : {1, 11, 16}) expect_products(&random_, rows, steps, columns);
}

using EmulatedTilesDeathTest = EmulatedTiles;

TEST_F(EmulatedTilesDeathTest, RefuseWhatTheManualCallsAFault) {
  const auto configured = [](auto change) {
    Config config;
    change(&config);
    configure(config);
  };
  EXPECT_DEATH(QRT_LOAD(0, middle(), kRow), "no tiles are configured.*c4 .* 4b");
  EXPECT_DEATH(QRT_PRODUCT(0, 1, 2), "no tiles are configured.*c4 e2 69 5e c1");
  EXPECT_DEATH(configured([](Config* c) { c->bytes[0] = 2; }), "another palette");
  EXPECT_DEATH(configured([](Config* c) { c->bytes[1] = 1; }), "a start row");
  for (int reserved : {2, 15, 32, 47, 56, 63})
    EXPECT_DEATH(configured([&](Config* c) { c->bytes[reserved] = 1; }), "reserved bytes");
  EXPECT_DEATH(configured([](Config* c) { c->set(7, 17, 64); }), "beyond 16 rows of 64 bytes");
  EXPECT_DEATH(configured([](Config* c) { c->set(0, 16, 65); }), "beyond 16 rows of 64 bytes");
  EXPECT_DEATH(configured([](Config* c) { c->set(0, 0, 64); }), "rows or of bytes alone");
  EXPECT_DEATH(configured([](Config* c) { c->set(0, 16, 0); }), "rows or of bytes alone");

  Config config;
  config.set(1, 15, 64);
  config.set(2, 16, 60);
  config.set(3, 0, 0);
  config.set(4, 16, 62);
  configure(config);
  EXPECT_DEATH(QRT_STORE(3, data_.data(), kRow), "this tile is not configured");
  EXPECT_DEATH(QRT_PRODUCT(0, 5, 3), "this tile is not configured");
  // The assembler refuses these, too: products 0, 5, 0; 5, 5, 0; 0, 5, 5.
  EXPECT_DEATH(__asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x5e, 0xc5"), "the same tile twice");
  EXPECT_DEATH(__asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x5e, 0xed"), "the same tile twice");
  EXPECT_DEATH(__asm__ volatile(".byte 0xc4, 0xe2, 0x51, 0x5e, 0xc5"), "the same tile twice");
  EXPECT_DEATH(QRT_PRODUCT(0, 5, 4), "no whole words");
  EXPECT_DEATH(QRT_PRODUCT(0, 1, 6), "do not match");  // rows
  EXPECT_DEATH(QRT_PRODUCT(0, 2, 6), "do not match");  // k
  EXPECT_DEATH(QRT_PRODUCT(0, 6, 2), "do not match");  // columns
  QRT_PRODUCT(0, 5, 6);
}

TEST_F(EmulatedTilesDeathTest, RefuseTilesThatStayConfigured) {
  const auto twice = [] {
    configure(Config());
    configure(Config());
  };
  EXPECT_DEATH(twice(), "another call left configured");
  EXPECT_DEATH(std::thread([] { configure(Config()); }).join(), "still configured.*thread ends");
  EXPECT_DEATH((configure(Config()), exit(0)), "still configured");
}

TEST_F(EmulatedTilesDeathTest, LeaveOtherInstructionsIllegal) {
  EXPECT_EXIT(__asm__ volatile("ud2"), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(__asm__ volatile("tilezero %tmm0"), ::testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(__asm__ volatile("tdpbssd %tmm0, %tmm1, %tmm2"), ::testing::KilledBySignal(SIGILL),
              "");
}

}  // namespace
}  // namespace testing
}  // namespace qrt
