// SPDX-License-Identifier: Apache-2.0
// An .npz file to write, as numpy.savez makes them: the arrays are stored and not deflated.
#ifndef QRT_RUNTIME_TOOLS_NPZ_WRITER_H_
#define QRT_RUNTIME_TOOLS_NPZ_WRITER_H_

#include <set>
#include <string>

#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt::tool {

class NpzWriter {
 public:
  // Adds an array; `bytes` as of npy_content(). A name that another array has already gets "_2", "_3" ...
  // behind it, and one without a letter is called "array". kUnsupported where the file would pass 4 GB.
  Status add(const std::string& name, DType dtype, const Shape& shape, const void* data,
             size_t bytes);
  // Replaces `path`, as write_file() does. REQUIRES: no other call follows.
  Status write(const std::string& path);

 private:
  std::string file_, directory_;
  std::set<std::string> names_;
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_NPZ_WRITER_H_
