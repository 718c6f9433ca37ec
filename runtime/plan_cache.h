// SPDX-License-Identifier: Apache-2.0
// Keeps what the sessions of a model share: its plans, by their options, and the tables of its plans.
#ifndef QRT_RUNTIME_PLAN_CACHE_H_
#define QRT_RUNTIME_PLAN_CACHE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/plan.h"
#include "runtime/plan_memory.h"
#include "runtime/platform/threads.h"
#include "runtime/shared_tables.h"

namespace qrt {

// Belongs to a model. Used by several threads at once: one of them makes a plan, the others wait.
class PlanCache {
 public:
  // The number of plans that are kept, at most, those that were used last; more than one only while they
  // take no more than kKeptBytes together. Sessions may hold others.
  static constexpr size_t kKeptPlans = 8;
  static constexpr size_t kKeptBytes = size_t{256} << 20;

  // Returns the plan that make_plan() would make: one that is kept, or a new one. It does not keep the
  // model alive. A plan made with a provider is always new, because it serves one session.
  Result<std::shared_ptr<const Plan>> get(const VerifiedModel& model, const PlanOptions& options);

  // Returns a new plan, which the cache does not keep and which lies in `kept`. It takes what it can from the
  // tables of the model's other plans. With `tables`, appends those: they stay as long as someone holds them.
  Result<std::shared_ptr<const Plan>> make(
      const VerifiedModel& model, const PlanOptions& options, PlanMemory* kept, PlanMemory* scratch,
      std::vector<std::shared_ptr<const void>>* tables = nullptr);

  // Returns the bytes of the plans that are kept. A table that several of them share counts for each.
  size_t kept_bytes();

 private:
  struct Entry {
    PlanOptions options;
    std::shared_ptr<const Plan> plan;
  };
  size_t bytes() const;

  platform::Mutex mutex_;
  SharedTables tables_;
  // The most bytes that a plan has needed so far, and that making one has needed beside it: the
  // next plan is made in blocks of this size.
  size_t plan_bytes_ = 0, scratch_bytes_ = 0;
  std::vector<Entry> entries_;  // the last used first
};

// Returns the plan from the model's own cache, in a pointer that keeps the model alive.
Result<std::shared_ptr<const Plan>> shared_plan(std::shared_ptr<const VerifiedModel> model,
                                                const PlanOptions& options);

}  // namespace qrt

#endif  // QRT_RUNTIME_PLAN_CACHE_H_
