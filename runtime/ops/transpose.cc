// Transpose: output dimension i is input dimension perm[i], any element type.
#include "kernels/copy/copy.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, std::vector<TensorType>* outputs) {
  const auto* options = context.op->options_as<fb::TransposeOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  QRT_TRY(check_whole_bytes(x));
  const uint32_t rank = options->perm() ? options->perm()->size() : 0;
  QRT_MODEL_CHECK(rank == static_cast<uint32_t>(x.shape.rank()),
                  "perm has %u values, expected one per dimension of x %s", rank,
                  x.shape.to_string().c_str());
  bool seen[kMaxTensorRank] = {};
  Shape shape;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint8_t d = options->perm()->Get(i);
    QRT_MODEL_CHECK(d < rank && !seen[d], "perm[%u] is %d, expected each of 0 to %u once", i, d,
                    rank - 1);
    seen[d] = true;
    shape.push_back(x.shape[d]);
  }
  return add_output(x.dtype, shape, outputs);
}

struct Params {
  const CopyKernel* kernel;
  TransposePlan plan;
  size_t tasks;
};

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_pieces(*context.parallel, p.tasks, p.plan.rank ? p.plan.dims[0] : 1, 1,
             [&](size_t, size_t begin, size_t end) {
               p.kernel->transpose(p.plan, context.in(step, 0), context.out(step, 0), begin, end);
             });
}

Status prepare(const PrepareContext& context, Step* step) {
  const TensorType& x = context.inputs[0].type;
  const auto* perm = context.op->options_as<fb::TransposeOptions>()->perm();
  auto params = std::make_shared<Params>();
  params->kernel = select_copy(context.isas);
  params->plan = plan_transpose(x.shape.begin(), static_cast<size_t>(x.shape.rank()),
                                perm ? perm->data() : nullptr, dtype_bytes(x.dtype));
  // Elements are gathered one by one: about one per ns.
  params->tasks = task_count(static_cast<double>(x.shape.elements()),
                             params->plan.rank ? params->plan.dims[0] : 1, context.threads);
  step->kernel = params->kernel->name;
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

const OpDef kTransposeOp = {"Transpose", fb::OpOptions::Transpose, false, infer, prepare};

}  // namespace qrt
