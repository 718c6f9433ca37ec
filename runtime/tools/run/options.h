// SPDX-License-Identifier: Apache-2.0
// The command-line options of qrt_run.
#ifndef QRT_RUNTIME_TOOLS_RUN_OPTIONS_H_
#define QRT_RUNTIME_TOOLS_RUN_OPTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "runtime/tools/dims.h"
#include "runtime/tools/images/pictures.h"

namespace qrt::tool {

struct RunOptions {
  std::string model, output, output_dir, isa, kernels, labels;
  std::vector<std::string> files, named, images, expected, dims;
  PictureArguments pictures;
  size_t threads = 1, max_memory = 0, print = 0, top = 0;
  bool dump_all = false, check = false, sha256 = false, time = false, dequantize = false,
       expect_some = false;

  bool to_stdout() const { return output_dir == "-"; }
  // Arrays go into files and not to the terminal.
  bool writes_files() const { return !output.empty() || (!output_dir.empty() && !to_stdout()); }
  SessionOptions session() const {
    SessionOptions session;
    session.threads = threads;
    session.isa = isa.empty() ? nullptr : isa.c_str();
    session.kernels = kernels.empty() ? nullptr : kernels.c_str();
    session.max_memory = max_memory;
    return session;
  }
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_RUN_OPTIONS_H_
