// SPDX-License-Identifier: Apache-2.0
#include "runtime/guards.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/built.h"
#include "runtime/infer.h"

namespace qrt {
namespace {

constexpr uint32_t kUnused = UINT32_MAX;
constexpr uint32_t kMaxDepth = 8;

}  // namespace

// Walks the operators backwards: an operator's guard is known when all its readers have theirs.
class GuardSearch {
 public:
  explicit GuardSearch(const fb::Model& model)
      : model_(model), uses_(model.tensors()->size(), kUnused), made_(model.tensors()->size()) {
    const uint32_t count = model.operators()->size();
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t t : *model.operators()->Get(i)->outputs()) made_[t] = i + 1;
    found_.guards_.push_back({});
    found_.of_.resize(count);
    for (uint32_t t : *model.outputs()) uses_[t] = Guards::kAlways;
    for (const fb::Variable* v : variables(model)) uses_[v->next()] = Guards::kAlways;
  }

  Guards run() {
    for (uint32_t i = model_.operators()->size(); i-- > 0;) visit(i);
    return std::move(found_);
  }

 private:
  using Guard = Guards::Guard;

  void visit(uint32_t index) {
    const fb::Operator& op = *model_.operators()->Get(index);
    uint32_t guard = kUnused;
    for (uint32_t t : *op.outputs()) guard = common(guard, uses_[t]);
    guard = guard == kUnused ? loop_guard_ : known_before(index, guard);
    if (op.options_type() == fb::OpOptions::LoopEnd) loop_guard_ = guard;
    if (op.options_type() == fb::OpOptions::LoopBegin) {
      guard = loop_guard_;
      loop_guard_ = Guards::kAlways;
    }
    found_.of_[index] = guard;
    const bool chooses = op.options_type() == fb::OpOptions::Choose;
    for (uint32_t i = 0; i < op.inputs()->size(); ++i) {
      uint32_t& use = uses_[op.inputs()->Get(i)];
      use = common(use, chooses && i > 0 ? side(guard, op.inputs()->Get(0), i == 1) : guard);
    }
  }

  // Returns the guard of what a Choose with this guard takes where its condition has the value.
  uint32_t side(uint32_t guard, uint32_t condition, bool value) {
    const uint32_t depth = found_.guards_[guard].depth + 1;
    if (depth > kMaxDepth) return guard;
    const auto next = static_cast<uint32_t>(found_.guards_.size());
    const auto [at, is_new] = sides_.emplace(std::make_tuple(guard, condition, value), next);
    if (is_new) found_.guards_.push_back({guard, condition, value, depth});
    return at->second;
  }

  // Returns the last guard that both have in common.
  uint32_t common(uint32_t a, uint32_t b) const {
    if (a == kUnused) return b;
    if (b == kUnused) return a;
    while (a != b) {
      uint32_t& deeper = found_.guards_[a].depth >= found_.guards_[b].depth ? a : b;
      deeper = found_.guards_[deeper].parent;
    }
    return a;
  }

  // Returns the innermost guard, this one or an ancestor, whose conditions and those of its ancestors are all computed before the
  // operator runs.
  uint32_t known_before(uint32_t index, uint32_t guard) const {
    uint32_t known = guard;
    for (uint32_t g = guard; g != Guards::kAlways; g = found_.guards_[g].parent)
      if (made_[found_.guards_[g].condition] > index) known = found_.guards_[g].parent;
    return known;
  }

  const fb::Model& model_;
  Guards found_;
  std::vector<uint32_t> uses_;  // by tensor: the guard that its uses so far have in common
  std::vector<uint32_t>
      made_;  // by tensor: 1 + the index of the operator that makes it; 0: it is there before a run
  std::map<std::tuple<uint32_t, uint32_t, bool>, uint32_t> sides_;
  uint32_t loop_guard_ = Guards::
      kAlways;  // of the LoopEnd in whose loop the operator stands, which none of its operators outlives
};

Guards find_guards(const fb::Model& model) {
  const auto& operators = *model.operators();
  const bool any =
      built::kChoose && std::any_of(operators.begin(), operators.end(), [](const fb::Operator* op) {
        return op->options_type() == fb::OpOptions::Choose;
      });
  return any ? GuardSearch(model).run() : Guards();
}

}  // namespace qrt
