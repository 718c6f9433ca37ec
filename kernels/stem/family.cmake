# SPDX-License-Identifier: Apache-2.0
# Convolutions of few inputs.
if(QRT_INTEGER_ONLY)
  qrt_add_family(stem COMMON select.cc weights.cc ISAS)
else()
  qrt_add_family(stem COMMON select.cc weights.cc ISAS avx512vnni)
endif()
