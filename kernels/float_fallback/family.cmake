# SPDX-License-Identifier: Apache-2.0
if(QRT_INTEGER_ONLY)
  qrt_add_family(float_fallback COMMON absent.cc)
else()
  set(_scalar scalar)
  if(wasm128 IN_LIST QRT_BUILT_ISAS)
    set(_scalar "")
  endif()
  qrt_add_family(float_fallback COMMON grid_sample.cc real_functions.cc select.cc
    ISAS ${_scalar} avx2 avx512vnni neon wasm128 wasmrelaxed)
  qrt_add_family(float_fallback ROWS layer_norm_bytes ISAS avx512vnni)
endif()
