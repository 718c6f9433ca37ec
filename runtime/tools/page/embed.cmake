# Writes page_files.cc: web/page.html with web/page.css and the scripts in their places, cut where the data belong.
# cmake -DWEB=DIRECTORY -DSCRIPTS=a.js,b.js -DOUTPUT=FILE -P embed.cmake
file(READ ${WEB}/page.html page)
file(READ ${WEB}/page.css style)
set(code "")
string(REPLACE "," ";" scripts ${SCRIPTS})
foreach(script IN LISTS scripts)
  file(READ ${WEB}/${script} text)
  string(APPEND code "${text}")
endforeach()
string(REPLACE "/*STYLE*/" "${style}" page "${page}")
string(REPLACE "/*SCRIPTS*/" "${code}" page "${page}")
string(FIND "${page}" "@DATA@" cut)
string(SUBSTRING "${page}" 0 ${cut} start)
math(EXPR cut "${cut} + 6")
string(SUBSTRING "${page}" ${cut} -1 end)
file(WRITE ${OUTPUT} "#include \"runtime/tools/page/page_files.h\"

namespace qrt::tool {

const char kPageStart[] = R\"qrt(${start})qrt\";

const char kPageEnd[] = R\"qrt(${end})qrt\";

}  // namespace qrt::tool
")
