# SPDX-License-Identifier: Apache-2.0
qrt_add_family(integer COMMON integer.cc)
