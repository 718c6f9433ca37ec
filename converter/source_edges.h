// SPDX-License-Identifier: Apache-2.0
// A caller's wishes for a source model's inputs and outputs.
#ifndef QRT_CONVERTER_SOURCE_EDGES_H_
#define QRT_CONVERTER_SOURCE_EDGES_H_

#include <string>
#include <vector>

namespace qrt::convert {

struct SourceEdges {
  // Tensors to end the model at, instead of its own outputs; nodes and inputs that these do not need are
  // left out.
  std::vector<std::string> outputs;
  // Shapes of inputs whose dimensions the file leaves open: [NAME=]1x3x224x224 or with commas, where ?
  // leaves the first one, the batch, open. Without a name: of the only input.
  std::vector<std::string> input_shapes;
  // Limits of dimensions that the file leaves open, and which have to stay so: NAME=LEAST:MOST[:STEP], or NAME.
  std::vector<std::string> open;
  // Inputs that become constants: NAME=VALUE, the value of each element.
  std::vector<std::string> constants;
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SOURCE_EDGES_H_
