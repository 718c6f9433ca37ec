// SPDX-License-Identifier: Apache-2.0
// The roles of operators for the quantiser.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_ROLES_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_ROLES_H_

#include <set>
#include <string>
#include <utility>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

enum class Role {
  kLayer,     // product with constant weights
  kProduct,   // product of two values
  kLimit,     // Relu, Clip: merges into the node in front of it
  kFunction,  // elementwise, of one value
  kPair,      // elementwise, of two values
  kMove,      // copies numbers: input and output share a coding
  kConcat,
  kMean,  // over a window, an image or an axis
  kSoftmax,
  kFloat,    // no integer form
  kIndices,  // its result is no float
  kCodes,  // its result is what integers of the model stand for, as the model is quantised here already
};

// The roles in one model, which must not change meanwhile.
class Roles {
 public:
  explicit Roles(const FloatModel& model);
  Role of(const Node& node) const;

 private:
  bool centres(const Node& mean) const;
  bool has_open_rows(const Node& softmax) const;

  const FloatModel& model_;
  std::set<std::pair<std::string, std::string>> differences_;  // operands of each Sub
};

// Returns whether a constant that is broadcast varies along more than one axis, so that no table
// for each index of one can hold it.
bool varies_along_several(const Tensor& constant);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_ROLES_H_
