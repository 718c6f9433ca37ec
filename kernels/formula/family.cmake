# SPDX-License-Identifier: Apache-2.0
qrt_add_family(formula COMMON bounds.cc select.cc ISAS scalar vectors)
