# SPDX-License-Identifier: Apache-2.0
# Tests of libqrt as others see it: from C, as a shared library, and installed.
enable_language(C)

set(model ${CMAKE_CURRENT_BINARY_DIR}/every_op.qrt)
add_executable(write_every_op_model runtime/write_every_op_model.cc)
target_compile_features(write_every_op_model PRIVATE cxx_std_17)
target_link_libraries(write_every_op_model PRIVATE qrt_core qrt_warnings)
set_target_properties(write_every_op_model PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
set(frame_model ${CMAKE_CURRENT_BINARY_DIR}/frames.qrt)
set(part_models ${CMAKE_CURRENT_BINARY_DIR}/int16.qrt ${CMAKE_CURRENT_BINARY_DIR}/dynamic_layer.qrt)
set(sized_models ${CMAKE_CURRENT_BINARY_DIR}/sized.qrt ${CMAKE_CURRENT_BINARY_DIR}/sized_counter.qrt)
add_custom_command(OUTPUT ${model} ${frame_model} ${part_models} ${sized_models}
                   COMMAND write_every_op_model ${model} ${frame_model} ${part_models} ${sized_models} VERBATIM)
add_custom_target(every_op_model_file ALL DEPENDS ${model} ${frame_model} ${part_models} ${sized_models})

qrt_add_public_library(qrt_for_tests SHARED)
set_target_properties(qrt_for_tests PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/shared)
add_executable(c_api_test runtime/c_api_test.c)
target_compile_features(c_api_test PRIVATE c_std_11)
target_compile_options(c_api_test PRIVATE -pedantic)
target_link_libraries(c_api_test PRIVATE qrt_for_tests qrt_warnings m)
set_target_properties(c_api_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests C_EXTENSIONS OFF)
add_dependencies(c_api_test every_op_model_file)
if(QRT_SANITIZE)  # their run-time library for C++ stands in the executable
  set_target_properties(c_api_test PROPERTIES LINKER_LANGUAGE CXX)
endif()
add_test(NAME runtime.c_api_test COMMAND c_api_test ${model})
add_test(NAME runtime.exports_test
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/runtime/exports_test.sh ${CMAKE_NM} $<TARGET_FILE:qrt_for_tests>
                 ${PROJECT_SOURCE_DIR}/runtime/include/qrt/qrt.h ${PROJECT_SOURCE_DIR}/runtime/include/qrt/image.h)
qrt_name_program(runtime.c_api_test c_api_test)
set_tests_properties(runtime.c_api_test runtime.exports_test PROPERTIES LABELS runtime)

# Consumers know nothing of sanitizers or of the cross compiler's toolchain file.
if(QRT_INSTALL AND NOT QRT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME package.package_test
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/package/package_test.sh ${CMAKE_COMMAND} ${CMAKE_GENERATOR}
                   ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${model} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  set_tests_properties(package.package_test PROPERTIES LABELS package TIMEOUT 600)
  if(TARGET qrt_convert)
    add_test(NAME package.examples
             COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/package/examples_test.sh ${CMAKE_COMMAND} ${CMAKE_GENERATOR}
                     ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} $<TARGET_FILE:qrt_convert> ${frame_model} ${CMAKE_C_COMPILER}
                     ${CMAKE_CXX_COMPILER})
    set_tests_properties(package.examples PROPERTIES LABELS package TIMEOUT 600)
  endif()
endif()
