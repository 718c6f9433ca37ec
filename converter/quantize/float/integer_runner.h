// SPDX-License-Identifier: Apache-2.0
// Runs a .qrt file within the process, on the quantiser's tensors.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_INTEGER_RUNNER_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_INTEGER_RUNNER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"
#include "runtime/session.h"
#include "runtime/status.h"

namespace qrt::quantize {

using Values = std::map<std::string, Tensor>;  // name of an input or output -> its elements

// Runs .qrt bytes on one sample at a time.
class IntegerRunner {
 public:
  Status create(const std::vector<uint8_t>& bytes, size_t threads);
  // Runs the model. feeds: by the inputs' names, of batch 1 or the model's own.
  Status run(const Values& feeds, Values* outputs);
  // Return the multiplications of a run, and the bytes that are held for it.
  double macs() const;
  uint64_t bytes() const;

 private:
  Status set_sizes(const Values& feeds);

  std::shared_ptr<const VerifiedModel> model_;
  std::unique_ptr<Session> session_;
  SymbolSizes sizes_;  // sizes at which the session is
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_INTEGER_RUNNER_H_
