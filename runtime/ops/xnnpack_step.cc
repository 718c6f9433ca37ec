// Steps that XNNPACK computes; see xnnpack_step.h.
#include "runtime/ops/xnnpack_step.h"

#include <cstring>

namespace qrt {
namespace {

constexpr size_t kFlipGrain = 16 << 10;  // bytes worth a task

// to[i] = from[i] ^ 0x80
void flip_bytes(const Parallel& parallel, const uint8_t* from, uint8_t* to, size_t bytes) {
  parallel.chunks(bytes, kFlipGrain, [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = from[i] ^ 0x80;
  });
}

XnnpackOperator* operator_of(const Step& step) { return step.as<XnnpackPointer>().get(); }

void bind(const Step& step, const RunContext& context) {
  const uint8_t* b = step.inputs.size() > 1 ? context.in(step, 1) : nullptr;
  const Parallel& parallel = *context.parallel;
  // An application's own pool cannot run it: the calling thread does.
  operator_of(step)->bind(context.in(step, 0), b, context.out(step, 0),
                          parallel.custom == nullptr ? parallel.pool : nullptr);
}

void run(const Step& step, const RunContext& context) {
  XnnpackOperator* op = operator_of(step);
  if (uint8_t* input = op->flipped_input())
    flip_bytes(*context.parallel, context.in(step, 0), input, op->input_bytes());
  op->run();
  if (const uint8_t* output = op->flipped_output())
    flip_bytes(*context.parallel, output, context.out(step, 0), op->output_bytes());
}

}  // namespace

bool use_xnnpack(XnnpackPointer op, PlannedStep* step) {
  if (op == nullptr) return false;
  step->kernel = op->name();
  step->bind = bind;
  step->keeps_addresses = true;
  step->run = run;
  step->params = std::make_shared<XnnpackPointer>(std::move(op));
  return true;
}

}  // namespace qrt
