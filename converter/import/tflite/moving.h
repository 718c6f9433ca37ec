// SPDX-License-Identifier: Apache-2.0
// Data movement of the TFLite front end: one input on its way to one output.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_MOVING_H_
#define QRT_CONVERTER_IMPORT_TFLITE_MOVING_H_

#include <string>
#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/tflite/importer.h"

namespace qrt::convert::from_tflite {

// A value of the graph, or integers of a shape that are known at conversion.
class Moving {
 public:
  // The input's type must be that of all outputs of the operator.
  Moving(Importer& importer, const Op& op, int input);

  // Returns whether all is well so far; the operator was refused if not.
  bool is_good() const { return is_good_; }
  const Shape& shape() const { return shape_; }

  // Gathers. `fill`: the bits of an element as the graph stores it. Fails with kUnsupported where
  // the result is empty or too large.
  Status gather(const IndexMaps& maps, int64_t fill = 0);
  // Gathers float32 elements; those outside become `fill`.
  Status gather_floats(const IndexMaps& maps, float fill);
  // REQUIRES: as many elements.
  void reshape(const Shape& shape);
  void transpose(const std::vector<uint8_t>& perm);
  // Makes it the operator's output; kInvalidModel where the file gives that another shape.
  Status finish(int output = 0);
  // Returns the present value, which a run may read.
  ValueId value() const;

 private:
  bool is_movable(const Tensor& x);
  Real moved_real() const;
  ValueId next();

  Importer& importer_;
  const Op& op_;
  const int input_;
  TensorType type_;
  Shape shape_;
  bool is_known_ = false, is_good_ = false;
  const Real* real_ = nullptr;     // value_ holds the codes of this
  ValueId value_ = kNoValue;       // used unless is_known_
  std::vector<int32_t> integers_;  // the elements, used if is_known_
  const char* made_ = "Reshape";
};

// Checks an axis, which counts from the end where it is negative.
Status check_axis(int64_t axis, int rank, int* result);
// Reads input i as one number that is known at conversion. Returns false where it is none; the
// operator was refused.
bool read_integer(Importer& importer, const Op& op, int i, int32_t* value);

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_MOVING_H_
