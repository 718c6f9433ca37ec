// SPDX-License-Identifier: Apache-2.0
// A folder of tensors that another system, or another device, made of a model.
#ifndef QRT_CONVERTER_DIFF_REFERENCE_H_
#define QRT_CONVERTER_DIFF_REFERENCE_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace qrt::diff {

// With an index.json, as qrt_run --dump-all writes it, that tells what is in it: a list of objects
// with "name" and "file", the rest may be missing. Without one: every NAME.npy, where characters that
// no file name should hold stand as '_'.
class Reference {
 public:
  // Opens a folder of tensors. Fails with kIoError, or with kInvalidModel where it holds none.
  Status open(const std::string& folder);

  // Returns the files of the tensors of a name, in the index's order; none where it is not there.
  std::vector<std::string> find(const std::string& name) const;

  // Returns the names of the tensors that are there and not among `known`.
  std::vector<std::string> others(const std::vector<std::string>& known) const;

 private:
  // Returns the name by which files_ has a tensor.
  std::string key(const std::string& name) const;

  std::map<std::string, std::vector<std::string>> files_;  // tensor's name -> its files
  bool is_indexed_ = false;
};

}  // namespace qrt::diff

#endif  // QRT_CONVERTER_DIFF_REFERENCE_H_
