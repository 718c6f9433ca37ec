#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks which features libqrt finds on qemu's CPU models. cpu_models.sh PROGRAM: kernels_tests. Status 77 without qemu-x86_64.
set -eu
program=$1
command -v qemu-x86_64 >/dev/null || { echo "qemu-x86_64 is missing: ./dev setup arm64"; exit 77; }
status=0
# Warnings name what a model has and the emulator lacks: AVX-512 among them.
check() { # MODEL FEATURES
  found=$(QRT_CPU_MODEL=$1 qemu-x86_64 -cpu "$1" "$program" cpu_test 2>/dev/null) || { echo "$1: fails"; echo "$found"; status=1; }
  found=$(printf '%s\n' "$found" | sed -n 's/^features: *//p')
  echo "$1: $found"
  [ "$found" = "$2" ] || { echo "$1: expected '$2'"; status=1; }
}
check qemu64 ''
check Nehalem ''
check SandyBridge ''
check Haswell avx2
check Skylake-Server avx2
check max avx2
check max,-fma ''
check max,-f16c ''
check max,-xsave ''
exit $status
