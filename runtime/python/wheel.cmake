# SPDX-License-Identifier: Apache-2.0
# cmake -DPYTHON=... -DVERSION=... -DLIBRARY=libqrt.so -DTOOLS=qrt_all -DBINARY_DIR=... -P wheel.cmake: puts package,
# library and tools together in BINARY_DIR/stage and makes the wheel in BINARY_DIR/dist.
set(stage ${BINARY_DIR}/stage)
file(REMOVE_RECURSE ${stage})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/ DESTINATION ${stage}
     FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "pyproject.toml" PATTERN "README.md")
file(WRITE ${stage}/qrt/_version.py "\"\"\"The version of this package. A libqrt of another MAJOR.MINOR is refused.\"\"\"
__version__ = \"${VERSION}\"
")
file(COPY ${CMAKE_CURRENT_LIST_DIR}/../../LICENSE ${CMAKE_CURRENT_LIST_DIR}/../../NOTICE DESTINATION ${stage})
file(MAKE_DIRECTORY ${stage}/qrt/lib)
if(TOOLS)
  file(COPY_FILE ${TOOLS} ${stage}/qrt/lib/qrt_all)
  foreach(package libflatbuffers-dev libcli11-dev nlohmann-json3-dev libprotobuf-dev libonnx-dev libpng-dev libjpeg62-turbo-dev libwebp-dev
          zlib1g-dev libc6 libstdc++6)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${stage}/qrt/lib/${package}.copyright)  # linked into it
  endforeach()
  set(wheel qrt-*.whl)
else()  # another package, which has no scripts
  file(READ ${stage}/pyproject.toml project)
  string(REPLACE "name = \"qrt\"" "name = \"qrt-runtime\"" project "${project}")
  string(REGEX REPLACE "\\[project.scripts\\][^[]*" "" project "${project}")
  file(WRITE ${stage}/pyproject.toml "${project}")
  set(wheel qrt_runtime-*.whl)
endif()
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

file(GLOB old ${BINARY_DIR}/dist/${wheel})
if(old)
  file(REMOVE ${old})
endif()
execute_process(COMMAND ${PYTHON} setup.py --quiet bdist_wheel --dist-dir ${BINARY_DIR}/dist
                WORKING_DIRECTORY ${stage} RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
if(failed)
  message(FATAL_ERROR "the wheel was not made: ${log}\nDebian: ./dev setup python")
endif()
file(GLOB wheel ${BINARY_DIR}/dist/${wheel})
message(STATUS "${wheel}")
