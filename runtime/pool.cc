// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool.h"

#include "runtime/cpus.h"
#include "runtime/float_env.h"
#include "runtime/platform/pthreadpools.h"

namespace qrt {

Status check_threads(size_t threads) {
  if (threads <= kMaxThreads) return {};
  return error(Code::kInvalidArgument, "%zu threads, expected at most %zu", threads, kMaxThreads);
}

Pool::Pool(size_t threads) : team_(threads), cpus_(usable_cpus()) {
  team_.open();
  helpers_.reserve(threads - 1);
}

Result<std::shared_ptr<Pool>> Pool::create(size_t threads) {
  if (threads == 0) return error(Code::kInvalidArgument, "a pool of 0 threads, expected 1 or more");
  QRT_TRY(check_threads(threads));
  std::shared_ptr<Pool> pool(new Pool(threads), destroy);
  for (size_t i = 1; i < threads; ++i) {
    const auto serve = [team = pool->team(), i] {
      const ScopedFloatEnv env;
      team->serve(i);
    };
    if (!platform::start_thread(serve, &pool->helpers_)) break;
  }
  return pool;
}

void Pool::destroy(Pool* pool) {
  if (!pool->process_.is_inherited()) delete pool;
}

Pool::~Pool() {
  team_.close();
  for (platform::Thread& helper : helpers_) helper.join();
  if (pthreads_ != nullptr) platform::end_pthreadpool(pthreads_);
}

pthreadpool* Pool::pthreads() {
  const platform::LockGuard turn(turn_);
  if (pthreads_ == nullptr && threads() > 1) pthreads_ = platform::make_pthreadpool(threads());
  return pthreads_;
}

}  // namespace qrt
