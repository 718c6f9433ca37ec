// SPDX-License-Identifier: Apache-2.0
// MRT/CVM models as text: a small builder of symbol JSON and params.
#ifndef QRT_TESTS_SUPPORT_CVM_MODELS_H_
#define QRT_TESTS_SUPPORT_CVM_MODELS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace qrt::testing {

struct CvmModel {
  std::string symbol;
  std::vector<uint8_t> params;
};

// Returns one file for the fuzzer: the symbol's length, the symbol, the params.
inline std::vector<uint8_t> joined(const CvmModel& m) {
  const auto n = static_cast<uint32_t>(m.symbol.size());
  std::vector<uint8_t> bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(n >> shift));
  bytes.insert(bytes.end(), m.symbol.begin(), m.symbol.end());
  bytes.insert(bytes.end(), m.params.begin(), m.params.end());
  return bytes;
}

// Splits what joined() made, or other bytes, into a model. REQUIRES: four bytes.
inline CvmModel split(const uint8_t* data, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < 4; ++i) n |= size_t{data[i]} << 8 * i;
  const uint8_t *symbol = data + 4, *end = data + size;
  const uint8_t* params = symbol + std::min(n, size - 4);
  return {{symbol, params}, {params, end}};
}

// Nodes in order; each call returns the node's number. Every node has one output.
class CvmBuilder {
 public:
  using Dims = std::vector<int64_t>;

  int data(const Dims& shape, int precision) { return variable("data", shape, precision); }
  int param(const std::string& name, const Dims& shape, int precision,
            const std::vector<int32_t>& values) {
    tensors_.push_back({name, shape, values});
    return variable(name, shape, precision);
  }
  // attributes: the text within the braces, "\"axis\": \"(2, 3)\"".
  int op(const std::string& function, const std::vector<int>& inputs, const Dims& shape,
         const std::string& attributes = "") {
    std::string list;
    for (int i : inputs) list += (list.empty() ? "[" : ", [") + std::to_string(i) + ", 0, 0]";
    return add("cvm_op", function + std::to_string(nodes_.size()), "[" + list + "]",
               ", \"attrs\": {\"func_name\": \"" + function + "\"}", shape, -1, attributes);
  }

  CvmModel build(const std::vector<int>& heads) const {
    std::string nodes, arguments, rows = "0", ids, shapes, precisions, types, attributes, outputs;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& n = nodes_[i];
      const std::string comma = i == 0 ? "" : ", ";
      nodes += comma + n.text;
      if (n.is_variable) arguments += (arguments.empty() ? "" : ", ") + std::to_string(i);
      rows += ", " + std::to_string(i + 1);
      ids += comma + std::to_string(i);
      shapes += comma + text_of(n.shape);
      precisions += comma + std::to_string(n.precision);
      types += comma + "\"int32\"";
      attributes += comma + n.attributes;
    }
    for (int h : heads) outputs += (outputs.empty() ? "[" : ", [") + std::to_string(h) + ", 0, 0]";
    CvmModel model;
    model.symbol =
        "{\"nodes\": [" + nodes + "], \"arg_nodes\": [" + arguments + "], \"node_row_ptr\": [" +
        rows + "], \"heads\": [" + outputs + "], \"attrs\": {\"op_attrs\": [\"list_str\", [" +
        attributes + "]], \"dltype\": [\"list_str\", [" + types +
        "]], \"precision\": [\"list_int\", [" + precisions +
        "]], \"storage_id\": [\"list_int\", [" + ids + "]], \"shape\": [\"list_shape\", [" +
        shapes + "]]}, \"version\": \"cvm_1.0.0\"}";
    put(uint64_t{0xF7E58D4F05049CB7}, &model.params);
    put(uint64_t{0}, &model.params);
    put(uint64_t{tensors_.size()}, &model.params);
    for (const Tensor& t : tensors_) {
      put(uint64_t{t.name.size()}, &model.params);
      model.params.insert(model.params.end(), t.name.begin(), t.name.end());
    }
    put(uint64_t{tensors_.size()}, &model.params);
    for (const Tensor& t : tensors_) {
      put(uint64_t{0xDD5E40F096B4A13F}, &model.params);
      put(uint64_t{0}, &model.params);
      put(int32_t{1}, &model.params);
      put(int32_t{0}, &model.params);
      put(static_cast<int32_t>(t.shape.size()), &model.params);
      put(uint8_t{0}, &model.params);
      put(uint8_t{32}, &model.params);
      put(uint16_t{1}, &model.params);
      for (int64_t d : t.shape) put(d, &model.params);
      put(static_cast<int64_t>(t.values.size() * 4), &model.params);
      for (int32_t v : t.values) put(v, &model.params);
    }
    return model;
  }

 private:
  struct Node {
    std::string text;
    bool is_variable;
    Dims shape;
    int precision;
    std::string attributes;  // as a JSON string
  };
  struct Tensor {
    std::string name;
    Dims shape;
    std::vector<int32_t> values;
  };

  template <class T>
  static void put(T value, std::vector<uint8_t>* bytes) {
    const size_t at = bytes->size();
    bytes->resize(at + sizeof(T));
    memcpy(bytes->data() + at, &value, sizeof(T));
  }
  static std::string text_of(const Dims& dims) {
    std::string text;
    for (int64_t d : dims) text += (text.empty() ? "[" : ", ") + std::to_string(d);
    return text + "]";
  }
  int variable(const std::string& name, const Dims& shape, int precision) {
    return add("null", name, "[]", "", shape, precision, "");
  }
  int add(const std::string& op, const std::string& name, const std::string& inputs,
          const std::string& more, const Dims& shape, int precision,
          const std::string& attributes) {
    std::string quoted = "\"{";
    for (char c : attributes) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    nodes_.push_back(
        {"{\"op\": \"" + op + "\", \"name\": \"" + name + "\", \"inputs\": " + inputs + more + "}",
         op == "null", shape, precision, quoted + "}\""});
    return static_cast<int>(nodes_.size()) - 1;
  }

  std::vector<Node> nodes_;
  std::vector<Tensor> tensors_;
};

