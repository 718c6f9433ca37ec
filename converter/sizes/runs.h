// SPDX-License-Identifier: Apache-2.0
// Runs two model files on equal inputs and compares their results.
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

// Verifies a file, which has to outlive the model.
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
  // Digest of the elements in any order, since two files may lay out a tensor in different ways.
  uint64_t digest;
};

struct Results {
  std::vector<Output> outputs;
  // The tensors with a name of their own, by name; empty without SessionOptions::keep_all.
  std::map<std::string, Written> written;
};

// Returns whether results are equal. Floats have to be equal to the last bit, too, since both files
// have the same operators in the same order. Tensors that operators of one type wrote under one
// name also have to be equal: an output can hide a difference, such as a maximum over elements of
// which some are missing.
bool are_equal(const Results& a, const Results& b);

// Returns the options of a session at sizes of the symbols; empty `sizes` stand for the file's
// defaults. Limits the session's memory by `source_bytes`, the size of the source.
SessionOptions options_at(const Sizes& sizes, uint64_t source_bytes);

// Returns about how many steps of a Budget are spent by filling the inputs and running.
uint64_t steps_of_run(const Plan& plan);

// The values of inputs whose integers have more than 16 bits, and may be indices or masks.
struct LargeIntegers {
  int least = 0, most = 1;  // the smallest and the largest value, 0 or 1
  // The value of an input of one integer, such as a position in a table; 0: chosen like those of
  // other inputs.
  int64_t alone = 0;
};

// Runs a model on made-up numbers of its inputs' types; its variables begin with such numbers, too.
// *results gets the outputs, and behind them the final content of the variables.
Status run_on_numbers(const std::shared_ptr<const VerifiedModel>& model,
                      const SessionOptions& options, const LargeIntegers& integers,
                      Results* results);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_RUNS_H_
