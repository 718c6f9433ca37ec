// Whether the system lets threads start. pthreadpool does not ask: where a thread cannot be made (a
// limit of processes, of a container, of memory for stacks) its creation waits for that one for ever.
#ifndef QRT_RUNTIME_THREADS_H_
#define QRT_RUNTIME_THREADS_H_

#include <cstddef>

namespace qrt {

// How many threads beside the calling one can run at the same time now, at most `wanted`: starts
// them, and returns when all have ended and the system counts them no more. Some 20 us each.
size_t startable_threads(size_t wanted);

}  // namespace qrt

#endif  // QRT_RUNTIME_THREADS_H_
