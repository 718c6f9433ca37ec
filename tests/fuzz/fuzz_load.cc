// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {

namespace {

std::vector<const fb::Symbol*> symbols_of(const VerifiedModel& model) {
  if (!model.has_symbols()) return {};
  const auto& symbols = *model.file().symbols();
  return {symbols.begin(), symbols.end()};
}

}  // namespace

void fuzz_load(const uint8_t* data, size_t size) {
  Status status;
  const ModelPtr model = load(data, size, &status);
  if (model == nullptr) {
    if (status.message()[0] == '\0') failed("a refusal without a message");
    return;
  }
  for (const bool keep_all : {false, true}) {
    for (const size_t threads : {1, 4}) {
      PlanOptions options;
      options.threads = threads;
      options.keep_all = keep_all;
      options.isas = keep_all ? static_cast<IsaSet>(Isa::kScalar) : detected_isas();
      auto plan = make_plan(model, options);
      if (!plan.ok() && plan.status().code() != Code::kOutOfMemory)
        failed(std::string("a verified model has no plan: ") + plan.status().message());
      // The greatest sizes may be too large for anything, but end in a status.
      for (const fb::Symbol* s : symbols_of(*model)) options.sizes.push_back(s->most());
      if (!options.sizes.empty() && keep_all) (void)make_plan(model, options).ok();
    }
  }
}

}  // namespace qrt::fuzz
