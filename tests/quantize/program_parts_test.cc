// SPDX-License-Identifier: Apache-2.0
// qrt_quantize on parts of models: what is cut off, what is refused, what is quantised already; and the user's own measure.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "runtime/tools/npy.h"
#include "tests/quantize/network.h"
#include "tests/support/command.h"

namespace qrt::program_parts_test {
namespace {

using testing::Attr;
using testing::CommandResult;
using testing::OnnxBuilder;

class QuantizeParts : public testing::CommandTest {
 protected:
  std::vector<float> normal(size_t n, float deviation) {
    return testing::normal(&random_, n, deviation);
  }
  std::string samples(const std::string& name, const Shape& shape) {
    const std::vector<float> values = normal(static_cast<size_t>(shape.elements()), 1);
    EXPECT_TRUE(
        tool::write_npy(path(name), DType::kFloat32, shape, values.data(), values.size() * 4).ok());
    return path(name);
  }
  std::string conv(OnnxBuilder* b, const std::string& x) {
    return b->node("Conv", {x, b->constant<float>({3, 3, 3, 3}, normal(81, 0.3f))},
                   {Attr("pads", testing::Dims{1, 1, 1, 1})});
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  std::mt19937 random_{7};
};

// The remedy of a refusal is an option that works.
TEST_F(QuantizeParts, EndWhereARefusalSays) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 3, 8, 8}, "x");
  const std::string relu = b.node("Relu", {conv(&b, x)});
  b.output(b.node("FoldSpace", {conv(&b, relu)}));
  const std::string model = write("m.onnx", b.bytes()), data = samples("x.npy", {20, 3, 8, 8});
  const CommandResult refused =
      run("qrt_quantize", {model, "--calibration", data, "-o", path("m.qrt")});
  EXPECT_EQ(refused.status, 4);
  const size_t at = refused.err.find("--outputs ");
  ASSERT_NE(at, std::string::npos) << refused.err;
  const std::string name = refused.err.substr(at + 10, refused.err.find(',', at) - at - 10);
  for (const std::string& end : {name, relu}) {
    const CommandResult r = run("qrt_quantize", {model, "--calibration", data, "--outputs", end,
                                                 "-o", path("m.qrt"), "--onnx", path("q.onnx")});
    ASSERT_EQ(r.status, 0) << r.err;
    onnx::ModelProto written;
    ASSERT_TRUE(written.ParseFromString(read(path("q.onnx"))));
    EXPECT_EQ(written.graph().output(0).name(), end);
    EXPECT_EQ(run("qrt_run", {path("m.qrt"), data}).status, 0);
  }
  expect_failure("qrt_quantize",
                 {model, "--calibration", data, "--outputs", "nothing", "-o", path("no.qrt")}, 2,
                 "has no tensor 'nothing'");
}

TEST_F(QuantizeParts, AllReasonsAreToldAtOnceALineEach) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 3, 8, 8}, "x");
  const std::string first = b.node("FoldSpace", {conv(&b, x)}), second = b.node("Ponder", {first});
  b.output(b.node("FoldSpace", {second}));
  b.graph().mutable_node(1)->set_name("a\nname");
  const CommandResult r =
      run("qrt_quantize", {write("m.onnx", b.bytes()), "--calibration",
                           samples("x.npy", {20, 3, 8, 8}), "-o", path("m.qrt")});
  EXPECT_EQ(r.status, 4);
  const std::vector<std::string> lines = lines_of(r.err);
  ASSERT_EQ(lines.size(), 3u) << r.err;
  EXPECT_NE(lines[0].find("2 kinds of nodes cannot be quantised"), std::string::npos) << lines[0];
  EXPECT_EQ(lines[1].rfind("  FoldSpace (nodes 'a\\x0aname', '", 0), 0u) << lines[1];
  EXPECT_EQ(lines[2].rfind("  Ponder (node '", 0), 0u) << lines[2];
}

TEST_F(QuantizeParts, InputsAreScalarsConstantsAndOfGivenShapes) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 4}, "x"), gain = b.input<float>({}, "gain");
  b.name_dim(0, 1, "length");
  const std::string y = b.node("MatMul", {x, b.constant<float>({4, 5}, normal(20, 1))});
  OnnxBuilder::declare(b.graph().add_output(), b.node("Mul", {y, gain}), 1, {-1, 5});
  const std::string model = write("m.onnx", b.bytes()), data = samples("x.npy", {20, 4});
  const CommandResult both =
      run("qrt_quantize", {model, "--calibration", "x=" + data, "--calibration",
                           "gain=" + samples("g.npy", {20}), "-o", path("both.qrt")});
  EXPECT_EQ(both.status, 0) << both.err;
  const CommandResult one = run("qrt_quantize", {model, "--calibration", data, "--constant",
                                                 "gain=2", "-o", path("one.qrt")});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(run("qrt_run", {path("one.qrt"), data}).status, 0);
  const std::vector<std::string> random = {model, "--calibration", "random", "--constant", "gain=2",
                                           "-o",  path("r.qrt")};
  EXPECT_EQ(run("qrt_quantize", random).status, 2);  // the length is open
  std::vector<std::string> shaped = random;
  shaped.insert(shaped.end(), {"--input-shape", "x=1x4"});
  const CommandResult r = run("qrt_quantize", shaped);
  EXPECT_EQ(r.status, 0) << r.err;
  for (const char* option : {"--scheme=ort-dynamic", "--scheme=espdl-s8"}) {
    const CommandResult other = run("qrt_quantize", {model, "--calibration", data, "--constant",
                                                     "gain=2", option, "-o", path("o.qrt")});
    EXPECT_EQ(other.status, 0) << other.err;
  }
}

