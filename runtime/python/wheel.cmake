# cmake -DPYTHON=... -DLIBRARY=libqrt.so -DBINARY_DIR=... -P wheel.cmake: puts package and libraries together in
# BINARY_DIR/stage and makes the wheel in BINARY_DIR/dist.
set(stage ${BINARY_DIR}/stage)
file(REMOVE_RECURSE ${stage} ${BINARY_DIR}/dist)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/ DESTINATION ${stage}
     FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "pyproject.toml" PATTERN "README.md")
file(COPY ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE DESTINATION ${stage})
file(MAKE_DIRECTORY ${stage}/qrt/lib)
file(COPY_FILE ${LIBRARY} ${stage}/qrt/lib/libqrt.so)

# Copies the libraries that libqrt needs and not all Linux systems have, with the licence from Debian's package.
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${LIBRARY} RESOLVED_DEPENDENCIES_VAR found
     PRE_EXCLUDE_REGEXES "^ld-linux.*" "^lib(c|m|dl|rt|pthread|gcc_s)\\.so.*")
foreach(path IN LISTS found)
  get_filename_component(name ${path} NAME)
  file(COPY_FILE ${path} ${stage}/qrt/lib/${name})
  string(REPLACE ".so." "" package ${name})
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${stage}/qrt/lib/${name}.copyright)
  endif()
endforeach()

execute_process(COMMAND ${PYTHON} setup.py --quiet bdist_wheel --dist-dir ${BINARY_DIR}/dist
                WORKING_DIRECTORY ${stage} RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(failed)
  message(FATAL_ERROR "the wheel was not made: ${log}\nDebian: ./dev setup python")
endif()
file(GLOB wheel ${BINARY_DIR}/dist/*.whl)
message(STATUS "${wheel}")
