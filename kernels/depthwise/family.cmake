# SPDX-License-Identifier: Apache-2.0
qrt_add_family(depthwise
  COMMON pack.cc plan.cc select.cc
  ISAS scalar avx2 avxvnni avx512vnni neon neondot wasm128 wasmrelaxed)
qrt_add_family(depthwise ROWS depthwise_int16 COMMON select_int16.cc ISAS scalar vectors)
