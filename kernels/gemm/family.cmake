# SPDX-License-Identifier: Apache-2.0
# Fully connected layers and convolutions as matrix products.
qrt_add_family(gemm
  COMMON select.cc pack.cc pack_activations.cc
  ISAS scalar avx2 avxvnni avx512vnni amx neon neondot i8mm wasm128 wasmrelaxed)
# Run-time probes of how an engine implements WebAssembly's relaxed SIMD instructions.
qrt_add_family(gemm ROWS relaxed ISAS wasmrelaxed)
# Products of int16 activations.
qrt_add_family(gemm ROWS digits
  COMMON select_digits.cc product_int16.cc
  ISAS scalar avx2 avx512vnni neon wasm128)
# Packing of right-hand sides that are computed at run time.
qrt_add_family(gemm ROWS pack_activations
  ISAS scalar avx2 avx512vnni neon wasm128)
