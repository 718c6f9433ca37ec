# SPDX-License-Identifier: Apache-2.0
# The sources of qrt_converter in lists, for the library and for the WebAssembly module, which has fewer formats:
#   QRT_CONVERT_SOURCES         from a graph to a .qrt file, and the report: needs no file and no library but nlohmann-json's headers
#   QRT_IMPORT_SOURCES          the table of formats, and what formats share
#   QRT_IMPORT_<FORMAT>_SOURCES one format's reader; ONNX's needs protobuf, CVM's a second file
#   QRT_READER_SOURCES          made of the schemas of TFLite and ESP-DL, like the model format's (schema/)
set(from ${CMAKE_CURRENT_LIST_DIR})
file(GLOB passes CONFIGURE_DEPENDS ${from}/passes/*.cc)
file(GLOB sizes CONFIGURE_DEPENDS ${from}/sizes/*.cc)
set(QRT_CONVERT_SOURCES batch.cc conversion_notes.cc fit_values.cc ir.cc levels.cc lint.cc permutation.cc portable_math.cc report.cc write.cc)
list(TRANSFORM QRT_CONVERT_SOURCES PREPEND ${from}/)
list(APPEND QRT_CONVERT_SOURCES ${passes} ${sizes})
file(GLOB QRT_IMPORT_SOURCES CONFIGURE_DEPENDS ${from}/import/*.cc ${from}/import/common/*.cc)
foreach(format onnx tflite espdl cvm)
  string(TOUPPER ${format} upper)
  file(GLOB_RECURSE QRT_IMPORT_${upper}_SOURCES CONFIGURE_DEPENDS ${from}/import/${format}/*.cc)
endforeach()
list(FILTER QRT_IMPORT_ESPDL_SOURCES EXCLUDE REGEX /qdq/)
file(GLOB_RECURSE qdq CONFIGURE_DEPENDS ${from}/import/espdl/qdq/*.cc)
list(APPEND QRT_IMPORT_ONNX_SOURCES ${qdq})  # ONNX files with ESP-DL's arithmetic
set(reader_headers)
foreach(format tflite espdl)
  set(reader ${from}/import/${format}/${format}.fbs)
  qrt_add_format(${reader} qrt::${format})
  qrt_add_types(${reader} qrt.${format})
  list(APPEND QRT_READER_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/${format}_objects.cc)
  list(APPEND reader_headers ${CMAKE_CURRENT_BINARY_DIR}/${format}_generated.h
    ${CMAKE_CURRENT_BINARY_DIR}/${format}_types.h)
endforeach()
add_custom_target(qrt_reader_headers DEPENDS ${reader_headers})
