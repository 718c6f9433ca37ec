// SPDX-License-Identifier: Apache-2.0
// Attribute access with type checks.
#include "converter/import/onnx/file/node.h"

#include "converter/import/onnx/file/model.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {
const std::string kEmpty;
}

const std::string& NodeView::op() const { return proto_.op_type(); }
const std::string& NodeView::domain() const { return proto_.domain(); }
int NodeView::input_count() const { return proto_.input_size(); }
int NodeView::output_count() const { return proto_.output_size(); }
std::string NodeView::label() const { return node_label(proto_, index_); }
std::string NodeView::op_label() const { return from_onnx::op_label(proto_); }

const std::string& NodeView::name() const {
  return proto_.name().empty() ? output(0) : proto_.name();
}
const std::string& NodeView::input(int i) const {
  return i < proto_.input_size() ? proto_.input(i) : kEmpty;
}
const std::string& NodeView::output(int i) const {
  return i < proto_.output_size() ? proto_.output(i) : kEmpty;
}

const onnx::AttributeProto* NodeView::find(const char* attribute) const {
  for (const onnx::AttributeProto& a : proto_.attribute())
    if (a.name() == attribute) return &a;
  return nullptr;
}

const onnx::AttributeProto* NodeView::find(const char* attribute, int type) const {
  const onnx::AttributeProto* a = find(attribute);
  if (!a) return nullptr;
  // Files of IR version 3 need not name the type.
  if (a->type() == type || a->type() == onnx::AttributeProto::UNDEFINED) return a;
  if (problem_.ok())
    problem_ = error(Code::kInvalidModel, "node %s: attribute '%s' has type %d, expected %d",
                     label().c_str(), attribute, static_cast<int>(a->type()), type);
  return nullptr;
}

int64_t NodeView::integer(const char* attribute, int64_t otherwise) const {
  const auto* a = find(attribute, onnx::AttributeProto::INT);
  return a ? a->i() : otherwise;
}
float NodeView::real(const char* attribute, float otherwise) const {
  const auto* a = find(attribute, onnx::AttributeProto::FLOAT);
  return a ? a->f() : otherwise;
}
std::string NodeView::text(const char* attribute, const std::string& otherwise) const {
  const auto* a = find(attribute, onnx::AttributeProto::STRING);
  return a ? a->s() : otherwise;
}
std::vector<std::string> NodeView::texts(const char* attribute) const {
  const auto* a = find(attribute, onnx::AttributeProto::STRINGS);
  if (!a) return {};
  return {a->strings().begin(), a->strings().end()};
}
std::vector<int64_t> NodeView::integers(const char* attribute) const {
  const auto* a = find(attribute, onnx::AttributeProto::INTS);
  if (!a) return {};
  return std::vector<int64_t>(a->ints().begin(), a->ints().end());
}
std::vector<float> NodeView::reals(const char* attribute) const {
  const auto* a = find(attribute, onnx::AttributeProto::FLOATS);
  if (!a) return {};
  return std::vector<float>(a->floats().begin(), a->floats().end());
}
const onnx::TensorProto* NodeView::tensor(const char* attribute) const {
  const auto* a = find(attribute, onnx::AttributeProto::TENSOR);
  return a && a->has_t() ? &a->t() : nullptr;
}

}  // namespace qrt::convert::from_onnx
