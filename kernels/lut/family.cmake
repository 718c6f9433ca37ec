# SPDX-License-Identifier: Apache-2.0
qrt_add_family(lut COMMON select.cc channel_lut.cc pair_lut.cc ISAS scalar avx2 avx512vnni avx512vbmi neon)
# Tables that are lines.
set(_lines_isas vectors)
if(QRT_INTEGER_ONLY)
  set(_lines_isas "")
endif()
qrt_add_family(lut ROWS lines COMMON select_lines.cc ISAS ${_lines_isas})
