# SPDX-License-Identifier: Apache-2.0
qrt_add_family(resize COMMON select.cc bounds.cc resize_soft.cc ISAS scalar vectors)
