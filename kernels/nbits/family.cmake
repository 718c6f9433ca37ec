# SPDX-License-Identifier: Apache-2.0
# Products with weights of 2, 4 and 8 bits in blocks.
if(QRT_INTEGER_ONLY)
  qrt_add_family(nbits COMMON absent.cc)
else()
  qrt_add_family(nbits COMMON select.cc ISAS scalar avx2 avxvnni avx512vnni amx neon neondot)
endif()
