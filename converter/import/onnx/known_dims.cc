// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/known_dims.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// By dimension: whether it is known. Empty where not even the rank is.
using Known = std::vector<bool>;

bool all_known(const Known& known) {
  return std::all_of(known.begin(), known.end(), [](bool is_known) { return is_known; });
}

bool is_any_of(const std::string& op, std::initializer_list<const char*> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const char* other) { return op == other; });
}

class KnownDims {
 public:
  explicit KnownDims(const Importer& importer) : importer_(importer) {}

  bool knows_all(const std::string& tensor) {
    if (importer_.is_free_of_inputs(tensor)) return true;
    const NodeView* const node = importer_.producer(tensor);
    if (node == nullptr) return has_rank(of_input(tensor));
    return has_rank(of(*node));
  }

 private:
  // The most nodes that are looked at, which also bounds the recursion.
  static constexpr size_t kMostNodes = 300;

  static bool has_rank(const Known& known) { return !known.empty() && all_known(known); }

  Known of_input(const std::string& name) const {
    Known known;
    for (const onnx::ValueInfoProto& info : importer_.model().graph().input())
      if (info.name() == name)
        for (const auto& dim : info.type().tensor_type().shape().dim())
          known.push_back(dim.has_dim_value());
    return known;
  }

  Known of(const std::string& tensor) {
    const NodeView* const node = importer_.producer(tensor);
    return node == nullptr ? of_input(tensor) : of(*node);
  }

  Known of(const NodeView& node) {
    if (const auto found = seen_.find(node.index()); found != seen_.end()) return found->second;
    if (seen_.size() >= kMostNodes || node.input_count() == 0) return {};
    seen_[node.index()] = {};
    return seen_[node.index()] = found(node);
  }

  Known found(const NodeView& node) {
    const std::string& op = node.op();
    if (is_any_of(op, {"QuantizeLinear", "DequantizeLinear", "Relu", "LeakyRelu", "Sigmoid", "Tanh",
                       "Clip", "Cast", "Identity", "HardSwish", "HardSigmoid", "Softmax"}))
      return of(node.input(0));
    if (is_any_of(op, {"GlobalMaxPool", "GlobalAveragePool"})) {
      Known known = of(node.input(0));
      std::fill(known.begin() + static_cast<ptrdiff_t>(std::min<size_t>(known.size(), 2)),
                known.end(), true);
      return known;
    }
    // Sizes of these follow from values.
    if (is_any_of(op, {"NonZero", "NonMaxSuppression", "Unique", "Compress", "If", "Loop", "Scan"}))
      return {};
    for (int i = 0; i < node.input_count(); ++i)
      if (node.has_input(i) && !knows_all(node.input(i))) return {};
    return {true};
  }

  const Importer& importer_;
  std::unordered_map<int, Known> seen_;  // by node
};

}  // namespace

bool knows_dims(const Importer& importer, const std::string& tensor) {
  return KnownDims(importer).knows_all(tensor);
}

}  // namespace qrt::convert::from_onnx
