# SPDX-License-Identifier: Apache-2.0
# QRT_COVERAGE: what reads files counts the branches that it takes (gcov). All else is built as in a release. Without
# optimisation every condition is a jump of its own; fortification, which needs optimisation, says so in a warning. Counters that two threads raise at once lose
# counts, but no count becomes 0 again.
set(counted -O0 --coverage -Wno-cpp)
foreach(target qrt_runtime qrt_tool)
  target_compile_options(${target} PRIVATE ${counted})
endforeach()
file(GLOB readers ${PROJECT_SOURCE_DIR}/converter/import/common/source_file.cc ${PROJECT_SOURCE_DIR}/converter/import/tflite/*.cc)
set_source_files_properties(${readers} TARGET_DIRECTORY qrt_converter PROPERTIES COMPILE_OPTIONS "${counted}")
target_link_options(qrt_warnings INTERFACE --coverage)
