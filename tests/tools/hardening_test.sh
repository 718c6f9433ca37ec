#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs and libraries that read files are hardened: all symbols are bound when they start, and what that fills in is read-only
# from then on; they have a stack protector, and functions that know how long their buffers are; programs have containers
# that check their indices. On x86-64 they ask for a shadow stack, objects have the marks of CET, and a frame of many pages
# touches each of them. hardening_test.sh READELF OBJDUMP PROBE LIBRARY PROGRAM... -- OBJECT...
set -eu
readelf=$1 objdump=$2 probe=$3 library=$4
shift 4
fail() { echo "$*" >&2; exit 1; }
is_x86_64() { "$readelf" -hW "$1" | grep -q X86-64; }
check() {
  "$readelf" -dW "$1" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || fail "$1: no BIND_NOW"
  "$readelf" -lW "$1" | grep -q GNU_RELRO || fail "$1: no RELRO"
  "$readelf" -W --dyn-syms "$1" | grep -q __stack_chk_fail || fail "$1: no stack protector"
  "$readelf" -W --dyn-syms "$1" | grep -q '__[a-z]*_chk@' || fail "$1: not fortified"
  ! is_x86_64 "$1" || "$readelf" -nW "$1" | grep -q SHSTK || fail "$1: no shadow stack"
}
check "$library"
while [ "$1" != -- ]; do
  check "$1"
  "$readelf" -W --dyn-syms "$1" | grep -q glibcxx_assert_fail || fail "$1: no assertions of the standard library"
  shift
done
shift
is_x86_64 "$probe" || exit 0
for object in "$probe" "$@"; do
  case $object in *.gch) continue ;; esac # a precompiled header, which CMake counts among the objects
  "$readelf" -nW "$object" | grep -q 'IBT, SHSTK' || fail "$object: no CET"
done
"$objdump" -d "$probe" | grep -Eq '(or[lq]?|mov[lq]?) +\$0x0,.*\(%[re]?(sp|11)\)' || fail "$probe: no probes of the stack"
