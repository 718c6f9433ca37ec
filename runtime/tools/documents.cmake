# SPDX-License-Identifier: Apache-2.0
# Man pages and shell completions of the tools that are built, made of the tools' own option tables (write_documents.py).
set(documents ${PROJECT_BINARY_DIR}/documents)
set(tables "")
set(pages "")
foreach(target qrt_program qrt_doctor qrt_convert qrt_quantize qrt_run qrt_bench qrt_inspect qrt_diff)
  if(TARGET ${target})
    string(REPLACE qrt_program qrt name ${target})
    set(table ${documents}/tables/${name})
    add_custom_command(OUTPUT ${table} COMMAND ${CMAKE_COMMAND} -E make_directory ${documents}/tables
                       COMMAND ${target} --option-table > ${table} DEPENDS ${target} VERBATIM)
    list(APPEND tables ${table})
    list(APPEND pages ${documents}/man1/${name}.1)
  endif()
endforeach()
# Man pages bear the date of this version's heading in CHANGELOG.md: "## 0.2.0, 2026-11-28".
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS CHANGELOG.md)
file(STRINGS CHANGELOG.md release_date REGEX "^## ${PROJECT_VERSION}, [0-9-]+$")
string(REGEX REPLACE ".*, " "" release_date "${release_date}")
add_custom_command(OUTPUT ${pages}
  COMMAND ${QRT_PYTHON} -B ${PROJECT_SOURCE_DIR}/runtime/tools/write_documents.py ${PROJECT_VERSION} "${release_date}" ${documents} ${tables}
  DEPENDS ${PROJECT_SOURCE_DIR}/runtime/tools/write_documents.py CHANGELOG.md ${tables} VERBATIM)
add_custom_target(documents ALL DEPENDS ${pages})
if(QRT_INSTALL)
  include(GNUInstallDirs)
  install(DIRECTORY ${documents}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools)
  install(DIRECTORY ${documents}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  install(DIRECTORY ${documents}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
  install(DIRECTORY ${documents}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
endif()
