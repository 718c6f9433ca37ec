// SPDX-License-Identifier: Apache-2.0
// Files as the tools read and write them.
#ifndef QRT_RUNTIME_TOOLS_FILES_H_
#define QRT_RUNTIME_TOOLS_FILES_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/extension.h"

namespace qrt::tool {

// Checks that a file can be read. Fails with kIoError if it cannot be opened, kInvalidModel if it
// is not a regular file.
Status check_readable(const std::string& path);

// Reads the first bytes of a file, at most `count`.
Status read_head(const std::string& path, size_t count, std::vector<uint8_t>* bytes);

// Reads all bytes of a file, as check_readable() and read_head().
Status read_file(const std::string& path, std::vector<uint8_t>* bytes);

// Opens a file of which parts are read, as check_readable(), and finds its size.
Status open_file(const std::string& path, std::shared_ptr<FILE>* file, size_t* bytes);

// Opens a file without a name, to write and then to read. Fails with kIoError.
Status open_temporary_file(std::shared_ptr<FILE>* file);

// Copies standard input to a nameless file, if `*path` is "-", and makes `*path` a name by which that can be
// opened: readers of models go to and fro in a file. kIoError; kInvalidModel where there is more than a model
// may have, kInvalidArgument where standard input was read before, kUnsupported where a system cannot.
Status take_stdin(std::string* path);

// Copies standard input, 2 GiB at most, to a nameless file. kIoError; kInvalidModel where there is more.
Status copy_stdin(std::shared_ptr<FILE>* file, size_t* bytes);

// Returns a text that people read, with "standard input" for the name that take_stdin() gave.
std::string with_stdin_named(const std::string& text);

// Makes a folder, and those that it lies in. kIoError where one of the names is something else.
Status make_folders(const std::string& path);

// Reads all that a file holds, or that a pipe gives.
Status read_text(const std::string& path, std::string* text);

// A tensor's name as part of a file's: letters, digits and "._-", at most 100.
std::string file_name_of(const std::string& name);

// Checks before long work that write_file() can make each of `outputs` ("": not wanted), that no
// two of them are one file, and that none is one of `inputs`, FILE or NAME=FILE. Fails with
// kInvalidArgument, or kIoError with the system's reason. Leaves existing files as they are.
Status check_outputs(const std::vector<std::string>& outputs,
                     const std::vector<std::string>& inputs);

// Replaces `path` in one step: readers see the old content or all of the new. Pipes and devices are
// written directly.
Status write_file(const std::string& path, const void* data, size_t bytes);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_FILES_H_
