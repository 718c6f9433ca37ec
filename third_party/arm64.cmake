# Toolchain: aarch64 Linux from Debian's cross compiler, tests under qemu-aarch64 (QEMU_CPU chooses the processor).
# `./dev setup arm64` unpacks the target's libraries into build/arm64-sysroot, `./dev test quantize` the converter's, too.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib)  # not the libc6:arm64 of this machine with that ld.so
set(QRT_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot)
set(QRT_ARM64_LIBRARIES ${QRT_ARM64_ROOT}/usr/lib/aarch64-linux-gnu)
set(QRT_ARM64_ZLIB ${QRT_ARM64_ROOT}/lib/aarch64-linux-gnu)
set(QRT_CPUINFO_LIBRARY ${QRT_ARM64_LIBRARIES}/libcpuinfo.so.0 CACHE FILEPATH "")
set(QRT_PTHREADPOOL_LIBRARY ${QRT_ARM64_LIBRARIES}/libpthreadpool.so.0 CACHE FILEPATH "")
# The converter's, with the headers of this machine's own.
set(QRT_ONNX_PROTO_LIBRARY ${QRT_ARM64_LIBRARIES}/libonnx_proto.so.1 CACHE FILEPATH "")
set(Protobuf_LIBRARY ${QRT_ARM64_LIBRARIES}/libprotobuf.so.32 CACHE FILEPATH "")
set(Protobuf_INCLUDE_DIR /usr/include CACHE PATH "")
set(PNG_LIBRARY ${QRT_ARM64_LIBRARIES}/libpng16.so.16 CACHE FILEPATH "")
set(JPEG_LIBRARY ${QRT_ARM64_LIBRARIES}/libjpeg.so.62 CACHE FILEPATH "")
set(JPEG_INCLUDE_DIR ${QRT_ARM64_ROOT}/usr/include/aarch64-linux-gnu CACHE PATH "")  # jconfig.h
set(ZLIB_LIBRARY ${QRT_ARM64_ZLIB}/libz.so.1 CACHE FILEPATH "")
# libpthreadpool and the test programs find their libraries there at run time.
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath,${QRT_ARM64_LIBRARIES}:${QRT_ARM64_ZLIB} -Wl,-rpath-link,${QRT_ARM64_LIBRARIES}:${QRT_ARM64_ZLIB}")
