// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/dimensions.h"

#include <cstdlib>
#include <map>
#include <set>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Calls f(dimension) of every tensor that the graph has a shape of.
template <class F>
void for_all_dimensions(onnx::GraphProto* g, const F& f) {
  for (auto* infos : {g->mutable_input(), g->mutable_output(), g->mutable_value_info()})
    for (onnx::ValueInfoProto& info : *infos) {
      if (!info.has_type() || !info.type().has_tensor_type()) continue;
      onnx::TypeProto::Tensor* tensor = info.mutable_type()->mutable_tensor_type();
      if (!tensor->has_shape()) continue;
      for (auto& dim : *tensor->mutable_shape()->mutable_dim()) f(&dim);
    }
}

constexpr int64_t kOpen = -1;

// [NAME=]1x3x224x224, or with commas.
struct InputShape {
  std::string name;
  std::vector<int64_t> dims;
};

Status parse_shape(const std::string& text, InputShape* shape) {
  const size_t equals = text.rfind('=');
  if (equals != std::string::npos) shape->name = text.substr(0, equals);
  const std::string dims = equals == std::string::npos ? text : text.substr(equals + 1);
  for (size_t at = 0, end; at <= dims.size(); at = end + 1) {
    end = std::min(dims.find_first_of("x,", at), dims.size());
    const std::string dim = dims.substr(at, end - at);
    const bool is_number =
        !dim.empty() && dim.size() < 11 && dim.find_first_not_of("0123456789") == std::string::npos;
    const int64_t value = is_number ? atoll(dim.c_str()) : 0;
    if (dim == "?" && at == 0)
      shape->dims.push_back(kOpen);
    else if (value >= 1 && value <= INT32_MAX)
      shape->dims.push_back(value);
    else if (is_number && value == 0)
      return error(Code::kInvalidArgument,
                   "--input-shape %s: a fixed size of 0 is not supported: give 1 or more, or leave "
                   "the size to a run, by --open NAME=0:512",
                   text.c_str());
    else
      return error(Code::kInvalidArgument,
                   "--input-shape %s: '%s' is no dimension, expected [NAME=]1x3x224x224, or ? for "
                   "the first",
                   text.c_str(), dim.c_str());
  }
  return Status();
}

// Returns the model's inputs: initializers may stand among those of the graph.
std::vector<onnx::ValueInfoProto*> inputs_of(onnx::GraphProto* g) {
  std::set<std::string> constants;
  for (const onnx::TensorProto& t : g->initializer()) constants.insert(t.name());
  std::vector<onnx::ValueInfoProto*> inputs;
  for (onnx::ValueInfoProto& info : *g->mutable_input())
    if (constants.count(info.name()) == 0) inputs.push_back(&info);
  return inputs;
}

Status find_input(const std::vector<onnx::ValueInfoProto*>& inputs, const InputShape& shape,
                  onnx::ValueInfoProto** input) {
  std::string names;
  for (onnx::ValueInfoProto* info : inputs) {
    names += (names.empty() ? "'" : ", '") + info->name() + "'";
    const bool is_meant = shape.name.empty() ? inputs.size() == 1 : info->name() == shape.name;
    if (!is_meant) continue;
    *input = info;
    return Status();
  }
  return error(Code::kInvalidArgument, "--input-shape: the model has %s%s%s; its inputs are %s",
               shape.name.empty() ? "more than one input" : "no input '", shape.name.c_str(),
               shape.name.empty() ? "" : "'", names.empty() ? "none" : names.c_str());
}

// Numbers of named dimensions, and of the input's own.
Status set_shape(const InputShape& shape, onnx::ValueInfoProto* input,
                 std::map<std::string, int64_t>* named) {
  auto* dims = input->mutable_type()->mutable_tensor_type()->mutable_shape();
  const bool is_declared = input->type().tensor_type().has_shape() && dims->dim_size() > 0;
  if (is_declared && static_cast<size_t>(dims->dim_size()) != shape.dims.size())
    return error(Code::kInvalidArgument, "--input-shape: input '%s' has %d dimensions, not %zu",
                 input->name().c_str(), dims->dim_size(), shape.dims.size());
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    auto* dim = is_declared ? dims->mutable_dim(static_cast<int>(i)) : dims->add_dim();
    const int64_t given = shape.dims[i];
    if (given == kOpen) continue;
    if (dim->has_dim_value() && dim->dim_value() != given)
      return error(Code::kInvalidArgument,
                   "--input-shape: dimension %zu of input '%s' is %lld in the file, not %lld", i,
                   input->name().c_str(), static_cast<long long>(dim->dim_value()),
                   static_cast<long long>(given));
    if (!dim->dim_param().empty()) {
      const auto [known, is_new] = named->emplace(dim->dim_param(), given);
      if (!is_new && known->second != given)
        return error(Code::kInvalidArgument,
                     "--input-shape: dimension '%s' is %lld and, of input '%s', %lld",
                     dim->dim_param().c_str(), static_cast<long long>(known->second),
                     input->name().c_str(), static_cast<long long>(given));
    }
    dim->set_dim_value(given);
  }
  return Status();
}

}  // namespace

void open_dimensions(onnx::GraphProto* graph) {
  for_all_dimensions(graph, [](onnx::TensorShapeProto::Dimension* dim) {
    if (dim->has_dim_value() && dim->dim_value() == kOpen) dim->clear_value();
  });
}

Status set_input_shapes(const std::vector<std::string>& shapes, onnx::GraphProto* graph) {
  const std::vector<onnx::ValueInfoProto*> inputs = inputs_of(graph);
  std::map<std::string, int64_t> named;
  std::set<std::string> seen;
  for (const std::string& text : shapes) {
    InputShape shape;
    onnx::ValueInfoProto* input = nullptr;
    QRT_TRY(parse_shape(text, &shape));
    QRT_TRY(find_input(inputs, shape, &input));
    if (!seen.insert(input->name()).second)
      return error(Code::kInvalidArgument, "--input-shape names '%s' twice", input->name().c_str());
    QRT_MODEL_CHECK(input->has_type() && input->type().has_tensor_type(),
                    "graph input '%s' has no tensor type", input->name().c_str());
    QRT_TRY(set_shape(shape, input, &named));
  }
  for_all_dimensions(graph, [&](onnx::TensorShapeProto::Dimension* dim) {
    const auto known = named.find(dim->dim_param());
    if (!dim->has_dim_value() && known != named.end()) dim->set_dim_value(known->second);
  });
  return Status();
}

}  // namespace qrt::convert::from_onnx
