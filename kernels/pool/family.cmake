# SPDX-License-Identifier: Apache-2.0
qrt_add_family(pool SMALL COMMON select.cc average_int.cc average_sum_scale.cc pool_int16.cc ISAS scalar vectors)
