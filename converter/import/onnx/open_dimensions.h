// The dimensions of a file's inputs that have no number.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPEN_DIMENSIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPEN_DIMENSIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace qrt::convert::from_onnx {

// Sizes of open dimensions by their names.
using OpenSizes = std::map<std::string, int64_t>;

// An open dimension as the inputs have it.
struct OpenDimension {
  std::string name;
  bool is_first = false;   // of an input: it may be a batch
  bool is_other = false;   // of an input: it stands behind the first
  bool is_wanted = false;  // the caller named it
  int64_t least = 1, most = INT32_MAX, step = 1;
  bool is_length = false;  // the only dimension of an input: a batch, or the length of a signal
};

// Returns the name of an input's open dimension: the file's for it, or else INPUT.AXIS.
std::string open_dimension_name(const onnx::ValueInfoProto& input, int axis);

// Returns the open dimensions of the graph's inputs, each name once. Initialisers are
// no inputs.
std::vector<OpenDimension> find_open_dimensions(const onnx::GraphProto& graph);

// Takes what a caller says of open dimensions: NAME or NAME=LEAST:MOST[:STEP]. kInvalidArgument for what says
// nothing of one of them.
Status set_limits(const std::vector<std::string>& limits, std::vector<OpenDimension>* open);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPEN_DIMENSIONS_H_
