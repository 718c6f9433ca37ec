// SPDX-License-Identifier: Apache-2.0
// The output of qrt_run: comparisons, elements, classes, digests, times; standard input and output;
// models of other formats.
#include <gtest/gtest.h>

#include "runtime/tools/elements.h"
#include "runtime/tools/hash.h"
#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/model_builder.h"
#include "tests/support/zip.h"

namespace qrt::qrt_run_output_test {
namespace {

using testing::CommandResult;

// y[batch, 5] = 255 - x, and the same as z.
class RunOutput : public testing::CommandTest {
 protected:
  RunOutput() {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 5}, DType::kUInt8, "x");
    const uint32_t y = m.output({-1, 5}, DType::kUInt8, "y"),
                   z = m.output({-1, 5}, DType::kUInt8, "z");
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
    m.at(y).quantization = std::make_unique<fb::QuantizationT>();
    m.at(y).quantization->scale = {0.5f};
    m.at(y).quantization->zero_point = {200};
    m.at(x).quantization = std::make_unique<fb::QuantizationT>();
    m.at(x).quantization->scale = {0.25f};
    m.at(x).quantization->zero_point = {3};
    for (const uint32_t output : {y, z}) {
      fb::LutOptionsT lut;
      lut.table = m.buffer(table);
      m.op(std::move(lut), {x}, {output});
    }
    model_ = write("model.qrt", m.build());
    x_ = npy("x.npy", {1, 5}, {10, 55, 7, 55, 200});
    y_ = npy("y.npy", {1, 5}, {245, 200, 248, 200, 55});
  }

  std::string npy(const std::string& name, const Shape& shape, const std::vector<uint8_t>& data) {
    EXPECT_TRUE(tool::write_npy(path(name), DType::kUInt8, shape, data.data(), data.size()).ok());
    return path(name);
  }

  std::string stdout_of(std::vector<std::string> arguments, int status = 0) {
    arguments.insert(arguments.begin(), {model_, x_});
    const CommandResult r = run("qrt_run", arguments);
    EXPECT_EQ(r.status, status) << r.err;
    return r.out;
  }
  // Checks a run whose output, as of stdout_of(), holds `part`.
  void expect_output(const std::vector<std::string>& arguments, const std::string& part,
                     int status = 0) {
    const std::string out = stdout_of(arguments, status);
    EXPECT_NE(out.find(part), std::string::npos) << out;
  }

  std::string model_, x_, y_;
};

TEST_F(RunOutput, ComparesBitForBit) {
  expect_output({"--expect", y_, "--expect", y_},
                "expect output_0 'y': all 5 equal\nexpect output_1 'z': all 5 equal\n");
  expect_output({"--expect", "z=" + y_, "--expect-some"}, "expect output_1 'z': all 5 equal\n");
  const std::string other = npy("other.npy", {1, 5}, {245, 200, 250, 200, 50});
  expect_output({"--expect", other, "--expect", y_},
                "expect output_0 'y': 2 of 5 differ, the first at 2: 248, expected 250; greatest "
                "difference 5\n",
                1);
  // By name, then in order; one that differs is enough for the status.
  expect_output({"--expect", "y=" + y_, "--expect", other}, "expect output_1 'z': 2 of 5 differ",
                1);
}

