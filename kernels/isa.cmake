# The one table of instruction sets: name, compile flags. A kernel file <family>_<isa>.cc gets exactly these flags; all
# other code is built for the baseline of the architecture. qrt_add_family() below reads it.
include(CheckCXXCompilerFlag)

set(QRT_BUILT_ISAS scalar)
set(QRT_FLAGS_scalar "")
set(_candidates "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(QRT_FLAGS_avx2 -mavx2 -mfma -mf16c)
  set(QRT_FLAGS_avxvnni ${QRT_FLAGS_avx2} -mavxvnni)
  # -mtune: with its generic tuning g++ 12 keeps general registers in vector registers, and the moves queue behind the
  # arithmetic of the same ports (10 % of a 3x3 convolution).
  set(QRT_FLAGS_avx512vnni ${QRT_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mprefer-vector-width=512 -mtune=icelake-server)
  set(QRT_FLAGS_avx512vbmi ${QRT_FLAGS_avx512vnni} -mavx512vbmi)
  set(QRT_FLAGS_amx ${QRT_FLAGS_avx512vbmi} -mamx-tile -mamx-int8)
  set(_candidates avx2 avxvnni avx512vnni avx512vbmi amx)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(QRT_FLAGS_neon "")
  set(QRT_FLAGS_neondot -march=armv8.2-a+dotprod)
  set(QRT_FLAGS_i8mm -march=armv8.2-a+dotprod+i8mm)
  set(_candidates neon neondot i8mm)
endif()
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
# A library built for size stays fast: -Os only for scalar rows beside those of a vector set (qrt_add_family). Nothing unwinds
# through a kernel but debuggers and profilers.
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

# qrt_add_family(NAME [ROWS rows] COMMON a.cc b.cc ISAS scalar avx2 ...): adds object files of kernels/NAME to target
# qrt_kernels: COMMON files, which see QRT_HAVE_<ISA> for every set of the table that was compiled in, and <rows>_<isa>.cc
# (NAME_<isa>.cc without ROWS).
function(qrt_add_family name)
  cmake_parse_arguments(ARG "" "ROWS" "COMMON;ISAS" ${ARGN})
  if(NOT ARG_ROWS)
    set(ARG_ROWS ${name})
  endif()
  foreach(file IN LISTS ARG_COMMON)
    target_sources(qrt_kernels PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${file})
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${name}/${file} PROPERTIES COMPILE_OPTIONS "${QRT_WHOLE_OPTIONS}")
  endforeach()
  foreach(isa IN LISTS ARG_ISAS)
    if(isa IN_LIST QRT_BUILT_ISAS)
      set(source ${CMAKE_CURRENT_SOURCE_DIR}/${name}/${ARG_ROWS}_${isa}.cc)
      target_sources(qrt_kernels PRIVATE ${source})
      set(options ${QRT_FLAGS_${isa}} -DQRT_KERNEL_SET=set_${isa})
      if(isa STREQUAL "scalar" AND NOT QRT_BUILT_ISAS STREQUAL "scalar")
        list(APPEND options $<$<CONFIG:MinSizeRel>:-Os>)
      endif()
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
    endif()
  endforeach()
endfunction()
