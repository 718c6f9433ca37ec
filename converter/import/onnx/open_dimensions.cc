#include "converter/import/onnx/open_dimensions.h"

#include <algorithm>
#include <set>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {

std::string open_dimension_name(const onnx::ValueInfoProto& input, int axis) {
  const std::string& name = input.type().tensor_type().shape().dim(axis).dim_param();
  return name.empty() ? input.name() + "." + std::to_string(axis) : name;
}

std::vector<OpenDimension> find_open_dimensions(const onnx::GraphProto& graph) {
  std::set<std::string> constants;
  for (const onnx::TensorProto& t : graph.initializer()) constants.insert(t.name());
  std::vector<OpenDimension> found;
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (constants.count(info.name()) != 0 || !info.type().tensor_type().has_shape()) continue;
    const auto& dims = info.type().tensor_type().shape();
    for (int i = 0; i < dims.dim_size(); ++i) {
      if (dims.dim(i).has_dim_value()) continue;
      const std::string name = open_dimension_name(info, i);
      const auto known = std::find_if(found.begin(), found.end(),
                                      [&](const OpenDimension& d) { return d.name == name; });
      OpenDimension& open = known == found.end() ? found.emplace_back() : *known;
      open.name = name;
      open.is_first |= i == 0;
      open.is_other |= i > 0;
      open.is_length |= dims.dim_size() == 1;
    }
  }
  return found;
}

}  // namespace qrt::convert::from_onnx
