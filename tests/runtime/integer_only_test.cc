// SPDX-License-Identifier: Apache-2.0
// A build with QRT_INTEGER_ONLY: the integer operators between a model's edges give the same bytes in
// every rounding mode. (That its kernels hold no floating-point instruction is looked up in
// the objects: tests/kernels/float_check.sh.)
#include <gtest/gtest.h>

#include <cfenv>
#include <memory>
#include <vector>

#include "kernels/integer_build.h"
#include "tests/support/every_op_model.h"
#include "tests/support/op_tester.h"

namespace qrt::integer_only_test {
namespace {

using testing::Bytes;

// Memory for the state or scratch of steps.
std::unique_ptr<uint8_t[]> aligned(size_t bytes, uint8_t** begin) {
  auto memory = std::make_unique<uint8_t[]>(bytes + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(memory.get());
  *begin = memory.get() + (kAlignment - address % kAlignment) % kAlignment;
  return memory;
}

Bytes content(const Session& session, uint32_t tensor) {
  const uint8_t* data = session.data(tensor);
  return Bytes(data, data + session.plan().slot_bytes(tensor));
}

// Runs one step of a session that keeps all its tensors, without the session's own care for the
// floating-point state.
void run_step(const Session& session, const PlannedStep& step, int rounding) {
  const Plan& plan = session.plan();
  std::vector<uint8_t*> tensors;
  for (uint32_t slot = 0; slot < plan.places.size(); ++slot) tensors.push_back(session.data(slot));
  const Parallel parallel;
  RunContext context{};
  context.tensors = tensors.data();
  context.parallel = &parallel;
  RunFailure failure;
  context.failure = &failure;
  const auto state = aligned(step.state_bytes + kSlack, &context.state);
  const auto scratch = aligned(plan.scratch_bytes + kSlack, &context.scratch);
  ASSERT_EQ(fesetround(rounding), 0);
  if (step.bind != nullptr) step.bind(step, context);
  step.run(step, context);
  ASSERT_EQ(fesetround(FE_TONEAREST), 0);
}

TEST(IntegerOnly, TheSameBytesInEveryRoundingMode) {
  if (!is_integer_build()) GTEST_SKIP() << "this build computes in float between the edges, too";
  Result<std::shared_ptr<const VerifiedModel>> model = testing::load(testing::every_op_model());
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const testing::Kernels& kernels : testing::all_kernels()) {
    if (kernels.provider != nullptr) continue;
    SCOPED_TRACE(kernels.isa);
    SessionOptions options;
    options.isa = kernels.isa;
    options.keep_all = true;
    Result<std::unique_ptr<Session>> session = Session::create(*model, options);
    ASSERT_TRUE(session.ok()) << session.status().message();
    Session& s = **session;
    const std::vector<float> image = testing::pattern<float>(256, -7, 7);
    memcpy(s.data(s.plan().model->file().inputs()->Get(0)), image.data(), 1024);
    ASSERT_TRUE(s.run().ok());
    s.reset();  // the steps below see the variables that the run saw
    for (const PlannedStep& step : s.plan().steps) {
      const int level = arithmetic_level(*step.op);
      if (step.run == nullptr || level == kEdgeLevel || level == kFloatLevel) continue;
      SCOPED_TRACE(step.kernel);
      std::vector<Bytes> expected;
      for (uint32_t t : step.outputs) expected.push_back(content(s, t));
      for (const int rounding : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
        for (uint32_t t : step.outputs) memset(s.data(t), 0xA5, s.plan().slot_bytes(t));
        run_step(s, step, rounding);
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_EQ(content(s, step.outputs[i]), expected[i]) << "rounding " << rounding;
      }
    }
  }
}

}  // namespace
}  // namespace qrt::integer_only_test
