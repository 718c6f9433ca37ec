// SPDX-License-Identifier: Apache-2.0
// Whatever the system refuses the library while it loads a model, makes a session and runs it: the status
// that says so, or the result, and nothing is kept.
#include <gtest/gtest.h>
#include <qrt/qrt.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/model_bytes.h"
#include "tests/faults/faults.h"
#include "tests/support/every_op_model.h"

namespace qrt::library_test {
namespace {

// The resources of the system that this process holds.
struct Holdings {
  long blocks = faults_live_blocks();
  long files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  long mappings = lines("/proc/self/maps", "model.qrt");

  static long entries(const char* folder) {
    const std::filesystem::directory_iterator all(folder);
    return std::distance(begin(all), end(all));
  }
  static long lines(const char* path, const char* part) {
    std::ifstream file(path);
    long count = 0;
    for (std::string line; std::getline(file, line);) count += line.find(part) != line.npos;
    return count;
  }
};
bool operator==(const Holdings& a, const Holdings& b) {
  return a.blocks == b.blocks && a.files == b.files && a.threads == b.threads &&
         a.mappings == b.mappings;
}

struct Outcome {
  qrt_status status = QRT_OK;
  std::string message;
  std::vector<uint8_t> outputs;
};

class Library : public ::testing::Test {
 protected:
  Library() {
    char name[] = "/tmp/qrt_test_XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/model.qrt";
    const std::vector<uint8_t> file = testing::every_op_model().build();
    std::ofstream(path_).write(reinterpret_cast<const char*>(file.data()),
                               static_cast<std::streamsize>(file.size()));
    // Room beforehand: what fails is the library's.
    outcome_.outputs.reserve(1 << 20);
    outcome_.message.reserve(sizeof(qrt_error));
  }
  ~Library() override { std::filesystem::remove_all(folder_); }

  // From the file to the outputs and the end, while calls of the system fail.
  const Outcome& use(const char* fault, size_t threads) {
    outcome_.outputs.clear();
    qrt_model* model = nullptr;
    qrt_session* session = nullptr;
    qrt_session_options options;
    qrt_struct_init(&options);
    options.threads = threads;
    options.profile = 1;
    options.batch = 3;
    qrt_error error = {};
    faults_start(fault);
    qrt_status status = qrt_model_load_file(path_.c_str(), nullptr, &model, &error);
    if (status == QRT_OK) status = qrt_session_create(model, &options, &session, &error);
    if (status == QRT_OK) status = qrt_session_run(session, nullptr);
    faults_stop();
    outcome_.status = status;
    outcome_.message = error.message;
    qrt_tensor_info info;
    qrt_struct_init(&info);
    for (size_t i = 0; status == QRT_OK && qrt_session_output_info(session, i, &info) == QRT_OK;
         ++i) {
      const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session, i));
      outcome_.outputs.insert(outcome_.outputs.end(), data, data + info.bytes);
    }
    qrt_session_destroy(session);
    qrt_model_destroy(model);
    return outcome_;
  }

  // Checks that the program survives when a call of `kind` fails, for every call: alone, and with
  // all that follow.
  void expect_survival(const char* kind, size_t threads, qrt_status failed, long at_least) {
    use(nullptr, threads);  // first use: what the process keeps
    const Outcome good = use(nullptr, threads);
    ASSERT_EQ(good.status, QRT_OK) << good.message;
    const long count = faults_count(kind);
    EXPECT_GE(count, at_least);
    for (const char* mode : {"once", "on"}) {
      for (long i = 0; i < count; ++i) {
        const std::string fault = std::string(kind) + ":" + std::to_string(i) + ":" + mode;
        const Holdings before;
        const Outcome& outcome = use(fault.c_str(), threads);
        ASSERT_TRUE(Holdings() == before) << fault << " leaves something behind";
        ++injected_;
        if (outcome.status == QRT_OK) {
          EXPECT_EQ(outcome.outputs, good.outputs) << fault;
        } else {
          EXPECT_EQ(outcome.status, failed) << fault << ": " << outcome.message;
          EXPECT_NE(outcome.message, "") << fault;
        }
      }
    }
    printf("%s: %ld faults\n", kind, injected_);
  }

 private:
  std::string folder_, path_;
  Outcome outcome_;
  long injected_ = 0;
};

TEST_F(Library, Allocations) { expect_survival("alloc", 1, QRT_OUT_OF_MEMORY, 100); }
TEST_F(Library, AllocationsOfThreads) { expect_survival("alloc", 2, QRT_OUT_OF_MEMORY, 100); }
TEST_F(Library, Mappings) { expect_survival("map", 1, QRT_OUT_OF_MEMORY, 1); }
TEST_F(Library, Threads) {
  const Outcome good = use(nullptr, 3);
  for (const char* fault : {"thread:0:once", "thread:1:once", "thread:0:on"}) {
    const Holdings before;
    const Outcome& outcome = use(fault, 3);
    EXPECT_TRUE(Holdings() == before) << fault << " leaves something behind";
    EXPECT_EQ(outcome.status, QRT_OK) << fault;
    EXPECT_EQ(outcome.outputs, good.outputs) << fault;
  }
}

TEST_F(Library, Files) {
  expect_survival("open", 1, QRT_IO_ERROR, 1);
  expect_survival("stat", 1, QRT_IO_ERROR, 1);
}

TEST_F(Library, CopiesOfModels) {
  const uint8_t bytes[64] = {};
  faults_start("alloc:0:once");
  Result<ModelBytes> copy = ModelBytes::copy(bytes, sizeof bytes);
  faults_stop();
  ASSERT_FALSE(copy.ok());
  EXPECT_EQ(copy.status().code(), Code::kOutOfMemory);
  EXPECT_STREQ(copy.status().message(), "no memory for 64 model bytes");
}

}  // namespace
}  // namespace qrt::library_test
