// SPDX-License-Identifier: Apache-2.0
// The protobuf classes of an ONNX file by their names only. Their header takes seconds to compile:
// what looks into them includes onnx/onnx_pb.h itself.
#ifndef QRT_CONVERTER_IMPORT_ONNX_FILE_PROTO_H_
#define QRT_CONVERTER_IMPORT_ONNX_FILE_PROTO_H_

namespace onnx {
class AttributeProto;
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
class ValueInfoProto;
}  // namespace onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_FILE_PROTO_H_
