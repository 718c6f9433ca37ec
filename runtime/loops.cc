// SPDX-License-Identifier: Apache-2.0
#include "runtime/loops.h"

#include <vector>

#include "runtime/checked.h"
#include "runtime/infer.h"
#include "runtime/ops/loop_slices.h"

namespace qrt {
namespace {

using Options = fb::OpOptions;

bool begins(const fb::Operator& op) { return op.options_type() == Options::LoopBegin; }
bool ends(const fb::Operator& op) { return op.options_type() == Options::LoopEnd; }

class LoopCheck {
 public:
  explicit LoopCheck(const fb::Model& model) : model_(model), is_inner_(model.tensors()->size()) {}

  Status run() {
    for (uint32_t i = 0; i < model_.operators()->size(); ++i) {
      Status status = check(*model_.operators()->Get(i));
      if (!status.ok()) return std::move(status).at(op_label(model_, i));
    }
    QRT_MODEL_CHECK(begin_ == nullptr, "a loop has no LoopEnd");
    for (uint32_t t : *model_.outputs()) QRT_TRY(check_outer(t, "model output"));
    for (const fb::Variable* v : variables(model_))
      QRT_TRY(check_outer(v->next(), "next content of a variable"));
    return {};
  }

 private:
  Status check(const fb::Operator& op) {
    if (begins(op)) {
      QRT_MODEL_CHECK(begin_ == nullptr, "it stands in the body of another loop");
      begin_ = &op;
    }
    if (ends(op)) QRT_TRY(check_end(op));
    for (uint32_t t : *op.inputs()) QRT_TRY(check_outer(t, "input"));
    if (ends(op)) {
      for (uint32_t t : made_) is_inner_[t] = true;
      made_.clear();
      begin_ = nullptr;
    }
    if (begin_ != nullptr) made_.insert(made_.end(), op.outputs()->begin(), op.outputs()->end());
    return {};
  }

  Status check_end(const fb::Operator& op) const {
    QRT_MODEL_CHECK(begin_ != nullptr, "no LoopBegin stands before it");
    QRT_MODEL_CHECK(op.inputs()->size() != 0 && op.inputs()->Get(0) == begin_->outputs()->Get(0),
                    "its first input is not the iteration of its LoopBegin");
    const uint32_t states = op.options_as_LoopEnd()->states(),
                   of_begin = begin_->options_as_LoopBegin()->states();
    QRT_MODEL_CHECK(states == of_begin, "it has %u states, its LoopBegin %u", states, of_begin);
    return {};
  }

  Status check_outer(uint32_t tensor, const char* role) const {
    QRT_MODEL_CHECK(!is_inner_[tensor], "%s %s is made in the body of a loop, which ends before",
                    role, tensor_label(model_, tensor).c_str());
    return {};
  }

  const fb::Model& model_;
  const fb::Operator* begin_ = nullptr;  // of the loop in whose body the operators stand
  std::vector<uint32_t> made_;           // in that loop so far
  std::vector<bool> is_inner_;           // made in a loop that has ended
};

}  // namespace

ScratchVector<Loop> find_loops(const fb::Model& model) {
  ScratchVector<Loop> loops;
  if (!kHasLoops) return loops;
  for (uint32_t i = 0; i < model.operators()->size(); ++i) {
    const fb::Operator& op = *model.operators()->Get(i);
    if (begins(op)) loops.push_back({i, i});
    if (ends(op)) loops.back().end = i;
  }
  return loops;
}

Status check_loops(const fb::Model& model) {
  if (!kHasLoops) return {};
  for (const fb::Operator* op : *model.operators())
    if (begins(*op) || ends(*op)) return LoopCheck(model).run();
  return {};
}

Status LoopTypes::check_operator(const InferContext& context, const TensorTypes& types) {
  const fb::Operator& op = *context.op;
  if (begins(op)) {
    begin_ = &op;
    trips_ = 0;
    bytes_ = 0;
    const auto& o = *op.options_as_LoopBegin();
    for (uint32_t i = 0; i < slice_count(o.slices()); ++i) {
      const int64_t count = context.inputs[o.states() + i].type.shape[o.slices()->Get(i)->axis()];
      QRT_MODEL_CHECK(i == 0 || count == trips_, "it slices tensors of %lld and %lld slices",
                      static_cast<long long>(trips_), static_cast<long long>(count));
      trips_ = count;
    }
  }
  if (begin_ == nullptr) return {};
  bytes_ += kLoopBytesPerOperator;
  for (const OpInput& input : context.inputs)
    bytes_ += input.data != nullptr ? input.data_bytes : tensor_bytes(input.type);
  for (uint32_t t : *op.outputs()) bytes_ += tensor_bytes(types[t]);
  return ends(op) ? check_end(context, types) : Status();
}

Status LoopTypes::check_end(const InferContext& context, const TensorTypes& types) {
  const auto& o = *context.op->options_as_LoopEnd();
  const int64_t trips = context.number(fb::SizeField::TRIPS, o.trips());
  QRT_MODEL_CHECK(trips_ == 0 || trips == trips_,
                  "it makes %lld trips, its LoopBegin slices tensors of %lld slices",
                  static_cast<long long>(trips), static_cast<long long>(trips_));
  for (uint32_t i = 0; i < o.states(); ++i) {
    const TensorType &state = types[begin_->outputs()->Get(1 + i)],
                     &next = context.inputs[1 + i].type;
    QRT_MODEL_CHECK(state.dtype == next.dtype && state.shape == next.shape,
                    "state %u is %s %s, its next value %s %s", i, dtype_name(state.dtype),
                    state.shape.to_string().c_str(), dtype_name(next.dtype),
                    next.shape.to_string().c_str());
  }
  begin_ = nullptr;
  const uint64_t most = most_bytes(types), times = static_cast<uint64_t>(trips);
  const bool fits = bytes_ <= (most - all_bytes_) / times;
  QRT_SIZE_CHECK(fits, "the operators of loops would read and write more than %llu bytes in a run",
                 static_cast<unsigned long long>(most));
  all_bytes_ += times * bytes_;
  return {};
}

// Returns how many bytes the operators of all loops may read and write.
uint64_t LoopTypes::most_bytes(const TensorTypes& types) const {
  uint64_t constants = 0, inputs = 0;
  for (const fb::Buffer* b : *model_.buffers())
    constants += b->data() != nullptr ? b->data()->size() : 0;
  for (uint32_t t : *model_.inputs()) inputs += tensor_bytes(types[t]);
  return kMaxLoopBytes + kMaxReadsOfConstants * constants + kMaxReadsOfInputs * inputs;
}

}  // namespace qrt
