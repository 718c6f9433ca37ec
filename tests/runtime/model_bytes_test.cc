// SPDX-License-Identifier: Apache-2.0
// A model's bytes: of files and of parts of them, borrowed and copied.
#include "runtime/model_bytes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/support/every_op_model.h"
#include "tests/support/runner.h"

namespace qrt::model_bytes_test {
namespace {

using testing::Bytes;

TEST(ModelBytes, ReadsFilesAndSaysWhyNot) {
  char path[] = "/tmp/qrt_model_bytes_test_XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  qrt_model* model = nullptr;
  qrt_error error = {};
  ASSERT_EQ(qrt_model_load_file(path, nullptr, &model, &error), QRT_INVALID_MODEL);
  ASSERT_EQ(std::string(error.message), std::string(path) + ": the file is empty");
  const Bytes file = testing::every_op_model().build();
  ASSERT_EQ(write(fd, file.data(), file.size()), static_cast<ssize_t>(file.size()));
  close(fd);
  ASSERT_EQ(qrt_model_load_file(path, nullptr, &model, &error), QRT_OK) << error.message;
  qrt_model_destroy(model);
  unlink(path);
  ASSERT_EQ(qrt_model_load_file(path, nullptr, &model, &error), QRT_IO_ERROR);
  ASSERT_EQ(std::string(error.message), std::string(path) + ": No such file or directory");
  ASSERT_EQ(qrt_model_load_file("/tmp", nullptr, &model, &error), QRT_IO_ERROR);
  ASSERT_EQ(std::string(error.message), "/tmp: not a regular file");
}

TEST(ModelBytes, MapsAPartOfAFile) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(tmpfile(), fclose);
  ASSERT_NE(file, nullptr);
  const int fd = fileno(file.get());
  const std::string text = "before model behind";
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const auto part = [&](uint64_t offset, uint64_t length) -> std::string {
    Result<ModelBytes> bytes = ModelBytes::map(fd, offset, length);
    if (!bytes.ok()) return bytes.status().message();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  };
  EXPECT_EQ(part(0, 0), text);
  EXPECT_EQ(part(7, 5), "model");
  EXPECT_EQ(part(7, 0), "model behind");
  EXPECT_EQ(part(7, 12), "model behind");
  EXPECT_EQ(part(7, 13), "the file has 19 bytes, not 13 from offset 7 on");
  EXPECT_EQ(part(18, 0), "d");
  EXPECT_EQ(part(19, 0), "offset 19 is behind the end of the file, which has 19 bytes");
  // A hole: nothing is read.
  constexpr size_t kLimit = kMaxFileBytes;
  ASSERT_EQ(ftruncate(fd, off_t{kLimit} + 8), 0);
  EXPECT_EQ(ModelBytes::map(fd, 8, 0)->size(), kLimit);
  EXPECT_EQ(part(7, 0), std::to_string(kLimit + 1) + " bytes are too many for a model (limit " +
                            std::to_string(kLimit) + ")");
}

// A regular file that says that it has a page, and cannot be mapped, is an error.
TEST(ModelBytes, FilesThatCannotBeMapped) {
  const char* const kPath = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (access(kPath, R_OK) != 0) GTEST_SKIP() << "no such file here";
  Result<ModelBytes> bytes = ModelBytes::map_file(kPath);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), Code::kIoError) << bytes.status().message();
}

TEST(ModelBytes, CopiesOfNothing) {
  Result<ModelBytes> none = ModelBytes::copy(nullptr, 0);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 0u);
}

TEST(ModelBytes, BorrowsAlignedBytesAndCopiesOthers) {
  alignas(64) static uint8_t data[192];
  Result<ModelBytes> aligned = ModelBytes::borrow(data, 128);
  ASSERT_EQ(aligned->data(), data);
  Result<ModelBytes> copied = ModelBytes::borrow(data + 1, 128);
  ASSERT_NE(copied->data(), data + 1);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(copied->data()) % 64, 0u);
}

}  // namespace
}  // namespace qrt::model_bytes_test
