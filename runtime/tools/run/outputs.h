// SPDX-License-Identifier: Apache-2.0
// Writes, shows and compares the outputs of a model that qrt_run has run.
#ifndef QRT_RUNTIME_TOOLS_RUN_OUTPUTS_H_
#define QRT_RUNTIME_TOOLS_RUN_OUTPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "runtime/status.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/npz_writer.h"
#include "runtime/tools/run/options.h"

namespace qrt::tool {

struct Output {
  qrt_tensor_info info;
  const void* data;
  std::vector<int64_t> dims = {};  // dimensions of an output of a sequence, instead of info.dims
};

// The outputs of all runs of a sequence, or of one run.
class Outputs {
 public:
  Outputs(const Model& model, bool is_sequence)
      : runs_(is_sequence ? model.output_count() : 0), count_(model.output_count()) {}
  // Keeps the outputs of a run, after it. Fails with kUnsupported where the runs of an output form
  // no sequence: it has 6 dimensions or packed elements.
  Status keep(const Session& session);
  // Returns the outputs, after the last run. The runs of a sequence stand along a dimension in front.
  // The outputs live as long as this object and the session.
  std::vector<Output> collect(const Session& session) const;

 private:
  std::vector<std::vector<uint8_t>> runs_;
  size_t count_;
};

// Writes a tensor: with --output-dir as DIR/`stem`.npy, with --output into the archive by its name, else a
// line on stdout; with --sha256 that too.
Status deliver(const RunOptions& options, const std::string& stem, const qrt_tensor_info& info,
               const void* data, NpzWriter* archive);

// Prints and writes all outputs, with what --print, --top and --labels ask for.
Status deliver_outputs(const RunOptions& options, const std::vector<Output>& outputs,
                       NpzWriter* archive);

// An array that an output must equal.
struct Expected {
  size_t output;
  NpyArray array;
};

// Reads the files of --expect. Before outputs are written, which may take their place.
Status read_expected(const RunOptions& options, const std::vector<Output>& outputs,
                     std::vector<Expected>* expected);

// Prints a line for each comparison. Returns false if bits differ.
bool compare_outputs(const std::vector<Output>& outputs, const std::vector<Expected>& expected);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_RUN_OUTPUTS_H_