// Returns a convolution, its requantisation, a residual sum, a pool over the image and a dense layer.
inline CvmModel sample_cvm_model() {
  CvmBuilder b;
  const auto values = [](size_t n, int32_t most) {
    std::vector<int32_t> v(n);
    for (size_t i = 0; i < n; ++i) v[i] = static_cast<int32_t>(i * 37 % 101) * most / 50 - most;
    return v;
  };
  const int x = b.data({1, 4, 6, 6}, 8);
  const int w = b.param("w", {4, 4, 3, 3}, 8, values(144, 60));
  const int bias = b.param("b", {4}, 12, {900, -700, 0, 33});
  const int conv =
      b.op("conv2d", {x, w, bias}, {1, 4, 6, 6},
           "\"channels\": \"4\", \"kernel_size\": \"(3, 3)\", \"padding\": \"(1, 1)\"");
  const int clip = b.op("cvm_clip", {conv}, {1, 4, 6, 6}, "\"precision\": \"17\"");
  const int relu = b.op("relu", {clip}, {1, 4, 6, 6});
  const int factor = b.param("factor", {1}, 12, {1777});
  const int product = b.op("broadcast_mul", {relu, factor}, {1, 4, 6, 6});
  const int scaled = b.op("cvm_right_shift", {product}, {1, 4, 6, 6},
                          "\"precision\": \"16\", \"shift_bit\": \"12\"");
  const int wide =
      b.op("cvm_left_shift", {x}, {1, 4, 6, 6}, "\"precision\": \"14\", \"shift_bit\": \"6\"");
  const int sum = b.op("elemwise_add", {scaled, wide}, {1, 4, 6, 6});
  const int small =
      b.op("cvm_right_shift", {sum}, {1, 4, 6, 6}, "\"precision\": \"8\", \"shift_bit\": \"9\"");
  const int pooled = b.op("sum", {small}, {1, 4}, "\"axis\": \"(2, 3)\"");
  const int byte =
      b.op("cvm_right_shift", {pooled}, {1, 4}, "\"precision\": \"8\", \"shift_bit\": \"5\"");
  const int dense_w = b.param("dense_w", {3, 4}, 8, values(12, 60));
  const int dense =
      b.op("dense", {byte, dense_w}, {1, 3}, "\"units\": \"3\", \"use_bias\": \"False\"");
  return b.build({dense});
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_CVM_MODELS_H_
