// SPDX-License-Identifier: Apache-2.0
// The tools' system on Windows. The code page of their file names is UTF-8 (tools.rc).
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <share.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <windows.h>

#include "runtime/platform/tools.h"

namespace qrt::platform {
namespace {

struct Handle {
  HANDLE handle;
  explicit Handle(const std::string& path)
      : handle(CreateFileA(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                           nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr)) {}
  ~Handle() {
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  bool tell(BY_HANDLE_FILE_INFORMATION* info) const {
    return handle != INVALID_HANDLE_VALUE && GetFileInformationByHandle(handle, info) != 0;
  }
};

}  // namespace

void prepare_exceptions() {}

int open_to_read(const std::string& path) {
  return _open(path.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}
int open_to_write(const std::string& path) {
  return _open(path.c_str(), _O_WRONLY | _O_BINARY | _O_NOINHERIT);
}

Replacement::Replacement(const std::string& path)
    : path_(path), temporary_(path + ".XXXXXX"), fd_(-1) {
  if (_mktemp_s(temporary_.data(), temporary_.size() + 1) == 0)
    fd_ = _open(temporary_.c_str(), _O_RDWR | _O_BINARY | _O_NOINHERIT | _O_CREAT | _O_EXCL,
                _S_IREAD | _S_IWRITE);
}

Replacement::~Replacement() {
  if (fd_ >= 0) _close(fd_);
  if (!is_published_) remove(temporary_.c_str());
}

// Closes the file first: Windows renames no open file.
bool Replacement::publish() {
  const bool is_on_disk = _commit(fd_) == 0;
  const bool is_closed = _close(fd_) == 0;
  fd_ = -1;
  if (!is_on_disk || !is_closed) return false;
  is_published_ = MoveFileExA(temporary_.c_str(), path_.c_str(),
                              MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0;
  if (!is_published_) errno = EACCES;
  return is_published_;
}

bool sync_folder(const std::string&) { return true; }

bool is_same_file(const std::string& a, const std::string& b) {
  const Handle first(a), second(b);
  BY_HANDLE_FILE_INFORMATION x, y;
  return first.tell(&x) && second.tell(&y) && x.dwVolumeSerialNumber == y.dwVolumeSerialNumber &&
         x.nFileIndexHigh == y.nFileIndexHigh && x.nFileIndexLow == y.nFileIndexLow;
}

bool is_descriptor(const std::string&) { return false; }

std::string descriptor_path(int) { return ""; }

bool make_folder(const std::string& path) {
  return CreateDirectoryA(path.c_str(), nullptr) != 0 || GetLastError() == ERROR_ALREADY_EXISTS ||
         (errno = ENOENT, false);
}

const char* program_name() {
  static const std::string name = [] {
    std::string path = __argv != nullptr && __argv[0] != nullptr ? __argv[0] : "qrt";
    path = path.substr(path.find_last_of("/\\:") + 1);
    return path.substr(0, path.rfind(".exe"));
  }();
  return name.c_str();
}

std::string program_folder() {
  char path[1 << 15];
  const DWORD n = GetModuleFileNameA(nullptr, path, sizeof path);
  const std::string name(path, n);
  const size_t slash = name.find_last_of("/\\");
  return slash == std::string::npos ? "." : name.substr(0, slash);
}

int run_program(const std::string& path, const std::vector<std::string>& arguments) {
  // The C library joins the words by spaces, so each is quoted here.
  std::vector<std::string> quoted = {'"' + path + '"'};
  for (const std::string& argument : arguments) {
    std::string word = "\"";
    size_t slashes = 0;  // in front of a quote they are doubled
    for (const char c : argument) {
      if (c == '"') word.append(slashes + 1, '\\');
      slashes = c == '\\' ? slashes + 1 : 0;
      word += c;
    }
    quoted.push_back(word.append(slashes, '\\') + '"');
  }
  std::vector<const char*> words;
  for (const std::string& word : quoted) words.push_back(word.c_str());
  words.push_back(nullptr);
  return static_cast<int>(_spawnv(_P_WAIT, (path + ".exe").c_str(), words.data()));
}

void make_streams_binary() {
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
}

bool is_error_output_terminal() { return _isatty(_fileno(stderr)) != 0; }

size_t terminal_columns() {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info) == 0) return 0;
  return static_cast<size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

}  // namespace qrt::platform
