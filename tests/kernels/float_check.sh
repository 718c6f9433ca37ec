#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: float_check.sh OBJDUMP OBJECT...
#
# Looks into the kernel objects of a build with QRT_INTEGER_ONLY: none but those of the model's edges (edge/, detection/) holds an
# instruction that computes, converts or compares floating-point numbers. Moves, shuffles and bitwise operations that carry
# "ps" or "fmov" in their name do not count: they move bits.
# Exit status 1 if one is found, 77 if there was nothing to look at.
objdump=$1
shift
checked=0
status=0
for object in "$@"; do
  case $object in
    */edge/* | */detection/*) continue ;;
  esac
  checked=$((checked + 1))
  "$objdump" -d --no-show-raw-insn "$object" | awk -v object="${object##*/}" '
    /^[0-9a-f]+ <.*>:$/ { name = $2 }
    /file format/ { arm = /aarch64/ }
    /^ *[0-9a-f]+:\t/ {
      word = $2
      if (arm) {
        bad = word ~ /^(f[a-z0-9]+|[su]cvtf|bf[a-z]+)$/ && word !~ /^(fmov|bfi|bfxil|bfc|bfm)$/
      } else {
        bad = word ~ /^v?(add|sub|mul|div|sqrt|min|max|cmp[a-z_]*|u?comi|rcp(14)?|rsqrt(14)?|round|rndscale|dp|hadd|hsub|addsub|range|reduce|scalef|getexp|getmant|fixupimm|fn?m(add|sub|addsub|subadd)(132|213|231))[ps][sdh]$/ ||
              word ~ /^v?cvt[a-z0-9]*[ps][sdh]/ || word ~ /^f[a-z]+$/
      }
      if (bad) {
        printf "%s: %s %s\n", object, name, $0
        if (++found == 5) exit
      }
    }
    END { exit found > 0 }' || status=1
done
[ $checked -eq 0 ] && exit 77
[ $status -eq 0 ] && echo "$checked objects are free of floating point"
exit $status
