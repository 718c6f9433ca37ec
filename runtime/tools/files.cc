// SPDX-License-Identifier: Apache-2.0
// Reading and writing of whole files.
#include "runtime/tools/files.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "runtime/platform/tools.h"

namespace qrt::tool {
namespace {

Status io_error(const std::string& path) {
  return error(Code::kIoError, "%s: %s", path.c_str(), strerror(errno));
}

Status write_all(int fd, const void* data, size_t bytes, const std::string& path) {
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path);
    p += n;
    bytes -= static_cast<size_t>(n);
  }
  return {};
}

std::shared_ptr<FILE> closing(FILE* file) {
  return {file, [](FILE* f) {
            if (f) fclose(f);
          }};
}

// Owns a file descriptor, and closes it when destroyed.
struct File {
  int fd;
  explicit File(int descriptor) : fd(descriptor) {}
  ~File() {
    if (fd >= 0) close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

}  // namespace

Status check_readable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return io_error(path);
  if (S_ISDIR(info.st_mode))
    return error(Code::kInvalidModel, "%s: is a directory, expected a file", path.c_str());
  if (!S_ISREG(info.st_mode))
    return error(Code::kInvalidModel, "%s: is not a regular file", path.c_str());
  if (access(path.c_str(), R_OK) != 0) return io_error(path);
  return {};
}

Status open_file(const std::string& path, std::shared_ptr<FILE>* file, size_t* bytes) {
  QRT_TRY(check_readable(path));
  *file = closing(fopen(path.c_str(), "rb"));
  const long end = *file && fseek(file->get(), 0, SEEK_END) == 0 ? ftell(file->get()) : -1;
  if (end < 0) return io_error(path);
  *bytes = static_cast<size_t>(end);
  return {};
}

Status open_temporary_file(std::shared_ptr<FILE>* file) {
  *file = closing(tmpfile());
  return *file ? Status() : io_error("a temporary file");
}

Status copy_stdin(std::shared_ptr<FILE>* file, size_t* bytes) {
  constexpr size_t kMost = size_t{1} << 31;  // no model is larger
  QRT_TRY(open_temporary_file(file));
  *bytes = 0;
  std::vector<char> block(1 << 16);
  while (const size_t n = fread(block.data(), 1, block.size(), stdin)) {
    if (*bytes += n; *bytes > kMost)
      return error(Code::kInvalidModel, "standard input holds more than 2 GiB: give a file");
    if (fwrite(block.data(), 1, n, file->get()) != n) return io_error("a temporary file");
  }
  if (ferror(stdin)) return error(Code::kIoError, "standard input cannot be read");
  if (fflush(file->get()) != 0) return io_error("a temporary file");
  return {};
}

namespace {

std::string stdin_path;                // by take_stdin()
std::shared_ptr<FILE> stdin_contents;  // keeps the temporary file at stdin_path alive

}  // namespace

Status take_stdin(std::string* path) {
  if (*path != "-") return {};
  if (stdin_contents)
    return error(Code::kInvalidArgument, "standard input can be given once: give a file instead");
  size_t bytes = 0;
  QRT_TRY(copy_stdin(&stdin_contents, &bytes));
  stdin_path = platform::descriptor_path(fileno(stdin_contents.get()));
  if (stdin_path.empty())
    return error(Code::kUnsupported, "a model cannot come from standard input here: give a file");
  *path = stdin_path;
  return {};
}

std::string with_stdin_named(const std::string& text) {
  constexpr char kName[] = "standard input";
  std::string shown = text;
  if (stdin_path.empty()) return shown;
  for (size_t at = 0; (at = shown.find(stdin_path, at)) != std::string::npos; at += strlen(kName))
    shown.replace(at, stdin_path.size(), kName);
  return shown;
}

Status read_head(const std::string& path, size_t count, std::vector<uint8_t>* bytes) {
  const File file(platform::open_to_read(path));
  if (file.fd < 0) return io_error(path);
  bytes->resize(count);
  size_t have = 0;
  while (have < count) {
    const ssize_t n = read(file.fd, bytes->data() + have, count - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes->resize(have);
  return {};
}

Status read_file(const std::string& path, std::vector<uint8_t>* bytes) {
  QRT_TRY(check_readable(path));
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return io_error(path);
  return read_head(path, static_cast<size_t>(info.st_size), bytes);
}

Status read_text(const std::string& path, std::string* text) {
  const File file(platform::open_to_read(path));
  if (file.fd < 0) return io_error(path);
  text->clear();
  char block[1 << 14];
  for (;;) {
    const ssize_t n = read(file.fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path);
    if (n == 0) return {};
    text->append(block, static_cast<size_t>(n));
  }
}

Status make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    platform::make_folder(path.substr(0, at));  // errors show at the last folder
  struct stat info;
  if (!platform::make_folder(path)) return io_error(path);
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
  errno = ENOTDIR;
  return io_error(path);
}

std::string file_name_of(const std::string& name) {
  std::string part = name.substr(0, 100);
  for (char& c : part)
    if (!isalnum(static_cast<unsigned char>(c)) && (c == '\0' || strchr("._-", c) == nullptr))
      c = '_';
  return part;
}

namespace {

// Returns whether a path names a pipe, a device, a folder or a descriptor, which no other file can
// replace.
bool is_special(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 &&
         (!S_ISREG(info.st_mode) || platform::is_descriptor(path));
}

Status check_writable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
  } else if (is_special(path)) {
    if (access(path.c_str(), W_OK) == 0) return {};
  } else {
    const platform::Replacement file(path);  // the destructor removes it
    if (file.fd() >= 0) return {};
  }
  return error(Code::kIoError, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

// Returns whether an input, FILE or NAME=FILE, is the file `output`. Both NAME and FILE may hold
// '=', so every split is tried.
bool is_file_of(const std::string& input, const std::string& output) {
  for (size_t begin = 0; begin <= input.size();) {
    if (platform::is_same_file(input.substr(begin), output)) return true;
    const size_t sign = input.find('=', begin);
    if (sign == std::string::npos) return false;
    begin = sign + 1;
  }
  return false;
}

}  // namespace

Status check_outputs(const std::vector<std::string>& outputs,
                     const std::vector<std::string>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& path = outputs[i];
    if (path.empty()) continue;
    if (!is_special(path)) {
      for (const std::string& input : inputs)
        if (is_file_of(input, path))
          return error(Code::kInvalidArgument, "%s would overwrite %s, which is read", path.c_str(),
                       input.c_str());
      for (size_t j = 0; j < i; ++j)
        if (outputs[j] == path || platform::is_same_file(outputs[j], path))
          return error(Code::kInvalidArgument, "%s would be written twice", path.c_str());
    }
    QRT_TRY(check_writable(path));
  }
  return {};
}

Status write_file(const std::string& path, const void* data, size_t bytes) {
  if (is_special(path)) {
    const File file(platform::open_to_write(path));
    if (file.fd < 0) return io_error(path);
    return write_all(file.fd, data, bytes, path);
  }
  {
    platform::Replacement file(path);
    if (file.fd() < 0) return io_error(path);
    QRT_TRY(write_all(file.fd(), data, bytes, path));
    if (!file.publish()) return io_error(path);
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return platform::sync_folder(folder) ? Status() : io_error(folder);
}

}  // namespace qrt::tool
