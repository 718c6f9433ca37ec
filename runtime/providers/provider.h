// SPDX-License-Identifier: Apache-2.0
// A second source of kernels, beside the library's own: for comparisons. The planner offers every operator
// to the session's provider first, so no operator knows that there are any.
#ifndef QRT_RUNTIME_PROVIDERS_PROVIDER_H_
#define QRT_RUNTIME_PROVIDERS_PROVIDER_H_

#include "runtime/op.h"
#include "runtime/status.h"

namespace qrt {

// Lives as long as the process. Thread-safe.
class Provider {
 public:
  virtual ~Provider() = default;

  // Sets all of the step that an operator's prepare() sets, and returns true; or returns false, and the
  // library's own kernels run the operator. Such a step may hold what belongs to one session and go to a
  // pthreadpool by itself, so a plan made with a provider serves one session.
  virtual bool prepare(const PrepareContext& context, PlannedStep* step) const = 0;
};

// Returns the provider of a name as SessionOptions::kernels gives it; null, for the library's own kernels,
// where that is null or "qrt". kInvalidArgument for an unknown name, kUnsupported where this build or CPU
// lacks the provider.
Result<const Provider*> find_provider(const char* name);

}  // namespace qrt

#endif  // QRT_RUNTIME_PROVIDERS_PROVIDER_H_
