// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/import/common/shell_word.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/model_edges.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

void refuse_input(Importer& importer, const std::string& name, const std::string& rule,
                  const std::string& remedy) {
  importer.outcomes().refuse_outside("input", name, rule, remedy);
  importer.outcomes().set_origin(name, "refused input '" + name + "'");
  importer.tensors().at(name) = Tensor();
}

// Returns the option that gives an input its shape, with 1 for an open batch and N for what else is open.
std::string shape_option(const onnx::ValueInfoProto& info) {
  std::string sizes;
  const auto& dims = info.type().tensor_type().shape();
  for (int i = 0; i < dims.dim_size(); ++i)
    sizes += (i ? "x" : "") + (dims.dim(i).has_dim_value() ? std::to_string(dims.dim(i).dim_value())
                               : i == 0                    ? std::string("1")
                                                           : std::string("N"));
  return "--input-shape " + shell_word(info.name() + "=" + sizes);
}

}  // namespace

Status import_inputs(Importer& importer) {
  Graph& graph = importer.graph();
  GraphBuilder& builder = importer.builder();
  for (const onnx::ValueInfoProto& info : importer.model().graph().input()) {
    if (importer.model().initializers().count(info.name())) continue;
    const char* name = info.name().c_str();
    QRT_MODEL_CHECK(info.has_type() && info.type().has_tensor_type(),
                    "graph input '%s' has no tensor type", name);
    const onnx::TypeProto::Tensor& type = info.type().tensor_type();
    DType dtype;
    if (!ir_type(type.elem_type(), &dtype)) {
      refuse_input(
          importer, info.name(),
          std::string("element type ") + element_type_name(type.elem_type()) + " is not supported",
          "declare the input as float32, uint8 or int8");
      continue;
    }
    QRT_MODEL_CHECK(type.has_shape(), "graph input '%s' has no shape", name);
    std::vector<int64_t> dims;
    bool symbolic = false, is_batch = false;
    for (int i = 0; i < type.shape().dim_size(); ++i) {
      const auto& dim = type.shape().dim(i);
      if (dim.has_dim_value()) {
        QRT_MODEL_CHECK(dim.dim_value() >= 0,
                        "graph input '%s': dimension %d is %lld, expected 0 or more", name, i,
                        static_cast<long long>(dim.dim_value()));
        dims.push_back(dim.dim_value());
        continue;
      }
      const auto open = importer.sizes().find(open_dimension_name(info, i));
      if (open != importer.sizes().end()) {
        dims.push_back(open->second);
        is_batch = true;
        continue;
      }
      if (i > 0 && !symbolic) {
        refuse_input(importer, info.name(),
                     "dimension " + std::to_string(i) + " is symbolic" +
                         (dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')") +
                         ": only the first, the batch, may be",
                     "give its size in the place of the N, " + shape_option(info) +
                         ", or export the model with this dimension fixed");
        symbolic = true;
      }
      dims.push_back(i == 0 ? importer.batch() : 1);
      is_batch |= i == 0;
    }
    if (symbolic) continue;
    Tensor tensor;
    if (Status s = make_shape(dims, &tensor.shape); !s.ok()) {
      refuse_input(importer, info.name(), s.message(),
                   "give it a smaller shape, " + shape_option(info) +
                       ": tensors have at most 6 dimensions and 2^31 - 1 elements");
      continue;
    }
    if (tensor.shape.elements() == 0) {  // it has nothing that a run could change
      auto constant = std::make_shared<Constant>();
      constant->type = type.elem_type();
      constant->shape = tensor.shape;
      importer.tensors().at(info.name()) = constant_tensor(std::move(constant));
      // A placeholder keeps the numbers of the values behind it equal at all sizes.
      if (importer.has_open_sizes()) builder.new_value(info.name(), dtype, tensor.shape);
      continue;
    }
    // The first symbolic batch, or where there is none, the first number.
    if ((is_batch && !graph.batch_is_symbolic) || (graph.inputs.empty() && !dims.empty()))
      graph.default_batch = dims[0];
    graph.batch_is_symbolic |= is_batch;
    tensor.type = type.elem_type();
    tensor.value = builder.new_value(info.name(), dtype, tensor.shape);
    graph.inputs.push_back(tensor.value);
    if (tensor.type == kInt8) {
      tensor.value = builder.flip_sign({info.name(), "input"}, tensor.value, DType::kUInt8);
    } else if (tensor.type == kBool) {
      tensor.value = builder.relabel({info.name(), "input"}, tensor.value, DType::kUInt8);
    } else if (tensor.type == kUint16) {
      tensor.value = builder.stored_uint16(info.name(), tensor.value);
    }
    tensor.kind = Tensor::Kind::kValue;
    importer.tensors().at(info.name()) = std::move(tensor);
  }
  return Status();
}

void refuse_empty_inputs(Importer& importer) {
  for (const onnx::ValueInfoProto& info : importer.model().graph().input()) {
    if (importer.model().initializers().count(info.name())) continue;
    const auto& dims = info.type().tensor_type().shape();
    for (int i = 0; i < dims.dim_size(); ++i)
      if (dims.dim(i).has_dim_value() && dims.dim(i).dim_value() == 0) {
        importer.outcomes().refuse_outside(
            "input", info.name(),
            "its dimension " + std::to_string(i) +
                " is 0 in the file: a fixed size of 0 is supported only where Concat joins the "
                "input to others",
            "export the model with a size of 1 or more, or with this dimension open");
        break;
      }
  }
}

}  // namespace qrt::convert::from_onnx
