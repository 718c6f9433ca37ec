#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# comments_test.sh SOURCE: no sentence of a comment begins with a word that leaves open what it is about. Names the lines that do.
set -eu
words='(Of|The same|What|Whether|Nor|Any)'
mark='(^[[:space:]]*\*|(^|[[:space:]])(//[/!<]*|/\*+|#+))'
begins="$mark $words\\b|$mark .*[.?!]\\)? $words\\b"

found() { # [FILE...]: lines of files, or of standard input
  grep -rnIE "$begins" --exclude-dir=corpus --exclude-dir=regressions --exclude-dir=__pycache__ \
    --exclude='*.md' --exclude='*.txt' --include=CMakeLists.txt --exclude='*.json' --exclude=comments_test.sh "$@"
}

for comment in '// Of a file.' 'int x;  // Whether it is.' ' * Any number.' '# Sets y. The same of z.' '/* Done. (Nor z.) What else. */'; do
  echo "$comment" | found - >/dev/null || { echo "this test misses: $comment" >&2; exit 1; }
done
for comment in '// The sameness of y.' '// Sets any of z.' 'char* s = "What";' '// x.y Of'; do
  ! echo "$comment" | found - || { echo "this test refuses the comment above" >&2; exit 1; }
done

cd "$1"
if found bench converter kernels runtime schema tests third_party CMakeLists.txt dev .ci; then
  echo "These comments have sentences that begin with one of $words: say what each is about, in a whole sentence (CONTRIBUTING.md)." >&2
  exit 1
fi
