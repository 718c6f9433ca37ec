// SPDX-License-Identifier: Apache-2.0
// Executes the tile instructions of gemm_amx.cc, as they stand in its machine code, on a CPU without AMX: such a
// CPU calls them illegal (SIGILL), and the handler decodes them, does their work and goes on behind them. Other
// illegal instructions stay so.
//
// QRT_EXPECT_TILES in the environment: a process that ends without a TDPBUSD fails.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/emulation/tiles.h"

namespace qrt {
namespace testing {
namespace {

thread_local Tiles tiles;  // zeros
thread_local const uint8_t* instruction = nullptr;
pthread_key_t at_thread_exit;

// Returns a general register, by its number in an instruction.
greg_t& general_register(ucontext_t* context, int number) {
  constexpr int kPlaces[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15};
  return context->uc_mcontext.gregs[kPlaces[number]];
}

// VEX.128.<prefix>.0F38.W0 opcode /r, of three bytes of prefix.
struct Decoded {
  enum Prefix { kNone = 0, k66 = 1, kF3 = 2, kF2 = 3 };

  explicit Decoded(const uint8_t* code) {
    constexpr int kMap0F38 = 2;
    if (code[0] != 0xc4 || (code[1] & 31) != kMap0F38 || (code[2] & 0x84) != 0) return;
    is_vex = true;
    high_reg = (code[1] & 0x80) == 0, high_index = (code[1] & 0x40) == 0;
    high_base = (code[1] & 0x20) == 0;
    second = ~(code[2] >> 3) & 15;
    prefix = static_cast<Prefix>(code[2] & 3);
    opcode = code[3];
    mod = code[4] >> 6, reg = code[4] >> 3 & 7, rm = code[4] & 7;
  }
  bool is_instruction(Prefix p, int op) const { return is_vex && prefix == p && opcode == op; }

  bool is_vex = false, high_reg = false, high_index = false, high_base = false;
  int second = 0, prefix = 0, opcode = 0, mod = 0, reg = 0, rm = 0;
};

struct Memory {
  uint8_t* p;     // base and displacement
  int64_t index;  // scaled
  size_t length;  // of the instruction
};

Memory memory_operand(ucontext_t* context, const uint8_t* code, const Decoded& d) {
  constexpr int kSib = 4, kNoIndex = 4, kNoBase = 5;
  size_t length = 5;
  int64_t address = 0, index = 0;
  int displacement = d.mod == 1 ? 1 : d.mod == 2 ? 4 : 0;  // bytes
  bool is_relative = false;
  if (d.rm == kSib) {
    const uint8_t sib = code[length++];
    const int base = sib & 7, at = (sib >> 3 & 7) | (d.high_index ? 8 : 0);
    if (at != kNoIndex) index = general_register(context, at) << (sib >> 6);
    if (base == kNoBase && d.mod == 0) tile_fault("an address without a base");
    address = general_register(context, base | (d.high_base ? 8 : 0));
  } else if (d.rm == kNoBase && d.mod == 0) {
    is_relative = true;
    displacement = 4;
  } else {
    address = general_register(context, d.rm | (d.high_base ? 8 : 0));
  }
  if (displacement == 1) {
    address += static_cast<int8_t>(code[length]);
  } else if (displacement == 4) {
    int32_t value;
    memcpy(&value, code + length, sizeof value);
    address += value;
  }
  length += displacement;
  if (is_relative) address += reinterpret_cast<int64_t>(code + length);
  return {reinterpret_cast<uint8_t*>(address), index, length};
}

// Bytes of the tile instruction, which is done; 0 where it is none.
size_t execute(ucontext_t* context, const uint8_t* code) {
  const Decoded d(code);
  const bool has_memory = d.mod != 3;
  if (d.is_instruction(Decoded::kNone, 0x49) && !has_memory && d.reg == 0 && d.rm == 0) {
    tiles.release();
    return 5;
  }
  if (d.is_instruction(Decoded::kNone, 0x49) && has_memory && d.reg == 0) {
    const Memory m = memory_operand(context, code, d);
    tiles.configure(m.p + m.index);
    return m.length;
  }
  if (d.is_instruction(Decoded::k66, 0x5e) && !has_memory) {
    if (d.high_reg || d.high_base || d.second >= kTiles) tile_fault("a tile beyond the eighth");
    tiles.multiply(d.reg, d.rm, d.second);
    return 5;
  }
  const bool loads = d.is_instruction(Decoded::kF2, 0x4b);
  if ((loads || d.is_instruction(Decoded::kF3, 0x4b)) && has_memory) {
    if (d.high_reg || d.second != 0 || d.rm != 4) tile_fault("an encoding that is not allowed");
    const Memory m = memory_operand(context, code, d);
    if (loads)
      tiles.load(d.reg, m.p, m.index);
    else
      tiles.store(d.reg, m.p, m.index);
    return m.length;
  }
  return 0;
}

// Goes on to the last of several instructions in a row: an exception costs more than they do.
void on_illegal(int signal, siginfo_t*, void* pointer) {
  auto* const context = static_cast<ucontext_t*>(pointer);
  greg_t& rip = context->uc_mcontext.gregs[REG_RIP];
  size_t done = 0;
  for (;;) {
    instruction = reinterpret_cast<const uint8_t*>(rip);
    const size_t length = execute(context, instruction);
    if (length == 0) break;
    rip += static_cast<greg_t>(length);
    done += length;
  }
  instruction = nullptr;
  if (done == 0) ::signal(signal, SIG_DFL);  // no tile instruction: it is tried once more
  if (tiles.is_configured()) pthread_setspecific(at_thread_exit, &tiles);
}

void check_released(void*) {
  if (tiles.is_configured()) tile_fault("tiles that are still configured where a thread ends");
}

__attribute__((destructor)) void check() {
  check_released(nullptr);
  if (getenv("QRT_EXPECT_TILES") == nullptr) return;
  fprintf(stderr, "emulated: %llu TDPBUSD\n", static_cast<unsigned long long>(tile_products()));
  if (tile_products() == 0) _exit(1);
}

}  // namespace

void emulate_tiles() {
  pthread_key_create(&at_thread_exit, check_released);
  struct sigaction action = {};
  action.sa_sigaction = on_illegal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

void tile_fault(const char* message) {
  fprintf(stderr, "emulated tiles: %s", message);
  if (instruction != nullptr) {
    fprintf(stderr, ", at %p:", static_cast<const void*>(instruction));
    for (int i = 0; i < 9; ++i) fprintf(stderr, " %02x", instruction[i]);
  }
  fputs("\n", stderr);
  abort();
}

}  // namespace testing
}  // namespace qrt
