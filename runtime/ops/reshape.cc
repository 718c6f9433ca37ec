// SPDX-License-Identifier: Apache-2.0
// Reshape: the same elements under another shape. A view; run() is for an output that needs memory
// of its own.
#include <cstring>

#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"

namespace qrt {
namespace {

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::ReshapeOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  const int64_t elements = x.shape.elements();
  const uint32_t rank = options->shape() ? options->shape()->size() : 0;
  QRT_MODEL_CHECK(rank <= kMaxTensorRank, "shape has %u dimensions, expected at most %d", rank,
                  kMaxTensorRank);
  Shape shape;
  int inferred = -1;
  int64_t known = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    const int64_t d = context.number(fb::SizeField::SHAPE, options->shape()->Get(i), i);
    QRT_MODEL_CHECK(d >= -1, "shape[%u] is %lld, expected -1 or more", i,
                    static_cast<long long>(d));
    shape.push_back(d);
    if (d == -1) {
      QRT_MODEL_CHECK(inferred == -1, "shape has -1 at %d and at %u, expected at most one",
                      inferred, i);
      inferred = static_cast<int>(i);
    } else {
      QRT_SIZE_CHECK(!__builtin_mul_overflow(known, d, &known) && known <= kMaxElements,
                     "shape has more than 2^40 elements");
    }
  }
  if (inferred >= 0) {
    QRT_MODEL_CHECK(known > 0 && elements % known == 0,
                    "shape[%d] is -1, but the %lld elements of x do not divide into %lld", inferred,
                    static_cast<long long>(elements), static_cast<long long>(known));
    shape[inferred] = elements / known;
  }
  QRT_MODEL_CHECK(shape.elements() == elements,
                  "x has shape %s and does not fit into %s: both need the same number of elements",
                  x.shape.to_string().c_str(), shape.to_string().c_str());
  return add_output(x.dtype, shape, outputs);
}

void run(const Step& step, const RunContext& context) {
  memcpy(context.out(step, 0), context.in(step, 0), step.as<size_t>());
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  step->view_begin = 0;
  step->params = make_planned<size_t>(tensor_bytes(context.outputs[0]));
  step->run = run;
  step->kernel = "copy";
  return Status();
}

}  // namespace

std::string describe_reshape(const fb::Operator&) { return "move"; }

const OpDef kReshapeOp = {"Reshape",
                          fb::OpOptions::Reshape,
                          infer,
                          prepare,
                          {Arithmetic::kMoves, integer_level, no_requant, always_apart,
                           LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed, true}};

}  // namespace qrt