TEST_F(RunOutput, LeavesNoOutputAndNoArrayOutUnasked) {
  const std::vector<uint8_t> values = {245, 200, 248, 200, 55};
  const auto archive = [&](const std::string& name, const std::vector<std::string>& arrays) {
    std::vector<testing::ZipMember> members;
    for (const std::string& array : arrays)
      members.push_back(
          {array + ".npy", tool::npy_content(DType::kUInt8, {1, 5}, values.data(), 5)});
    return write(name, testing::zip(members, false));
  };
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> arguments = {model_, x_, "--output-dir", path("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_failure("qrt_run", arguments, 2, part);
  };
  const std::string all = archive("all.npz", {"y", "z"});
  expect_output({"--expect", all},
                "expect output_0 'y': all 5 equal\nexpect output_1 'z': all 5 equal\n");
  // Names on both sides, and how to do without.
  const std::string misspelt = archive("misspelt.npz", {"y", "Z", "w"});
  refused({"--expect", misspelt}, "--expect: 2 arrays are for no output of the model: '" +
                                      path("misspelt.npz[Z]") + "', '" + path("misspelt.npz[w]") +
                                      "'; 1 output has no array: 'z'; the model has 2 outputs: "
                                      "'y', 'z'; --expect-some takes those that match");
  refused({"--expect", archive("more.npz", {"y", "z", "w"})}, "1 array is for no output");
  refused({"--expect", y_}, "1 output has no array: 'z'");
  refused({"--expect", "y=" + y_}, "1 output has no array: 'z'");
  refused({"--expect", archive("none.npz", {"a", "b"})}, "2 arrays are for no output");
  refused({"--expect", y_, "--expect", y_, "--expect", y_}, "1 array is for no output");
  expect_output({"--expect", misspelt, "--expect-some"}, "expect output_0 'y': all 5 equal\n");
  expect_output({"--expect", y_, "--expect-some"}, "expect output_0 'y': all 5 equal\n");
  refused({"--expect", path("none.npz"), "--expect-some"}, "2 outputs have no array: 'y', 'z'");
  refused({"--expect-some"}, "--expect-some needs --expect");
}

// Expected files may be those that outputs overwrite: they are read first, and not compared with themselves.
TEST_F(RunOutput, ExpectationsMayStandWhereOutputsGo) {
  const std::string other = npy("output_0.npy", {1, 5}, {245, 200, 250, 200, 50});
  const std::vector<std::string> arguments = {"--expect", other,          "--expect",
                                              y_,         "--output-dir", path("")};
  expect_output(arguments, "expect output_0 'y': 2 of 5 differ", 1);
  expect_output(arguments, "output_0 'y': all 5 equal");
}

TEST_F(RunOutput, RefusesExpectationsThatDoNotFit) {
  const std::string wide = npy("wide.npy", {1, 6}, {1, 2, 3, 4, 5, 6});
  const auto refused = [&](std::vector<std::string> arguments, int status,
                           const std::string& part) {
    arguments.insert(arguments.begin(), {model_, x_, "--output-dir", path("out")});
    expect_failure("qrt_run", arguments, status, part);
  };
  refused({"--expect", wide, "--expect", y_}, 3,
          "it holds uint8 [1, 6], output 0 'y' is uint8 [1, 5]");
  refused({"--expect", path("none.npy"), "--expect", y_}, 5, "none.npy");
  EXPECT_EQ(stdout_of({"--expect", y_, "--expect", y_, "--expect", y_}, 2).find("greatest"),
            std::string::npos);
}

TEST_F(RunOutput, PrintsElements) {
  expect_output({"--print", "3"}, "\n  245 200 248 ...\noutput_1");
  expect_output({"--print", "9"}, "\n  245 200 248 200 55\noutput_1");
}

TEST_F(RunOutput, PrintsWhatQuantisedElementsStandFor) {
  expect_output({"--print", "3", "--dequantize"}, "\n  22.5 0 24 ...\noutput_1");
  expect_output({"--print", "3", "--dequantize"}, "\n  245 200 248 ...\n");  // z has no scale
  expect_output({"--top", "2", "--dequantize"}, "\n   1.     2  24\n   2.     0  22.5\n");
  expect_failure("qrt_run", {model_, x_, "--dequantize"}, 2, "needs --print or --top");
}

TEST_F(RunOutput, RealNumbersForIntegersAreToldHowToQuantise) {
  const float reals[5] = {};
  ASSERT_TRUE(tool::write_npy(path("f.npy"), DType::kFloat32, {1, 5}, reals, sizeof reals).ok());
  expect_failure(
      "qrt_run", {model_, path("f.npy")}, 3,
      "it holds float32 [1, 5], expected input 0 'x' (uint8 [-1, 5]): quantise it, as by "
      "numpy's (x / 0.25).round() + 3, clipped, as uint8");
}

TEST_F(RunOutput, PrintsTheGreatestOfEachRow) {
  const std::string labels = write("labels.txt", "ant\nbee\ncat\r\ndog\nelk\n");
  expect_output({"--top", "3", "--labels", labels},
                "\n   1.     2  248            cat\n   2.     0  245            ant\n"
                "   3.     1  200            bee\n");
  const std::string two = npy("two.npy", {2, 5}, {255, 255, 255, 255, 0, 254, 255, 255, 255, 255});
  const CommandResult r = run("qrt_run", {model_, two, "--top", "1", "--labels", labels});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("  [0, *]\n   1.     4  255            elk\n"
                       "  [1, *]\n   1.     0  1              ant\n"),
            std::string::npos)
      << r.out;
  expect_failure("qrt_run", {model_, x_, "--top", "1", "--labels", write("few.txt", "a\nb\n")}, 3,
                 "holds 2 labels, but no output has as many classes: output 0 'y' is [1, 5]");
  expect_failure("qrt_run", {model_, x_, "--labels", labels}, 2, "--labels needs --top");
}

