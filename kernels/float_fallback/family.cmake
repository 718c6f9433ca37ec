# SPDX-License-Identifier: Apache-2.0
if(QRT_INTEGER_ONLY)
  qrt_add_family(float_fallback COMMON absent.cc)
else()
  qrt_add_family(float_fallback COMMON grid_sample.cc real_functions.cc select.cc ISAS scalar avx2 avx512vnni neon wasm128)
  qrt_add_family(float_fallback ROWS layer_norm_bytes ISAS avx512vnni)
endif()
