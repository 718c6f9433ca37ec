// SPDX-License-Identifier: Apache-2.0
// The values of a float model in the CVM model that grows: integers, or functions of the integers
// of another value, for which each reader gets a table.
#ifndef QRT_CONVERTER_QUANTIZE_CVM_VALUES_H_
#define QRT_CONVERTER_QUANTIZE_CVM_VALUES_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "converter/quantize/cvm/numbers.h"
#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/schemes/parameters.h"

namespace qrt::quantize {

class CvmValues {
 public:
  CvmValues(const FloatModel& model, const Placement& placement, const Parameters& parameters,
            const Interpreter& interpreter, CvmNumbers* numbers);

  const FloatModel& model() const { return model_; }
  const Placement& placement() const { return placement_; }
  const Parameters& parameters() const { return parameters_; }
  CvmNumbers& numbers() const { return numbers_; }
  // Returns the shape of a value or constant, with batch 1. kUnsupported where another dimension is not known.
  Status shape(const std::string& value, Dims* shape) const;

  void set(const std::string& value, CvmNumber number) { numbers_of_[value] = std::move(number); }
  // Notes that `value` is a function of the one value `base`, element by element.
  void set_function(const std::string& value, const std::string& base) { bases_[value] = base; }
  // Returns the value that a table of `value` would be read by: itself where it has bytes. "": none.
  std::string base(const std::string& value) const;
  bool is_function(const std::string& value) const { return bases_.count(value) != 0; }
  bool is_coded(const std::string& value) const { return placement_.is_coded(value); }
  // Returns the step of a coded value's bytes.
  double step(const std::string& value) const;
  // Returns the precision of its integers without a zero point: one more than bytes' where they have one.
  int precision(const std::string& value) const;

  // Returns the number whose integers are the value itself, or null where it is another function of them.
  const CvmNumber* number(const std::string& value) const;
  // Returns a value in one step for all channels, with so many bits.
  Status as(const std::string& value, double step, int precision, CvmNumber* y);
  // Returns a value in its own steps, without a zero point, for operators that move it. REQUIRES: coded.
  Status as_coded(const std::string& value, CvmNumber* y);
  // Returns a value for layers and tables, which know what to do with a zero point. REQUIRES: coded.
  Status as_byte(const std::string& value, CvmNumber* y);
  // Returns a value for sums, products and averages: 16 bits or fewer, no factors.
  Status as_int32(const std::string& value, CvmNumber* y);
  // Finds the greatest real that the value's integers keep.
  Status range(const std::string& value, double* range);

 private:
  Status table(const std::string& value, double step, int precision, CvmNumber* y);
  // Computes a function's values for the reals that the bytes of its base stand for.
  Status compute(const std::string& value, const Tensor** y);
  Tensor reals_of_bytes(const std::string& base) const;

  const FloatModel& model_;
  const Placement& placement_;
  const Parameters& parameters_;
  const Interpreter& interpreter_;
  CvmNumbers& numbers_;
  std::map<std::string, size_t> writers_;
  std::map<std::string, CvmNumber> numbers_of_;
  std::map<std::string, std::string> bases_;
  // The reals of a base's bytes, and functions of them, by base.
  std::map<std::string, std::map<std::string, Tensor>> computed_;
  // The numbers that several operators read, made once, by value, step and precision.
  std::map<std::tuple<std::string, double, int>, CvmNumber> made_;
  std::map<std::string, CvmNumber> bytes_;  // value -> its bytes with a zero point
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_CVM_VALUES_H_
