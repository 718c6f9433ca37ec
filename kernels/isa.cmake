# SPDX-License-Identifier: Apache-2.0
# Reads isa.inc, the table of instruction sets. A kernel file <family>_<isa>.cc gets exactly the flags of its set; all other code
# is built for the baseline of the architecture. qrt_add_family() below does it.
include(CheckCXXCompilerFlag)

# The architectures that have sets, each with CMake's names for it.
set(_processors_x86 "x86_64|AMD64")
set(_processors_arm "aarch64|arm64|ARM64")
set(_processors_wasm "wasm32")
set(QRT_ARCHITECTURE generic)
foreach(architecture x86 arm wasm)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(${_processors_${architecture}})$")
    set(QRT_ARCHITECTURE ${architecture})
  endif()
endforeach()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/isa.inc)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/isa.inc _rows REGEX "^QRT_ISA\\(")
set(QRT_KNOWN_ISAS "")
set(QRT_BUILT_ISAS scalar)
set(_candidates "")
foreach(row IN LISTS _rows)
  if(NOT row MATCHES "^QRT_ISA\\(([a-z0-9]+), *([A-Za-z0-9]+), *([a-z0-9]+), *([a-z0-9]+), *\"([^\"]*)\", *\"([^\"]*)\",[-0-9., ]+\\)$")
    message(FATAL_ERROR "kernels/isa.inc: no row of its form: ${row}")
  endif()
  set(isa ${CMAKE_MATCH_3})
  list(APPEND QRT_KNOWN_ISAS ${isa})
  set(QRT_ENUMERATOR_${isa} Isa::k${CMAKE_MATCH_2})
  separate_arguments(QRT_FLAGS_${isa} UNIX_COMMAND "${CMAKE_MATCH_5}")
  if(NOT isa STREQUAL "scalar")
    list(PREPEND QRT_FLAGS_${isa} ${QRT_FLAGS_${CMAKE_MATCH_4}})
    if(CMAKE_MATCH_1 STREQUAL QRT_ARCHITECTURE)
      list(APPEND _candidates ${isa})
    endif()
  endif()
endforeach()
foreach(isa IN LISTS QRT_ISAS)
  if(NOT isa IN_LIST _candidates AND NOT isa STREQUAL "scalar")
    message(FATAL_ERROR "QRT_ISAS: '${isa}' is no instruction set of ${CMAKE_SYSTEM_PROCESSOR}; there are scalar;${_candidates}")
  endif()
endforeach()
if(QRT_ISAS)
  string(REPLACE ";" "|" _wanted "${QRT_ISAS}")
  list(FILTER _candidates INCLUDE REGEX "^(${_wanted})$")
endif()
if(QRT_SANITIZE MATCHES "memory")  # it guesses what a vector instruction defines
  set(_candidates "")
endif()
foreach(isa IN LISTS _candidates)
  string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${QRT_FLAGS_${isa}}")
  check_cxx_compiler_flag("${CMAKE_REQUIRED_FLAGS}" QRT_COMPILER_HAS_${isa})
  unset(CMAKE_REQUIRED_FLAGS)
  if(QRT_COMPILER_HAS_${isa})
    list(APPEND QRT_BUILT_ISAS ${isa})
  endif()
endforeach()

# Kernel code: no exceptions, no RTTI, no contraction of a * b + c, optimised in Debug too unless sanitised.
set(QRT_KERNEL_OPTIONS -fno-exceptions -fno-rtti -ffp-contract=off -fno-math-errno -fvisibility=hidden -fvisibility-inlines-hidden)
if(QRT_SANITIZE)
  # Checks of every pointer of an inlined tile take minutes to compile; the address sanitizer sees what they lead to.
  list(APPEND QRT_KERNEL_OPTIONS -O1 -DQRT_NO_UNROLL -fno-sanitize=null,alignment,object-size,pointer-overflow)
else()
  list(APPEND QRT_KERNEL_OPTIONS $<$<CONFIG:Debug>:-O2>)
