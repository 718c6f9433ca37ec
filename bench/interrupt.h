// SPDX-License-Identifier: Apache-2.0
// Ctrl-C while measuring: what was measured so far is printed, then the program ends by the signal.
#ifndef QRT_BENCH_INTERRUPT_H_
#define QRT_BENCH_INTERRUPT_H_

namespace qrt::bench {

// Catches interrupts: from now on the first SIGINT or SIGTERM only sets interrupted(); a second one
// ends the program.
void catch_interrupts();
bool interrupted();
// Ends the program by the signal that it got, as a shell expects. REQUIRES: interrupted().
[[noreturn]] void end_interrupted();

}  // namespace qrt::bench

#endif  // QRT_BENCH_INTERRUPT_H_
