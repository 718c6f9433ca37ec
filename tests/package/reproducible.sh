#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that equal sources give equal bytes, wherever and whenever they are built. Copies the sources to FOLDER, builds
# FILEs there with the options of BUILD, but with no compiler cache and another time zone, language and umask, and
# compares them with those of BUILD. A second call builds only what changed.
# reproducible.sh CMAKE SOURCE BUILD FOLDER FILE...     for Ninja, which takes files for targets
set -eu
cmake=$1 source=$2 build=$3 folder=$4
shift 4
copy=$folder/sources other=$folder/elsewhere
rm -rf "$copy"
mkdir -p "$copy"
for part in CHANGELOG.md CMakeLists.txt bench converter kernels runtime schema tests third_party; do
  cp -Rp "$source/$part" "$copy/"
done

export CCACHE_DISABLE=1 TZ=Pacific/Kiritimati LC_ALL=C
umask 077
names='CMAKE_BUILD_TYPE|CMAKE_(C|CXX)_(COMPILER|COMPILER_LAUNCHER|FLAGS|FLAGS_RELEASE)|BUILD_SHARED_LIBS'
names="$names|QRT_(WERROR|HARDEN|INTEGER_ONLY|WITH_CPUINFO|WITH_PTHREADPOOL|WITH_XNNPACK|BUILD_(CONVERTER|TESTS|TOOLS))"
sed -nE 's/^('"$names"'):[A-Z]+=(.*)$/set(\1 "\6" CACHE STRING "")/p' "$build/CMakeCache.txt" >"$folder/options.cmake"
quietly() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; echo "failed: $*"; exit 1; }; }
quietly "$cmake" -G Ninja -C "$folder/options.cmake" -S "$copy" -B "$other"

differ=0
for file; do
  name=${file#"$build/"}
  quietly "$cmake" --build "$other" -j "${QRT_JOBS:-1}" --target "$name"
  if cmp "$build/$name" "$other/$name"; then
    echo "the same: $name"
  else
    differ=1
  fi
  if grep -aqF -e "$build" -e "$source" "$build/$name"; then
    echo "names the folder that it was built in: $name"
    differ=1
  fi
done
exit $differ
