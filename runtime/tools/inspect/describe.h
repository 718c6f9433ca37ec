// SPDX-License-Identifier: Apache-2.0
// Everything that the formats of qrt_inspect show, gathered once.
#ifndef QRT_RUNTIME_TOOLS_INSPECT_DESCRIBE_H_
#define QRT_RUNTIME_TOOLS_INSPECT_DESCRIBE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/plan.h"

namespace qrt::tool {

// Returns the object that --format json prints: {"model": {}, "memory": {}, "inputs": [INDEX],
// "outputs": [INDEX], "tensors": [{}], "operators": [{}]}.
nlohmann::ordered_json describe(const Plan& plan, const std::string& path);

// Returns a description of an operator's arithmetic: how the bytes of its output come about.
std::string arithmetic(const fb::Operator& op);

// Parts of a description as they are read.
std::string string_of(const nlohmann::ordered_json& j);
// Returns a name from the file, for the terminal or a graph.
std::string shown(const nlohmann::ordered_json& j);
// "float32 [1, 3, 224, 224]"
std::string type_of(const nlohmann::ordered_json& tensor);
// Returns the type with the names of open dimensions in place of their sizes: "float32 [batch, seq, 384]".
std::string open_type_of(const nlohmann::ordered_json& tensor);
// Returns scale and zero point, "0.0235, 128"; "" where the tensor has none.
std::string quantization_of(const nlohmann::ordered_json& tensor);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_INSPECT_DESCRIBE_H_
