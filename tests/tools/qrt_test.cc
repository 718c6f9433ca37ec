// SPDX-License-Identifier: Apache-2.0
// qrt, the one name for the tools, and what all tools have in common: models from standard input, --quiet, NO_COLOR.
#include <gtest/gtest.h>

#include "runtime/tools/npy.h"
#include "runtime/tools/npz.h"
#include "tests/support/command.h"
#include "tests/support/float_models.h"
#include "tests/support/model_builder.h"

namespace qrt::qrt_test {
namespace {

using testing::CommandResult;

class Qrt : public testing::CommandTest {
 protected:
  Qrt() {
    testing::ModelBuilder m;
    const uint32_t x = m.input({1, 3}, DType::kUInt8, "x");
    const uint32_t y = m.output({1, 3}, DType::kUInt8, "scores/1");
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
    fb::LutOptionsT lut;
    lut.table = m.buffer(table);
    m.op(std::move(lut), {x}, {y});
    model_ = write("model.qrt", m.build());
    const std::string data = "\1\2\3";
    EXPECT_TRUE(tool::write_npy(path("x.npy"), DType::kUInt8, {1, 3}, data.data(), 3).ok());
    onnx_ = write("float.onnx", testing::float_models::image().bytes());
  }

  // Runs a line of a shell in the test's folder.
  CommandResult shell(const std::string& line) const {
    const std::string whole = "cd '" + path("") + "' && export PATH='" + QRT_BIN_DIR +
                              "':\"$PATH\" && { " + line + "\n} >'" + path("stdout") + "' 2>'" +
                              path("stderr") + "'";
    const int status = std::system(whole.c_str());
    return {WEXITSTATUS(status), read(path("stdout")), read(path("stderr"))};
  }

