# SPDX-License-Identifier: Apache-2.0
qrt_add_family(compare COMMON compare.cc select.cc ISAS scalar vectors)
