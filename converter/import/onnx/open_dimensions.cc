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

namespace {

// Numbers between colons; none where there is anything else.
std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0, end; at <= text.size(); at = end + 1) {
    end = std::min(text.find(':', at), text.size());
    const std::string number = text.substr(at, end - at);
    if (number.empty() || number.size() > 10 ||
        number.find_first_not_of("0123456789") != std::string::npos)
      return {};
    numbers.push_back(std::stoll(number));
  }
  return numbers;
}

}  // namespace

Status set_limits(const std::vector<std::string>& limits, std::vector<OpenDimension>* open) {
  for (const std::string& text : limits) {
    const auto names = [&](const std::string& name) {
      return std::find_if(open->begin(), open->end(),
                          [&](const OpenDimension& d) { return d.name == name; });
    };
    // Names may hold an equals sign themselves.
    const size_t equals = text.rfind('=');
    const bool is_name = names(text) != open->end();
    const auto found = names(is_name ? text : text.substr(0, equals));
    if (found == open->end()) {
      std::string known;
      for (const OpenDimension& d : *open) known += (known.empty() ? "'" : ", '") + d.name + "'";
      return error(Code::kInvalidArgument, "--open %s: the model's open dimensions are %s",
                   text.c_str(), known.empty() ? "none" : known.c_str());
    }
    found->is_wanted = true;
    if (is_name) continue;
    const std::vector<int64_t> n = numbers_of(text.substr(equals + 1));
    if (n.size() < 2 || n.size() > 3 || n[0] < 1 || n[1] < n[0] || n[1] > INT32_MAX ||
        (n.size() == 3 && n[2] < 1))
      return error(Code::kInvalidArgument,
                   "--open %s: expected NAME=LEAST:MOST or NAME=LEAST:MOST:STEP, as seq=1:512:8",
                   text.c_str());
    found->least = n[0];
    found->step = n.size() == 3 ? n[2] : 1;
    found->most = n[1] - (n[1] - n[0]) % found->step;
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx
