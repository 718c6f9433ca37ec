# SPDX-License-Identifier: Apache-2.0
# Convolutions of few channels a group.
qrt_add_family(grouped COMMON select.cc weights.cc ISAS avx2 avxvnni avx512vnni neondot)
