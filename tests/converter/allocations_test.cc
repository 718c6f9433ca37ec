// SPDX-License-Identifier: Apache-2.0
// Memory that runs out while a model is converted: whichever allocation fails, the conversion ends with
// std::bad_alloc or OUT_OF_MEMORY, makes nothing, and keeps nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/import/frontend.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/tflite_models.h"

// protobuf's parser loses a string where an allocation fails, which is not for qrt to repair.
extern "C" const char* __lsan_default_suppressions() { return "leak:google::protobuf"; }

namespace qrt::convert::allocations_test {
namespace {

enum class Ending { kDone, kOutOfMemory, kOther };

Ending ending_of(const Status& status) {
  if (status.ok()) return Ending::kDone;
  return status.code() == Code::kOutOfMemory ? Ending::kOutOfMemory : Ending::kOther;
}

Ending convert(const char* format, const std::string& file) {
  try {
    Graph graph;
    Report report;
    std::vector<uint8_t> bytes;
    Status status = import_model(*find_frontend(format), file, {}, &graph, &report);
    if (status.ok()) status = run_passes(&graph, nullptr);
    if (status.ok()) status = write_model(graph, &bytes);
    return ending_of(status);
  } catch (const std::bad_alloc&) {
    return Ending::kOutOfMemory;
  }
}

// Fails the first `first` allocations of a conversion one by one, and as many of the others, spread
// over all of it.
void expect_survival(const char* format, const std::string& file, long first, bool frees_all) {
  ASSERT_EQ(convert(format, file), Ending::kDone);  // first use: what the process keeps
  const long start = made;
  ASSERT_EQ(convert(format, file), Ending::kDone);
  const long count = made - start;
  ASSERT_GT(count, first);
  long done_without = 0;  // stable_sort's buffer, which may be missing
  for (long i = 0; i < 2 * first; ++i) {
    const long failing = i < first ? i : count * (i - first) / first, before = live;
    fail_at = failing;
    const Ending ending = convert(format, file);
    fail_at = -1;
    done_without += ending == Ending::kDone;
    ASSERT_NE(ending, Ending::kOther) << "with allocation " << failing << " failing";
    if (frees_all) {
      ASSERT_EQ(live, before) << "leak with allocation " << failing << " failing";
    }
  }
  ASSERT_LE(done_without, first / 10);
}

TEST(Allocations, ConvertingTfliteSurvivesEveryFailure) {
  for (const testing::Bytes& model : testing::sample_tflite_models()) {
    char path[] = "/tmp/qrt_test_XXXXXX";
    close(mkstemp(path));
    std::ofstream(path, std::ios::binary) << std::string(model.begin(), model.end());
    expect_survival("tflite", path, 100, true);
    unlink(path);
    if (HasFatalFailure()) return;
  }
}

// Conversion survives every failing allocation. Leaks of protobuf's parser, which keeps what it has
// begun when memory runs out, are ignored.
TEST(Allocations, ConvertingOnnxSurvivesEveryFailure) {
  expect_survival("onnx", QRT_TESTS_DIR "/models/digits/digits.onnx", 200, false);
}

}  // namespace
}  // namespace qrt::convert::allocations_test
