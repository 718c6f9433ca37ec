# SPDX-License-Identifier: Apache-2.0
set(_softmax_isas avx512vnni avx512vbmi)
if(QRT_INTEGER_ONLY)
  set(_softmax_isas "")
endif()
qrt_add_family(softmax COMMON softmax.cc softmax_bounds.cc softmax_int.cc log_softmax_int.cc softmax_int16.cc softmax_int16_table.cc log_softmax.cc
  ISAS ${_softmax_isas})
