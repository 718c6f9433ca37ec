// Runs of two files on the same numbers, to compare them.
#ifndef QRT_CONVERTER_SIZES_RUNS_H_
#define QRT_CONVERTER_SIZES_RUNS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/session.h"

namespace qrt::convert {

// Verifies a file, which has to live as long as the model.
Result<std::shared_ptr<const VerifiedModel>> load(const std::vector<uint8_t>& file);

struct Output {
  TensorType type;
  std::vector<uint8_t> data;
};

// Compares outputs. Their floats are equal to the last bit, too: both files have the same operators, in the same order.
bool are_equal(const std::vector<Output>& a, const std::vector<Output>& b);

// Returns the options of a session at sizes of the symbols, none for those that the file names. Its memory is limited by the
// size of the source.
SessionOptions options_at(const SymbolSizes& sizes, uint64_t source_bytes);

// Returns about how many nanoseconds a run takes, its inputs filled before it.
uint64_t steps_of_run(const Plan& plan);

// Integers of more than 16 bits, which may be indices or masks.
struct WideIntegers {
  int most = 1;  // 0 or 1: they are from 0 to this
  // What one that stands alone is, as a place in a table does; 0: it is as the others.
  int64_t alone = 0;
};

// Runs a model on numbers that follow from its inputs' types.
Status run_on_numbers(const std::shared_ptr<const VerifiedModel>& model,
                      const SessionOptions& options, const WideIntegers& integers,
                      std::vector<Output>* out);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_RUNS_H_
