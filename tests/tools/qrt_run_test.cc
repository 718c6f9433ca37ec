// SPDX-License-Identifier: Apache-2.0
// qrt_run, qrt_bench and qrt_inspect as a user or a script meets them.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/tools/hash.h"
#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/model_builder.h"

namespace qrt::qrt_run_test {
namespace {

using testing::CommandResult;

class Tools : public testing::CommandTest {
 protected:
  // y[batch, 3] = table of a[batch, 3]; z = a fully connected layer of it. Input b is added to a.
  Tools() {
    testing::ModelBuilder m;
    const uint32_t a = m.input({-1, 3}, DType::kUInt8, "a"),
                   b = m.input({-1, 3}, DType::kUInt8, "b=2");
    const uint32_t sum = m.tensor({-1, 3}, DType::kUInt8, "sum/1");
    const uint32_t y = m.output({-1, 3}, DType::kUInt8, "y \"quoted\"");
    const uint32_t z = m.output({-1, 2}, DType::kUInt8, "z");
    fb::AddOptionsT add;
    add.a_scale = add.b_scale = testing::float_bits(1.0f);
    m.op(std::move(add), {a, b}, {sum});
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
    fb::LutOptionsT lut;
    lut.table = m.buffer(table);
    m.op(std::move(lut), {sum}, {y});
    fb::FullyConnectedOptionsT fc;
    fc.weight_sum = {3, 6};
    fc.requant = testing::requant_f32({1.0f});
    const uint32_t w = m.gemm_weights({2, 3}, {1, 1, 1, 2, 2, 2});
    m.op(std::move(fc), {y, w, m.bias({0, -700})}, {z});
    model_ = write("model.qrt", m.build());
    a_ = npy("a.npy", {1, 3}, {1, 2, 3});
    b_ = npy("b.npy", {1, 3}, {10, 20, 240});
  }

  std::string npy(const std::string& name, const Shape& shape, const std::vector<uint8_t>& data) {
    EXPECT_TRUE(tool::write_npy(path(name), DType::kUInt8, shape, data.data(), data.size()).ok());
    return path(name);
  }

  tool::NpyArray output(const std::string& name) {
    tool::NpyArray array;
    const Status status = tool::read_npy(path(name), &array);
    EXPECT_TRUE(status.ok()) << status.message();
    return array;
  }

  std::string model_, a_, b_;
};

TEST_F(Tools, RunWritesOutputs) {
  const CommandResult r = run("qrt_run", {model_, a_, b_, "--output-dir", path("out")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out + r.err, "");
  EXPECT_EQ(output("out/output_0.npy").data, (std::vector<uint8_t>{244, 233, 12}));
  EXPECT_EQ(output("out/output_1.npy").data, (std::vector<uint8_t>{255, 255}));
  EXPECT_EQ(output("out/output_1.npy").shape, (Shape{1, 2}));
}

TEST_F(Tools, AnUnknownSetInTheEnvironmentIsAWarning) {
  setenv("QRT_ISA", "avx1024", 1);
  const CommandResult r = run("qrt_run", {model_, a_, b_});
  const CommandResult asked = run("qrt_run", {model_, a_, b_, "--isa", "avx1024"});
  unsetenv("QRT_ISA");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out, run("qrt_run", {model_, a_, b_}).out);
  EXPECT_EQ(r.err.rfind("qrt_run: warning: ignored: QRT_ISA: unknown instruction set 'avx1024'", 0),
            0u)
      << r.err;
  EXPECT_EQ(asked.status, 2);
}

// A float input that the model quantises takes NaN for the least code, and the user is told.
TEST_F(Tools, NanInAnInputIsTheLeastCodeAndAWarning) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 4}, DType::kFloat32, "x");
  const uint32_t y = m.output({-1, 4}, DType::kUInt8, "y");
  fb::QuantizeOptionsT quantize;
  quantize.scale = {testing::float_bits(0.5f)};
  quantize.zero_point = {128};
  m.op(std::move(quantize), {x}, {y});
  const std::string model = write("float.qrt", m.build());
  const auto run_on = [&](const std::vector<float>& values) {
    EXPECT_TRUE(tool::write_npy(path("x.npy"), DType::kFloat32, {1, 4}, values.data(),
                                values.size() * sizeof(float))
                    .ok());
    return run("qrt_run", {model, path("x.npy"), "--output-dir", path("nan")});
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CommandResult r = run_on({nan, 0.5f, -nan, 1});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.err, "qrt_run: warning: " + path("x.npy") +
                       ": 2 of 4 elements are NaN, which an input that is quantised takes for the "
                       "least number that it can hold\n");
  EXPECT_EQ(output("nan/output_0.npy").data, (std::vector<uint8_t>{0, 129, 0, 130}));
  r = run_on({nan, 0, 0, 0});
  EXPECT_NE(r.err.find("1 of 4 elements is NaN"), std::string::npos) << r.err;
  r = run_on({0, 0.5f, -1, 1});
  EXPECT_EQ(r.err, "");
}

