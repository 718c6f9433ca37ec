// SPDX-License-Identifier: Apache-2.0
// Counts on the wire how much memory a protobuf message takes: a message of two bytes in the file
// becomes an object of hundreds, and a repeated number of one byte becomes eight and more.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_WIRE_COST_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_WIRE_COST_H_

#include "runtime/status.h"
#include "runtime/tools/budget.h"

namespace google::protobuf {
class Message;
namespace io {
class CodedInputStream;
}  // namespace io
}  // namespace google::protobuf

namespace qrt::convert::from_onnx {

// Reserves what parsing the stream into `message` will take, without making it. Bytes that are no
// message of its type are no error: the count ends there, as the parser will.
Status reserve_message(const google::protobuf::Message& message,
                       google::protobuf::io::CodedInputStream* stream, Budget* budget);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_WIRE_COST_H_
