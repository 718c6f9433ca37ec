// Power lost while a tool writes: under the output's name stands the old file or the whole new one.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/faults/programs.h"

namespace qrt {
namespace {

using testing::Files;
using testing::Program;

class PowerLoss : public testing::ProgramTest {
 protected:
  // Ends the program before each of its calls that change files, and in the middle of each write; what was written
  // and not synced is gone.
  void expect_old_or_new(const Program& program, const std::string& name) {
    ASSERT_EQ(run_with("", program).status, 0);
    const Files good = files();
    const long cuts = count("file");
    ASSERT_GE(cuts, 5);
    const Files old = {{name, "what was there before"}};
    bool was_new = false;
    for (const Files& before : {Files(), old}) {
      for (long i = 0; i < cuts; ++i) {
        const std::string fault = "file:" + std::to_string(i) + ":cut";
        ASSERT_EQ(run_with(fault, program, before).status, kPowerCut);
        const Files after = files();
        const auto file = after.find(name);
        const bool is_old = before.empty() ? file == after.end()
                                           : file != after.end() && file->second == before.at(name);
        const bool is_new = file != after.end() && file->second == good.at(name);
        EXPECT_TRUE(is_old || is_new) << fault;
        was_new |= is_new;
      }
    }
    EXPECT_TRUE(was_new) << "the folder is synced after the file has its name";
  }

  // A whole file's way: under a name of its own it is written and synced, then it gets its name, then
  // the folder is synced; whatever was written before it.
  void expect_order(const Program& program, const std::string& name) {
    ASSERT_EQ(run_with("", program).status, 0);
    const std::string folder = out("").substr(0, out("").size() - 1), temporary = name + ".";
    std::vector<std::string> way;
    for (const std::string& call : calls()) {
      const std::string kind = call.substr(0, call.find(' '));
      const bool is_folder = call == "sync " + folder;
      if (kind == "write" || kind == "sync" || kind == "rename")
        if (is_folder ? !way.empty() : call.find(temporary) != std::string::npos)
          way.push_back(is_folder ? "sync folder" : kind);
    }
    way.erase(std::unique(way.begin(), way.end()), way.end());  // a large file has several writes
    EXPECT_EQ(way, (std::vector<std::string>{"write", "sync", "rename", "sync folder"}));
  }
};

TEST_F(PowerLoss, Convert) {
  const Program program = {"qrt_convert", {digits("digits.onnx"), "-o", out("m.qrt")}};
  expect_old_or_new(program, "m.qrt");
  expect_order(program, "m.qrt");
}

TEST_F(PowerLoss, Quantize) {
  const Program program = {"qrt_quantize", small_quantization()};
  for (const char* name : {"m.qrt", "m.onnx"}) {
    expect_old_or_new(program, name);
    expect_order(program, name);
  }
}

TEST_F(PowerLoss, Run) {
  const Program program = {"qrt_run", {digits_qrt(), images(), "--output-dir", out(".")}};
  expect_old_or_new(program, "output_0.npy");
  expect_order(program, "output_0.npy");
}

}  // namespace
}  // namespace qrt
