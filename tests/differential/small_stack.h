// SPDX-License-Identifier: Apache-2.0
// A thread with a small stack, as servers and interpreters of other languages start them.
#ifndef QRT_TESTS_DIFFERENTIAL_SMALL_STACK_H_
#define QRT_TESTS_DIFFERENTIAL_SMALL_STACK_H_

#include <cstddef>
#include <functional>

namespace qrt::differential {

// Calls body() on a thread whose stack has so many bytes, the system's own data of the thread among
// them, and returns how many body() and what it called have written to. A read or write beyond the stack
// ends the process by SIGSEGV.
size_t stack_used(size_t bytes, const std::function<void()>& body);

}  // namespace qrt::differential

#endif  // QRT_TESTS_DIFFERENTIAL_SMALL_STACK_H_
