// Threads that sessions share, or that one session has for itself.
#ifndef QRT_RUNTIME_POOL_H_
#define QRT_RUNTIME_POOL_H_

#include <cstddef>
#include <memory>

#include "runtime/status.h"

struct pthreadpool;

namespace qrt {

constexpr size_t kMaxThreads = 1024;

// Any threads may use it at the same time: it takes one's tasks after the other's.
class Pool {
 public:
  // `threads`: with the one that hands out the tasks. Fewer where the system would not start more.
  // kInvalidArgument, kOutOfMemory.
  static Result<std::shared_ptr<Pool>> create(size_t threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  size_t threads() const { return threads_; }
  pthreadpool* get() const { return pool_; }  // null: of one thread

 private:
  explicit Pool(size_t threads) : threads_(threads) {}

  pthreadpool* pool_ = nullptr;
  size_t threads_;
};

// kInvalidArgument beyond kMaxThreads.
Status check_threads(size_t threads);

}  // namespace qrt

#endif  // QRT_RUNTIME_POOL_H_
