// SPDX-License-Identifier: Apache-2.0
// Reading .npy while the system refuses: streams that cannot seek or stop reading, no descriptor left, no room
// for what comes from standard input.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/within_limits.h"

namespace qrt::npy_failures_test {
namespace {

using tool::NpyArray;
using tool::NpyFile;

// A stream of these bytes that seeks and reads so many times and then fails.
struct Source {
  std::string bytes;
  long seeks, reads;
  size_t at = 0;
};

ssize_t read_source(void* cookie, char* to, size_t count) {
  auto* s = static_cast<Source*>(cookie);
  if (s->reads-- <= 0) {
    errno = EIO;
    return -1;
  }
  const size_t n = s->at < s->bytes.size() ? std::min(count, s->bytes.size() - s->at) : 0;
  memcpy(to, s->bytes.data() + s->at, n);
  s->at += n;
  return static_cast<ssize_t>(n);
}

int seek_source(void* cookie, off64_t* offset, int whence) {
  auto* s = static_cast<Source*>(cookie);
  if (s->seeks-- <= 0) {
    errno = EIO;
    return -1;
  }
  if (whence == SEEK_END) *offset += static_cast<off64_t>(s->bytes.size());
  if (whence == SEEK_CUR) *offset += static_cast<off64_t>(s->at);
  s->at = static_cast<size_t>(*offset);
  return 0;
}

std::shared_ptr<FILE> stream(Source* source) {
  const cookie_io_functions_t functions = {read_source, nullptr, seek_source, nullptr};
  FILE* file = fopencookie(source, "rb", functions);
  setvbuf(file, nullptr, _IONBF, 0);  // every read and seek is the source's
  return {file, fclose};
}

std::string array_of(size_t bytes) {
  const std::vector<uint8_t> data(bytes, 7);
  return tool::npy_content(DType::kUInt8, {static_cast<int64_t>(bytes)}, data.data(), bytes);
}

// Standard input is this file, or one that cannot be read, until its end.
class StandardInput {
 public:
  explicit StandardInput(FILE* file) : before_(stdin), file_(file) { stdin = file; }
  ~StandardInput() {
    stdin = before_;
    fclose(file_);
  }

 private:
  FILE *before_, *file_;
};

// A limit of the process, until its end.
class Limit {
 public:
  Limit(int what, rlim_t most) : what_(what) {
    getrlimit(resource(), &before_);
    const rlimit limit = {most, before_.rlim_max};
    setrlimit(resource(), &limit);
  }
  ~Limit() { setrlimit(resource(), &before_); }

 private:
  __rlimit_resource resource() const { return static_cast<__rlimit_resource>(what_); }
  int what_;
  rlimit before_;
};

class NpyFailures : public testing::CommandTest {};

// Every failing seek and every failing read of a whole file is reported.
TEST_F(NpyFailures, StreamsThatFail) {
  const std::string bytes = array_of(300);
  const auto read = [&](long seeks, long reads, Source* source) {
    *source = {bytes, seeks, reads};
    NpyFile file;
    std::vector<uint8_t> data(300);
    Status status = file.open(stream(source), 0, bytes.size());
    if (status.ok()) status = file.read(0, data.size(), data.data());
    if (status.ok()) {
      EXPECT_EQ(data, std::vector<uint8_t>(300, 7));
    }
    return status;
  };
  constexpr long kMany = 1000;
  Source source;
  ASSERT_TRUE(read(kMany, kMany, &source).ok());
  const long seeks = kMany - source.seeks, reads = kMany - source.reads;
  ASSERT_GE(seeks, 3);
  ASSERT_GE(reads, 3);
  for (long i = 0; i < seeks; ++i) EXPECT_EQ(read(i, kMany, &source).code(), Code::kIoError) << i;
  for (long i = 0; i < reads; ++i) EXPECT_EQ(read(kMany, i, &source).code(), Code::kIoError) << i;
}

TEST_F(NpyFailures, NoDescriptorLeft) {
  if (QRT_TEST_SANITIZED) GTEST_SKIP() << "the sanitizers need descriptors of their own";
  const std::string name = write("a.npy", array_of(4));
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  const Limit limit(RLIMIT_NOFILE, static_cast<rlim_t>(next));
  NpyArray array;
  Status status = tool::read_npy(name, &array);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(std::string(status.message()), name + ": Too many open files");
  status = tool::read_npy_of_stdin(&array);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(std::string(status.message()), "a temporary file: Too many open files");
}

TEST_F(NpyFailures, StandardInput) {
  NpyArray array;
  const auto read = [&](FILE* file) {
    const StandardInput input(file);
    return tool::read_npy_of_stdin(&array);
  };
  const std::string name = write("a.npy", array_of(300));
  Status status = read(fopen(name.c_str(), "rb"));
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(array.data, std::vector<uint8_t>(300, 7));

  status = read(fopen(write("none.npy", std::string("nothing")).c_str(), "rb"));
  EXPECT_EQ(status.code(), Code::kInvalidModel);
  EXPECT_EQ(std::string(status.message()).rfind("standard input: not an npy file", 0), 0u)
      << status.message();

  status = read(fopen(path("").c_str(), "rb"));  // a folder opens, and cannot be read
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(std::string(status.message()), "standard input cannot be read");

  // More than is written at once goes to the file directly, and does not fit.
  const std::string large = write("large.npy", array_of(1 << 18));
  signal(SIGXFSZ, SIG_IGN);
  {
    const Limit limit(RLIMIT_FSIZE, 1000);
    status = read(fopen(large.c_str(), "rb"));
  }
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_EQ(std::string(status.message()), "a temporary file: File too large");
}

}  // namespace
}  // namespace qrt::npy_failures_test
