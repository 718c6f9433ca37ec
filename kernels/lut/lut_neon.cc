// SPDX-License-Identifier: Apache-2.0
// Table look-up with the table in sixteen registers: TBL and TBX each cover 64 entries and leave
// alone what lies outside them.
#include <arm_neon.h>

#include "kernels/lut/entry.h"

namespace qrt {
namespace {

struct Table {
  uint8x16x4_t quarter[4];

  uint8x16_t look_up(uint8x16_t x) const {
    uint8x16_t y = vqtbl4q_u8(quarter[0], x);
    y = vqtbx4q_u8(y, quarter[1], vsubq_u8(x, vdupq_n_u8(64)));
    y = vqtbx4q_u8(y, quarter[2], vsubq_u8(x, vdupq_n_u8(128)));
    return vqtbx4q_u8(y, quarter[3], vsubq_u8(x, vdupq_n_u8(192)));
  }
};

}  // namespace

void lut_map_neon(const uint8_t table[256], const uint8_t* x, uint8_t* y, size_t n) {
  if (n >= 16) {
    const Table t{{vld1q_u8_x4(table), vld1q_u8_x4(table + 64), vld1q_u8_x4(table + 128),
                   vld1q_u8_x4(table + 192)}};
    for (; n >= 64; n -= 64, x += 64, y += 64) {
      const uint8x16_t y0 = t.look_up(vld1q_u8(x)), y1 = t.look_up(vld1q_u8(x + 16));
      const uint8x16_t y2 = t.look_up(vld1q_u8(x + 32)), y3 = t.look_up(vld1q_u8(x + 48));
      vst1q_u8(y, y0);
      vst1q_u8(y + 16, y1);
      vst1q_u8(y + 32, y2);
      vst1q_u8(y + 48, y3);
    }
    for (; n >= 16; n -= 16, x += 16, y += 16) vst1q_u8(y, t.look_up(vld1q_u8(x)));
  }
  for (size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace qrt
