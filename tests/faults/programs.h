// SPDX-License-Identifier: Apache-2.0
// Programs with a call of the system that fails: what they leave behind, compared with a run in which
// nothing fails.
#ifndef QRT_TESTS_FAULTS_PROGRAMS_H_
#define QRT_TESTS_FAULTS_PROGRAMS_H_

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/tools/npy.h"
#include "tests/faults/faults.h"
#include "tests/quantize/network.h"
#include "tests/support/command.h"
#include "tests/support/cvm_models.h"
#include "tests/support/espdl_models.h"
#include "tests/support/tflite_models.h"
#include "tests/support/zip.h"

namespace qrt::testing {

// By name below the output folder.
using Files = std::map<std::string, std::string>;

struct Program {
  std::string tool;
  std::vector<std::string> arguments;
  bool is_repeatable = true;  // a second run prints and writes the same bytes
};

class ProgramTest : public CommandTest {
 protected:
  ProgramTest() {
    folder_ = path("out");
    std::filesystem::create_directory(folder_);
  }

  // Returns a file that a program writes.
  std::string out(const std::string& name) const { return folder_ + "/" + name; }

  static std::string digits(const std::string& name) {
    return QRT_TESTS_DIR "/models/digits/" + name;
  }
  std::string digits_qrt() const {
    EXPECT_EQ(run("qrt_convert", {digits("digits.onnx"), "-o", path("digits.qrt")}).status, 0);
    return path("digits.qrt");
  }
  // Two images.
  std::string images() const {
    std::string npy = read(digits("images.npy"));
    const size_t batch = npy.find("360");
    npy.replace(batch, 3, "  2");
    return write("two.npy", npy.substr(0, 128 + 2 * 64 * sizeof(float)));
  }

  // Returns a quantiser's arguments: a small network, four samples.
  std::vector<std::string> small_quantization() const {
    std::mt19937 random(7);
    const std::string model = write("float.onnx", small_network(&random, 0.3f));
    const std::vector<float> values = normal(&random, 4 * 3 * 8 * 8, 1);
    EXPECT_TRUE(tool::write_npy(path("samples.npy"), DType::kFloat32, {4, 3, 8, 8}, values.data(),
                                values.size() * 4)
                    .ok());
    return {model,        "--calibration", path("samples.npy"), "--threads", "1", "-o",
            out("m.qrt"), "--onnx",        out("m.onnx")};
  }

  // Runs it with the fault, from an output folder that holds `before`.
  CommandResult run_with(const std::string& fault, const Program& program,
                         const Files& before = {}) const {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    for (const auto& [name, content] : before) std::ofstream(out(name)) << content;
    setenv("LD_PRELOAD", QRT_FAULTS_LIBRARY, 1);
    setenv("QRT_FAULT", fault.c_str(), 1);
    setenv("QRT_FAULT_LOG", path("log").c_str(), 1);
    const CommandResult result = run(program.tool, program.arguments);
    for (const char* name : {"LD_PRELOAD", "QRT_FAULT", "QRT_FAULT_LOG"}) unsetenv(name);
    return result;
  }

  Files files() const {
    Files all;
    for (const auto& f : std::filesystem::recursive_directory_iterator(folder_))
      if (f.is_regular_file()) all[f.path().string().substr(folder_.size() + 1)] = read(f.path());
    return all;
  }

  // Returns the last run's calls that touch files.
  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    std::istringstream log(read(path("log")));
    for (std::string line; std::getline(log, line);)
      if (line.rfind("calls ", 0) != 0) lines.push_back(line);
    return lines;
  }
  long count(const std::string& kind) const {
    const std::string log = read(path("log")), key = "calls " + kind + " ";
    const size_t at = log.rfind(key);
    return at == std::string::npos ? 0 : atol(log.c_str() + at + key.size());
  }

 private:
  std::string folder_;
};

// Returns which of `count` calls fail: where they are few, all of them; else the first, where a program has most to
// set up, and so many distributed evenly over the others: QRT_FAULTS of them, if it is set ("all" or a number).
inline std::vector<long> chosen(long count, long first, long spread) {
  std::vector<long> calls;
  bool takes_all = false;
  if (const char* wanted = getenv("QRT_FAULTS")) {
    takes_all = std::string(wanted) == "all";
    spread = atol(wanted);
  }
  takes_all |= count <= first + spread;
  for (long i = 0; i < (takes_all ? count : first); ++i) calls.push_back(i);
  if (!takes_all)
    for (long i = 0; i < spread; ++i) calls.push_back(first + (count - first) * i / spread);
  return calls;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_FAULTS_PROGRAMS_H_
