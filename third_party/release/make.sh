# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2164
# Makes what is published: ./dev wheel, deb, wasm, dist and release read this file, and name its functions. Equal commits and
# packages of Debian give equal bytes.

umask 022 # archives and packages keep the rights of files
release=build/dist
# Groups of third_party/packages.txt.
dist_groups=(build python static arm64 armhf riscv64)
release_groups=("${dist_groups[@]}" mingw debian wasm)
# The names that the world has for the presets' targets: `uname -m`.
static_presets=(static static-arm64 static-armhf static-riscv64)
declare -A cpu_of=([static]=x86_64 [static-arm64]=aarch64 [static-armhf]=armv7l [static-riscv64]=riscv64)

# The commit's time, for those who write times: Python's wheel, and the linker and strip of MinGW.
commit_time() { git log -1 --format=%ct; }
set_time() {
  SOURCE_DATE_EPOCH=$(commit_time)
  export SOURCE_DATE_EPOCH
}

# Makes the wheels: with the tools, which are linked statically, and without.
make_wheels() {
  set_time
  target=qrt_all build static
  for tools in '' "$PWD/build/static/bin/qrt_all"; do target=wheel build wheel -DQRT_WHEEL_TOOLS="$tools"; done
  third_party/glibc_versions.py --most 2.28 build/wheel/runtime/python/dist/*.whl
}

# Makes the Debian packages of the last commit; packaging stands in third_party/debian, since Debian's tools want it at the top.
make_deb() {
  local name
  name=qrt-$(version)
  rm -rf build/deb
  mkdir -p build/deb
  git archive --prefix="$name/" HEAD | gzip -n >"build/deb/qrt_$(version).orig.tar.gz"
  tar -C build/deb -xzf "build/deb/qrt_$(version).orig.tar.gz"
  mv "build/deb/$name/third_party/debian" "build/deb/$name/debian"
  sed "s/@VERSION@/$(version)/; s/@DATE@/$(LC_ALL=C date -u -R -d "$(sed -n "s/^## $(version), //p" CHANGELOG.md)")/" \
    "build/deb/$name/debian/changelog.in" >"build/deb/$name/debian/changelog"
  rm "build/deb/$name/debian/changelog.in"
  # Its own time of the sources, that of the changelog.
  (cd "build/deb/$name" && env -u SOURCE_DATE_EPOCH DEB_BUILD_OPTIONS="parallel=$jobs" dpkg-buildpackage -us -uc -b)
  lintian --fail-on error build/deb/*.changes
}

# Makes the npm package: build/npm/qrt-VERSION.tgz.
make_npm() {
  for preset in wasm128 wasmrelaxed; do target=qrt_module build $preset; done
  target=qrt_convert_module build wasmconvert -DQRT_BUILD_TESTS=OFF
  rm -rf build/npm
  node runtime/wasm/assemble.mjs build/npm/qrt build/wasm128/qrt_wasm128.wasm build/wasmrelaxed/qrt_wasmrelaxed.wasm build/wasmconvert/qrt_convert.wasm
  cp NOTICE build/npm/qrt
  mkdir build/npm/qrt/licences
  for package in wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 libflatbuffers-dev nlohmann-json3-dev; do
    cp "/usr/share/doc/$package/copyright" "build/npm/qrt/licences/$package"
  done
  (cd build/npm && npm pack --silent ./qrt)
}

# pack FOLDER of $release: the same bytes from the same files.
pack() {
  tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go-w --mtime="@$(commit_time)" -C $release -c "$1" | gzip -n >"$release/$1.tar.gz"
}

# pack_zip FOLDER of $release: a zip of the same kind.
pack_zip() {
  (
    cd $release
    rm -f "$1.zip"
    find "$1" -exec touch -h -d "@$(commit_time)" {} +
    find "$1" -type f | LC_ALL=C sort | TZ=UTC zip -qX -@ "$1.zip" # whose times are local ones
  )
}

# compiler_of PRESET LANGUAGE: the program that CMake compiles with, C or CXX.
compiler_of() { sed -n "s/^set(CMAKE_$2_COMPILER \"\(.*\)\")/\1/p" "build/$1"/CMakeFiles/*/CMake"$2"Compiler.cmake; }

# package_of_linked PRESET FILE: the Debian package of a file that the preset's compiler links in.
package_of_linked() {
  dpkg-query -S "$(readlink -f "$("$(compiler_of "$1" CXX)" -print-file-name="$2")")" | sed 's/:.*//'
}

# linked_packages PRESET: the packages of what is linked into its programs.
linked_packages() {
  local cache=build/$1/CMakeCache.txt libraries='libc.a libstdc++.a' path
  case $1 in mingw*) libraries='libmingw32.a libstdc++.a' ;; esac
  for library in $libraries; do package_of_linked "$1" "$library"; done
  printf '%s\n' libflatbuffers-dev libcli11-dev nlohmann-json3-dev
  # Libraries of pictures, of .npz files and of the converter are linked in where they are there for that CPU.
  sed -nE 's/^(PNG_LIBRARY_RELEASE|JPEG_LIBRARY_RELEASE|QRT_WEBP_LIBRARY|ZLIB_LIBRARY_RELEASE|Protobuf_LIBRARY_RELEASE):[A-Z]*=(.*[.]a)$/\2/p' "$cache" |
    while read -r path; do dpkg-query -S "$path" | sed 's/:.*//'; done
  if grep -q '^QRT_BUILD_CONVERTER:BOOL=ON$' "$cache"; then echo libonnx-dev; fi
}