  std::string model_, onnx_;
};

TEST_F(Qrt, StartsTheToolBesideIt) {
  const CommandResult direct = run("qrt_run", {model_, path("x.npy")}),
                      through = run("qrt", {"run", model_, path("x.npy")});
  ASSERT_EQ(through.status, 0) << through.err;
  EXPECT_EQ(through.out, direct.out);
  for (const char* name : {"convert", "quantize", "run", "bench", "inspect", "diff", "doctor"}) {
    const std::string tool = std::string("qrt_") + name;
    EXPECT_EQ(run("qrt", {name, "--help"}).out, run(tool, {"--help"}).out);
    EXPECT_EQ(run("qrt", {"help", name}).out, run(tool, {"--help"}).out);
    EXPECT_EQ(run("qrt", {tool, "--help"}).out, run(tool, {"--help"}).out);
    EXPECT_EQ(run("qrt", {name}).status, 2) << name;
    EXPECT_EQ(run("qrt", {name, path("none")}).status,
              name == std::string("quantize")                                 ? 2
              : name == std::string("convert") || name == std::string("diff") ? 2
                                                                              : 5);
  }
  EXPECT_EQ(run("qrt", {"--version"}).out, run("qrt_run", {"--version"}).out);
}

TEST_F(Qrt, WorksThroughLinksAndFromAnyFolder) {
  const CommandResult r = shell("mkdir bin && ln -s '" + std::string(QRT_BIN_DIR) +
                                "/qrt' bin/q && PATH=bin:$PATH q run model.qrt x.npy");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(shell("qrt run 'x y' \"it's\"").err,
            "qrt_run: error: x y: No such file or directory\n");
}

TEST_F(Qrt, HelpsAndSuggests) {
  const CommandResult help = run("qrt", {"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out, run("qrt", {"help"}).out);
  EXPECT_EQ(help.out, run("qrt", {"-h"}).out);
  for (const char* name : {"convert", "quantize", "run", "bench", "inspect", "diff", "doctor"})
    EXPECT_NE(help.out.find("\n  " + std::string(name) + " "), std::string::npos) << name;
  for (size_t at = 0, end; (end = help.out.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, 80u) << help.out.substr(at, end - at);
  expect_failure("qrt", {}, 2,
                 "qrt: error: a command is missing: qrt COMMAND [ARGUMENTS] (see qrt --help)\n");
  expect_failure("qrt", {"convrt"}, 2, "did you mean convert?");
  expect_failure("qrt", {"help", "inspct"}, 2, "did you mean inspect?");
  expect_failure("qrt", {"benchmark"}, 2,
                 "they are doctor, convert, quantize, run, bench, inspect, diff");
  expect_failure("qrt", {"model.onnx"}, 2, "qrt doctor 'model.onnx' tells what to do with a file");
}

TEST_F(Qrt, SaysWhichProgramIsMissing) {
  const CommandResult r =
      shell("mkdir alone && cp '" + std::string(QRT_BIN_DIR) + "/qrt' alone/ && alone/qrt run m");
  EXPECT_EQ(r.status, 5);
  EXPECT_NE(
      r.err.find("alone/qrt_run: No such file or directory: qrt run needs this program beside qrt"),
      std::string::npos)
      << r.err;
}

TEST_F(Qrt, ModelsMayComeFromStandardInput) {
  const std::string expected = shell("qrt_run model.qrt x.npy").out;
  EXPECT_EQ(shell("cat model.qrt | qrt_run - x.npy").out, expected);
  EXPECT_EQ(shell("cat x.npy | qrt_run model.qrt -").out, expected);
  const CommandResult inspected = shell("cat model.qrt | qrt_inspect -");
  EXPECT_NE(inspected.out.find("standard input"), std::string::npos)
      << inspected.out << inspected.err;
  EXPECT_EQ(inspected.out.find("/proc/"), std::string::npos) << inspected.out;
  EXPECT_EQ(shell("cat model.qrt | qrt_inspect - --ops-list").out, "Lut\n");
  const CommandResult bench = shell("cat model.qrt | qrt_bench - --seconds 0.01 --format json");
  EXPECT_NE(bench.out.find("\"standard input\""), std::string::npos) << bench.out << bench.err;
  EXPECT_EQ(shell("cat model.qrt | qrt_doctor - --seconds 0").status, 0);
  ASSERT_EQ(
      shell("qrt_quantize float.onnx --calibration random -o a.qrt --onnx q.onnx --force").status,
      0);
  ASSERT_EQ(shell("cat float.onnx | qrt_quantize - --calibration random -o b.qrt --force").status,
            0);
  EXPECT_EQ(read(path("a.qrt")), read(path("b.qrt")));
  ASSERT_EQ(shell("qrt_convert q.onnx -o c.qrt && cat q.onnx | qrt_convert - -o - >d.qrt").status,
            0);
  EXPECT_EQ(read(path("c.qrt")), read(path("d.qrt")));
  EXPECT_EQ(shell("qrt_convert - -o e.qrt </dev/null").err,
            "qrt_convert: error: standard input: the file is empty\n");
  EXPECT_EQ(shell("echo '# text' | qrt_run - x.npy").status, 3);
  EXPECT_EQ(shell("qrt_inspect - - --ops-list <model.qrt").status, 2);
}

TEST_F(Qrt, QuietKeepsNotesAndWarningsBack) {
  const std::string warned = "QRT_ISA=none qrt_run model.qrt x.npy";
  EXPECT_NE(shell(warned).err.find("qrt_run: warning: ignored: QRT_ISA"), std::string::npos);
  EXPECT_EQ(shell(warned + " --quiet").err, "");
  EXPECT_EQ(shell(warned + " --quiet").out, shell("qrt_run model.qrt x.npy").out);
  EXPECT_NE(shell("qrt_run --quiet none.qrt").err.find("No such file"), std::string::npos);
}

// A terminal, as script makes one, has colours unless NO_COLOR is set.
TEST_F(Qrt, ColoursAreForTerminalsThatWantThem) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "script is missing";
  const std::string failing = "script -qec 'qrt_run none.qrt' /dev/null";
  EXPECT_NE(shell(failing).out.find("\033[1;31merror:\033[0m"), std::string::npos);
  EXPECT_EQ(shell("NO_COLOR=1 " + failing).out.find('\033'), std::string::npos);
  EXPECT_EQ(shell("qrt_run none.qrt").err.find('\033'), std::string::npos);
}

TEST_F(Qrt, NumbersAreTheSameInEveryLocale) {
  const std::string text = shell("qrt_run model.qrt x.npy --print 3 && qrt_inspect model.qrt").out;
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C", "ar_EG.UTF-8"})
    EXPECT_EQ(shell("export LC_ALL=" + std::string(locale) +
                    "; qrt_run model.qrt x.npy --print 3 && qrt_inspect model.qrt")
                  .out,
              text);
}

TEST_F(Qrt, OutputsGoIntoOneFileByTheirNames) {
  ASSERT_EQ(shell("qrt_run model.qrt x.npy -o y.npz").status, 0);
  std::vector<std::string> names;
  ASSERT_TRUE(tool::list_npz(path("y.npz"), &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"scores/1"});
  tool::NpyFile file;
  tool::NpyArray array;
  ASSERT_TRUE(tool::open_npz_member(path("y.npz"), "scores/1", &file).ok());
  ASSERT_TRUE(tool::read_all(file, &array).ok());
  EXPECT_EQ(array.data, (std::vector<uint8_t>{254, 253, 252}));
  EXPECT_EQ(shell("qrt_run model.qrt x.npy --expect y.npz").status, 0);
  EXPECT_EQ(shell("qrt_run model.qrt x.npy -o all.npz --dump-all").status, 0);
  EXPECT_EQ(shell("qrt_run model.qrt x.npy -o x.npy").status, 2);
  EXPECT_EQ(shell("qrt_run model.qrt x.npy -o y.npz --output-dir d").status, 2);
  EXPECT_EQ(shell("qrt_run model.qrt --input x=y.npz -o y.npz").status, 2);
  EXPECT_EQ(shell("qrt_run model.qrt x.npy -o no/y.npz").status, 5);
  if (std::system("command -v python3 >/dev/null") == 0) {
    EXPECT_EQ(shell("python3 -c \"import zipfile; z = zipfile.ZipFile('y.npz'); assert z.testzip() "
                    "is None; assert z.namelist() == ['scores/1.npy']\"")
                  .status,
              0);
  }
}

TEST_F(Qrt, FoldersForOutputsAreMade) {
  ASSERT_EQ(
      shell("qrt_run model.qrt x.npy --output-dir a/b/c && test -f a/b/c/output_0.npy").status, 0);
  ASSERT_EQ(
      shell("qrt_run model.qrt x.npy --output-dir a/b/d/ && test -f a/b/d/output_0.npy").status, 0);
  EXPECT_EQ(shell("qrt_run model.qrt x.npy --output-dir x.npy/b").err,
            "qrt_run: error: x.npy/b: Not a directory\n");
  EXPECT_EQ(shell("qrt_run model.qrt x.npy --output-dir x.npy").err,
            "qrt_run: error: x.npy: Not a directory\n");
}

// The cause stands at a message's end, however long the path is.
TEST_F(Qrt, LongPathsLeaveTheCause) {
  std::string folder;
  for (int i = 0; i < 12; ++i) folder += std::string(200, static_cast<char>('a' + i)) + "/";
  const std::string make = "mkdir -p '" + folder + "' && cp x.npy '" + folder + "m.qrt' && ";
  for (const char* tool :
       {"qrt_run", "qrt_inspect", "qrt_bench", "qrt_convert -o m.qrt", "qrt_doctor"}) {
    const std::string absent = shell(std::string(tool) + " '" + folder + "absent'").err;
    EXPECT_NE(absent.find("/absent: No such file or directory\n"), std::string::npos) << absent;
  }
  EXPECT_NE(shell(make + "qrt_run '" + folder + "m.qrt'").err.find("/m.qrt: is a NumPy array"),
            std::string::npos);
  EXPECT_NE(shell("mkdir -p '" + folder + "' && head -c 300 model.qrt >'" + folder +
                  "cut' && qrt_run '" + folder + "cut'")
                .err.find("/cut: the file is damaged"),
            std::string::npos);
}

}  // namespace
}  // namespace qrt::qrt_test
