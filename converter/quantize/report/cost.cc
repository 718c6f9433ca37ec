// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/report/cost.h"

#include <algorithm>

#include "runtime/plan.h"

namespace qrt::quantize {
namespace {

double gmacs(DType operand) {
  switch (dtype_bytes(operand)) {
    case 1: return kByteGmacs;
    case 2: return kWideGmacs;
    default: return kFloatGmacs;
  }
}

double ms(uint64_t n, double billions) { return static_cast<double>(n) / billions * 1e-6; }

}  // namespace

const char kNominalCore[] =
    "ms: the roofline of one nominal core (192, 96 and 48 GMAC/s for bytes, 16 bits and floats; 20 "
    "GB/s for constants, 60 for the rest)";

Status cost_of(const std::vector<uint8_t>& model, Cost* cost) {
  Result<ModelBytes> bytes = ModelBytes::copy(model.data(), model.size());
  if (!bytes.ok()) return std::move(bytes.status());
  Result<std::shared_ptr<const VerifiedModel>> verified = verify(std::move(*bytes));
  if (!verified.ok()) return std::move(verified.status());
  // Portable kernels: the plan is no machine's own.
  Result<std::shared_ptr<const Plan>> plan = make_plan(*verified, PlanOptions());
  if (!plan.ok()) return std::move(plan.status());
  *cost = Cost();
  for (const PlannedStep& step : (*plan)->steps) {
    const StepBytes operands = step_bytes(**plan, step);
    const uint64_t macs = step.macs * (*plan)->micro_batches;
    const double products = macs == 0 ? 0 : ms(macs, gmacs((*plan)->types[step.inputs[0]].dtype));
    cost->macs += macs;
    cost->bytes += operands.all;
    cost->ms += std::max(products, ms(operands.constants, kConstantGbs) +
                                       ms(operands.all - operands.constants, kCacheGbs));
  }
  return {};
}

}  // namespace qrt::quantize
