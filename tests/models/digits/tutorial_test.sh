#!/bin/sh
# tutorial_test.sh REPOSITORY BIN: runs the commands of README.md's tutorial, those that begin with qrt_, in an empty folder, and
# counts the right answers of digits.qrt. Exit status 1: more than 0.3 points fewer than the float model's (accuracy.json).
set -eu
export LC_ALL=C
repository=$(readlink -f "$1")
PATH=$(readlink -f "$2"):$PATH
digits=$repository/tests/models/digits
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$repository/tests" tests

sed -n '/^## From PyTorch to a device/,/^## /s/^    \(qrt_[a-z]* .*\)/\1/p' "$repository/README.md" >commands
[ "$(wc -l <commands)" -ge 3 ] || { echo "README.md has no tutorial of at least 3 commands" >&2; exit 1; }
set -x
. ./commands
set +x

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
