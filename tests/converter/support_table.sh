#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the table of operators, element types and options in converter/SUPPORT.md from what the
# converter's tests convert and run (tests/support/support_rows.h). The ranges of values that these
# tests happen to prove of CVM's tensors are left out.
#   support_table.sh FILE PROGRAM TEST...           fails if the table in FILE is stale
#   support_table.sh --write FILE PROGRAM TEST...   brings it up to date
set -eu
export LC_ALL=C
write=
[ "$1" = --write ] && write=yes && shift
document=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset QRT_TEST_SEED
QRT_SUPPORT_ROWS=$work/rows "$@" --gtest_brief=1 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

# One line for each operator and list of types: all options seen with it, all it became.
sed 's/, values -\{0,1\}[0-9]* to -\{0,1\}[0-9]*//g' "$work/rows" | sort -u | awk -F '\t' '
  function add(list, item) {
    if (item == "" || index("; " list "; ", "; " item "; ")) return list
    return list == "" ? item : list "; " item
  }
  {
    key = $1 "\t" $2 "\t" $3
    if (!(key in became)) { order[++n] = key; options[key] = ""; became[key] = "" }
    count = split($4, option, ", ")
    for (i = 1; i <= count; i++) options[key] = add(options[key], option[i])
    became[key] = add(became[key], $5)
  }
  END {
    print "| from | operator | element types | options | becomes |"
    print "|---|---|---|---|---|"
    for (i = 1; i <= n; i++) {
      split(order[i], part, "\t")
      gsub(/\|/, "\\|", part[3])
      print "| " part[1] " | " part[2] " | " part[3] " | " options[order[i]] " | " became[order[i]] " |"
    }
  }' >"$work/table"

awk -v table="$work/table" '
  /^<!-- end of the support table -->$/ { skipping = 0 }
  !skipping { print }
  /^<!-- support table: generated/ { while ((getline line < table) > 0) print line; skipping = 1 }
' "$document" >"$work/document"
cmp -s "$work/document" "$document" && exit 0
if [ -n "$write" ]; then
  cat "$work/document" >"$document"
else
  diff "$document" "$work/document" || true
  echo "The table in $document is stale: cmake --build BUILD --target support_table" >&2
  exit 1
fi
