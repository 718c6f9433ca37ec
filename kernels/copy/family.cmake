# SPDX-License-Identifier: Apache-2.0
qrt_add_family(copy COMMON select.cc gather.cc transpose.cc listed_planes.cc ISAS scalar avx2 avx512vbmi neon)
qrt_add_family(copy ROWS listed ISAS avx2 neon)
