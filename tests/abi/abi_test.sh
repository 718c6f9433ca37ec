#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The binary interface of libqrt against that was written down: functions, types, and sizes of the files.
#   abi_test.sh [--write] CC NM STRIP INCLUDE LIBRARY PROGRAM...
# --write makes the present interface to keep (baseline.abi); limits of sizes.txt are edited by hand. Status 77
# without abidiff.
set -eu
here=$(dirname "$(readlink -f "$0")")
write=
[ "$1" != --write ] || { write=yes; shift; }
cc=$1 nm=$2 strip=$3 include=$4 library=$5
shift 4
command -v abidiff >/dev/null || { echo "abidiff is missing: ./dev setup abi"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# A library of the headers' functions and types alone, with debugging information, which abidw reads: the interface
# without what is behind it. That libqrt has these functions and no others, runtime/exports_test.sh checks.
{
  echo '#include <qrt/image.h>'
  sed -n '/^QRT_API/{:more; /;/!{N; b more}; s/^QRT_API //; s/\(qrt_[a-z_]*\)(/(\1)(/; s/;.*/ { __builtin_trap(); }/; p}' "$include/qrt/qrt.h" "$include/qrt/image.h"
} >"$out/interface.c"
"$cc" -g -fdebug-prefix-map="$out=." -shared -fPIC -I"$include" -o "$out/libqrt.so" "$out/interface.c"
abidw --no-corpus-path --no-comp-dir-path --no-elf-needed --no-architecture --no-show-locs --type-id-style hash \
  "$out/libqrt.so" >"$out/now.abi"
if [ -n "$write" ]; then
  if grep -F "$out" "$out/now.abi"; then
    echo "the interface names a folder of this machine"
    exit 1
  fi
  cp "$out/now.abi" "$here/baseline.abi"
elif ! abidiff --no-architecture "$here/baseline.abi" "$out/libqrt.so"; then
  echo "the interface is another than tests/abi/baseline.abi says; if that is meant: ./dev abi"
  exit 1
fi
[ "$("$nm" -D --defined-only "$library" | wc -l)" = "$("$nm" -D --defined-only "$out/libqrt.so" | grep -c ' T ')" ] ||
  { echo "$library exports more or less than the header's functions"; exit 1; }

# The sizes (x86-64, g++).
for file; do
  set -- "$@" "$(basename "$file" | sed 's|[.]so[.].*|.so|')=$file"
  shift
done
sh "$here/sizes.sh" "$strip" "$@"