// An id that its table does not have is wrong input. qrt_bench takes ids that every table has.
TEST_F(Tools, AnIdOutsideItsTable) {
  testing::ModelBuilder m;
  const uint32_t ids = m.input({-1}, DType::kInt64, "ids");
  const uint32_t table = m.constant<uint8_t>({2, 2}, DType::kUInt8, {1, 2, 3, 4}, "words");
  fb::TakeOptionsT take;
  take.is_checked = true;
  m.op(take, {table, ids}, {m.output({-1, 2}, DType::kUInt8, "y")});
  const std::string model = write("ids.qrt", m.build());
  const auto run_on = [&](const std::vector<int64_t>& values) {
    EXPECT_TRUE(tool::write_npy(path("ids.npy"), DType::kInt64,
                                {static_cast<int64_t>(values.size())}, values.data(),
                                values.size() * sizeof(int64_t))
                    .ok());
    return run("qrt_run", {model, path("ids.npy"), "--output-dir", path("taken")});
  };
  EXPECT_EQ(run_on({1, -2}).status, 0);
  EXPECT_EQ(output("taken/output_0.npy").data, (std::vector<uint8_t>{3, 4, 1, 2}));
  const CommandResult r = run_on({0, 2});
  EXPECT_EQ(r.status, 3);
  EXPECT_EQ(r.err, "qrt_run: error: index 2 of 'ids' is outside the 2 rows of 'words'\n");
  EXPECT_EQ(run("qrt_bench", {model, "--seconds", "0.01"}).status, 0);
}

TEST_F(Tools, RunTakesInputsByName) {
  for (const std::vector<std::string>& inputs :
       {std::vector<std::string>{"--input", "b=2=" + b_, "--input", "a=" + a_},
        {"--input", "b=2=" + b_, a_},
        {a_, "--input=b=2=" + b_}}) {
    std::vector<std::string> arguments = {model_, "--output-dir", path("out")};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    const CommandResult r = run("qrt_run", arguments);
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(output("out/output_0.npy").data, (std::vector<uint8_t>{244, 233, 12}));
  }
}

