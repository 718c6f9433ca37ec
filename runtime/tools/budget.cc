// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/budget.h"

namespace qrt {
namespace {

// The file itself, the program and the allocator's losses are the other 64 MB + 4 times the file.
constexpr uint64_t kSpareBytes = uint64_t{192} << 20, kBytesPerByte = 12;
// Half of the time that SECURITY.md allows: a machine may be half as fast.
constexpr uint64_t kSpareSteps = 500'000'000, kStepsPerByte = 500;
// Files are smaller than this; the limits of larger sums would not fit in 64 bits.
constexpr uint64_t kMostFileBytes = uint64_t{1} << 48;

uint64_t limit(uint64_t spare, uint64_t factor, uint64_t file_bytes) {
  return spare + factor * (file_bytes < kMostFileBytes ? file_bytes : kMostFileBytes);
}

unsigned long long number(uint64_t n) { return n; }

}  // namespace

Status Budget::reserve(uint64_t bytes) {
  const uint64_t most = limit(kSpareBytes, kBytesPerByte, file_bytes_),
                 left = most > bytes_ ? most - bytes_ : 0;
  if (bytes > left)
    return error(Code::kUnsupported,
                 "the file has %llu bytes, and what is made of it would grow by %llu bytes to more "
                 "than %llu, the limit for a file of its size",
                 number(file_bytes_), number(bytes), number(most));
  bytes_ += bytes;
  return {};
}

Status Budget::charge(uint64_t steps) {
  const uint64_t left = steps_left();
  if (steps > left)
    return error(Code::kUnsupported,
                 "the file has %llu bytes, and it asks for more work than a file of its size may: "
                 "%llu steps beside %llu others, the limit is %llu",
                 number(file_bytes_), number(steps), number(steps_), number(steps_ + left));
  steps_ += steps;
  return {};
}

uint64_t Budget::steps_left() const {
  const uint64_t most = limit(kSpareSteps, kStepsPerByte, file_bytes_);
  return most > steps_ ? most - steps_ : 0;
}

}  // namespace qrt
