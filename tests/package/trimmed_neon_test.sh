#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The size of libqrt for plain NEON with MobileNet's operators, for a board with pages of 4 KiB.
# trimmed_neon_test.sh CMAKE GENERATOR SOURCE FOLDER STRIP TOOLCHAIN_FILE
set -eu
cmake=$1 source=$3 folder=$4 strip=$5
export CMAKE_GENERATOR=$2 CMAKE_TOOLCHAIN_FILE=$6
. "$(dirname "$0")/trimmed.sh"
size_of libqrt-neon-mobilenet.so neon tests/package/mobilenet_ops.txt -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,max-page-size=4096
