#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that the build or ./dev fetches has a digest beside it, and what has another is refused.
# fetched_test.sh CMAKE SOURCE
set -eu
cmake=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }

# Sources: each has a commit (40 digits) and a SHA-256 (64 digits), and what the build takes is among them.
sources=$source/third_party/sources.txt
! grep -vE '^(#.*|[A-Za-z0-9_]+ https://[^ ]+ [0-9a-f]{40} [0-9a-f]{64})$' "$sources" || fail "$sources: a row of another form"
names=$(sed -n 's/^ *qrt_fetch(\([A-Za-z0-9_]*\).*/\1/p' "$source/third_party/deps.cmake")
[ -n "$names" ] || fail "third_party/deps.cmake takes no sources"
for name in $names; do grep -q "^$name " "$sources" || fail "$sources lacks $name"; done
! grep -nE 'GIT_REPOSITORY|URL ' "$source/third_party/deps.cmake" || fail "third_party/deps.cmake fetches by itself"

# npm: each package of the list has one.
lock=$source/tests/onnxruntime/package-lock.json
packages=$(grep -c '"node_modules/' "$lock")
[ "$packages" -gt 0 ] && [ "$packages" = "$(grep -c '"integrity": "sha512-' "$lock")" ] || fail "$lock: a package without a digest"
! grep -rnE 'npm (i|install) ' "$source/dev" "$source/bench/peers" "$source/tests/onnxruntime" || fail "npm install takes what it finds: use npm ci"

# Archives: taken where they lie, and refused for another content; without one the message says what to do.
cd "$folder"
commit=0123456789012345678901234567890123456789
mkdir -p "thing-$commit/.git" "thing-$commit/a" archives
echo text >"thing-$commit/a/b.txt"
echo more >"thing-$commit/c.txt"
echo own >"thing-$commit/.git/index"
sum=$(cd "thing-$commit" && sha256sum a/b.txt c.txt | sha256sum | cut -d ' ' -f 1)
echo "thing https://example.org/thing $commit $sum" >sources.txt
cat >unpack.cmake <<TEXT
include($source/third_party/sources.cmake)
set(QRT_SOURCES $folder/sources.txt)
set(QRT_ARCHIVES $folder/archives)
qrt_unpack_source(thing $folder/out "do without it")
TEXT
unpack() { "$cmake" "$@" -P unpack.cmake 2>&1 | tr '\n' ' ' | tr -s ' '; }
archive=archives/thing-$commit.tar.gz
unpack -DQRT_FETCH_DEPS=OFF | grep -qF "The sources of thing are missing, and were not downloaded from https://example.org/thing/archive/$commit.tar.gz (QRT_FETCH_DEPS is OFF)" ||
  fail "no word of what is missing: $(unpack -DQRT_FETCH_DEPS=OFF)"
unpack -DQRT_FETCH_DEPS=OFF | grep -qF "$folder/$archive" || fail "no word of where the archive is looked for"
unpack -DQRT_FETCH_DEPS=OFF | grep -qF 'or do without it.' || fail "no word of what else to do"
tar czf "$archive" "thing-$commit"
unpack -DQRT_FETCH_DEPS=OFF | grep . && fail "the right archive is refused"
[ "$(cat out/a/b.txt)" = text ] || fail "the archive was not unpacked"
unpack -DQRT_FETCH_DEPS=OFF | grep . && fail "what was unpacked is refused"
echo other >>"thing-$commit/c.txt"
tar czf "$archive" "thing-$commit"
rm -rf out "out.$commit"
unpack -DQRT_FETCH_DEPS=OFF | grep -q "SHA-256 of what is in it is" || fail "an archive with a changed file is accepted"
[ ! -e out ] || fail "an archive with a changed file is unpacked"
echo "fetched_test: passed"
