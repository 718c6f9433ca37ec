#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sizes of files without debugging information and symbols against the limits of sizes.txt, which are edited by hand.
#   sizes.sh STRIP NAME=FILE...
set -eu
limits=$(dirname "$(readlink -f "$0")")/sizes.txt strip=$1
shift
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
status=0
for pair; do
  name=${pair%%=*} file=${pair#*=}
  limit=$(awk -v name="$name" '$1 == name {print $2}' "$limits")
  [ -n "$limit" ] || { echo "tests/abi/sizes.txt has no limit for $name"; exit 1; }
  "$strip" -o "$stripped" "$file"
  size=$(wc -c <"$stripped")
  echo "$name: $size bytes, limit $limit"
  [ "$size" -le "$limit" ] || status=1
done
[ $status = 0 ] || echo "too large; if there is a reason, raise the limit in tests/abi/sizes.txt"
exit $status
