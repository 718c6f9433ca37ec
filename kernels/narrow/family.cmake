# SPDX-License-Identifier: Apache-2.0
# Convolutions with few outputs.
if(QRT_INTEGER_ONLY)
  qrt_add_family(narrow COMMON select.cc weights.cc ISAS)
else()
  qrt_add_family(narrow COMMON select.cc weights.cc ISAS avx512vnni)
endif()
