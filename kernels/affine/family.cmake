# SPDX-License-Identifier: Apache-2.0
# Fits for requantisations; only AVX-512 has kernels that use them.
if(QRT_INTEGER_ONLY)
  qrt_add_family(affine COMMON affine.cc select.cc ISAS)
else()
  qrt_add_family(affine COMMON affine.cc select.cc ISAS avx512vnni)
endif()
