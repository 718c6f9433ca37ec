#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs libqrt, moves the installed tree, and builds and runs consumers of it.
# package_test.sh CMAKE GENERATOR BUILD_DIR SOURCE_DIR MODEL CC CXX
set -eu
cmake=$1 CMAKE_GENERATOR=$2 build=$3 source=$4 model=$5 CC=$6 CXX=$7
export CMAKE_GENERATOR CC CXX
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; exit 1; }; }

quietly "$cmake" --install "$build" --prefix "$work/first" --component qrt
mv "$work/first" "$work/moved"
# A path begins after a separator: sources in /qrt are not meant by ${prefix}/include/qrt.
if grep -rqE "(^|[\"';:= ]|-[IL])($work/first|$source|$build)([/\"'; ]|$)" "$work/moved" --include='*.cmake' --include='*.pc'; then
  echo "the package files name paths of the build"; exit 1
fi
libdir=$(dirname "$(find "$work/moved" -name pkgconfig -type d)")

for c_only in OFF ON; do
  echo "find_package, C_ONLY=$c_only"
  quietly "$cmake" -S "$source/tests/package" -B "$work/$c_only" -DC_ONLY=$c_only -DCMAKE_PREFIX_PATH="$work/moved"
  quietly "$cmake" --build "$work/$c_only"
  "$work/$c_only/consumer_c" "$model"
done
"$work/OFF/consumer_cc" "$model"

if command -v pkg-config >/dev/null; then
  echo "pkg-config"
  export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
  for standard in 99 11; do
    quietly $CC -std=c$standard -Wall -Wextra -Werror -pedantic "$source/tests/package/consumer.c" $(pkg-config --cflags --libs qrt) -o "$work/c"
    "$work/c" "$model"
  done
  quietly $CXX -std=c++17 -fno-exceptions -fno-rtti -Wall -Wextra -Wconversion -Werror -pedantic "$source/runtime/examples/no_exceptions.cc" \
    $(pkg-config --cflags --libs qrt) -o "$work/cc"
  for standard in 17 20; do
    quietly $CXX -std=c++$standard -Wall -Wextra -Wconversion -Werror -pedantic "$source/tests/package/consumer.cc" $(pkg-config --cflags --libs qrt) -o "$work/cc"
    "$work/cc" "$model"
  done
fi

echo "add_subdirectory"
quietly "$cmake" -S "$source/tests/package" -B "$work/sub" -DQRT_SOURCE_DIR="$source"
echo "package_test: passed"