TEST_F(Tools, RunTakesTheBatchFromTheInputs) {
  const std::string a = npy("a2.npy", {2, 3}, {1, 2, 3, 4, 5, 6}),
                    b = npy("b2.npy", {2, 3}, {0, 0, 0, 1, 1, 1});
  const CommandResult r = run("qrt_run", {model_, a, b, "--output-dir", path("out")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(output("out/output_0.npy").data, (std::vector<uint8_t>{254, 253, 252, 250, 249, 248}));
  expect_failure("qrt_run", {model_, a, b_}, 3, "'batch' is 1, but 2 by ");
  const std::string none = npy("none.npy", {0, 3}, {});
  expect_failure("qrt_run", {model_, none, b_}, 3, "'batch' is 0, expected 1 or more");
  expect_failure("qrt_run", {model_, a_, none}, 3, "'batch' is 0, expected 1 or more");
}

// A sequence is run step by step: y[t] = x[0] + ... + x[t], where the model keeps its sum.
TEST_F(Tools, RunTakesASequence) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({-1, 3}), kept = m.tensor({-1, 3}, DType::kUInt8, "kept");
  const uint32_t y = m.output({-1, 3}, DType::kUInt8, "y");
  fb::AddOptionsT add;
  add.a_scale = add.b_scale = testing::float_bits(1.0f);
  m.op(std::move(add), {x, kept}, {y});
  m.model().variables.push_back(std::make_unique<fb::VariableT>());
  m.model().variables[0]->tensor = kept;
  m.model().variables[0]->next = y;
  const std::string model = write("sum.qrt", m.build());
  const std::string sequence = npy("t.npy", {3, 1, 3}, {1, 2, 3, 10, 20, 30, 100, 0, 7});
  const CommandResult r = run("qrt_run", {model, sequence, "--output-dir", path("out")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(output("out/output_0.npy").shape, (Shape{3, 1, 3}));
  EXPECT_EQ(output("out/output_0.npy").data,
            (std::vector<uint8_t>{1, 2, 3, 11, 22, 33, 111, 22, 40}));
  EXPECT_EQ(run("qrt_run", {model, sequence}).out.rfind("output_0 'y' uint8 [3, 1, 3] fnv1a:", 0),
            0u);
  expect_failure("qrt_run", {model_, npy("a3.npy", {2, 1, 3}, {1, 2, 3, 4, 5, 6}), b_}, 3,
                 "inputs of 2 and of 0 runs");
  expect_failure("qrt_run", {model, npy("e.npy", {0, 1, 3}, {})}, 3, "it holds uint8 [0, 1, 3]");
}

TEST_F(Tools, RunPrintsDigestsThatDoNotDependOnIsaAndThreads) {
  const CommandResult r = run("qrt_run", {model_, a_, b_});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out.rfind("output_0 'y \"quoted\"' uint8 [1, 3] fnv1a:", 0), 0u) << r.out;
  EXPECT_EQ(run("qrt_run", {model_, a_, b_, "--isa", "scalar", "--threads", "2"}).out, r.out);
}

TEST_F(Tools, RunDumpsEveryTensor) {
  const CommandResult r =
      run("qrt_run", {model_, a_, b_, "--dump-all", "--output-dir", path("out")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(output("out/tensor_0000_sum_1.npy").data, (std::vector<uint8_t>{11, 22, 243}));
  EXPECT_NE(run("qrt_run", {model_, a_, b_, "--dump-all"}).out.find("tensor_0000 'sum/1' uint8"),
            std::string::npos);
}

// Tensors are dumped as the source has them: a convolution's output is [n, c, h, w] there and [n, h, w, c]
// here, and has no name of its own. The operator behind it keeps the order, unless the file gives it another.
TEST_F(Tools, RunDumpsTensorsAsTheSourceHasThem) {
  testing::ModelBuilder m;
  const uint32_t x = m.input({1, 1, 2, 1}, DType::kUInt8, "x");
  const uint32_t sums = m.tensor({1, 1, 2, 3}, DType::kUInt8, "");
  const uint32_t table_of_sums = m.tensor({1, 1, 2, 3}, DType::kUInt8, "t/1");
  const uint32_t told = m.tensor({1, 1, 2, 3}, DType::kUInt8, "told");
  const uint32_t y = m.output({1, 1, 2, 3}, DType::kUInt8, "y");
  fb::Conv2DOptionsT conv;
  conv.weight_sum = {1, 2, 3};
  conv.requant = testing::requant_f32({1.0f});
  const uint32_t w = m.gemm_weights({3, 1, 1, 1}, {1, 2, 3});
  m.op(std::move(conv), {x, w, m.bias({0, 0, 0})}, {sums});
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
  uint32_t from = sums;
  for (uint32_t to : {table_of_sums, told, y}) {
    fb::LutOptionsT lut;
    lut.table = m.buffer(table);
    m.op(std::move(lut), {from}, {to});
    from = to;
  }
  m.model().tensors[sums]->name.clear();
  m.model().source_format = "onnx";
  m.model().operators[0]->name = "conv/1";
  m.model().operators[0]->source_op = "Conv";
  // Only the first entry is of a tensor that there is, and a permutation of its dimensions.
  auto entry = std::make_unique<fb::KeyValueT>();
  entry->key = "source_order";
  entry->value = std::to_string(told) +
                 ":0132 999:0123 1:0011 1:01 : 2: nonsense 5:4x 99999999999999999999999:0";
  m.model().metadata.push_back(std::move(entry));
  const std::string model = write("conv.qrt", m.build());
  const std::string input = npy("x.npy", {1, 1, 2, 1}, {1, 10});
  const CommandResult r = run("qrt_run", {model, input, "--dump-all", "--output-dir", path("out")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(output("out/tensor_0000_conv_1.npy").shape, (Shape{1, 3, 1, 2}));
  EXPECT_EQ(output("out/tensor_0000_conv_1.npy").data, (std::vector<uint8_t>{1, 10, 2, 20, 3, 30}));
  EXPECT_EQ(output("out/tensor_0001_t_1.npy").shape, (Shape{1, 3, 1, 2}));
  EXPECT_EQ(output("out/tensor_0001_t_1.npy").data,
            (std::vector<uint8_t>{254, 245, 253, 235, 252, 225}));
  EXPECT_EQ(output("out/tensor_0002_told.npy").shape, (Shape{1, 1, 3, 2}));
  EXPECT_EQ(output("out/tensor_0003_y.npy").shape, (Shape{1, 1, 2, 3})) << "as the model's output";
  EXPECT_EQ(output("out/tensor_0003_y.npy").data, output("out/output_0.npy").data);
  auto list = nlohmann::json::parse(read(path("out/index.json")));
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0]["name"], "x");
  EXPECT_EQ(list[0]["input"], 0);
  EXPECT_EQ(output("out/" + list[0]["file"].get<std::string>()).data,
            (std::vector<uint8_t>{1, 10}));
  list.erase(0);
  EXPECT_EQ(list[0]["file"], "tensor_0000_conv_1.npy");
  EXPECT_EQ(list[0]["name"], "conv/1");
  EXPECT_EQ(list[0]["source_op"], "Conv");
  EXPECT_EQ(list[0]["operator"], "Conv2D");
  EXPECT_EQ(list[0]["operator_index"], 0);
  EXPECT_EQ(list[0]["dtype"], "uint8");
  EXPECT_EQ(list[0]["shape"], (std::vector<int>{1, 3, 1, 2}));
  EXPECT_EQ(list[0]["order"], (std::vector<int>{0, 3, 1, 2}));
  EXPECT_EQ(list[1]["name"], "t/1");
}

TEST_F(Tools, RunRefusesInputsThatDoNotFit) {
  expect_failure("qrt_run", {model_, a_}, 2, "no file for input 1 'b=2' (uint8 [-1, 3])");
  expect_failure("qrt_run", {model_, a_, b_, a_}, 2, "1 array is for no input of the model");
  expect_failure("qrt_run", {model_, a_, b_, "--input", "c=" + a_}, 2,
                 "no input of the model has this name, they are 'a', 'b=2'");
  expect_failure("qrt_run", {model_, a_, "--input", "a=" + a_, "--input", "a=" + a_}, 2,
                 "given twice");
  expect_failure("qrt_run", {model_, a_, npy("w.npy", {1, 4}, {1, 2, 3, 4})}, 3,
                 "it holds uint8 [1, 4], expected input 1 'b=2' (uint8 [-1, 3])");
  const float wrong[3] = {};
  ASSERT_TRUE(tool::write_npy(path("f.npy"), DType::kFloat32, {1, 3}, wrong, 12).ok());
  expect_failure("qrt_run", {model_, path("f.npy"), b_}, 3, "it holds float32 [1, 3]");
  expect_failure("qrt_run", {model_, write("bad.npy", "nonsense"), b_}, 3, "not an npy file");
  expect_failure("qrt_run", {model_, path("none.npy"), b_}, 5, "none.npy: No such file");
}

TEST_F(Tools, EveryToolTellsBadModelsApart) {
  for (const char* tool : {"qrt_run", "qrt_bench", "qrt_inspect"}) {
    SCOPED_TRACE(tool);
    expect_failure(tool, {path("none.qrt")}, 5, "none.qrt: No such file");
    expect_failure(tool, {path("")}, 3, "is a directory");
    expect_failure(tool, {write("empty.qrt", "")}, 3, "empty.qrt");
    expect_failure(tool, {write("zeros.qrt", std::string(4096, '\0'))}, 3, "zeros.qrt");
    expect_failure(tool, {write("cut.qrt", read(model_).substr(0, 900))}, 3, "cut.qrt");
    expect_failure(tool, {}, 2, "MODEL is required");
    expect_failure(tool, {model_, "--no-such-option"}, 2, "--no-such-option");
    std::vector<std::string> isa = {model_, "--isa", "sse9"};
    if (tool == std::string("qrt_run")) isa.insert(isa.end(), {a_, b_});
    expect_failure(tool, isa, 2, "sse9");
  }
}

TEST_F(Tools, EveryToolHasHelpAndVersion) {
  for (const char* tool : {"qrt_run", "qrt_bench", "qrt_inspect", "qrt_convert"}) {
    const CommandResult help = run(tool, {"--help"}), version = run(tool, {"--version"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Examples:\n  " + std::string(tool)), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("Exit status: 0 done"), std::string::npos);
    EXPECT_EQ(version.status, 0);
    EXPECT_EQ(version.out.rfind(std::string(tool) + " 0.", 0), 0u) << version.out;
    EXPECT_NE(version.out.find("scalar"), std::string::npos) << version.out;
    EXPECT_EQ(help.err + version.err, "");
  }
}

TEST_F(Tools, OutputFailuresAreReported) {
  expect_failure("qrt_run", {model_, a_, b_, "--output-dir", a_ + "/such"}, 5,
                 "a.npy/such: Not a directory");
  expect_failure("qrt_run", {model_, a_, b_, "--output-dir", a_}, 5, "a.npy");
  for (const char* option : {"", " --output-dir -", " --print 3"}) {
    const std::string command = std::string(QRT_BIN_DIR) + "/qrt_run " + model_ + " " + a_ + " " +
                                b_ + option + " >/dev/full 2>" + path("err");
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
    EXPECT_EQ(read(path("err")), "qrt_run: error: standard output: No space left on device\n");
  }
}

TEST_F(Tools, BenchReportsAsJson) {
  const CommandResult r = run("qrt_bench", {model_, "--seconds", "0.01", "--format", "json",
                                            "--profile", "--threads", "2", "--batch", "4"});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  double last = 0;
  for (const char* key : {"min", "median", "p90", "p99"}) {
    EXPECT_GE(json["latency_ms"][key].get<double>(), last) << key;
    last = json["latency_ms"][key];
  }
  EXPECT_GT(json["latency_ms"]["mean"].get<double>(), 0);
  EXPECT_GE(json["runs"].get<int>(), 5);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["batch"], 4);
  EXPECT_EQ(json["model"], model_);
  EXPECT_GT(json["peak_memory_bytes"].get<uint64_t>(), 100000u);
  ASSERT_EQ(json["ops"].size(), 3u);
  EXPECT_EQ(json["ops"][2]["type"], "FullyConnected");
  EXPECT_EQ(json["ops"][2]["macs"], 4 * 6);
  double share = 0;
  for (const auto& op : json["ops"]) share += op["share"].get<double>();
  EXPECT_NEAR(share, 1.0, 1e-6);
}

TEST_F(Tools, BenchNamesTheInstructionSetUsed) {
  const auto isa = [&](const char* cap) {
    const CommandResult r =
        run("qrt_bench", {model_, "--seconds", "0", "--format", "json", "--isa", cap});
    return nlohmann::json::parse(r.out)["isa"].get<std::string>();
  };
  EXPECT_EQ(isa("scalar"), "scalar");
  EXPECT_FALSE(
      nlohmann::json::parse(run("qrt_bench", {model_, "--seconds", "0", "--format", "json"}).out)
          .contains("ops"));
}

TEST_F(Tools, BenchReportsAsTextAndCsv) {
  const CommandResult text = run("qrt_bench", {model_, "--seconds", "0.01", "--profile"});
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* part : {"latency          median", "isa, threads", "peak", "FullyConnected"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
  const CommandResult csv = run("qrt_bench", {model_, "--seconds", "0", "--format", "csv"});
  EXPECT_EQ(csv.out.rfind("model,isa,threads,", 0), 0u) << csv.out;
  EXPECT_NE(csv.out.find(",min_noise,least_ms\n"), std::string::npos) << csv.out;
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 2);
  const CommandResult ops =
      run("qrt_bench", {model_, "--seconds", "0", "--format", "csv", "--profile"});
  EXPECT_EQ(std::count(ops.out.begin(), ops.out.end(), '\n'), 4) << ops.out;
}

TEST_F(Tools, BenchChecksItsArguments) {
  expect_failure("qrt_bench", {model_, "--threads", "0"}, 2, "--threads");
  expect_failure("qrt_bench", {model_, "--seconds", "-1"}, 2, "--seconds");
  expect_failure("qrt_bench", {model_, "--format", "xml"}, 2, "--format");
  expect_failure("qrt_bench", {model_, "--batch", "none"}, 2, "--batch");
}

TEST_F(Tools, InspectReportsTensorsOperatorsAndMemory) {
  const CommandResult r = run("qrt_inspect", {model_, "--format", "json", "--batch", "2"});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["model"]["level"], "I1");
  EXPECT_EQ(json["model"]["batch"], 2);
  EXPECT_EQ(json["model"]["reference"], "ort-x64-fma");
  EXPECT_GT(json["memory"]["arena_bytes"].get<uint64_t>(), 0u);
  EXPECT_EQ(json["operators"][0]["arithmetic"], "EW_F32, fma");
  EXPECT_EQ(json["operators"][1]["level"], "I0");
  EXPECT_EQ(json["operators"][2]["arithmetic"], "RQ_F32, half even");
  EXPECT_EQ(json["tensors"][0]["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(json["tensors"][5]["packing"], "GEMM");
  const CommandResult text = run("qrt_inspect", {model_, "--tensors"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("constant (GEMM)"), std::string::npos) << text.out;
}

// The text begins with the facts that a user asks for first; the long tables follow only if asked for.
TEST_F(Tools, InspectOpensWithInputsOutputsAndWork) {
  const std::string text = run("qrt_inspect", {model_}).out;
  size_t at = 0;
  for (const char* line :
       {"file             ", "\ninput            a: uint8 [1, 3]\n",
        "\ninput            b=2: uint8 [1, 3]\n", "\noutput           y \"quoted\": uint8 [1, 3]\n",
        "\noutput           z: uint8 [1, 2]\n", "\nreference        ort-x64-fma\n",
        "\nlevel            I1\n", "\nsize             ", "\nmemory           arena ",
        "\nwork             6 MACs, 3 operators\n",
        "\nFullyConnected                1              6  I1\n"}) {
    const size_t found = text.find(line, at == 0 ? 0 : at - 1);
    EXPECT_NE(found, std::string::npos) << line << text;
    if (found != std::string::npos) at = found + strlen(line);
  }
  EXPECT_EQ(text.find("constant (GEMM)"), std::string::npos) << text;
  const std::string ops = run("qrt_inspect", {model_, "--ops"}).out;
  EXPECT_NE(ops.find("EW_F32, fma"), std::string::npos) << ops;
}

// qrt_inspect lists the operators of several models for CMake's QRT_OPS: each once, with the parts
// that their tensors need.
TEST_F(Tools, InspectListsOperatorsOfSeveralModels) {
  testing::ModelBuilder m;
  fb::ReshapeOptionsT reshape;
  reshape.shape = {-1, 3};
  m.op(std::move(reshape), {m.input({-1, 3}, DType::kInt16, "x")},
       {m.output({-1, 3}, DType::kInt16, "y")});
  const std::string other = write("other.qrt", m.build());
  EXPECT_EQ(run("qrt_inspect", {model_, "--ops-list"}).out, "Add\nFullyConnected\nLut\n");
  const auto several = run("qrt_inspect", {model_, other, model_, "--ops-list"});
  EXPECT_EQ(several.err, "");
  EXPECT_EQ(several.out, "Add\nFullyConnected\nInt16\nLut\nReshape\n");
  expect_failure("qrt_inspect", {model_, other}, 2, "--ops-list");
  expect_failure("qrt_inspect", {model_, path("none.qrt"), "--ops-list"}, 5, "none.qrt");
}

TEST_F(Tools, InspectDrawsTheGraph) {
  const CommandResult r = run("qrt_inspect", {model_, "--format", "dot"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out.rfind("digraph model {", 0), 0u);
  EXPECT_NE(r.out.find("op0 -> op1 [label=\"uint8 [1, 3]\"];"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("label=\"y \\\"quoted\\\"\""), std::string::npos) << r.out;
}

// A page allows its own script and style alone, so that no name in a model can run in a browser.
// The page in a browser is tested in tests/web.
TEST_F(Tools, PagesAllowTheirOwnScriptAndStyleAlone) {
  ASSERT_EQ(run("qrt_inspect", {model_, "--html", path("m.html")}).status, 0);
  const std::string page = read(path("m.html"));
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  for (const std::string element : {"style", "script"}) {
    const size_t begin = page.find("<" + element + ">") + element.size() + 2;
    const size_t end = page.rfind("</" + element + ">");
    const std::string digest = tool::sha256(&page[begin], end - begin) + "00";
    std::string hash;
    for (size_t at = 0; at < digest.size(); at += 6) {
      const unsigned long bytes = strtoul(digest.substr(at, 6).c_str(), nullptr, 16);
      for (const int shift : {18, 12, 6, 0})
        hash +=
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[bytes >> shift & 63];
    }
    hash.back() = '=';
    EXPECT_NE(page.find(element + "-src 'sha256-" + hash + "';"), std::string::npos) << hash;
  }
}

TEST_F(Tools, InspectWritesAPage) {
  ASSERT_EQ(run("qrt_inspect", {model_, "--html", path("m.html")}).status, 0);
  const std::string page = read(path("m.html"));
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(page.find("\"name\":\"y \\\"quoted\\\"\""), std::string::npos);
  for (const char* outside : {"src=", "@import", "url(http", "fetch(", "@DATA@", "/*SCRIPTS*/"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  expect_failure("qrt_inspect", {model_, "--html", path("no/m.html")}, 5, "no/m.html");
}

TEST_F(Tools, DamagedModelsNeverCrash) {
  const std::string good = read(model_);
  for (size_t size = 0; size + 128 < good.size(); size += 97) {  // 128: the slack at the end
    const CommandResult r = run("qrt_run", {write("d.qrt", good.substr(0, size)), a_, b_});
    EXPECT_TRUE(r.status == 3 || r.status == 4) << size << ": " << r.status << " " << r.err;
  }
}

}  // namespace
}  // namespace qrt::qrt_run_test
