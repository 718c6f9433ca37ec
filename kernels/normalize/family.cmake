# SPDX-License-Identifier: Apache-2.0
qrt_add_family(normalize COMMON l2_normalization.cc)
