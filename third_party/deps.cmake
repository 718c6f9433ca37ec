# How each dependency is found: the system's package, else a pinned FetchContent (QRT_FETCH_DEPS), else a clear error.
# README.md beside this file lists versions, reasons and licences. Every dependency becomes one interface target qrt_<name>.
include(FetchContent)
option(QRT_FETCH_DEPS "Fetch dependencies that the system lacks" ON)
option(QRT_BUNDLED_DEPS "Link cpuinfo and pthreadpool in, from their pinned sources (FETCHCONTENT_SOURCE_DIR_CPUINFO, _PTHREADPOOL and _FXDIV name folders to take instead)" ${QRT_STATIC})
if(QRT_STATIC)  # its programs are linked with nothing else
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

if(NOT WASI)
  find_package(Threads REQUIRED)
endif()

# What is fetched is compared with a SHA-256 before it is used (check_sha256.cmake).
set(QRT_CHECK_SHA256 ${CMAKE_CURRENT_LIST_DIR}/check_sha256.cmake)

# qrt_fetch(NAME PACKAGE URL COMMIT SHA256): makes a source available, or ends with an error naming Debian's package.
macro(qrt_fetch name package repository commit sha256)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  if(NOT QRT_FETCH_DEPS)
    message(FATAL_ERROR "${name} not found: install ${package} (./dev setup) or set QRT_FETCH_DEPS=ON")
  endif()
  message(STATUS "${name}: not the system's; ${repository} at ${commit}")
  set(qrt_c_flags "${CMAKE_C_FLAGS}")
  string(APPEND CMAKE_C_FLAGS " -w")  # warnings of others' sources are not ours to mend
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit}
                       PATCH_COMMAND ${CMAKE_COMMAND} -DSHA256=${sha256} -P ${QRT_CHECK_SHA256})
  FetchContent_MakeAvailable(${name})
  set(CMAKE_C_FLAGS "${qrt_c_flags}")
  unset(CMAKE_POSITION_INDEPENDENT_CODE)
endmacro()

# qrt_find_library(NAME HEADER LIBRARY): interface target qrt_NAME from a header and a library of the system, if both
# are there. QRT_<NAME>_INCLUDE and QRT_<NAME>_LIBRARY may be set by hand.
function(qrt_find_library name header library)
  string(TOUPPER ${name} upper)
  find_path(QRT_${upper}_INCLUDE ${header})
  find_library(QRT_${upper}_LIBRARY ${library})
  mark_as_advanced(QRT_${upper}_INCLUDE QRT_${upper}_LIBRARY)
  if(QRT_${upper}_INCLUDE AND QRT_${upper}_LIBRARY)
    add_library(qrt_${name} INTERFACE)
    target_include_directories(qrt_${name} SYSTEM INTERFACE ${QRT_${upper}_INCLUDE})
    target_link_libraries(qrt_${name} INTERFACE ${QRT_${upper}_LIBRARY})
  endif()
endfunction()

