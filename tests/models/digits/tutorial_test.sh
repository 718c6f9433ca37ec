#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tutorial_test.sh REPOSITORY BIN: keeps README.md true. It has at most 130 lines; its commands that begin with "$ " run in an empty
# folder and print the lines shown below them, in that order ("..." stands for any lines; the numbers of a line with times may be
# others); and quantised.qrt, which they make, reads at most 0.3 points fewer digits than the float model (accuracy.json).
set -eu
export LC_ALL=C
repository=$(readlink -f "$1")
PATH=$(readlink -f "$2"):$PATH
digits=$repository/tests/models/digits
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for file in float.onnx calibration.npy digits.onnx images.npy logits.npy; do ln -s "$digits/$file" .; done

[ "$(wc -l <"$repository/README.md")" -le 130 ] || { echo "README.md has more than 130 lines" >&2; exit 1; }
# The block of commands and what they print, without its indentation.
sed -n '/^    \$ /,/^$/s/^    //p' "$repository/README.md" >shown
sed -n 's/^\$ //p' shown >commands
[ "$(wc -l <commands)" -ge 3 ] || { echo "README.md shows fewer than 3 commands" >&2; exit 1; }
while read -r command; do
  echo "\$ $command"
  sh -c "$command" 2>&1 || { echo "failed: $command" >&2; exit 1; }
done <commands >printed

awk '
  function plain(line) {
    if (line ~ /[0-9] ms|median|p99/) { gsub(/[0-9]+(\.[0-9]+)?(e-?[0-9]+)?/, "N", line); gsub(/ +/, " ", line) }
    return line
  }
  NR == FNR { printed[++count] = $0; next }
  $0 == "..." { skips = 1; next }
  {
    if (skips) while (at < count && plain(printed[at + 1]) != plain($0) && printed[at + 1] !~ /^\$ /) ++at
    else if (/^\$ /) while (at < count && printed[at + 1] !~ /^\$ /) { print "not shown in README.md: " printed[++at]; bad = 1 }
    if (plain(printed[++at]) != plain($0)) {
      print "README.md shows:  " $0
      print "what is printed:  " printed[at]
      exit bad = 1
    }
    skips = 0
  }
  END { exit bad }' printed shown >&2

qrt_run quantised.qrt images.npy --output-dir out >/dev/null
data() { tail -c "$2" "$1"; } # of an .npy file without its header: FILE BYTES
data "$digits/labels.npy" 360 | od -An -v -tu1 -w1 >labels
data out/output_0.npy 14400 | od -An -v -tf4 -w40 >logits
paste -d ' ' labels logits | awk -v float="$(sed -n 's/.*"float_correct": \([0-9]*\).*/\1/p' "$digits/accuracy.json")" '
  {
    best = 2
    for (i = 3; i <= 11; ++i) if ($i > $best) best = i
    if (best - 2 == $1) ++correct
  }
  END {
    printf "%d of %d right, %d by the float model\n", correct, NR, float
    exit NR != 360 || correct < float - 0.003 * NR
  }'
