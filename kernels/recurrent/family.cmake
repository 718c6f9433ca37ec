# SPDX-License-Identifier: Apache-2.0
qrt_add_family(recurrent COMMON lstm.cc sigmoid.cc svdf.cc)
