# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154,SC2164
# Tries what make.sh made, where there is nothing else. ./dev dist, release and test read this file, and name its functions.

declare -A emulator_of=([x86_64]='' [aarch64]='qemu-aarch64 -L /nowhere' [armv7l]='qemu-arm -L /nowhere' [riscv64]='qemu-riscv64 -L /nowhere')

# The static programs measure, show and run a model where there is nothing else, in an empty root, and on other CPUs in qemu:
# the results of 360 images are ONNX Runtime's.
try_dist() {
  local root log cpu pkg_config
  root=$(mktemp -d)
  log=$(mktemp)
  "$release/qrt-tools-$(version)-linux-x86_64/bin/qrt_convert" tests/models/digits/digits.onnx -o "$root/m.qrt" >/dev/null
  cp tests/models/digits/*.npy "$root"
  local programs=('qrt_run m.qrt images.npy --expect logits.npy' 'qrt_bench m.qrt --seconds 0.1' 'qrt_inspect m.qrt')
  for preset in "${static_presets[@]}"; do
    cpu=${cpu_of[$preset]}
    cp "$release/qrt-tools-$(version)-linux-$cpu"/bin/* "$root"
    for program in "${programs[@]}"; do
      if [ "$cpu" = x86_64 ]; then
        # shellcheck disable=SC2086  # words of a command
        as_root chroot "$root" /$program
      else
        # shellcheck disable=SC2086
        (cd "$root" && ${emulator_of[$cpu]} ./$program)
      fi >"$log" 2>&1 || { cat "$log"; exit 1; }
    done
    # A program that is linked with the library of the tarball by its package file.
    pkg_config=$PWD/$release/qrt-$(version)-linux-$cpu/lib/pkgconfig
    # shellcheck disable=SC2046
    "$(compiler_of "$preset" C)" -static -std=c11 -Wall -Wextra -Werror tests/package/consumer.c -o "$root/consumer" \
      $(PKG_CONFIG_PATH=$pkg_config pkg-config --cflags --libs qrt)
    (cd "$root" && ${emulator_of[$cpu]} ./consumer m.qrt)
  done
  rm -rf "$root" "$log"
  say "dist: an empty root and qemu run them"
}

# try_mingw CONVERTER: the Windows programs and a consumer of libqrt.dll under Wine: the results of 360 images are ONNX Runtime's.
try_mingw() {
  local work status bin=$PWD/build/mingw/bin
  work=$(mktemp -d)
  "$1" tests/models/digits/digits.onnx -o "$work/m.qrt" >/dev/null
  cp tests/models/digits/*.npy "$work"
  x86_64-w64-mingw32-gcc-posix -std=c11 -Wall -Wextra -Werror -Iruntime/include tests/package/consumer.c \
    build/mingw/runtime/libqrt.dll.a -o "$work/consumer.exe"
  cp build/mingw/bin/libqrt.dll "$work"
  (
    cd "$work"
    export WINEDEBUG=-all WINEPREFIX=$work/wine
    for isa in scalar avx2; do
      wine "$bin/qrt_run.exe" m.qrt images.npy --isa $isa --threads 2 --expect logits.npy
    done
    wine "$bin/qrt_run.exe" m.qrt images.npy --output-dir out
    cp m.qrt Größe.qrt
    LC_ALL=C.UTF-8 wine "$bin/qrt_run.exe" Größe.qrt - --output-dir - <images.npy | cmp - logits.npy
    head -c 1000 m.qrt >cut.qrt
    status=0
    wine "$bin/qrt_run.exe" cut.qrt images.npy || status=$?
    [ $status = 3 ] || { echo "dev: a file cut short has status $status"; exit 1; }
    wine "$bin/qrt_inspect.exe" m.qrt --ops-list
    wine consumer.exe m.qrt
    wineserver -k
  )
  cmp "$work/out/output_0.npy" tests/models/digits/logits.npy
  rm -rf "$work"
  say "mingw: Wine runs the tools and a program with libqrt.dll"
}

# Tries what needs no network: checksums, symbols of glibc, the ports, the names in the bill of materials and the provenance.
try_records() {
  (cd "$release" && sha256sum --quiet -c SHA256SUMS)
  third_party/glibc_versions.py --most 2.28 "$release"/*.whl >/dev/null
  third_party/release/ports.py build "$(version)" "$release/qrt-$(version).tar.gz" build/ports
  for file in $(published); do
    grep -qF "\"$file\"" "$release/qrt-$(version).spdx.json" || { echo "dev: $file is not in the bill of materials"; exit 1; }
    grep -qF "\"$file\"" "$release/qrt-$(version).provenance.json" || { echo "dev: $file is not in the provenance"; exit 1; }
  done
}

# ---- new systems ----

# new_root SUITE PACKAGE...: prints a folder with a bare Debian and these packages; build/roots keeps it for the next time.
new_root() {
  local suite=$1 base root
  shift
  base=build/roots/$suite$(printf -- '+%s' "$@")
  if [ ! -f "$base.tar" ]; then
    mkdir -p build/roots
    rm -rf "$base"
    {
      as_root debootstrap --variant=minbase "$suite" "$base" "${QRT_MIRROR:-http://deb.debian.org/debian}"
      cp /etc/resolv.conf "$base/etc/resolv.conf"
      in_root "$base" "apt-get update -q && apt-get install -qy --no-install-recommends ${*:-apt}"
    } >"$base.log" 2>&1 || { tail -20 "$base.log" >&2; exit 1; }
    as_root tar -C "$base" -cf "$base.tar" .
    as_root rm -rf "$base"
  fi
  root=$(mktemp -d)
  chmod 755 "$root"
  as_root tar -C "$root" -xf "$base.tar"
  echo "$root"
}

# in_root FOLDER COMMANDS: runs them there as root, with /proc.
in_root() {
  # shellcheck disable=SC2016  # the inner shell's variables
  as_root unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root DEBIAN_FRONTEND=noninteractive sh -euc "$2"' sh "$1" "$2"
}

# try_install SUITE NAME 'PACKAGE ...' 'FILE ...' COMMANDS: in a new system with these packages, how long FILEs of $release need from
# where they lie to COMMANDS' end, in the folder of the digits: at most 10 seconds. Prints those of the clock and of the CPU.
try_install() {
  local root took
  # shellcheck disable=SC2086  # several packages
  root=$(new_root "$1" $3)
  mkdir "$root/trial"
  cp tests/models/digits/*.npy tests/models/digits/*.onnx tests/package/consumer.c third_party/release/first_result.* "$root/trial"
  took=$(
    TIMEFORMAT='%1R s, %1U s of the CPU'
    # shellcheck disable=SC2086  # several files
    { time { (cd $release && cp $4 "$root/trial") && in_root "$root" "cd /trial; $5" >build/install.log 2>&1; }; } 2>&1
  ) || { cat build/install.log; echo "dev: failed: $2 in $1"; exit 1; }
  printf '%-9s %-20s %s\n' "$1" "$2" "$took"
  as_root rm -rf "$root"
  [ "${took%%.*}" -lt "${QRT_INSTALL_SECONDS:-10}" ] || { echo "dev: that takes too long"; exit 1; }
}

# Tries each file of a release for this CPU, in new systems of its own. bullseye is Debian 11, whose node is too old for the npm package,
# and its libstdc++ for libqrt.a, which is g++ 12's; the Debian packages are bookworm's, since tools are bound to a version of ONNX.
try_installs() {
  local v tools run
  v=$(version)
  tools=qrt-tools-$v-linux-x86_64.tar.gz
  run='qrt_convert digits.onnx -o digits.qrt && qrt_run digits.qrt images.npy --expect logits.npy'
  for suite in "$@"; do
    try_install "$suite" 'tools, tarball' '' "$tools" "tar -xzf qrt-tools-*.gz; PATH=\$PATH:\$(echo /trial/qrt-tools-*/bin); $run; qrt --help"
    [ "$suite" = bullseye ] || try_install "$suite" 'libqrt, tarball' 'gcc g++ libc6-dev pkg-config' "$tools qrt-$v-linux-x86_64.tar.gz" \
      "cat *.gz | tar -xzif -; export PKG_CONFIG_PATH=\$(echo /trial/qrt-$v-*/lib/pkgconfig)
       qrt-tools-*/bin/qrt_convert digits.onnx -o digits.qrt; gcc consumer.c \$(pkg-config --cflags --libs qrt) -o consumer; ./consumer digits.qrt"
    try_install "$suite" 'qrt, wheel' python3-venv "qrt-$v-*x86_64.whl" \
      "python3 -m venv env; env/bin/pip install --no-index qrt-*.whl; env/bin/pip check; env/bin/python first_result.py; PATH=\$PATH:env/bin; $run"
    try_install "$suite" 'qrt-runtime, wheel' python3-venv "$tools qrt_runtime-$v-*x86_64.whl" \
      "tar -xzf qrt-tools-*.gz; qrt-tools-*/bin/qrt_convert digits.onnx -o digits.qrt
       python3 -m venv env; env/bin/pip install --no-index qrt_runtime-*.whl; env/bin/pip check; env/bin/python first_result.py"
    [ "$suite" = bullseye ] || try_install "$suite" 'qrt, npm' 'nodejs npm' "$tools qrt-$v.tgz" \
      "tar -xzf qrt-tools-*.gz; qrt-tools-*/bin/qrt_convert digits.onnx -o digits.qrt
       npm install --offline --no-audit --no-fund ./qrt-*.tgz; node first_result.mjs"
    [ "$suite" != bookworm ] || try_install "$suite" 'Debian packages' 'bash-completion man-db' "*_$v-1_*.deb" \
      "apt-get install -qy --no-install-recommends ./*.deb; $run; python3 first_result.py; mandb -q; whatis qrt qrt_convert
       bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader qrt_run || complete -p qrt_run'"
  done
  say "install: the files of $release run in $*"
}
