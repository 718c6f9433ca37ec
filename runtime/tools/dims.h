// SPDX-License-Identifier: Apache-2.0
// Sizes of a model's open dimensions by their names, as a command line and arrays give them.
#ifndef QRT_RUNTIME_TOOLS_DIMS_H_
#define QRT_RUNTIME_TOOLS_DIMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "runtime/plan.h"
#include "runtime/status.h"

namespace qrt::tool {

class Dims {
 public:
  // Reads "NAME=SIZE", or "NAME=SIZE,NAME=SIZE". kInvalidArgument for anything else.
  Status parse(const std::string& text);
  // Sets the size of a dimension; `source` names in messages what it comes from. kInvalidModel, naming both
  // sources, where it has another size already.
  Status set(const std::string& name, int64_t size, const std::string& source);

  bool empty() const { return dims_.empty(); }
  // Returns whether the dimension was set to this size.
  bool has(const std::string& name, int64_t size) const;
  // Returns 0 for a name without a size.
  int64_t size_of(const std::string& name) const;
  // "seq=17, w=3"
  std::string text() const;

  struct Dim {
    std::string name;
    int64_t size;
    std::string source;
  };
  const std::vector<Dim>& list() const { return dims_; }

  // Makes a session with these sizes. The options point into this object.
  void put_in(qrt_session_options* options);

 private:
  std::vector<Dim> dims_;
  std::vector<qrt_dim> listed_;
};

// Reads "NAME=SIZE,SIZE...", a name and all sizes of it. Returns false where the text is something else.
bool read_dim_sizes(const std::string& text, std::string* name, std::vector<int64_t>* sizes);

// Sets the batch and the sizes of a plan. kInvalidArgument for a name that is no open dimension of the model's.
Status set_sizes(const VerifiedModel& model, const Dims& dims, PlanOptions* options);

// Returns whether `name` is an open dimension of the model, not an expression of several. *info describes it.
bool find_open_dim(const Model& model, const char* name, qrt_dim_info* info);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_DIMS_H_
