// SPDX-License-Identifier: Apache-2.0
// Measures how near the outputs of a quantised model are to those of the float model.
#ifndef QRT_CONVERTER_QUANTIZE_REPORT_COMPARISON_H_
#define QRT_CONVERTER_QUANTIZE_REPORT_COMPARISON_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {

// Sums of squares of one output: of its values, and of the differences between these and the
// quantised model's.
struct Squares {
  double signal = 0, noise = 0;

  // Returns the error relative to the output's size.
  double relative() const { return signal > 0 ? noise / signal : noise; }
};

// The comparison of one output with the float model's, summed over samples.
class Comparison {
 public:
  // Adds one output of one sample, and returns this sample's squares. `label` is the right class,
  // or -1.
  Squares add(const Tensor& real, const Tensor& got, int64_t label = -1);

  size_t samples() const { return samples_; }
  // Return the signal to noise ratio, plain and in dB; HUGE_VAL where there is no difference.
  double ratio() const;
  double decibels() const;
  double cosine() const;
  // Returns the squared error over the squared output, which the ladder of quantisation steps
  // reduces.
  double noise() const { return squares_.relative(); }
  const Squares& squares() const { return squares_; }
  bool is_classes() const { return classes_ > 1; }  // outputs are one vector of classes each
  // Returns the share of rows whose greatest class is the float model's, 0 to 1.
  double agreement() const { return fraction(agree_); }
  // Returns the share of rows whose five greatest classes contain the float model's greatest.
  double agreement5() const { return fraction(agree5_); }
  // Declares that the outputs are no classes, despite their shape.
  void forget_classes() { classes_ = 0; }
  bool has_labels() const { return labelled_ > 0; }
  double accuracy() const {
    return labelled_ ? static_cast<double>(right_) / static_cast<double>(labelled_) : 0;
  }
  double float_accuracy() const {
    return labelled_ ? static_cast<double>(float_right_) / static_cast<double>(labelled_) : 0;
  }

 private:
  double fraction(size_t n) const {
    return rows_ ? static_cast<double>(n) / static_cast<double>(rows_) : 0;
  }

  size_t samples_ = 0, rows_ = 0, agree_ = 0, agree5_ = 0, labelled_ = 0, right_ = 0,
         float_right_ = 0;
  int64_t classes_ = 0;
  Squares squares_;
  double got_ = 0, product_ = 0;
};

// The comparisons of all outputs of a model.
class Judgement {
 public:
  // Adds one sample. `outputs` are the model's, equal at every call; `real` and `got` hold the
  // float and the quantised model's tensors by name.
  void add(const std::vector<Value>& outputs, const std::map<std::string, Tensor>& real,
           const std::map<std::string, Tensor>& got, int64_t label);

  // Returns the noise, in which every output's error counts alike.
  double noise() const;
  const Comparison& first() const { return outputs_[0]; }
  const std::vector<Comparison>& outputs() const { return outputs_; }
  // Returns the squares, indexed by sample and output.
  const std::vector<std::vector<Squares>>& samples() const { return samples_; }
  // Return the signal to noise ratio in dB of the worst output, and the mean over all. An output
  // without noise counts as kMostDecibels.
  double worst_decibels() const;
  double mean_decibels() const;

 private:
  std::vector<Comparison> outputs_ = std::vector<Comparison>(1);
  std::vector<std::vector<Squares>> samples_;
};

// The greatest ratio in dB: noise below the rounding of float32 counts as none.
constexpr double kMostDecibels = 150;
// Returns the ratio of two errors in dB, limited to what float32 can tell apart.
double decibels_between(double noise, double other);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_REPORT_COMPARISON_H_
