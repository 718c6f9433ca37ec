// SPDX-License-Identifier: Apache-2.0
// Finds the operators that a run may leave out: those whose outputs lead nowhere but to the side of a Choose that is not
// taken. Such an operator has a guard, the conditions under which a run needs it.
#ifndef QRT_RUNTIME_GUARDS_H_
#define QRT_RUNTIME_GUARDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qrt_model_generated.h"

namespace qrt {

class Guards {
 public:
  // The guard of operators that every run needs.
  static constexpr uint32_t kAlways = 0;

  // Returns an operator's guard.
  uint32_t of(size_t op) const { return of_.empty() ? kAlways : of_[op]; }

  // Returns whether the run needs an operator. REQUIRES: those before it that the run needs have run; `tensors` holds the
  // memory of each tensor.
  bool admit(size_t op, const uint8_t* const* tensors) const { return holds(of(op), tensors); }

 private:
  friend class GuardSearch;

  // Holds where `parent` does and the condition, a tensor of one byte, has this value.
  struct Guard {
    uint32_t parent, condition;
    bool value;
    uint32_t depth;
  };

  bool holds(uint32_t guard, const uint8_t* const* tensors) const {
    if (guard == kAlways) return true;
    const Guard& g = guards_[guard];
    // In this order: the parent tells whether the condition has been computed.
    return holds(g.parent, tensors) && (*tensors[g.condition] != 0) == g.value;
  }

  std::vector<Guard> guards_;  // guards_[kAlways] is not looked at
  std::vector<uint32_t> of_;   // by operator; empty where all are kAlways
};

// Finds the guard of every operator: the innermost one that all uses of its outputs share. A Choose needs its input a or b only where
// the condition takes that side; model outputs and variables are always needed. Guards ignore conditions that are computed after the
// operator, and nesting deeper than 8. An operator without uses is always run. A loop's LoopBegin has the guard of its LoopEnd. Takes time in proportion to the operators' operands.
// REQUIRES: the operators were checked.
Guards find_guards(const fb::Model& model);

}  // namespace qrt

#endif  // QRT_RUNTIME_GUARDS_H_
