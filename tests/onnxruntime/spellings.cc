// The same graph as another exporter writes it: constants as nodes, or in fields of their type.
#include <cstring>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {
namespace {

template <class T, class Add>
void each(const std::string& raw, const Add& add) {
  for (size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T v;
    memcpy(&v, raw.data() + at, sizeof v);
    add(v);
  }
}

void to_typed_field(onnx::TensorProto* t) {
  const std::string raw = t->raw_data();
  const auto add32 = [&](int32_t v) { t->add_int32_data(v); };
  switch (t->data_type()) {
    case kFloat: each<float>(raw, [&](float v) { t->add_float_data(v); }); break;
    case kInt64: each<int64_t>(raw, [&](int64_t v) { t->add_int64_data(v); }); break;
    case kInt32: each<int32_t>(raw, add32); break;
    case kInt16: each<int16_t>(raw, add32); break;
    case kHalf:
    case kUint16: each<uint16_t>(raw, add32); break;
    case kInt8: each<int8_t>(raw, add32); break;
    default: each<uint8_t>(raw, add32);  // also of what shares bytes
  }
  t->clear_raw_data();
}

onnx::NodeProto to_node(const onnx::TensorProto& t) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output(t.name());
  onnx::AttributeProto* a = node.add_attribute();
  a->set_name("value");
  a->set_type(onnx::AttributeProto::TENSOR);
  *a->mutable_t() = t;
  return node;
}

}  // namespace

void GraphMaker::respell() {
  const bool fields = dice_.one_in(4), nodes = dice_.one_in(4);
  if (!fields && !nodes) return;
  std::vector<onnx::NodeProto> constants;
  onnx::GraphProto rest = b_.graph();
  rest.clear_initializer();
  for (onnx::TensorProto t : b_.graph().initializer()) {
    if (fields && !t.raw_data().empty() && dice_.coin()) to_typed_field(&t);
    if (nodes && dice_.coin())
      constants.push_back(to_node(t));
    else
      *rest.add_initializer() = t;
  }
  rest.clear_node();
  for (const onnx::NodeProto& node : constants) *rest.add_node() = node;
  for (const onnx::NodeProto& node : b_.graph().node()) *rest.add_node() = node;
  b_.graph() = rest;
}

}  // namespace qrt::random_onnx
