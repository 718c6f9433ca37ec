# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=GENERATED -DHEADER=OUT.h -DSOURCE=OUT.cc -DNAMESPACE=A::B -P split_generated.cmake
# Takes the bodies of flatc's object API (packing, unpacking and copying of whole tables) out of a generated header into
# a source file. As inline functions they are instantiated in every file that includes the header, which is up to half of
# what such a file costs to compile. A header of another form, from another flatc, stays as it is.
file(READ ${IN} text)
set(bodies "")

# From the first function that matches FIRST to the next behind it that matches LAST, which stays.
function(take_out first last)
  string(REGEX MATCH "${first}" begin "${text}")
  if(NOT begin)
    return()
  endif()
  string(FIND "${text}" "${begin}" from)
  string(SUBSTRING "${text}" 0 ${from} before)
  string(SUBSTRING "${text}" ${from} -1 rest)
  string(REGEX MATCH "${last}" stop "${rest}")
  if(NOT stop)
    return()
  endif()
  string(FIND "${rest}" "${stop}" size)
  string(SUBSTRING "${rest}" 0 ${size} body)
  string(SUBSTRING "${rest}" ${size} -1 after)
  set(text "${before}${after}" PARENT_SCOPE)
  set(bodies "${bodies}${body}" PARENT_SCOPE)
endfunction()

take_out("\ninline [A-Za-z0-9_]+T( \\*[A-Za-z0-9_]+::UnPack\\(|::[A-Za-z0-9_]+T\\(const )"
         "\ninline (bool Verify|const [A-Za-z0-9_:]+ \\*Get)")
take_out("\ninline void \\*[A-Za-z0-9_]+Union::UnPack" "\ninline const [A-Za-z0-9_:]+ \\*Get")
string(REPLACE "\ninline " "\n" bodies "${bodies}")
get_filename_component(name ${HEADER} NAME)
file(WRITE ${HEADER} "${text}")
file(WRITE ${SOURCE} "#include \"${name}\"\n\nnamespace ${NAMESPACE} {\n${bodies}\n}  // namespace ${NAMESPACE}\n")
