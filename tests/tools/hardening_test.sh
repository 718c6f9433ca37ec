#!/bin/sh
# Programs and libraries that read files are hardened: all symbols bound when they start, what that fills in read-only
# from then on, a stack protector, and functions that know how long their buffers are. hardening_test.sh READELF FILE...
set -eu
readelf=$1
shift
for file; do
  "$readelf" -dW "$file" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || { echo "$file: no BIND_NOW"; exit 1; }
  "$readelf" -lW "$file" | grep -q GNU_RELRO || { echo "$file: no RELRO"; exit 1; }
  "$readelf" -W --dyn-syms "$file" | grep -q __stack_chk_fail || { echo "$file: no stack protector"; exit 1; }
  "$readelf" -W --dyn-syms "$file" | grep -q '__[a-z]*_chk@' || { echo "$file: not fortified"; exit 1; }
done
