// SPDX-License-Identifier: Apache-2.0
// Open dimensions: those dimensions of a file's inputs that have no fixed size.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPEN_DIMENSIONS_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPEN_DIMENSIONS_H_

#include <cstdint>
#include <map>
#include <optional>
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

// An open dimension, with the properties that the inputs show and the caller's wishes.
struct OpenDimension {
  std::string name;
  bool is_first = false;    // dimension 0 of some input, which may be a batch
  bool is_other = false;    // another dimension of some input
  bool is_wanted = false;   // the caller named it
  bool has_limits = false;  // the caller gave limits for its size
  int64_t least = 1, most = INT32_MAX, step = 1;
  bool is_length = false;   // the only dimension of some input: a batch, or the length of a signal
  bool wants_zero = false;  // the caller's least size is 0; `least` is 1 then
  int tied_to = -1;         // Symbol::tied_to
};

// Returns the name of an input's open dimension: that in the file, or else INPUT.AXIS.
std::string open_dimension_name(const onnx::ValueInfoProto& input, int axis);

// Returns the open dimensions of the graph's inputs, each name once, except dimensions named as
// sums of others ("past + seq"). Initialisers do not count as inputs.
std::vector<OpenDimension> find_open_dimensions(const onnx::GraphProto& graph);

// A dimension whose name is a sum, such as "past + seq", "past + 1", or "total_seq" beside
// "past_seq" and "seq".
struct NamedSum {
  std::vector<size_t> terms;  // indices of open dimensions
  int64_t constant = 0;
};

// Reads a name as a sum of open dimensions and a number; the name of one open dimension is a sum of
// one term. Returns nothing where the name contains another term.
std::optional<NamedSum> sum_of(const std::string& name, const std::vector<OpenDimension>& open);

// Returns the sizes of all open dimensions of the graph's inputs, sums included, by their names.
// sizes[i] is the size of open[i].
OpenSizes name_sizes(const onnx::GraphProto& graph, const std::vector<OpenDimension>& open,
                     const std::vector<int64_t>& sizes);

// Returns copies of `open` with different dimensions tied, to be tried in turn, since a source that
// adds tensors may need equal sizes. Copies tie no dimensions, two of a few non-leading ones, all
// leading ones, all non-leading ones, or both of these groups. A length counts as non-leading.
std::vector<std::vector<OpenDimension>> possible_ties(const std::vector<OpenDimension>& open);

// Applies the caller's limits of open dimensions: NAME or NAME=LEAST:MOST[:STEP]. Fails with
// kInvalidArgument for a malformed one, or one that names no open dimension.
Status set_limits(const std::vector<std::string>& limits, std::vector<OpenDimension>* open);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPEN_DIMENSIONS_H_