// Quantises the float part of a model, and leaves the numbers of the other as they are.
TEST_F(QuantizeParts, KeepWhatIsQuantisedAlready) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 3, 8, 8}, "x");
  std::vector<int8_t> codes(81);
  for (int8_t& c : codes) c = static_cast<int8_t>(static_cast<int>(random_() % 255) - 127);
  const std::string weights = b.dq<int8_t>(b.constant<int8_t>({3, 3, 3, 3}, codes), 0.01f, 0);
  const std::string y = b.node("Conv", {b.qdq<uint8_t>(x, 0.03125f, 128), weights},
                               {Attr("pads", testing::Dims{1, 1, 1, 1})});
  const std::string a = b.qdq<uint8_t>(b.node("Relu", {y}), 0.015625f, 0);
  const std::string kept = b.bytes();
  const std::string c = b.node("Relu", {conv(&b, a)});
  const std::string mean =
      b.node("Flatten", {b.node("GlobalAveragePool", {b.node("Add", {c, a})})});
  OnnxBuilder::declare(b.graph().add_output(), mean, 1, {-1, 3});
  const std::string data = samples("x.npy", {40, 3, 8, 8});
  const CommandResult r =
      run("qrt_quantize", {write("m.onnx", b.bytes()), "--calibration", data, "-o", path("m.qrt"),
                           "--onnx", path("q.onnx"), "--report", path("r.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(nlohmann::json::parse(read(path("r.json")))["float_nodes"], 0);
  onnx::ModelProto before, written;
  ASSERT_TRUE(before.ParseFromString(kept));
  ASSERT_TRUE(written.ParseFromString(read(path("q.onnx"))));
  // Every node and number of the first part is there, with the same inputs.
  for (const onnx::NodeProto& n : before.graph().node()) {
    int found = 0;
    for (const onnx::NodeProto& w : written.graph().node())
      found += w.op_type() == n.op_type() &&
               std::equal(n.input().begin(), n.input().end(), w.input().begin(), w.input().end());
    EXPECT_EQ(found, 1) << n.name();
  }
  for (const onnx::TensorProto& t : before.graph().initializer()) {
    int found = 0;
    for (const onnx::TensorProto& w : written.graph().initializer())
      found += w.name() == t.name() && w.raw_data() == t.raw_data();
    EXPECT_EQ(found, 1) << t.name();
  }
  ASSERT_EQ(run("qrt_convert", {path("q.onnx"), "-o", path("again.qrt")}).status, 0);
  EXPECT_EQ(run("qrt_run", {path("again.qrt"), data, "--sha256"}).out,
            run("qrt_run", {path("m.qrt"), data, "--sha256"}).out);
}

TEST_F(QuantizeParts, AProgramOfTheUsersMeasures) {
  const std::string model = write("m.onnx", testing::small_network(&random_, 0.3f));
  const std::string data = samples("x.npy", {40, 3, 8, 8});
  const std::vector<std::string> common = {
      model, "--calibration", data, "-o", path("m.qrt"), "--report", path("r.json"), "--metric"};
  const auto quantize = [&](const std::string& command, std::vector<std::string> more = {}) {
    std::vector<std::string> all = common;
    all.push_back(command);
    all.insert(all.end(), more.begin(), more.end());
    return run("qrt_quantize", all);
  };
  // One output and the samples' indices.
  const CommandResult r = quantize("sh " + write("count.sh", "ls \"$1\" | wc -l\n"));
  ASSERT_EQ(r.status, 0) << r.err;
  const auto metric = nlohmann::json::parse(read(path("r.json")))["metric"];
  EXPECT_EQ(metric["float"], 2);
  EXPECT_EQ(metric["integers"], 2);
  // The float model has 5, 8 bits have 3, and the first tensors of 16 bits make it 5.
  const std::string counted =
      write("counted.sh", "echo >> " + path("calls") + "\n[ $(wc -l < " + path("calls") +
                              ") = 2 ] && echo 3 || echo 5\n");
  const CommandResult promoted = quantize("sh " + counted, {"--max-loss", "1"});
  ASSERT_EQ(promoted.status, 0) << promoted.err;
  bool is_kept = false;
  const auto report = nlohmann::json::parse(read(path("r.json")));
  for (const auto& rung : report["ladder"])
    is_kept = is_kept || (rung["rung"] == "16 bits" && rung["kept"] == true);
  EXPECT_TRUE(is_kept) << promoted.out;
  std::filesystem::remove(path("m.qrt"));
  const std::string never = write("never.sh", "echo >> " + path("more") + "\n[ $(wc -l < " +
                                                  path("more") + ") = 1 ] && echo 5 || echo 3\n");
  const CommandResult withheld = quantize("sh " + never, {"--max-loss", "1"});
  EXPECT_EQ(withheld.status, 1) << withheld.err;
  EXPECT_NE(withheld.err.find("--max-loss allows 1 less"), std::string::npos) << withheld.err;
  EXPECT_FALSE(std::filesystem::exists(path("m.qrt")));
  EXPECT_NE(quantize("echo no number for").err.find("expected a number"), std::string::npos);
  EXPECT_NE(quantize("exit 3;").err.find("ends with status 3"), std::string::npos);
  expect_failure("qrt_quantize",
                 {model, "--calibration", data, "-o", path("no.qrt"), "--max-loss", "1"}, 2,
                 "give it by --metric");
}

}  // namespace
}  // namespace qrt::program_parts_test
