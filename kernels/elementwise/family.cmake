# SPDX-License-Identifier: Apache-2.0
qrt_add_family(elementwise SMALL COMMON select.cc ISAS scalar vectors)
# Cheaper forms, found in floating point.
set(_forms_isas avx2 avx512vnni avx512vbmi)
set(_forms sum_tables.cc)
if(QRT_INTEGER_ONLY)
  set(_forms_isas "")
  set(_forms "")
endif()
qrt_add_family(elementwise ROWS rows COMMON select_forms.cc ${_forms} ISAS ${_forms_isas})
