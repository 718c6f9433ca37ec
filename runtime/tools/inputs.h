// SPDX-License-Identifier: Apache-2.0
// A model's inputs from .npy and .npz files: whether they fit, and the sizes of open dimensions and the number of
// runs that they make. Inputs with one more dimension in front are a sequence: one
// run for each of its indices, in one session.
#ifndef QRT_RUNTIME_TOOLS_INPUTS_H_
#define QRT_RUNTIME_TOOLS_INPUTS_H_

#include <string>
#include <utility>
#include <vector>

#include "qrt/qrt.hpp"
#include "runtime/status.h"
#include "runtime/tools/dims.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {

class Inputs {
 public:
  // Reads an array for every input: those of `named`, NAME=FILE, first, then `files`, as
  // assign_arrays() says (arrays.h); "-" is standard input. Fails with kInvalidArgument where they
  // do not match the model's inputs, else as read_npy().
  Status read(const Model& model, const std::vector<std::string>& files,
              const std::vector<std::string>& named);
  // Reads the inputs from a list of [NAME=]FILE.
  Status read_any(const Model& model, const std::vector<std::string>& given);
  // Arrays that are there already, one for each input; `names` stand in messages.
  Status take(const Model& model, std::vector<NpyArray> arrays, std::vector<std::string> names);

  // Sets sizes that the arrays must have, before they are read: those of --dims.
  void set_dims(Dims dims) { dims_ = std::move(dims); }
  // Returns the sizes of all open dimensions that the arrays have, the batch among them.
  const Dims& dims() const { return dims_; }
  size_t batch() const { return static_cast<size_t>(dims_.size_of("batch")); }  // 0: none is open
  size_t steps() const { return steps_; }  // length of a sequence; 0: there is none
  size_t runs() const { return steps_ > 0 ? steps_ : 1; }

  // Gives a session the inputs of a run. REQUIRES: step < runs().
  Status put(size_t step, Session* session) const;

 private:
  Status check(const Model& model);
  // Warns of each array of real numbers that holds NaN.
  void warn_of_nan() const;

  std::vector<NpyArray> arrays_;
  std::vector<std::string> names_;
  Dims dims_;
  size_t steps_ = 0;
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_INPUTS_H_
