#!/bin/sh
# Everything that the build or ./dev fetches has a digest beside it, and what has another is refused.
# fetched_test.sh CMAKE SOURCE
set -eu
cmake=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }

# Sources: each commit (40 digits) comes with a SHA-256 (64 digits).
commits=$(grep -Eo '\b[0-9a-f]{40}\b' "$source/third_party/deps.cmake" | wc -l)
digests=$(grep -Eo '\b[0-9a-f]{64}\b' "$source/third_party/deps.cmake" | wc -l)
[ "$commits" -gt 0 ] && [ "$commits" = "$digests" ] || fail "third_party/deps.cmake: $commits commits, $digests digests"
[ "$(grep -c 'FetchContent_Declare(' "$source/third_party/deps.cmake")" = "$(grep -c 'PATCH_COMMAND' "$source/third_party/deps.cmake")" ] ||
  fail "third_party/deps.cmake: a source is not compared with its digest"

# npm: each package of the list has one.
lock=$source/tests/onnxruntime/package-lock.json
packages=$(grep -c '"node_modules/' "$lock")
[ "$packages" -gt 0 ] && [ "$packages" = "$(grep -c '"integrity": "sha512-' "$lock")" ] || fail "$lock: a package without a digest"
! grep -rnE 'npm (i|install) ' "$source/dev" "$source/bench/peers" "$source/tests/onnxruntime" || fail "npm install takes what it finds: use npm ci"

# The comparison itself, with the digest that sha256sum gives.
check() { (cd "$folder/source" && "$cmake" "-DSHA256=$1" -P "$source/third_party/check_sha256.cmake" 2>&1); }
mkdir -p "$folder/source/.git" "$folder/source/a"
echo text >"$folder/source/a/b.txt"
echo more >"$folder/source/c.txt"
echo own >"$folder/source/.git/index"
sum=$(cd "$folder/source" && sha256sum a/b.txt c.txt | sha256sum | cut -d ' ' -f 1)
check "$sum" >/dev/null || fail "the right digest is refused"
echo other >>"$folder/source/c.txt"
check "$sum" | grep -q 'SHA-256 of what was fetched' || fail "a changed file is accepted"
echo "fetched_test: passed"
