// Reading and writing of whole files.
#include "runtime/tools/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

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

// Closes on the way out.
struct File {
  int fd;
  explicit File(int descriptor) : fd(descriptor) {}
  ~File() {
    if (fd >= 0) close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

// After a power loss, too, the folder knows the file's new name. Folders that only let files be made, and file systems that
// sync no folders, have to do without.
Status sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const File file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.fd >= 0 && fsync(file.fd) != 0 && errno != EINVAL) return io_error(folder);
  return {};
}

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

Status read_head(const std::string& path, size_t count, std::vector<uint8_t>* bytes) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
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
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
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

std::string file_part(const std::string& name) {
  std::string part = name.substr(0, 100);
  for (char& c : part)
    if (!isalnum(static_cast<unsigned char>(c)) && (c == '\0' || strchr("._-", c) == nullptr))
      c = '_';
  return part;
}

namespace {

// A pipe, a device or a folder: there is nothing to put another file in place of.
bool is_special(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

// Beside `path`, which is to be replaced by it; *temporary becomes its name.
int make_temporary(const std::string& path, std::string* temporary) {
  *temporary = path + ".XXXXXX";
  return mkostemp(temporary->data(), O_CLOEXEC);
}

}  // namespace

Status check_writable(const std::string& path) {
  if (path.empty()) return {};
  struct stat info;
  std::string temporary;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
  } else if (is_special(path)) {
    if (access(path.c_str(), W_OK) == 0) return {};
  } else {
    const File file(make_temporary(path, &temporary));
    if (file.fd >= 0 && unlink(temporary.c_str()) == 0) return {};
  }
  return error(Code::kInvalidArgument, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

Status write_file(const std::string& path, const void* data, size_t bytes) {
  if (is_special(path)) {
    const File file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.fd < 0) return io_error(path);
    return write_all(file.fd, data, bytes, path);
  }
  std::string temporary;
  const File file(make_temporary(path, &temporary));
  if (file.fd < 0) return io_error(path);
  const mode_t mask = umask(0);
  umask(mask);
  Status status = write_all(file.fd, data, bytes, path);
  if (status.ok() && (fchmod(file.fd, 0666 & ~mask) != 0 || fsync(file.fd) != 0 ||
                      rename(temporary.c_str(), path.c_str()) != 0))
    status = io_error(path);
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return sync_folder_of(path);
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat x, y;
  return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

}  // namespace qrt::tool
