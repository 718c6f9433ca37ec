// SPDX-License-Identifier: Apache-2.0
// The bytes of a model file, aligned to 64: mapped, copied or borrowed.
#ifndef QRT_RUNTIME_MODEL_BYTES_H_
#define QRT_RUNTIME_MODEL_BYTES_H_

#include <cstddef>
#include <cstdint>

#include "runtime/status.h"

namespace qrt {

// flatbuffers' own limit; where addresses have 32 bits, a sixteenth of it, so that sixteen times a
// file is a size (verify.h).
constexpr bool kHas64Bits = sizeof(size_t) >= 8;
constexpr size_t kMaxFileBytes = (size_t{1} << (kHas64Bits ? 31 : 27)) - 1;

// Movable; read-only. data() does not move with the object.
class ModelBytes {
 public:
  ModelBytes() = default;
  ModelBytes(ModelBytes&& other) noexcept { *this = std::move(other); }
  ModelBytes& operator=(ModelBytes&& other) noexcept;
  ~ModelBytes() { release(); }

  // Maps a regular file read-only; it must not change while mapped. kIoError; kInvalidModel for an
  // empty file.
  static Result<ModelBytes> map_file(const char* path);

  // Maps `length` bytes of an open file from `offset` on; length 0: up to its end. kInvalidArgument
  // where the file does not have them. The data is only as aligned as `offset` is.
  static Result<ModelBytes> map(int fd, uint64_t offset, uint64_t length);

  // Copies a model's bytes. Fails with kOutOfMemory, or with kInvalidModel, before anything is
  // copied, for more bytes than a model may have.
  static Result<ModelBytes> copy(const void* data, size_t size);

  // Returns whether borrow() takes these bytes without a copy.
  static bool is_usable_in_place(const void* data);

  // Returns the caller's bytes, which must outlive this object, or a copy where they are not aligned.
  static Result<ModelBytes> borrow(const void* data, size_t size);

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  // Returns the heap memory that this object owns: 0 for the caller's bytes and for a mapping.
  size_t held_bytes() const { return owner_ == Owner::kHeap ? size_ : 0; }

 private:
  enum class Owner { kCaller, kMapping, kHeap };

  void release();

  const uint8_t* data_ = nullptr;
  size_t before_ = 0;  // bytes of the mapping in front of data_
  size_t size_ = 0;
  Owner owner_ = Owner::kCaller;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_MODEL_BYTES_H_
