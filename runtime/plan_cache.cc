// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan_cache.h"

#include <algorithm>
#include <utility>

namespace qrt {
namespace {

// Returns whether plans made with `a` and with `b` serve the same runs, apart from their limits of memory.
bool are_alike(const PlanOptions& a, const PlanOptions& b) {
  return a.batch == b.batch && a.sizes == b.sizes && a.isas == b.isas && a.threads == b.threads &&
         a.provider == b.provider && a.keep_all == b.keep_all &&
         a.external_inputs == b.external_inputs && a.external_outputs == b.external_outputs;
}

// Replaces absent options by their defaults, so that equivalent options compare equal.
PlanOptions with_defaults(const VerifiedModel& model, PlanOptions options) {
  if (options.batch == 0) options.batch = model.default_batch();
  if (options.sizes.empty()) options.sizes = default_sizes(model.file());
  if (options.max_memory == 0) options.max_memory = default_max_memory(model, options.batch);
  options.threads = std::max<size_t>(options.threads, 1);
  return options;
}

// The most bytes of the block of memory that a plan is built in. Tables that do not fit in the
// block are allocated on the heap.
constexpr size_t kMostBlockBytes = size_t{512} << 10;

// A plan and the memory that contains it.
struct PlacedPlan {
  explicit PlacedPlan(size_t bytes) : memory(bytes) {}
  PlanMemory memory;
  std::shared_ptr<Plan> plan;
};

}  // namespace

Result<std::shared_ptr<const Plan>> PlanCache::get(const VerifiedModel& model,
                                                   const PlanOptions& given) {
  const PlanOptions options = with_defaults(model, given);
  const platform::LockGuard lock(mutex_);
  // A plan that was not changed by its memory limit also serves other limits that are not below the
  // plan's memory.
  const auto is_wanted = [&](const Entry& entry) {
    const Plan& plan = *entry.plan;
    return are_alike(entry.options, options) &&
           (plan.is_limited ? entry.options.max_memory == options.max_memory
                            : plan.total_bytes() <= options.max_memory);
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_wanted);
  if (found != entries_.end()) {
    std::rotate(entries_.begin(), found, found + 1);
    return std::shared_ptr<const Plan>(entries_.front().plan);
  }
  // Plans are removed first, so that their memory is free for the new plan.
  while (options.provider == nullptr && entries_.size() >= kKeptPlans) entries_.pop_back();
  const auto placed = std::make_shared<PlacedPlan>(
      std::min({plan_bytes_, kMostBlockBytes, options.max_memory / 64}));
  PlanMemory scratch(std::min(scratch_bytes_, kMostBlockBytes));
  Result<std::shared_ptr<Plan>> made = [&] {
    const PlanMemoryScope scope(&placed->memory, &scratch);
    return make_plan(model, options, &tables_);
  }();
  if (!made.ok()) return std::move(made.status());
  plan_bytes_ = std::max(plan_bytes_, placed->memory.needed());
  scratch_bytes_ = std::max(scratch_bytes_, scratch.needed());
  placed->plan = std::move(*made);
  placed->plan->table_bytes = std::max(placed->plan->table_bytes, placed->memory.bytes());
  const std::shared_ptr<const Plan> plan(placed, placed->plan.get());
  if (options.provider != nullptr) return plan;
  entries_.insert(entries_.begin(), {options, plan});
  while (entries_.size() > 1 && bytes() > kKeptBytes) entries_.pop_back();
  return plan;
}

Result<std::shared_ptr<const Plan>> PlanCache::make(
    const VerifiedModel& model, const PlanOptions& options, PlanMemory* kept, PlanMemory* scratch,
    std::vector<std::shared_ptr<const void>>* tables) {
  const platform::LockGuard lock(mutex_);
  const PlanMemoryScope scope(kept, scratch);
  Result<std::shared_ptr<Plan>> plan = make_plan(model, options, &tables_);
  if (!plan.ok()) return std::move(plan.status());
  if (tables != nullptr) {
    const std::vector<std::shared_ptr<const void>> shared = tables_.of_plan();
    tables->insert(tables->end(), shared.begin(), shared.end());
  }
  return std::shared_ptr<const Plan>(std::move(*plan));
}

size_t PlanCache::bytes() const {
  size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.plan->table_bytes;
  return sum;
}

size_t PlanCache::kept_bytes() {
  const platform::LockGuard lock(mutex_);
  return bytes();
}

Result<std::shared_ptr<const Plan>> shared_plan(std::shared_ptr<const VerifiedModel> model,
                                                const PlanOptions& options) {
  Result<std::shared_ptr<const Plan>> plan = model->plans().get(*model, options);
  if (!plan.ok()) return plan;
  return keep_model(std::move(model), std::move(*plan));
}

}  // namespace qrt
