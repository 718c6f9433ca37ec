// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/parse.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "converter/import/onnx/file/wire_cost.h"

namespace qrt::convert::from_onnx {

namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::FileInputStream;

// Reserves what the message takes, from the file's start on, and goes back there.
Status reserve_file(int fd, uint64_t bytes, const google::protobuf::Message& message,
                    Budget* budget) {
  budget->add_file(bytes);
  {
    FileInputStream file(fd);
    CodedInputStream stream(&file);
    stream.SetTotalBytesLimit(INT_MAX);
    QRT_TRY(reserve_message(message, &stream, budget));
  }
  if (lseek(fd, 0, SEEK_SET) != 0) return error(Code::kIoError, "%s", strerror(errno));
  return Status();
}

}  // namespace

Status parse_file(const std::string& path, const char* what, const char* type,
                  google::protobuf::Message* message, Budget* budget) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return error(Code::kIoError, "cannot open '%s': %s", path.c_str(), strerror(errno));
  FileInputStream file(fd);
  file.SetCloseOnDelete(true);
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return error(Code::kIoError, "'%s' is not a regular file", path.c_str());
  google::protobuf::LogSilencer silencer;  // its messages would go to stderr
  QRT_TRY(reserve_file(fd, static_cast<uint64_t>(info.st_size), *message, budget).at(path));
  CodedInputStream stream(&file);
  stream.SetTotalBytesLimit(INT_MAX);
  const bool parsed = message->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
  // A read error looks to the parser like the end of the file, perhaps where a shorter model could end.
  if (file.GetErrno() != 0)
    return error(Code::kIoError, "cannot read '%s': %s", path.c_str(), strerror(file.GetErrno()));
  QRT_MODEL_CHECK(parsed,
                  "'%s' is not an ONNX %s: its bytes are not a protobuf %s, or are cut short",
                  path.c_str(), what, type);
  return Status();
}

}  // namespace qrt::convert::from_onnx
