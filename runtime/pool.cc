#include "runtime/pool.h"

#include <pthreadpool.h>

#include "runtime/threads.h"

namespace qrt {

Status check_threads(size_t threads) {
  if (threads <= kMaxThreads) return {};
  return error(Code::kInvalidArgument, "%zu threads, expected at most %zu", threads, kMaxThreads);
}

Result<std::shared_ptr<Pool>> Pool::create(size_t threads) {
  if (threads == 0) return error(Code::kInvalidArgument, "a pool of 0 threads, expected 1 or more");
  QRT_TRY(check_threads(threads));
  threads = 1 + startable_threads(threads - 1);
  std::shared_ptr<Pool> pool(new Pool(threads));
  if (threads > 1) pool->pool_ = pthreadpool_create(threads);
  if (threads > 1 && pool->pool_ == nullptr)
    return error(Code::kOutOfMemory, "no pool of %zu threads", threads);
  return pool;
}

Pool::~Pool() {
  if (pool_ != nullptr) pthreadpool_destroy(pool_);
}

}  // namespace qrt
