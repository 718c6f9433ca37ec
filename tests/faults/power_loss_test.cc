// SPDX-License-Identifier: Apache-2.0
// Power lost while a tool writes: under the output's name stands the old file or the whole new one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "tests/faults/programs.h"

namespace qrt::power_loss_test {
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
    long left_over = 0;  // files under names that a whole run does not leave
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
        for (const auto& [other, content] : after) left_over += good.count(other) == 0;
      }
    }
    EXPECT_TRUE(was_new) << "the folder is synced after the file has its name";
    // A file that takes another's place has a name of its own for one call.
    if (has_nameless_files()) {
      EXPECT_LE(left_over, static_cast<long>(good.size()));
    }
  }

  bool has_nameless_files() const {
#if defined(O_TMPFILE)
    const int fd = open(out(".").c_str(), O_TMPFILE | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
#else
    return false;
#endif
  }

  // Checks the order in which a whole file is made: without a name, or under a temporary one, it is
  // written, then synced, then it gets its name, then the folder is synced.
  void expect_order(const Program& program, const std::string& name) {
    ASSERT_EQ(run_with("", program).status, 0);
    const std::string folder = out("").substr(0, out("").size() - 1);
    const std::vector<std::string> all = calls();
    const auto find = [&](const std::string& call, size_t from) {
      while (from < all.size() && all[from] != call) ++from;
      return from;
    };
    size_t named = 0;  // the call that gives the name
    const auto names_it = [&](const std::string& call) {
      const size_t target = call.find(" -> " + folder + "/"), end = call.rfind('/');
      return call.rfind("rename ", 0) == 0 && target != std::string::npos &&
             call.substr(end + 1) == name;
    };
    while (named < all.size() && !names_it(all[named])) ++named;
    ASSERT_LT(named, all.size());
    size_t synced = named;
    while (synced > 0 && all[synced].rfind("sync ", 0) != 0) --synced;
    const std::string file = all[synced].substr(strlen("sync "));
    EXPECT_NE(file, folder);
    EXPECT_LT(find("write " + file, 0), synced) << file;
    EXPECT_GE(find("write " + file, synced), named) << file;
    EXPECT_LT(find("sync " + folder, named), all.size());
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
}  // namespace qrt::power_loss_test
