// SPDX-License-Identifier: Apache-2.0
// Shapes and precisions: what the operators of a model say about their outputs, which must equal
// what the file says. A model that passes cannot overflow int32 in a CVM runtime.
#ifndef QRT_CONVERTER_IMPORT_CVM_INFER_H_
#define QRT_CONVERTER_IMPORT_CVM_INFER_H_

#include <vector>

#include "converter/import/cvm/attributes.h"
#include "converter/import/cvm/functions.h"
#include "converter/import/cvm/model.h"

namespace qrt::convert::from_cvm {

// The shape and precision of an entry.
struct Form {
  Shape shape;
  int precision = 0;
};

// The inference of one operator.
class Inference {
 public:
  Inference(const Node& node, const std::vector<Form>& forms)
      : node_(node), forms_(forms), attributes_(node.attributes) {}

  const Attributes& attributes() const { return attributes_; }
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  const Form& input(int i = 0) const { return forms_[node_.inputs[static_cast<size_t>(i)]]; }

  // Adds an output. Fails with kInvalidModel where the precision is not 1 to 32.
  Status output(const Shape& shape, int64_t precision);
  std::vector<Form>& outputs() { return outputs_; }

 private:
  const Node& node_;
  const std::vector<Form>& forms_;
  Attributes attributes_;
  std::vector<Form> outputs_;
};

// Infers the form of every entry.
Status infer(const Model& model, std::vector<Form>* forms);

// Finds the shape of two operands by numpy's rule.
Status broadcast_shapes(const Shape& a, const Shape& b, Shape* shape);

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_INFER_H_
