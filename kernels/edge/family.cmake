# SPDX-License-Identifier: Apache-2.0
qrt_add_family(edge COMMON half_up.cc select.cc packed.cc ISAS scalar vectors)
