# SPDX-License-Identifier: Apache-2.0
# Toolchain: WebAssembly with WASI from Debian's clang-19, wasi-libc and libc++, libraries alone. `./dev setup wasm`.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(WASI TRUE)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib-19 CACHE FILEPATH "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT -msimd128)
set(CMAKE_CXX_FLAGS_INIT -msimd128)
# -O0: the compiler's driver does not run Debian's wasm-opt, which writes relaxed dot products that no engine takes.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-O0 -Wl,-z,stack-size=8388608")
# Tests run in node.
set(CMAKE_CROSSCOMPILING_EMULATOR node ${CMAKE_CURRENT_LIST_DIR}/../tests/wasm/wasi.mjs)
# How modules are linked: by wasm-ld without the compiler's driver, for the same reason. Without _start: whoever makes an instance calls
# _initialize(). Functions of equal code become one, which is a fortieth of a module.
set(_libraries /usr/lib/wasm32-wasi)
set(QRT_WASM_LINK wasm-ld-19 -m wasm32 -O2 -mllvm -enable-merge-functions --strip-all --gc-sections --entry=_initialize --stack-first
                  ${_libraries}/crt1-reactor.o)
# The libraries that they are linked with; the last has what the instruction set lacks.
execute_process(COMMAND clang++-19 --target=wasm32-wasi -print-libgcc-file-name OUTPUT_VARIABLE _builtins OUTPUT_STRIP_TRAILING_WHITESPACE)
set(QRT_WASM_LIBRARIES -L${_libraries} -lc++ -lc++abi -lc ${_builtins})
# Headers of a library that is nothing else, without those of the host's C library beside them.
set(QRT_HOST_HEADERS ${CMAKE_BINARY_DIR}/host_headers)
file(MAKE_DIRECTORY ${QRT_HOST_HEADERS})
foreach(name flatbuffers nlohmann)
  file(CREATE_LINK /usr/include/${name} ${QRT_HOST_HEADERS}/${name} SYMBOLIC)
endforeach()
set(QRT_FLATBUFFERS_INCLUDE ${QRT_HOST_HEADERS} CACHE PATH "")
