# SPDX-License-Identifier: Apache-2.0
# 3x3 convolutions in fewer products.
qrt_add_family(winograd COMMON select.cc weights.cc ISAS avx512vnni avxvnni avx2 neon)
