// A file that is one protobuf message.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_PARSE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_PARSE_H_

#include <string>

#include "runtime/status.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace qrt::convert::from_onnx {

// `what`: "model", and `type`: "ModelProto", for messages. kIoError, or kInvalidModel where the file is
// something else.
Status parse_file(const std::string& path, const char* what, const char* type,
                  google::protobuf::MessageLite* message);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_PARSE_H_
