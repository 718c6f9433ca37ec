# SPDX-License-Identifier: Apache-2.0
# Toolchain: aarch64 Linux from Debian's cross compiler, tests under qemu-aarch64 (QEMU_CPU chooses the processor).
# `./dev setup arm64` unpacks the target's libraries into build/arm64-sysroot, `./dev test quantize` the converter's, which the preset arm64-converter names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib)  # not the libc6:arm64 of this machine with that ld.so
set(QRT_ARM64_LIBRARIES ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot/usr/lib/aarch64-linux-gnu)
set(QRT_ARM64_ZLIB ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot/lib/aarch64-linux-gnu)
set(QRT_CPUINFO_LIBRARY ${QRT_ARM64_LIBRARIES}/libcpuinfo.so.0 CACHE FILEPATH "")
set(QRT_PTHREADPOOL_LIBRARY ${QRT_ARM64_LIBRARIES}/libpthreadpool.so.0 CACHE FILEPATH "")
# libpthreadpool and the test programs find their libraries there at run time.
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath,${QRT_ARM64_LIBRARIES}:${QRT_ARM64_ZLIB} -Wl,-rpath-link,${QRT_ARM64_LIBRARIES}:${QRT_ARM64_ZLIB}")
