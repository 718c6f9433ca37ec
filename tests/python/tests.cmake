# Tests of the Python package (runtime/python), with the shared library of the other tests of libqrt; the wheel has its own.
function(qrt_add_python_test name)
  add_test(NAME python.${name} COMMAND ${QRT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/${name}.py)
  set(environment PYTHONPATH=${PROJECT_SOURCE_DIR}/runtime/python
    QRT_LIBRARY=$<TARGET_FILE:qrt_for_tests> QRT_CONVERT=$<TARGET_FILE:qrt_convert> QRT_EVERY_OP_MODEL=${model} QRT_FRAME_MODEL=${frame_model}
    QRT_WHEEL_DIR=${PROJECT_BINARY_DIR}/runtime/python/dist)
  if(TARGET qrt_quantize)
    list(APPEND environment QRT_QUANTIZE=$<TARGET_FILE:qrt_quantize>)
  endif()
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT 1200 ENVIRONMENT "${environment}")
endfunction()

if(QRT_PYTHON)
  execute_process(COMMAND ${QRT_PYTHON} -c "import setuptools, wheel, venv, ensurepip" RESULT_VARIABLE no_wheel ERROR_QUIET)
  file(GLOB python_tests RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/python CONFIGURE_DEPENDS
       ${CMAKE_CURRENT_SOURCE_DIR}/python/*_test.py)
  list(TRANSFORM python_tests REPLACE "\\.py$" "")
  list(REMOVE_ITEM python_tests wheel_test)
  foreach(test IN LISTS python_tests)
    qrt_add_python_test(${test})
  endforeach()
  if(NOT no_wheel)
    add_test(NAME python.make_wheel COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target wheel)
    set_tests_properties(python.make_wheel PROPERTIES LABELS python TIMEOUT 1200 FIXTURES_SETUP wheel)
    qrt_add_python_test(wheel_test)
    set_tests_properties(python.wheel_test PROPERTIES FIXTURES_REQUIRED wheel)
  endif()
endif()
if(NOT QRT_PYTHON OR no_wheel)
  add_test(NAME python.not_tested COMMAND ${CMAKE_COMMAND} -E echo
           "SKIPPED: tests of the Python package or of its wheel need python3 with setuptools, wheel and venv: ./dev setup python")
  set_tests_properties(python.not_tested PROPERTIES LABELS python SKIP_REGULAR_EXPRESSION SKIPPED)
endif()
