# SPDX-License-Identifier: Apache-2.0
# Sourced: libqrt with less in it, built for size. Wants $cmake $source $folder $strip; CMAKE_GENERATOR, CC, CXX and, for
# another processor, CMAKE_TOOLCHAIN_FILE in the environment.
build=$folder/build
mkdir -p "$folder"
quietly() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; echo "failed: $*"; exit 1; }; }
# configure ISAS OPS [CMAKE OPTION...]
configure() {
  isas=$1 ops=$2
  shift 2
  "$cmake" -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=MinSizeRel -DBUILD_SHARED_LIBS=ON -DQRT_BUILD_TOOLS=OFF \
    -DQRT_BUILD_CONVERTER=OFF -DQRT_BUILD_TESTS=OFF -DQRT_INSTALL=OFF "-DQRT_ISAS=$isas" "-DQRT_OPS=$ops" "$@"
}
build() {
  quietly configure "$@"
  quietly "$cmake" --build "$build" --target qrt -j 2
}
# size_of NAME ISAS OPS [CMAKE OPTION...]: against its limit.
size_of() {
  name=$1
  shift
  build "$@"
  sh "$source/tests/abi/sizes.sh" "$strip" "$name=$(readlink -f "$build/runtime/libqrt.so")"
}
