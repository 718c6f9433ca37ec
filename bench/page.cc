// SPDX-License-Identifier: Apache-2.0
#include "bench/page.h"

#include "bench/report_json.h"
#include "runtime/allowed_isas.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/page/page.h"

namespace qrt::bench {
namespace {

// Makes the plan of the measured session again.
Status plan_of(const Run& run, std::shared_ptr<const Plan>* plan) {
  const std::string& isa = run.options.isa;
  auto isas = allowed_isas(isa.empty() ? nullptr : isa.c_str());
  QRT_TRY(std::move(isas.status()));
  auto model = tool::load_verified(run.options.model);
  QRT_TRY(std::move(model.status()));
  PlanOptions options;
  QRT_TRY(tool::set_sizes(**model, run.options.dims, &options));
  if (run.options.batch != 0) options.batch = run.options.batch;
  options.threads = run.options.threads;
  options.isas = *isas;
  auto made = make_plan(*model, options);
  QRT_TRY(std::move(made.status()).at(run.options.model));
  *plan = *made;
  return {};
}

}  // namespace

Status write_page(const std::string& path, const Machine& machine, const std::vector<Run>& runs) {
  std::vector<tool::PageModel> models;
  for (const Run& run : runs) {
    models.push_back({nullptr, run.options.model, run_json(machine, run)});
    QRT_TRY(plan_of(run, &models.back().plan));
  }
  return tool::write_page(path, models);
}

}  // namespace qrt::bench
