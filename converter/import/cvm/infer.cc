// SPDX-License-Identifier: Apache-2.0
// Infers shapes and precisions, node by node.
#include "converter/import/cvm/infer.h"

#include <algorithm>

namespace qrt::convert::from_cvm {

Status Inference::output(const Shape& shape, int64_t precision) {
  QRT_MODEL_CHECK(precision >= 1 && precision <= kMaxPrecision,
                  "its output would have the precision %lld, expected 1 to %d",
                  static_cast<long long>(precision), kMaxPrecision);
  outputs_.push_back({shape, static_cast<int>(precision)});
  return Status();
}

Status broadcast_shapes(const Shape& a, const Shape& b, Shape* shape) {
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank; ++i) {
    const int in_a = i - (rank - a.rank()), in_b = i - (rank - b.rank());
    const int64_t x = in_a < 0 ? 1 : a[in_a], y = in_b < 0 ? 1 : b[in_b];
    QRT_MODEL_CHECK(x == y || x == 1 || y == 1, "shapes %s and %s do not broadcast",
                    a.to_string().c_str(), b.to_string().c_str());
    shape->push_back(x == 1 ? y : x);
  }
  return Status();
}

Status infer(const Model& model, std::vector<Form>* forms) {
  forms->resize(model.entries().size());
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    const Node& node = model.nodes()[i];
    if (node.is_variable) {
      const Entry& entry = model.entries()[node.first_output];
      (*forms)[node.first_output] = {entry.shape, entry.precision};
      continue;
    }
    const Function& function = *find_function(node.function);
    Inference inference(node, *forms);
    const auto run = [&]() -> Status {
      const int count = inference.inputs();
      QRT_MODEL_CHECK(count >= function.least_inputs && count <= function.most_inputs,
                      "has %d inputs, expected %d to %d", count, function.least_inputs,
                      function.most_inputs);
      QRT_TRY(function.infer(&inference));
      for (uint32_t k = 0; k < node.outputs; ++k) {
        const Shape& stored = model.entries()[node.first_output + k].shape;
        const Shape& made = inference.outputs()[k].shape;
        QRT_MODEL_CHECK(made == stored, "output %u has the shape %s, the file says %s", k,
                        made.to_string().c_str(), stored.to_string().c_str());
        (*forms)[node.first_output + k] = inference.outputs()[k];
      }
      return Status();
    };
    Status status = run();
    if (!status.ok()) return std::move(status).at(label(node, i));
  }
  return Status();
}

}  // namespace qrt::convert::from_cvm