# flatbuffers: headers for libqrt, flatc for the build. Both must be of one version.
find_path(QRT_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
find_program(QRT_FLATC flatc)
mark_as_advanced(QRT_FLATBUFFERS_INCLUDE QRT_FLATC)
if(QRT_FLATBUFFERS_INCLUDE AND QRT_FLATC)
  add_library(qrt_flatbuffers INTERFACE)
  target_include_directories(qrt_flatbuffers SYSTEM INTERFACE ${QRT_FLATBUFFERS_INCLUDE})
  add_executable(qrt_flatc IMPORTED GLOBAL)
  set_target_properties(qrt_flatc PROPERTIES IMPORTED_LOCATION ${QRT_FLATC})
else()
  set(FLATBUFFERS_BUILD_TESTS OFF CACHE BOOL "" FORCE)
  set(FLATBUFFERS_INSTALL OFF CACHE BOOL "" FORCE)
  qrt_fetch(flatbuffers "libflatbuffers-dev flatbuffers-compiler" https://github.com/google/flatbuffers
            187240970746d00bbd26b0f5873ed54d2477f9f3  # v25.9.23
            76ea3468b4253ed4f6aca44aeef7b876659659466cb662c469e0a2340cec5618)
  add_library(qrt_flatbuffers INTERFACE)
  target_include_directories(qrt_flatbuffers SYSTEM INTERFACE ${flatbuffers_SOURCE_DIR}/include)
  add_executable(qrt_flatc ALIAS flatc)
endif()

# cpuinfo tells which instruction sets a CPU has: asked where there are kernels of several (kernels/isa.cmake).
set(QRT_HAS_CPUINFO OFF)
if(QRT_ARCHITECTURE MATCHES "^(x86|arm)$")
  set(QRT_HAS_CPUINFO ON)
endif()
if(QRT_HAS_CPUINFO AND NOT QRT_BUNDLED_DEPS)
  qrt_find_library(cpuinfo cpuinfo.h cpuinfo)
endif()
if(NOT QRT_HAS_CPUINFO)
  add_library(qrt_cpuinfo INTERFACE)
elseif(NOT TARGET qrt_cpuinfo)
  set(CPUINFO_BUILD_TOOLS OFF CACHE BOOL "" FORCE)
  set(CPUINFO_BUILD_UNIT_TESTS OFF CACHE BOOL "" FORCE)
  set(CPUINFO_BUILD_MOCK_TESTS OFF CACHE BOOL "" FORCE)
  set(CPUINFO_BUILD_BENCHMARKS OFF CACHE BOOL "" FORCE)
  set(CPUINFO_LIBRARY_TYPE static CACHE STRING "" FORCE)
  set(CPUINFO_LOG_LEVEL error CACHE STRING "" FORCE)
  # Debian's commit, which the tests run with; d6108819 of 2026 crashes on the caches that a foreign /sys tells (under qemu).
  qrt_fetch(cpuinfo libcpuinfo-dev https://github.com/pytorch/cpuinfo 082deffc80ce517f81dc2f3aebe6ba671fcd09c9
            671f809344ba2064d9b1cd38b3646a6c62717a0642aa2e9c4648f014957b2750)
  target_sources(cpuinfo PRIVATE $<TARGET_OBJECTS:clog>)  # which it needs: one archive is installed beside a static libqrt
  add_library(qrt_cpuinfo INTERFACE)
  target_link_libraries(qrt_cpuinfo INTERFACE $<BUILD_INTERFACE:cpuinfo>)
endif()

if(WASI)  # one thread: runtime/platform/thread_pool_wasi.cc
  add_library(qrt_pthreadpool INTERFACE)
elseif(NOT QRT_BUNDLED_DEPS)
  qrt_find_library(pthreadpool pthreadpool.h pthreadpool)
endif()
if(NOT TARGET qrt_pthreadpool)
  # pthreadpool's headers alone; it would fetch them itself, from no fixed commit.
  FetchContent_Declare(fxdiv GIT_REPOSITORY https://github.com/Maratyszcza/FXdiv
                       GIT_TAG 63058eff77e11aa15bf531df5dd34395ec3017c8 SOURCE_SUBDIR include
                       PATCH_COMMAND ${CMAKE_COMMAND} -DSHA256=bdd9654ad9db756894a9fdb1c7bc1cb1b257fd23ad6a7fd6fa97208c9b137a2d
                                     -P ${QRT_CHECK_SHA256})
  FetchContent_MakeAvailable(fxdiv)
  set(FXDIV_SOURCE_DIR ${fxdiv_SOURCE_DIR} CACHE PATH "")
  set(PTHREADPOOL_BUILD_TESTS OFF CACHE BOOL "" FORCE)
  set(PTHREADPOOL_BUILD_BENCHMARKS OFF CACHE BOOL "" FORCE)
  set(PTHREADPOOL_LIBRARY_TYPE static CACHE STRING "" FORCE)
  # Debian's commit, too; those since 41fadfb6 of 2025 need <threads.h> on Windows, which MinGW lacks.
  qrt_fetch(pthreadpool libpthreadpool-dev https://github.com/google/pthreadpool
            1787867f6183f056420e532eec640cba25efafea
            669b0de87609b33e6c285b46d5b1785d3b8a569935607e1958a282eee59ed7ba)
  add_library(qrt_pthreadpool INTERFACE)
  target_link_libraries(qrt_pthreadpool INTERFACE $<BUILD_INTERFACE:pthreadpool>)
endif()
if(NOT WASI)
  target_link_libraries(qrt_pthreadpool INTERFACE Threads::Threads)
endif()

# XNNPACK, for comparisons only: Debian's, whose API is that of 2022. Later ones changed it (qc8w, reshape before set-up).
if(QRT_WITH_XNNPACK)
  qrt_find_library(xnnpack xnnpack.h XNNPACK)
  if(NOT TARGET qrt_xnnpack)
    message(FATAL_ERROR "XNNPACK not found: install libxnnpack-dev (./dev setup bench), or set QRT_WITH_XNNPACK=OFF")
  endif()
  file(STRINGS ${QRT_XNNPACK_INCLUDE}/xnnpack.h found REGEX "xnn_create_convolution2d_nhwc_qc8\\(")
  if(NOT found)
    message(FATAL_ERROR "${QRT_XNNPACK_INCLUDE}/xnnpack.h lacks xnn_create_convolution2d_nhwc_qc8: another XNNPACK than Debian 12's")
  endif()
  target_link_libraries(qrt_xnnpack INTERFACE qrt_pthreadpool)
endif()

# The converter's: protobuf and the ONNX message classes. Too large to fetch: the system's or none.
if(QRT_BUILD_CONVERTER)
  find_package(Protobuf QUIET)
  if(NOT Protobuf_FOUND)
    message(FATAL_ERROR "protobuf not found: install libprotobuf-dev protobuf-compiler (./dev setup), or set QRT_BUILD_CONVERTER=OFF")
  endif()
  qrt_find_library(onnx_proto onnx/onnx-ml.pb.h onnx_proto)
  if(NOT TARGET qrt_onnx_proto)
    message(FATAL_ERROR "ONNX not found: install libonnx-dev (./dev setup), or set QRT_BUILD_CONVERTER=OFF")
  endif()
  target_compile_definitions(qrt_onnx_proto INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
  target_link_libraries(qrt_onnx_proto INTERFACE protobuf::libprotobuf)
endif()

# Pictures as inputs, of qrt_quantize and qrt_run, and .npz files. The converter needs them all; the tools alone, in a
# cross build, do without what is not there.
if(QRT_BUILD_CONVERTER OR QRT_BUILD_TOOLS)
  foreach(library PNG JPEG ZLIB)
    find_package(${library} QUIET)
    if(QRT_BUILD_CONVERTER AND NOT ${library}_FOUND)
      message(FATAL_ERROR "${library} not found: install libpng-dev libjpeg-dev zlib1g-dev (./dev setup), or set QRT_BUILD_CONVERTER=OFF")
    endif()
  endforeach()
  qrt_find_library(webp webp/decode.h webp)  # WebP is refused without it
  if(TARGET qrt_webp)
    target_link_libraries(qrt_webp INTERFACE Threads::Threads)
  endif()
endif()

# Command line tools: option parsing and JSON, headers only. A toolchain for another system than this one may name a folder
# with this one's headers of theirs and no others (QRT_HOST_HEADERS).
if(QRT_HOST_HEADERS)
  foreach(target CLI11::CLI11 nlohmann_json::nlohmann_json)
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} SYSTEM INTERFACE ${QRT_HOST_HEADERS})
  endforeach()
