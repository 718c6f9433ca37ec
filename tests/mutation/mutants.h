// SPDX-License-Identifier: Apache-2.0
// The functions that tests/mutation/run writes around the checks of its copy of the sources: every mutant has a
// number, and the environment variable QRT_MUTANT chooses the one that is alive. So one build serves all of them.
#ifndef QRT_TESTS_MUTATION_MUTANTS_H_
#define QRT_TESTS_MUTATION_MUTANTS_H_

#include <utility>

namespace qrt::mutation {

extern int chosen;            // -1: none, the program is as it was written
extern unsigned char* marks;  // null, or a byte per mutant: 1 where it would have changed something

inline bool is_chosen(int n) { return chosen == n; }

inline void mark(int n) {
  if (marks != nullptr) marks[n] = 1;
}

// Returns `value`. Marks mutant n where it would have returned something else: unless_false() has a
// mutant that is always true.
inline bool unless_false(int n, bool value) {
  if (!value) mark(n);
  return value;
}
inline bool unless_true(int n, bool value) {
  if (value) mark(n);
  return value;
}

inline bool negated(int n, bool value) {
  mark(n);
  return value != is_chosen(n);
}

template <class Status>
Status unless_error(int n, Status status) {
  if (!status.ok()) mark(n);
  return is_chosen(n) ? Status() : std::move(status);
}

template <class Amount>
Amount unless_free(int n, Amount amount) {
  if (amount != 0) mark(n);
  return is_chosen(n) ? Amount() : amount;
}

}  // namespace qrt::mutation

// Mutants of an operand of &&, or of a condition of what is accepted: the operand is evaluated for
// its side effects, and then counts as true.
#define QRT_MUTANT_AND(n, e) \
  (::qrt::mutation::unless_false(n, static_cast<bool>(e)) || ::qrt::mutation::is_chosen(n))
// Mutants of an operand of ||, or of a condition of what is refused: it is evaluated, and then counts as false.
#define QRT_MUTANT_OR(n, e) \
  (::qrt::mutation::unless_true(n, static_cast<bool>(e)) && !::qrt::mutation::is_chosen(n))
// A mutant that negates its operand.
#define QRT_MUTANT_NOT(n, e) (::qrt::mutation::negated(n, static_cast<bool>(e)))
// The Status of a call.
#define QRT_MUTANT_CALL(n, e) (::qrt::mutation::unless_error(n, e))
// The amount of a charge: 0 instead.
#define QRT_MUTANT_CHARGE(n, e) (::qrt::mutation::unless_free(n, e))

#endif  // QRT_TESTS_MUTATION_MUTANTS_H_
