#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# glossary_test.sh SOURCE: no type or function has a name that retired_names.txt retires. Names those that do.
set -eu
retired="$1/tests/docs/retired_names.txt"

found() { # FILE...: names of types and functions, each with the retired word in it, and with the first file and line
  awk '
    function refuse(why) { print FILENAME ":" FNR ": " name " (" why ")" }
    function check(name,  words, n, i, w) {
      if (name in seen) return
      seen[name] = 1
      if (name in allowed) return
      if (name in names) return refuse(name)
      w = name
      if (w != toupper(w)) gsub(/[A-Z]/, "_&", w)
      n = split(tolower(w), words, "_")
      for (i = 1; i <= n; ++i) {
        w = words[i]
        if (!(w in names)) sub(/s$/, "", w)
        if (w != "" && w in names) return refuse(w)
      }
    }
    FNR == 1 { ++file }
    file == 1 { if ($1 == "allow") allowed[$2] = 1; else if ($1 !~ /^#/ && NF > 0) names[$1] = 1; next }
    {
      gsub(/"([^"\\]|\\.)*"/, "\"\"")
      sub(/\/\/.*/, "")
      if ($0 ~ /^ *\/?\*/) next
      line = $0
      while (match(line, /(struct|class|union|enum class|enum|using) +[A-Za-z_][A-Za-z_0-9]*/)) {
        name = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        sub(/^.* /, "", name)
        check(name)
      }
      line = $0
      while (match(line, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
        name = substr(line, RSTART, RLENGTH - 1)
        line = substr(line, RSTART + RLENGTH)
        check(name)
      }
    }' "$retired" "$@"
}

own=$(mktemp)
trap 'rm -f "$own"' EXIT
for code in 'struct Strip {' 'enum class Links { k };' 'using Pair = int;' 'void run_pieces(int n);' '  x.follow_piece(1);' 'class RowPieces;'; do
  echo "$code" >"$own"
  [ -n "$(found "$own")" ] || { echo "this test misses: $code" >&2; exit 1; }
done
for code in 'struct PairLut {' 'void stripe(int n);' 'f("spread(");' '// spread(x)' 'return mended;' 'rule.pieces();'; do
  echo "$code" >"$own"
  [ -z "$(found "$own")" ] || { echo "this test refuses: $code" >&2; exit 1; }
done

cd "$1"
find bench converter kernels runtime schema tests -type f \( -name '*.cc' -o -name '*.h' -o -name '*.c' -o -name '*.inc' \) >"$own.files"
trap 'rm -f "$own" "$own.files"' EXIT
names=$(found $(cat "$own.files"))
if [ -n "$names" ]; then
  echo "$names" >&2
  echo "These types and functions have retired names: schema/GLOSSARY.md has the words to use." >&2
  exit 1
fi
