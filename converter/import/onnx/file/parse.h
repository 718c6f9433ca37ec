// SPDX-License-Identifier: Apache-2.0
// A file that is one protobuf message.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_PARSE_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_PARSE_H_

#include <string>

#include "runtime/status.h"
#include "runtime/tools/budget.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace qrt::convert::from_onnx {

// Parses a file as a message. `what`: "model", and `type`: "ModelProto", for messages. Adds the
// file to the budget and reserves the message in it. Fails with kIoError, kInvalidModel where the
// file is something else, or kUnsupported where the message would be too large for its file.
Status parse_file(const std::string& path, const char* what, const char* type,
                  google::protobuf::Message* message, Budget* budget);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_PARSE_H_