TEST_F(RunOutput, PrintsDigestsAndTimes) {
  const std::vector<uint8_t> y = {245, 200, 248, 200, 55};
  expect_output({"--sha256"},
                "output_0 'y' uint8 [1, 5] sha256:" + tool::sha256(y.data(), y.size()) + "\n");
  expect_output({"--sha256", "--output-dir", path("out")}, "sha256:");
  EXPECT_NE(read(path("out/output_1.npy")), "");
  expect_output({"--time"}, "\ntime load ");
}

TEST_F(RunOutput, ReadsStandardInputAndWritesStandardOutput) {
  const std::string command = std::string(QRT_BIN_DIR) + "/qrt_run " + model_ +
                              " - --output-dir - <" + x_ + " >" + path("both.npy");
  ASSERT_EQ(system(command.c_str()), 0);
  const std::string one = read(y_);
  EXPECT_EQ(read(path("both.npy")), one + one);
  ASSERT_EQ(system(("head -c 100 " + x_ + " | " + QRT_BIN_DIR + "/qrt_run " + model_ + " - 2>" +
                    path("message") + "; test $? = 3")
                       .c_str()),
            0);
  EXPECT_NE(read(path("message")).find("standard input: damaged"), std::string::npos);
  expect_failure("qrt_run", {model_, "-", "--input", "x=-"}, 2, "one file can come from");
  expect_failure("qrt_run", {model_, x_, "--output-dir", "-", "--time"}, 2,
                 "--output-dir - writes arrays");
}

TEST_F(RunOutput, TakesNoMoreMemoryThanAllowed) {
  EXPECT_EQ(stdout_of({"--max-memory", "1000000"}), stdout_of({}));
  expect_failure("qrt_run", {model_, x_, "--max-memory", "100"}, 5, "100");
}

TEST_F(RunOutput, SaysHowModelsOfOtherFormatsAreConverted) {
  for (const char* tool : {"qrt_run", "qrt_bench", "qrt_inspect"}) {
    SCOPED_TRACE(tool);
    const std::string onnx = write("net.onnx", std::string("\x08\x07\x3a\x02\x0a\x00", 6));
    expect_failure(tool, {onnx}, 3, "is an ONNX model, not a .qrt file");
    expect_failure(tool, {onnx}, 3, "qrt_convert '" + onnx + "' -o '" + path("net.qrt") + "'");
    expect_failure(tool, {write("net", std::string("\x1c\0\0\0TFL3\0\0", 10))}, 3,
                   "is a TFLite model");
    expect_failure(tool, {write("a.espdl", "EDL2............")}, 3, "is an ESP-DL model");
  }
}

TEST(Sha256, HasTheDigestsOfTheStandard) {
  EXPECT_EQ(tool::sha256("", 0),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(tool::sha256("abc", 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  EXPECT_EQ(tool::sha256(two_blocks.data(), two_blocks.size()),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const std::string million(1000000, 'a');
  EXPECT_EQ(tool::sha256(million.data(), million.size()),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Elements, ReadsEveryKindOfType) {
  const uint8_t bytes[8] = {0x80, 0xbf, 0x00, 0x3c, 0xff, 0xff, 0xff, 0xff};
  EXPECT_EQ(tool::Elements(DType::kBFloat16, bytes, 1).text(0), "-1");
  EXPECT_EQ(tool::Elements(DType::kFloat16, bytes + 2, 1).text(0), "1");
  EXPECT_EQ(tool::Elements(DType::kInt64, bytes, 1).text(0), "-3288285312");
  EXPECT_EQ(tool::Elements(DType::kInt4, bytes, 3).text(1), "-8");
  EXPECT_EQ(tool::Elements(DType::kUInt2, bytes + 1, 4).text(2), "3");
  EXPECT_EQ(tool::Elements(DType::kFloat8E4M3FN, bytes + 3, 1).text(0), "1.5");
  const float a[3] = {0.0f, 1.0f, 0.1f}, b[3] = {-0.0f, 1.0f, 0.1f};
  EXPECT_EQ(tool::compare(DType::kFloat32, a, b, 3).different, 1u);
  EXPECT_EQ(tool::Elements(DType::kFloat32, a, 3).text(2), "0.100000001");
}

}  // namespace
}  // namespace qrt::qrt_run_output_test
