// A model's inputs from .npy files: which file is for which input, whether they fit, and the batch
// and the number of runs that they make. Inputs with one more dimension in front are a sequence: one
// run for each of its indices, in one session.
#ifndef QRT_RUNTIME_TOOLS_INPUTS_H_
#define QRT_RUNTIME_TOOLS_INPUTS_H_

#include <functional>
#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "runtime/status.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {

// Which of `count` tensors NAME=FILE names, `count` if none, and the file. A name may hold '=', a file
// too: the longest name that fits wins.
size_t find_named(const std::string& text, size_t count,
                  const std::function<std::string(size_t)>& name, std::string* file);

class Inputs {
 public:
  // One file for every input: `named`, NAME=FILE, first, then `files` in the model's order; "-" is
  // standard input. kInvalidArgument where they do not match the model's inputs, else as read_npy().
  Status read(const Model& model, const std::vector<std::string>& files,
              const std::vector<std::string>& named);
  // The same of a list of [NAME=]FILE.
  Status read_any(const Model& model, const std::vector<std::string>& given);
  // Arrays that are there already, one for each input; `names` stand in messages.
  Status take(const Model& model, std::vector<NpyArray> arrays, std::vector<std::string> names);

  size_t batch() const { return batch_; }  // 0: the model's shapes leave none open
  size_t steps() const { return steps_; }  // of a sequence; 0: none
  size_t runs() const { return steps_ > 0 ? steps_ : 1; }

  // Gives a session the inputs of a run. REQUIRES: step < runs().
  Status put(size_t step, Session* session) const;

 private:
  Status check(const Model& model);

  std::vector<NpyArray> arrays_;
  std::vector<std::string> names_;
  size_t batch_ = 0, steps_ = 0;
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_INPUTS_H_
