// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/small_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace qrt::differential {
namespace {

constexpr uint8_t kPattern = 0xa5;

struct Start {
  const std::function<void()>* body;
  const uint8_t* frame = nullptr;  // where body()'s stack begins
};

void* run(void* argument) {
  auto* start = static_cast<Start*>(argument);
  start->frame = static_cast<const uint8_t*>(__builtin_frame_address(0));
  (*start->body)();
  return nullptr;
}

}  // namespace

size_t stack_used(size_t bytes, const std::function<void()>& body) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) abort();
  uint8_t* stack = static_cast<uint8_t*>(memory) + page;
  memset(stack, kPattern, bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  Start start{&body};
  pthread_t thread;
  if (pthread_attr_setstack(&attributes, stack, bytes) != 0 ||
      pthread_create(&thread, &attributes, run, &start) != 0)
    abort();
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const uint8_t* lowest = stack;
  while (lowest < start.frame && *lowest == kPattern) ++lowest;
  const size_t used = static_cast<size_t>(start.frame - lowest);
  munmap(memory, page + bytes);
  return used;
}

}  // namespace qrt::differential
