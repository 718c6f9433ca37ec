# Ends with an error unless the files of the working directory are those that are expected: SHA-256 of the list that
# `sha256sum` prints of them, sorted by path. Git's own name of a commit is a SHA-1.
#   cmake -DSHA256=... -P check_sha256.cmake
cmake_minimum_required(VERSION 3.25)
set(folder ${CMAKE_CURRENT_BINARY_DIR})
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${folder} ${folder}/*)
list(FILTER files EXCLUDE REGEX "^\\.git/")
list(SORT files)
set(sums)
foreach(name IN LISTS files)
  if(NOT IS_SYMLINK ${folder}/${name})
    file(SHA256 ${folder}/${name} sum)
    string(APPEND sums "${sum}  ${name}\n")
  endif()
endforeach()
string(SHA256 sum "${sums}")
if(NOT sum STREQUAL SHA256)
  message(FATAL_ERROR "${folder}: SHA-256 of what was fetched is ${sum}, expected ${SHA256}")
endif()
