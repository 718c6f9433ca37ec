// SPDX-License-Identifier: Apache-2.0
// Functions of the system that the tools need beyond the C library: tools_posix.cc, tools_windows.cc.
#ifndef QRT_RUNTIME_PLATFORM_TOOLS_H_
#define QRT_RUNTIME_PLATFORM_TOOLS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace qrt::platform {

// Lets the C library load what it needs to pass an exception through its own functions, such as
// pthread_once(), while there is memory for it: it would end the program later.
void prepare_exceptions();

// Opens a file as bytes, without any translation of line ends. Negative on failure, for these and
// the functions below; errno says why.
int open_to_read(const std::string& path);
int open_to_write(const std::string& path);

// A new file in the folder of `path` that takes its place, or is no more when this object ends. Where the
// file system can, it has no name until then, so that nothing of it is left where the program is ended
// before; elsewhere it is called PATH.XXXXXX.
class Replacement {
 public:
  explicit Replacement(const std::string& path);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  int fd() const { return fd_; }  // negative where it could not be made
  // Writes the file through to the disk first, then gives it its name, with the rights of a new
  // file. Returns false on failure; errno says why.
  bool publish();

 private:
  const std::string path_;
  std::string temporary_;  // a name that the file has beside `path`; "": none
  int fd_;
  bool is_published_ = false;
};

// Writes a folder's entries to the disk, so that new names outlast a power loss. Returns true on
// systems that have no such operation.
bool sync_folder(const std::string& folder);

// Returns whether two names lead to one file, by whatever links. False where one of them leads to none.
bool is_same_file(const std::string& a, const std::string& b);

// Returns whether a name leads to a file that a descriptor of this process is open on: /dev/stdout, /dev/fd/3.
bool is_descriptor(const std::string& path);

// Returns a name by which an open file that has none can be opened again; "" where a system has no such names.
std::string descriptor_path(int fd);

// Makes a folder. True where there is one already.
bool make_folder(const std::string& path);

// Returns the program's name, without its folder.
const char* program_name();

// Returns the folder of the running program's file, links followed; "." where the system does not tell.
std::string program_folder();

// Runs a program in place of this one where the system can, else waits for it and returns its exit status.
// Negative where it cannot be started.
int run_program(const std::string& path, const std::vector<std::string>& arguments);

// Lets standard input and output carry bytes as they are.
void make_streams_binary();

bool is_error_output_terminal();
size_t terminal_columns();  // width of standard output; 0: not known

}  // namespace qrt::platform

#endif  // QRT_RUNTIME_PLATFORM_TOOLS_H_
