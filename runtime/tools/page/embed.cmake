# SPDX-License-Identifier: Apache-2.0
# Writes the constants NAMEStart and NAMEEnd (page_files.h): web/page.html with style sheets and scripts in their places and
# their hashes in the policy, cut where the data belong.
# cmake -DWEB=DIRECTORY -DSTYLES=a.css,b.css -DSCRIPTS=a.js,b.js -DNAME=kSomePage -DOUTPUT=FILE -P embed.cmake
function(read_source name result)
  file(READ ${WEB}/${name} text)
  string(REGEX REPLACE "^[^\n]*SPDX-License-Identifier[^\n]*\n" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
read_source(page.html page)

function(join_files names result)
  set(joined "")
  string(REPLACE "," ";" names ${names})
  foreach(name IN LISTS names)
    read_source(${name} text)
    string(APPEND joined "${text}")
  endforeach()
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()
join_files(${STYLES} style)
join_files(${SCRIPTS} code)
string(REPLACE "/*STYLE*/" "${style}" page "${page}")
string(REPLACE "/*SCRIPTS*/" "${code}" page "${page}")

# The base64 of a SHA-256, which takes its hexadecimal digits.
function(base64_of_digest digits result)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${digits}00" ${at} 6 bytes)
    foreach(shift 18 12 6 0)
      math(EXPR letter "(0x${bytes} >> ${shift}) & 63")
      string(SUBSTRING ${letters} ${letter} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)  # 32 bytes; the last letter is of the two digits that were added
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

# hash_element(NAME PLACE): the page's policy allows the element <NAME> to hold what it does, and nothing else.
function(hash_element name place)
  string(FIND "${page}" "<${name}>" begin)
  string(FIND "${page}" "</${name}>" end REVERSE)
  string(LENGTH "<${name}>" tag)
  math(EXPR begin "${begin} + ${tag}")
  math(EXPR length "${end} - ${begin}")
  string(SUBSTRING "${page}" ${begin} ${length} content)
  string(SHA256 digest "${content}")
  base64_of_digest(${digest} hash)
  string(REPLACE ${place} "'sha256-${hash}'" page "${page}")
  set(page "${page}" PARENT_SCOPE)
endfunction()
hash_element(style @STYLE_HASH@)
hash_element(script @SCRIPT_HASH@)

string(FIND "${page}" "@DATA@" cut)
string(SUBSTRING "${page}" 0 ${cut} start)
math(EXPR cut "${cut} + 6")
string(SUBSTRING "${page}" ${cut} -1 end)
file(WRITE ${OUTPUT} "#include \"runtime/tools/page/page_files.h\"

namespace qrt::tool {

const char ${NAME}Start[] = R\"qrt(${start})qrt\";

const char ${NAME}End[] = R\"qrt(${end})qrt\";

}  // namespace qrt::tool
")