# add_documents PRESET FOLDER: the project's, and the licences of what is linked in.
add_documents() {
  cp LICENSE NOTICE README.md CHANGELOG.md STABILITY.md SECURITY.md "$2"
  mkdir "$2/licences"
  for package in $(linked_packages "$1"); do cp "/usr/share/doc/$package/copyright" "$2/licences/$package"; done
}

# Makes tarballs of the sources, and of libqrt and the static tools of each CPU; and the wheels.
make_tarballs() {
  local suffix
  rm -rf $release
  mkdir -p $release
  for preset in "${static_presets[@]}"; do
    suffix=$(version)-linux-${cpu_of[$preset]}
    cmake --install "build/$preset" --prefix "$release/qrt-$suffix" --component qrt >/dev/null
    cmake --install "build/$preset" --prefix "$release/qrt-tools-$suffix" --component tools --strip >/dev/null
    for folder in "qrt-$suffix" "qrt-tools-$suffix"; do
      add_documents "$preset" "$release/$folder"
      pack "$folder"
    done
  done
  git archive --prefix="qrt-$(version)/" HEAD | gzip -n >"$release/qrt-$(version).tar.gz"
  cp build/wheel/runtime/python/dist/*.whl $release
}

# Makes what ./dev dist publishes.
make_dist() {
  make_wheels
  # shellcheck disable=SC2086  # several options, QRT_CMAKE_OPTIONS
  for preset in "${static_presets[@]}"; do target=all build "$preset" ${QRT_CMAKE_OPTIONS:-}; done
  make_tarballs
}

# Makes the zip of the library, its headers and the tools for Windows.
make_windows() {
  local folder
  folder=qrt-$(version)-windows-x86_64
  set_time
  rm -rf "${release:?}/$folder"
  target=all build mingw
  cmake --install build/mingw --prefix "$release/$folder" --component qrt >/dev/null
  cmake --install build/mingw --prefix "$release/$folder" --component tools --strip >/dev/null
  add_documents mingw "$release/$folder"
  pack_zip "$folder"
}

# Lists the files of $release that are given away.
published() { (cd $release && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' ! -name '*.json' -printf '%f\n' | LC_ALL=C sort); }

# release_links FILE: lists what is linked into it, as the licences within tell, and what a Debian package depends on.
release_links() {
  case $1 in
    *.deb)
      # shellcheck disable=SC2016  # dpkg's variables
      dpkg-deb -f "$1" Depends | tr ',|' '\n' | sed 's/^ *//; s/[ :(].*//' |
        while read -r package; do dpkg-query -W -f='${Package}\n' "$package" 2>/dev/null || true; done | LC_ALL=C sort -u
      ;;
    *.whl | *.zip) python3 -m zipfile -l "$1" | sed -nE 's#^[^ ]*/licences/([^ /]+) .*#\1#p; s#^qrt/lib/([^ ]+)[.]copyright .*#\1#p' ;;
    *-linux-*.tar.gz) tar -tzf "$1" | sed -n 's#.*/licences/\(.\+\)#\1#p' ;;
    *.tgz) tar -tzf "$1" | sed -n 's#^package/licences/\(.\+\)#\1#p' ;;
  esac
}

# Writes bill of materials, provenance and checksums of $release, and a signature of these where QRT_SIGNING_KEY names a key of gpg.
make_records() {
  local name names given=()
  set_time
  mapfile -t names < <(published)
  for name in "${names[@]}"; do given+=("$release/$name:$(release_links "$release/$name" | paste -sd,)"); done
  python3 third_party/sbom.py "$(version)" "${given[@]}" >"$release/qrt-$(version).spdx.json"
  python3 third_party/release/provenance.py "$(git rev-parse HEAD)" "$(IFS=, && echo "${release_groups[*]}")" \
    "${names[@]/#/$release/}" >"$release/qrt-$(version).provenance.json"
  (cd $release && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
  [ -z "${QRT_SIGNING_KEY:-}" ] || gpg --batch --yes --local-user "$QRT_SIGNING_KEY" --armor --detach-sign $release/SHA256SUMS
}

# Makes everything of a release in $release: a file for each ecosystem, under the name that it has there.
make_release() {
  make_dist
  make_windows
  make_deb
  find build/deb -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -exec cp -t $release {} +
  make_npm
  cp build/npm/*.tgz $release
  third_party/release/ports.py write "$(version)" "$release/qrt-$(version).tar.gz" build/ports
  for port in vcpkg conan homebrew; do
    cp -r build/ports/$port "$release/qrt-$(version)-$port"
    pack "qrt-$(version)-$port"
  done
  make_records
}

# Prints size, SHA-256 and name of each file.
list_release() {
  local sum name
  while read -r sum name; do printf '%10d  %s  %s\n' "$(stat -c %s "$release/$name")" "$sum" "$name"; done <$release/SHA256SUMS
}
