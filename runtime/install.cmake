# SPDX-License-Identifier: Apache-2.0
# Installs libqrt, its two headers, and package files for CMake and pkg-config (`cmake --install --component qrt`). No
# installed file names the prefix: the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS qrt EXPORT qrtTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT qrt
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT qrt NAMELINK_COMPONENT qrt
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT qrt
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/qrt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT qrt FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# Libraries built from pinned sources are installed beside a static libqrt, which needs them: the package files look there.
foreach(library cpuinfo pthreadpool)
  if(TARGET ${library} AND NOT BUILD_SHARED_LIBS)
    install(FILES $<TARGET_FILE:${library}> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT qrt)
  endif()
endforeach()

# The libraries that a static libqrt is linked with, for qrtConfig.cmake and qrt.pc.
set(QRT_LINKED_LIBRARIES "")
if(QRT_WITH_PTHREADPOOL)
  list(APPEND QRT_LINKED_LIBRARIES pthreadpool)
endif()
if(QRT_WITH_CPUINFO)
  list(APPEND QRT_LINKED_LIBRARIES cpuinfo)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/qrt)
install(EXPORT qrtTargets NAMESPACE qrt:: DESTINATION ${package_dir} COMPONENT qrt)
configure_package_config_file(qrtConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/qrtConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/qrtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qrtConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/qrtConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT qrt)

# pkg-config: what a static libqrt needs stands in Libs, since there is no other libqrt to link.
list(TRANSFORM QRT_LINKED_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE private_libs)
list(JOIN private_libs " " private_libs)
string(STRIP "${private_libs} -lstdc++ -lm -pthread" private_libs)
set(QRT_PC_LIBS "")
set(QRT_PC_LIBS_PRIVATE "")
if(BUILD_SHARED_LIBS)
  set(QRT_PC_LIBS_PRIVATE ${private_libs})
else()
  set(QRT_PC_LIBS " ${private_libs}")
endif()
file(RELATIVE_PATH QRT_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" QRT_PC_PREFIX "${QRT_PC_PREFIX}")
configure_file(qrt.pc.in ${CMAKE_CURRENT_BINARY_DIR}/qrt.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/qrt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT qrt)