elseif(QRT_BUILD_CONVERTER OR QRT_BUILD_TOOLS)
  find_package(CLI11 QUIET)
  if(NOT CLI11_FOUND)
    qrt_fetch(CLI11 libcli11-dev https://github.com/CLIUtils/CLI11 291c58789c031208f08f4f261a858b5b7083e8e2  # v2.3.2
              591585ea7fba003582c295ea9441b2f7763b12b0931a8c76dd9d20cb57deafd1)
  endif()
  find_package(nlohmann_json QUIET)
  if(NOT nlohmann_json_FOUND)
    qrt_fetch(nlohmann_json nlohmann-json3-dev https://github.com/nlohmann/json
              9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03  # v3.11.3
              9e8fb5fe0fc3e7054de57a5aac5b451d7f51f6091828b8ddc9b1116ced66e5ca)
  endif()
endif()

# Tests: the system's library, its sources (always when cross-compiling, and where all C++ of a process has to be
# compiled for the memory sanitizer), or fetched ones.
if(QRT_BUILD_TESTS)
  if(NOT CMAKE_CROSSCOMPILING AND NOT QRT_SANITIZE MATCHES "memory")
    find_package(GTest QUIET)
  endif()
  if(NOT TARGET GTest::gtest_main)
    set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
    if(EXISTS /usr/src/googletest/CMakeLists.txt)
      add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
    else()
      qrt_fetch(googletest libgtest-dev https://github.com/google/googletest
                f8d7d77c06936315286eb55f8de22cd23c188571  # v1.14.0
                9d314eec6453a7438d77066cd6e870d6de33f9196570a78d4859c4d87ec44f8a)
    endif()
    if(NOT TARGET GTest::gtest_main)
      add_library(GTest::gtest_main ALIAS gtest_main)
    endif()
  endif()
endif()

if(QRT_BUILD_BENCH)
  qrt_find_library(dnnl oneapi/dnnl/dnnl.hpp dnnl)  # for a comparison, which is left out without it
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
    qrt_fetch(benchmark libbenchmark-dev https://github.com/google/benchmark
              344117638c8ff7e239044fd0fa7085839fc03021  # v1.8.3
              9239b6abd90f9f2c9be9af5de0f7375acecb339fcb884a481c13d485c2975401)
  endif()
endif()
