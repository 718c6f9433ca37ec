// SPDX-License-Identifier: Apache-2.0
// The plans that sessions follow: chosen by their options, kept by the model or in memory of their own.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/built.h"
#include "runtime/allowed_isas.h"
#include "runtime/checked.h"
#include "runtime/infer.h"
#include "runtime/platform/pthreadpools.h"
#include "runtime/providers/provider.h"
#include "runtime/session.h"

namespace qrt {
namespace {

// Plans for smaller sizes may need a little more memory than the plan for the greatest ones,
// because tensors are placed by other lengths and kernels have other tables.
constexpr size_t kReservedPart = 96;

void set_sizes(const SessionSizes& sizes, PlanOptions* options) {
  options->batch = sizes.batch;
  options->sizes = sizes.symbols;
}

PlanOptions plan_options_at(PlanOptions options, const SessionSizes& sizes) {
  set_sizes(sizes, &options);
  return options;
}

// Reads the options of a plan but for its sizes.
Status read_plan_options(const SessionOptions& options, PlanOptions* plan) {
  Result<IsaSet> isas = allowed_isas(options.isa);
  if (!isas.ok()) return std::move(isas.status());
  Result<const Provider*> provider = find_provider(options.kernels);
  if (!provider.ok()) return std::move(provider.status());
  plan->isas = *isas;
  plan->provider = *provider;
  plan->threads = options.threads;
  plan->keep_all = options.keep_all;
  plan->external_inputs = options.external_inputs;
  plan->external_outputs = options.external_outputs;
  plan->max_memory = options.max_memory;
  if (options.pool != nullptr) {
    const size_t most = options.pool->threads();
    plan->threads = options.threads == 0 ? most : std::min(options.threads, most);
  } else if (options.threads == 0) {
    plan->threads = options.callers_pool ? platform::threads_of(options.callers_pool) : 1;
  }
  return check_threads(plan->threads);
}

}  // namespace

Result<std::shared_ptr<const Plan>> Session::plan_for(std::shared_ptr<const VerifiedModel> model,
                                                      const SessionOptions& options) {
  PlanOptions plan_options;
  QRT_TRY(read_plan_options(options, &plan_options));
  return shared_plan(std::move(model),
                     plan_options_at(std::move(plan_options), {options.batch, options.sizes}));
}

namespace {

// Returns the bytes of a block that is large enough for all sizes up to some, where one of `bytes` is for these.
size_t with_reserve(size_t bytes) { return bytes + round_up(bytes / kReservedPart, kAlignment); }

// Makes the plan for the largest sizes, and then memory in which it and those for smaller sizes have room.
Result<std::unique_ptr<OwnPlans>> reserve_own_plans(const VerifiedModel& model,
                                                    const PlanOptions& options, size_t most_bytes,
                                                    size_t* block_bytes) {
  // The reserve for what a session's own tables need beside their bytes.
  constexpr size_t kReserve = 4096;
  auto measure = std::make_unique<OwnPlans>(0, 0);
  std::vector<std::shared_ptr<const void>> tables;
  Result<std::shared_ptr<const Plan>> most =
      model.plans().make(model, options, &measure->first, &measure->scratch, &tables);
  if (!most.ok()) return std::move(most.status());
  *block_bytes = with_reserve((*most)->memory_bytes());
  const size_t plan = measure->first.needed() + 2 * (*most)->session_table_bytes +
                      4 * sizeof(void*) * (*most)->steps.size();
  const size_t scratch = measure->scratch.needed() + (*most)->variable_bytes();
  const size_t plan_bytes = plan + plan / 8 + kReserve,
               scratch_bytes = scratch + scratch / 8 + kReserve;
  const size_t all = *block_bytes + (*most)->table_bytes + 2 * plan_bytes + scratch_bytes;
  if (all > most_bytes)
    return error(Code::kOutOfMemory,
                 "a session with memory for %s takes %zu bytes, more than the %zu that max_memory "
                 "allows",
                 describe_sizes(model.file(), (*most)->batch, (*most)->sizes).c_str(), all,
                 most_bytes);
  auto own = std::make_unique<OwnPlans>(plan_bytes, scratch_bytes);
  own->tables = std::move(tables);
  own->most_table_bytes = (*most)->table_bytes;
  return own;
}

}  // namespace

Result<Session::Design> Session::design(const std::shared_ptr<const VerifiedModel>& model,
                                        const SessionOptions& options, size_t most_bytes) {
  Design design;
  QRT_TRY(read_plan_options(options, &design.options));
  const bool reserves = built::kOpenDims && options.reserves;
  size_t reserved = 0;
  if (options.has_own_plans) {
    design.own_plans = std::make_unique<OwnPlans>(0, 0);
    if (reserves) {
      Result<std::unique_ptr<OwnPlans>> own = reserve_own_plans(
          *model, plan_options_at(design.options, options.most), most_bytes, &reserved);
      if (!own.ok()) return std::move(own.status());
      design.own_plans = std::move(*own);
    }
  }
  set_sizes({options.batch, options.sizes}, &design.options);
  Result<std::shared_ptr<const Plan>> plan = make(*model, design.options, design.own_plans.get());
  if (!plan.ok()) return std::move(plan.status());
  design.plan = std::move(*plan);
  if (reserves && !options.has_own_plans) {
    Result<std::shared_ptr<const Plan>> most =
        model->plans().get(*model, plan_options_at(design.options, options.most));
    if (!most.ok()) return std::move(most.status());
    reserved = with_reserve((*most)->memory_bytes());
  }
  design.block_bytes = std::max(design.plan->memory_bytes(), reserved);
  return design;
}

Result<std::shared_ptr<const Plan>> Session::make(const VerifiedModel& model,
                                                  const PlanOptions& options, OwnPlans* own) {
  if (own == nullptr) return model.plans().get(model, options);
  return model.plans().make(model, options, &own->idle(), &own->scratch);
}

Result<std::shared_ptr<const Plan>> Session::plan_at(const SessionSizes& sizes) {
  set_sizes(sizes, &plan_options_);
  return make(*model_, plan_options_, own_plans_.get());
}

}  // namespace qrt
