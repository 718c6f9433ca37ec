// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_bytes.h"

#include <errno.h>
#include <string.h>

#include <new>
#include <utility>

#include "runtime/op.h"
#include "runtime/platform/mapping.h"

namespace qrt {

ModelBytes& ModelBytes::operator=(ModelBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(before_, other.before_);
  std::swap(size_, other.size_);
  std::swap(owner_, other.owner_);
  return *this;
}

void ModelBytes::release() {
  if (owner_ == Owner::kMapping) platform::unmap(data_ - before_, before_ + size_);
  if (owner_ == Owner::kHeap) {
    ::operator delete (const_cast<uint8_t*>(data_), std::align_val_t{kAlignment}, std::nothrow);
  }
}

Result<ModelBytes> ModelBytes::map_file(const char* path) {
  const platform::File file(path);
  if (file.fd() < 0) return error(Code::kIoError, "%s", strerror(errno));
  return map(file.fd(), 0, 0);
}

Result<ModelBytes> ModelBytes::map(int fd, uint64_t offset, uint64_t length) {
  auto found = platform::file_size(fd);
  QRT_TRY(std::move(found.status()));
  const uint64_t file_size = *found;
  if (file_size == 0) return error(Code::kInvalidModel, "the file is empty");
  if (offset >= file_size)
    return error(
        Code::kInvalidArgument, "offset %llu is behind the end of the file, which has %llu bytes",
        static_cast<unsigned long long>(offset), static_cast<unsigned long long>(file_size));
  if (length > file_size - offset)
    return error(Code::kInvalidArgument, "the file has %llu bytes, not %llu from offset %llu on",
                 static_cast<unsigned long long>(file_size),
                 static_cast<unsigned long long>(length), static_cast<unsigned long long>(offset));
  if (length == 0) length = file_size - offset;
  QRT_MODEL_CHECK(length <= kMaxFileBytes, "%llu bytes are too many for a model (limit %zu)",
                  static_cast<unsigned long long>(length), kMaxFileBytes);
  const size_t before = static_cast<size_t>(offset % platform::mapping_step());
  const size_t size = static_cast<size_t>(length);
  auto data = platform::map(fd, offset - before, before + size);
  QRT_TRY(std::move(data.status()));
  ModelBytes bytes;
  bytes.data_ = *data + before;
  bytes.before_ = before;
  bytes.size_ = size;
  bytes.owner_ = Owner::kMapping;
  return bytes;
}

Result<ModelBytes> ModelBytes::copy(const void* data, size_t size) {
  QRT_MODEL_CHECK(size <= kMaxFileBytes, "%zu bytes are too many for a model (limit %zu)", size,
                  kMaxFileBytes);
  void* own = ::operator new (size, std::align_val_t{kAlignment}, std::nothrow);
  if (own == nullptr) return error(Code::kOutOfMemory, "no memory for %zu model bytes", size);
  if (size != 0) memcpy(own, data, size);
  ModelBytes bytes;
  bytes.data_ = static_cast<const uint8_t*>(own);
  bytes.size_ = size;
  bytes.owner_ = Owner::kHeap;
  return bytes;
}

bool ModelBytes::is_usable_in_place(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
}

Result<ModelBytes> ModelBytes::borrow(const void* data, size_t size) {
  if (!is_usable_in_place(data)) return copy(data, size);
  ModelBytes bytes;
  bytes.data_ = static_cast<const uint8_t*>(data);
  bytes.size_ = size;
  return bytes;
}

}  // namespace qrt