endif()
# A library built for size stays fast: -Os only for scalar rows beside those of a vector set, or in the converter's WebAssembly
# module, and for SMALL families (qrt_add_family). Nothing unwinds through a kernel but debuggers and profilers.
list(APPEND QRT_KERNEL_OPTIONS $<$<CONFIG:MinSizeRel>:-O2> $<$<CONFIG:MinSizeRel>:-fno-asynchronous-unwind-tables>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # On AArch64 g++ schedules before register allocation and spills the accumulators of the dot product tiles.
  list(APPEND QRT_KERNEL_OPTIONS -fno-schedule-insns)
  # g++ 12 warns about the undefined operands inside its own AVX-512 intrinsics.
  list(APPEND QRT_KERNEL_OPTIONS -Wno-psabi -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

if(MINGW)
  # The stack of Windows is aligned to 16 bytes, and g++ (bug 54412) stores vectors of 32 and 64 there all the same with
  # instructions that want all of their alignment: the assembler takes the others.
  list(APPEND QRT_KERNEL_OPTIONS -Wa,-muse-unaligned-vector-move)
endif()

# The sets that have a vector layer; of those that are built, the rows of vector_sets.inc, best first.
set(QRT_VECTOR_ISAS "")
set(_vector_sets "// The sets with a vector layer, best first, generated: QRT_VECTOR_SET(enumerator of Isa, suffix).\n")
set(_end "#undef QRT_VECTOR_SET\n")
foreach(isa IN LISTS QRT_KNOWN_ISAS)
  if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/isa/vec_${isa}.h)
    list(APPEND QRT_VECTOR_ISAS ${isa})
    if(isa IN_LIST QRT_BUILT_ISAS)
      string(REPLACE "Isa::" "" _enumerator ${QRT_ENUMERATOR_${isa}})
      string(PREPEND _end "QRT_VECTOR_SET(${_enumerator}, ${isa})\n")
    endif()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kernels/vector_sets.inc CONTENT "${_vector_sets}${_end}" @ONLY)

# The file of ROWS for a set with a vector layer, where the family has none of its own for it.
function(qrt_write_vector_rows file family rows isa)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "// Generated.
#include \"kernels/isa/requantize_${isa}.h\"
#include \"kernels/isa/vec_${isa}.h\"
#include \"kernels/${family}/${rows}_vectors.h\"

namespace qrt {

QRT_VECTOR_ROW(${isa})

}  // namespace qrt
")
endfunction()

# qrt_add_family(NAME [SMALL] [ROWS rows] COMMON a.cc b.cc ISAS scalar vectors amx ...): adds object files of kernels/NAME to target
# qrt_kernels: COMMON files, which see QRT_HAVE_<ISA> for every set of the table that was compiled in, and <rows>_<isa>.cc
# (NAME_<isa>.cc without ROWS). `vectors` stands for every set with a vector layer: where such a set has no file of its own, one is
# written that takes its row from <rows>_vectors.h. SMALL: the family takes so little of a network's time that a library built for
# size has its rows by -Os.
function(qrt_add_family name)
  cmake_parse_arguments(ARG "SMALL" "ROWS" "COMMON;ISAS" ${ARGN})
  if(NOT ARG_ROWS)
    set(ARG_ROWS ${name})
  endif()
  list(TRANSFORM ARG_ISAS REPLACE "^vectors$" "${QRT_VECTOR_ISAS}")
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  foreach(file IN LISTS ARG_COMMON)
    target_sources(qrt_kernels PRIVATE ${folder}/${file})
    set_source_files_properties(${folder}/${file} PROPERTIES COMPILE_OPTIONS "${QRT_WHOLE_OPTIONS}")
  endforeach()
  foreach(isa IN LISTS ARG_ISAS)
    if(NOT isa IN_LIST QRT_KNOWN_ISAS)
      message(FATAL_ERROR "kernels/${name}/family.cmake: '${isa}' is no instruction set of kernels/isa.inc")
    endif()
    if(isa IN_LIST QRT_BUILT_ISAS)
      set_property(GLOBAL APPEND PROPERTY QRT_KERNEL_FILES ${ARG_ROWS}_${isa})
      set(source ${folder}/${ARG_ROWS}_${isa}.cc)
      if(NOT EXISTS ${source} AND isa IN_LIST QRT_VECTOR_ISAS)
        set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${ARG_ROWS}_${isa}.cc)
        qrt_write_vector_rows(${source} ${name} ${ARG_ROWS} ${isa})
      endif()
      target_sources(qrt_kernels PRIVATE ${source})
      set(options ${QRT_FLAGS_${isa}} -DQRT_KERNEL_SET=set_${isa})
      if(isa STREQUAL "scalar" AND (NOT QRT_BUILT_ISAS STREQUAL "scalar" OR WASI))
        list(APPEND options $<$<CONFIG:MinSizeRel>:-Os> ${QRT_WHOLE_OPTIONS})
      elseif(ARG_SMALL)
        list(APPEND options $<$<CONFIG:MinSizeRel>:-Os>)
      endif()
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
    endif()
  endforeach()
endfunction()
