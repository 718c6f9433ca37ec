// Forced into the verifier's files by the target verify_mutants: of their checks, the one that stands in
// the lines that the environment names (QRT_MUTANT=runtime/verify.cc:20-23) lets everything pass.
#ifndef QRT_TESTS_MUTATION_MUTANTS_H_
#define QRT_TESTS_MUTATION_MUTANTS_H_

#include <stdlib.h>
#include <string.h>

#include "runtime/status.h"

namespace qrt::mutation {

inline bool is_dropped(const char* file, int line) {
  static const char* const mutant = getenv("QRT_MUTANT");
  const char* colon = mutant != nullptr ? strrchr(mutant, ':') : nullptr;
  if (colon == nullptr) return false;
  const size_t length = static_cast<size_t>(colon - mutant), own = strlen(file);
  if (own < length || strncmp(file + own - length, mutant, length) != 0) return false;
  char* end;
  const long first = strtol(colon + 1, &end, 10), last = strtol(end + 1, nullptr, 10);
  return first <= line && line <= last;
}

}  // namespace qrt::mutation

#undef QRT_MODEL_CHECK
#define QRT_MODEL_CHECK(condition, ...)                                    \
  do {                                                                     \
    if (!(condition) && !::qrt::mutation::is_dropped(__FILE__, __LINE__))  \
      return ::qrt::error(::qrt::Code::kInvalidModel, __VA_ARGS__);        \
  } while (0)

#undef QRT_TRY
#define QRT_TRY(expression)                                                                  \
  do {                                                                                       \
    ::qrt::Status qrt_try_status_ = (expression);                                            \
    if (!qrt_try_status_.ok() && !::qrt::mutation::is_dropped(__FILE__, __LINE__))           \
      return qrt_try_status_;                                                                \
  } while (0)

#endif  // QRT_TESTS_MUTATION_MUTANTS_H_
