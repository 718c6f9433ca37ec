# SPDX-License-Identifier: Apache-2.0
qrt_add_family(detection COMMON detection.cc select_boxes.cc)
