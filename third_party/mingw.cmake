# SPDX-License-Identifier: Apache-2.0
# Toolchain: 64-bit Windows from Debian's MinGW-w64 with POSIX threads, programs under Wine. `./dev setup mingw`.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# The compiler's own libraries are linked in: a program, and libqrt.dll, need none but the system's. Without the time of the build equal
# sources give equal bytes.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,--no-insert-timestamp")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static -Wl,--no-insert-timestamp")
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
# Headers of libraries that are nothing else, without those of the host's C library beside them.
set(QRT_HOST_HEADERS ${CMAKE_BINARY_DIR}/host_headers)
file(MAKE_DIRECTORY ${QRT_HOST_HEADERS})
foreach(name flatbuffers CLI nlohmann)
  file(CREATE_LINK /usr/include/${name} ${QRT_HOST_HEADERS}/${name} SYMBOLIC)
endforeach()
set(QRT_FLATBUFFERS_INCLUDE ${QRT_HOST_HEADERS} CACHE PATH "")
