// SPDX-License-Identifier: Apache-2.0
// Runs of two files on the same numbers, to compare them.
#ifndef QRT_CONVERTER_SIZES_RUNS_H_
#define QRT_CONVERTER_SIZES_RUNS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "converter/sizes/probes.h"
#include "runtime/session.h"

namespace qrt::convert {

// Verifies a file, which has to live as long as the model.
Result<std::shared_ptr<const VerifiedModel>> load(const std::vector<uint8_t>& file);

struct Output {
  TensorType type;
  std::vector<uint8_t> data;
};

// A tensor that an operator wrote.
struct Written {
  fb::OpOptions by;  // the operator's type
  DType dtype;
  int64_t elements;
  // Does not depend on the order of the elements: two files may lay out a tensor in different ways.
  uint64_t digest;
};

struct Results {
  std::vector<Output> outputs;
  // The tensors whose names no other tensor has; none without SessionOptions::keep_all.
  std::map<std::string, Written> written;
};

// Compares results. Their floats are equal to the last bit, too: both files have the same operators, in the same order. Tensors
// that operators of one type wrote under one name have to be equal as well: an output may hide that they are not, such as a
// maximum over many elements of which some are missing.
bool are_equal(const Results& a, const Results& b);

// Returns the options of a session at sizes of the symbols; no sizes stand for those that the file names. The session's memory is
// limited by the size of the source.
SessionOptions options_at(const Sizes& sizes, uint64_t source_bytes);

// Returns about how many steps of a Budget it takes to fill the inputs and to run.
uint64_t steps_of_run(const Plan& plan);

// Integers of more than 16 bits, which may be indices or masks.
struct LargeIntegers {
  int least = 0, most = 1;  // the smallest and the largest value, 0 or 1
  // The value of an input of one integer, such as a position in a table; 0: it is chosen like the others.
  int64_t alone = 0;
};

// Runs a model on numbers that follow from its inputs' types, which its variables have at first, too. The outputs in *results are
// followed by what the variables hold afterwards.
Status run_on_numbers(const std::shared_ptr<const VerifiedModel>& model,
                      const SessionOptions& options, const LargeIntegers& integers,
                      Results* results);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_RUNS_H_
