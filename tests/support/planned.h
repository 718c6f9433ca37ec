// SPDX-License-Identifier: Apache-2.0
// Models as a session sees them: verified, and planned.
#ifndef QRT_TESTS_SUPPORT_PLANNED_H_
#define QRT_TESTS_SUPPORT_PLANNED_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "runtime/plan.h"
#include "tests/support/model_builder.h"
#include "tests/support/runner.h"

namespace qrt {
namespace testing {

inline std::shared_ptr<const VerifiedModel> verified(const ModelBuilder& m) {
  const Bytes file = m.build();
  Result<ModelBytes> bytes = ModelBytes::copy(file.data(), file.size());
  EXPECT_TRUE(bytes.ok());
  Result<std::shared_ptr<const VerifiedModel>> model = verify(std::move(*bytes));
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *model;
}

inline std::shared_ptr<const Plan> planned(const ModelBuilder& m, const PlanOptions& options = {}) {
  Result<std::shared_ptr<const Plan>> plan = make_plan(verified(m), options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return *plan;
}

}  // namespace testing
}  // namespace qrt

#endif  // QRT_TESTS_SUPPORT_PLANNED_H_
