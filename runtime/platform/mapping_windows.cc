// SPDX-License-Identifier: Apache-2.0
// Mappings by MapViewOfFile().
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include <string>

#include "runtime/platform/mapping.h"

namespace qrt::platform {
namespace {

int open_utf8(const char* path) {
  const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, nullptr, 0);
  if (length == 0) {
    errno = ENOENT;
    return -1;
  }
  std::wstring utf16(static_cast<size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, utf16.data(), length);
  return _wopen(utf16.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}

Status failed() {
  const DWORD code = GetLastError();
  const bool is_memory = code == ERROR_NOT_ENOUGH_MEMORY || code == ERROR_OUTOFMEMORY ||
                         code == ERROR_COMMITMENT_LIMIT;
  return error(is_memory ? Code::kOutOfMemory : Code::kIoError, "error %lu of Windows", code);
}

}  // namespace

File::File(const char* path) : fd_(open_utf8(path)) {}

File::~File() {
  if (fd_ >= 0) _close(fd_);
}

Result<uint64_t> file_size(int fd) {
  struct _stat64 info;
  if (_fstat64(fd, &info) != 0) return error(Code::kIoError, "%s", strerror(errno));
  if ((info.st_mode & _S_IFMT) != _S_IFREG) return error(Code::kIoError, "not a regular file");
  return static_cast<uint64_t>(info.st_size);
}

size_t mapping_step() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwAllocationGranularity;
}

Result<const uint8_t*> map(int fd, uint64_t offset, size_t bytes) {
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(fd));
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping == nullptr) return failed();
  void* data = MapViewOfFile(mapping, FILE_MAP_READ, static_cast<DWORD>(offset >> 32),
                             static_cast<DWORD>(offset), bytes);
  Status status = data != nullptr ? Status() : failed();
  CloseHandle(mapping);  // the view keeps it
  if (!status.ok()) return status;
  return static_cast<const uint8_t*>(data);
}

void unmap(const uint8_t* data, size_t) { UnmapViewOfFile(data); }

void* map_memory(size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_memory(void* data, size_t) {
  if (data != nullptr) VirtualFree(data, 0, MEM_RELEASE);
}

void prefer_large_pages(void*, size_t) {}  // a privilege here

}  // namespace qrt::platform
