// SPDX-License-Identifier: Apache-2.0
// qrt_quantize as a user or a script meets it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "converter/quantize/schemes/scheme.h"
#include "kernels/isa.h"
#include "runtime/tools/npy.h"
#include "tests/quantize/network.h"
#include "tests/support/command.h"
#include "tests/support/open_dims.h"

namespace qrt::program_test {
namespace {

using testing::CommandResult;
using testing::OnnxBuilder;

class Quantize : public testing::CommandTest {
 protected:
  std::vector<float> normal(size_t n, float deviation) {
    return testing::normal(&random_, n, deviation);
  }
  std::string network(float weight = 0.3f) {
    return write("float.onnx", testing::small_network(&random_, weight));
  }
  std::string samples(size_t n, float deviation = 1, const Shape& shape = {3, 8, 8}) {
    Shape all = {static_cast<int64_t>(n)};
    for (const int64_t d : shape) all.push_back(d);
    const std::vector<float> values = normal(static_cast<size_t>(all.elements()), deviation);
    EXPECT_TRUE(
        tool::write_npy(path("samples.npy"), DType::kFloat32, all, values.data(), values.size() * 4)
            .ok());
    return path("samples.npy");
  }
  // Expects that only files exist which the test wrote.
  void expect_nothing_written() const {
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(path("x")).parent_path()))
      EXPECT_EQ(file.path().string().find("out."), std::string::npos) << file.path();
  }
  void expect_refused(const std::vector<std::string>& arguments, int status,
                      const std::string& part) const {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"-o", path("out.qrt"), "--onnx", path("out.onnx")});
    const CommandResult r = run("qrt_quantize", all);
    EXPECT_EQ(r.status, status) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << "message: " << r.err << "part: " << part;
    expect_nothing_written();
  }

  std::mt19937 random_{7};
};

TEST_F(Quantize, WritesTheModelItsOnnxFormAndReports) {
  const CommandResult r =
      run("qrt_quantize", {network(), "--calibration", samples(40), "-o", path("out.qrt"), "--onnx",
                           path("out.onnx"), "--report", path("out.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.err.find("nodes become integers"), std::string::npos) << r.err;
  EXPECT_NE(r.out.find("so far, by all up to\n"), std::string::npos) << r.out;
  const auto report = nlohmann::json::parse(read(path("out.json")));
  EXPECT_EQ(report["float_nodes"], 0);
  EXPECT_EQ(report["calibration_samples"], 36);
  EXPECT_EQ(report["held_out_samples"], 4);
  EXPECT_GT(report["agreement"]["held_out"]["all"]["sqnr_db"], 25.0);
  EXPECT_GT(report["tensors"].size(), 4u);
  const auto& wide = report["more_with_16_bits"];
  ASSERT_GT(wide.size(), 2u);
  for (size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(wide[i]["tensors"].size(), i == 0 ? 0u : 1u << (i - 1));
    EXPECT_GT(wide[i]["macs"], 0);
    EXPECT_GT(wide[i]["roofline_ms"], i == 0 ? 0.0 : wide[i - 1]["roofline_ms"].get<double>());
  }
  const double as_it_is = wide[0]["sqnr_db"];
  EXPECT_NEAR(as_it_is, report["agreement"]["held_out"]["all"]["sqnr_db"], 1e-6);
  EXPECT_GT(wide.back()["sqnr_db"], as_it_is);
  onnx::ModelProto source, written;
  ASSERT_TRUE(source.ParseFromString(read(path("float.onnx"))));
  ASSERT_TRUE(written.ParseFromString(read(path("out.onnx"))));
  EXPECT_NE(source.graph().name(), "");
  EXPECT_EQ(written.graph().name(), source.graph().name());
  // The ONNX form converts to the same operators.
  const CommandResult again =
      run("qrt_convert", {path("out.onnx"), "-o", path("again.qrt"), "--require-level", "I1"});
  EXPECT_EQ(again.status, 0) << again.err;
  const CommandResult html =
      run("qrt_quantize",
          {path("float.onnx"), "--calibration", path("samples.npy"), "--report", path("out.html")});
  EXPECT_EQ(html.status, 0) << html.err;
  const std::string page = read(path("out.html"));
  EXPECT_NE(
      page.find("\"verdict\":{\"kind\":\"good\",\"text\":\"Ready to use: on 4 held-out samples"),
      std::string::npos);
  EXPECT_NE(page.find("\"histogram\":{\"from\":"), std::string::npos);
}

// The model, with all rungs of the ladder, is made from images of several heights and widths: it takes any,
// with the bits of its own ONNX form at that size.
TEST_F(Quantize, DimensionsInWhichSamplesDifferStayOpen) {
  OnnxBuilder b;
  const testing::Attr pads("pads", testing::Dims{1, 1, 1, 1});
  const std::string x0 = b.input<float>({-1, 3, -1, -1}, "x");
  const std::string relu = b.node(
      "Relu", {b.node("Conv", {x0, b.constant<float>({8, 3, 3, 3}, normal(216, 0.2f))}, {pads})});
  b.output(b.node("Conv", {relu, b.constant<float>({4, 8, 3, 3}, normal(288, 0.2f))}, {pads}));
  testing::number_open_dims(&b.graph());
  const std::string network = write("float.onnx", b.bytes());
  std::filesystem::create_directory(path("images"));
  const auto image = [&](const std::string& name, const Shape& shape) {
    const std::vector<float> values = normal(static_cast<size_t>(shape.elements()), 1);
    EXPECT_TRUE(
        tool::write_npy(path(name), DType::kFloat32, shape, values.data(), values.size() * 4).ok());
    return path(name);
  };
  for (int64_t i = 0; i < 30; ++i)
    image("images/" + std::to_string(i) + ".npy", {1, 3, 6 + i % 7, 8 + i % 5});
  const std::vector<std::string> arguments = {network, "--calibration", path("images")};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const CommandResult r =
      run("qrt_quantize",
          with({"-o", path("out.qrt"), "--onnx", path("out.onnx"), "--report", path("out.json")}));
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_GT(
      nlohmann::json::parse(read(path("out.json")))["agreement"]["held_out"]["all"]["sqnr_db"],
      20.0);
  EXPECT_NE(run("qrt_inspect", {path("out.qrt")}).out.find("x: float32 [batch, 3, d2, d3]"),
            std::string::npos)
      << run("qrt_inspect", {path("out.qrt")}).out;
  for (const Shape& shape : {Shape{1, 3, 6, 8}, Shape{2, 3, 17, 5}}) {
    const std::string x = image("x.npy", shape);
    const std::string sizes = "x=" + std::to_string(shape[0]) + "x3x" + std::to_string(shape[2]) +
                              "x" + std::to_string(shape[3]);
    ASSERT_EQ(run("qrt_convert", {path("out.onnx"), "--input-shape", sizes, "-o", path("one.qrt")})
                  .status,
              0);
    const CommandResult open = run("qrt_run", {path("out.qrt"), x, "--sha256"});
    EXPECT_EQ(open.status, 0) << open.err;
    EXPECT_EQ(open.out, run("qrt_run", {path("one.qrt"), x, "--sha256"}).out);
  }
  for (const char* scheme : {"espdl-s8", "cvm"}) {
    const CommandResult refused =
        run("qrt_quantize", with({"--scheme", scheme, "-o", path("none.qrt")}));
    EXPECT_EQ(refused.status, 4);
    EXPECT_NE(refused.err.find("the samples are of differing sizes, and a model of the scheme"),
              std::string::npos)
        << refused.err;
  }
}

TEST_F(Quantize, GivesTheSameBytesOnEveryInstructionSetAndNumberOfThreads) {
  const std::string model = network(), data = samples(12);
  const std::map<std::string, std::string> pages = {{"1", "out.json"}, {"2", "out.html"}};
  for (const quantize::Scheme& scheme : quantize::schemes()) {
    std::vector<std::string> all = {model, "--calibration", data, "--scheme", scheme.name,
                                    "-o",  path("out.qrt")};
    if (!scheme.is_cvm) all.insert(all.end(), {"--max-drop", "0"});
    std::map<std::string, std::string> expected;
    for (const auto& [threads, page] : pages) {
      std::vector<std::string> one = all;
      one.insert(one.end(), {"--report", path(page)});
      ASSERT_EQ(run("qrt_quantize", one).status, 0) << scheme.name;
      expected[page] = read(path(page));
    }
    expected["out.qrt"] = read(path("out.qrt"));
    Isa isa;
    for (int i = 0; isa_at(i, &isa); ++i) {
      if (!has(detected_isas(), isa)) continue;
      for (const auto& [threads, page] : pages) {
        std::vector<std::string> other = all;
        other.insert(other.end(), {"--threads", threads, "--report", path(page)});
        setenv("QRT_ISA", isa_name(isa), 1);
        const CommandResult r = run("qrt_quantize", other);
        unsetenv("QRT_ISA");
        ASSERT_EQ(r.status, 0) << r.err;
        for (const std::string& file : {std::string("out.qrt"), page})
          EXPECT_TRUE(read(path(file)) == expected[file])
              << scheme.name << ", " << isa_name(isa) << ", " << threads << " threads, " << file;
      }
    }
  }
}

TEST_F(Quantize, EverySchemeIsNearTheFloatModel) {
  const std::string model = network(), data = samples(40);
  for (const auto& [scheme, least] : {std::pair{"ort-u8", 25.0},
                                      {"ort-s8", 25.0},
                                      {"espdl-s8", 18.0},
                                      {"espdl-s16", 50.0},
                                      {"cvm", 25.0}}) {
    const CommandResult r = run("qrt_quantize", {model, "--calibration", data, "--scheme", scheme,
                                                 "--report", path("out.json")});
    ASSERT_EQ(r.status, 0) << scheme << r.err;
    const auto report = nlohmann::json::parse(read(path("out.json")));
    EXPECT_GT(report["agreement"]["held_out"]["all"]["sqnr_db"], least) << scheme;
  }
}

// The ladder keeps another coding only where the outputs are nearer with it.
TEST_F(Quantize, AFullLadderSearchesCodings) {
  const std::string model = network(), data = samples(40);
  for (const char* scheme : {"ort-u8", "espdl-s8"}) {
    double db[2] = {};
    bool searched = false;
    for (const bool is_full : {false, true}) {
      const CommandResult r =
          run("qrt_quantize", {model, "--calibration", data, "--scheme", scheme, "--ladder",
                               is_full ? "full" : "none", "--report", path("out.json")});
      ASSERT_EQ(r.status, 0) << scheme << r.err;
      const auto report = nlohmann::json::parse(read(path("out.json")));
      db[is_full] = report["agreement"]["held_out"]["all"]["sqnr_db"];
      for (const auto& rung : report["ladder"]) searched = searched || rung["rung"] == "search";
    }
    EXPECT_TRUE(searched) << scheme;
    EXPECT_GE(db[1], db[0]) << scheme;
  }
}

TEST_F(Quantize, SixteenBitsMeetADropThatEightDoNot) {
  const CommandResult r = run("qrt_quantize", {network(), "--calibration", samples(200),
                                               "--max-drop", "0", "--report", path("out.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto report = nlohmann::json::parse(read(path("out.json")));
  EXPECT_EQ(report["agreement"]["held_out"]["all"]["agreement"], 1.0);
}

// Decibels of the worst output are met by 16 bits as points are, for every kind of model; weights
// get 16 bits, too, where they do the harm.
TEST_F(Quantize, SixteenBitsMeetDecibels) {
  const std::string model = network(), data = samples(60);
  const CommandResult r =
      run("qrt_quantize", {model, "--calibration", data, "--min-sqnr", "46", "--task", "regression",
                           "-o", path("out.qrt"), "--report", path("r.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto report = nlohmann::json::parse(read(path("r.json")));
  EXPECT_GE(report["agreement"]["held_out"]["all"]["sqnr_db"], 46.0);
  EXPECT_FALSE(report["agreement"]["held_out"]["all"].contains("agreement"));
  EXPECT_EQ(report["ladder"].back()["rung"], "16 bits");
  EXPECT_TRUE(report["ladder"].back()["kept"]);
  const CommandResult no = run(
      "qrt_quantize", {model, "--calibration", data, "--min-sqnr", "140", "-o", path("no.qrt")});
  EXPECT_EQ(no.status, 1);
  EXPECT_NE(no.err.find("--min-sqnr asks for 140 dB"), std::string::npos) << no.err;
  expect_failure(
      "qrt_quantize",
      {model, "--calibration", data, "--task", "audio", "--max-drop", "0", "-o", path("no.qrt")}, 2,
      "is no row of classes; --min-sqnr counts decibels");
}

TEST_F(Quantize, WarnsOfFewSamples) {
  const std::string model = network();
  const CommandResult few =
      run("qrt_quantize", {model, "--calibration", samples(12), "-o", path("out.qrt")});
  EXPECT_EQ(few.status, 0) << few.err;
  EXPECT_NE(few.err.find("judged on 12 samples: give 16 or more"), std::string::npos) << few.err;
  const CommandResult enough =
      run("qrt_quantize", {model, "--calibration", samples(40), "-o", path("out.qrt")});
  EXPECT_EQ(enough.err.find("warning"), std::string::npos) << enough.err;
}

// A LayerNormalization runs in float; layers of 16 bits do not follow it there, and the batch stays open.
TEST_F(Quantize, SixteenBitsPutNoLayerIntoFloat) {
  OnnxBuilder b(17);
  const std::string x = b.input<float>({-1, 16}, "x");
  const auto gemm = [&](const std::string& of, const std::vector<float>& w) {
    return b.node("Gemm", {of, b.constant<float>({16, 16}, w)});
  };
  const std::string norm =
      b.node("LayerNormalization",
             {gemm(x, normal(256, 1)), b.constant<float>({16}, std::vector<float>(16, 1)),
              b.constant<float>({16}, normal(16, 1))});
  OnnxBuilder::declare(b.graph().add_output(),
                       gemm(b.node("Relu", {gemm(norm, normal(256, 1))}), normal(256, 1)), 1,
                       {-1, 16});
  const std::string model = write("norm.onnx", b.bytes()), data = samples(400, 1, {16});
  for (const char* drop : {"100", "0"}) {
    const CommandResult r =
        run("qrt_quantize", {model, "--calibration", data, "--max-drop", drop, "-o",
                             path("out.qrt"), "--report", path("r.json")});
    ASSERT_EQ(r.status, 0) << r.err;
    const auto report = nlohmann::json::parse(read(path("r.json")));
    EXPECT_EQ(report["float_nodes"], 1) << drop;
    int wide = 0;
    for (const auto& t : report["tensors"]) wide += t["bits"] == 16;
    EXPECT_EQ(wide > 0, drop == std::string("0"));
  }
  const CommandResult inspected = run("qrt_inspect", {path("out.qrt"), "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["model"]["batch"], 1);
}

// Every output counts: the second of two is far off, so the ladder judges by it, the report names
// it, and nothing is written.
TEST_F(Quantize, EveryOutputCounts) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 4}, "x");
  const auto gemm = [&](const std::string& of, const std::vector<float>& w) {
    return b.node("Gemm", {of, b.constant<float>({4, 4}, w)});
  };
  const std::string y = gemm(x, normal(16, 1));
  // Differences between large numbers that 8 bits round to the same.
  const std::string large = b.node("Relu", {gemm(x, normal(16, 1))});
  const std::string shifted =
      b.node("Add", {large, b.constant<float>({4}, {5000, 5000, 5000, 5000})});
  const std::string z = gemm(shifted, {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 1, -1, 0, 0, -1, 1});
  OnnxBuilder::declare(b.graph().add_output(), y, 1, {-1, 4});
  OnnxBuilder::declare(b.graph().add_output(), z, 1, {-1, 4});
  const std::string model = write("two.onnx", b.bytes()), data = samples(40, 1, {4});
  const CommandResult r = run("qrt_quantize", {model, "--calibration", data, "-o", path("out.qrt"),
                                               "--report", path("r.json")});
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_NE(r.err.find("no model was written"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find("--ladder fast"), std::string::npos) << "it was tried: " << r.err;
  EXPECT_NE(r.out.find("all, " + z), std::string::npos) << r.out;
  const auto report = nlohmann::json::parse(read(path("r.json")));
  EXPECT_TRUE(report["agreement"]["held_out"]["other_outputs"].contains(z));
  for (const auto& t : report["tensors"])
    EXPECT_EQ(std::string(t["remedy"]).find("--ladder"), std::string::npos);
}

TEST_F(Quantize, ValuesThatAreNotFiniteSpoilNoNumberOfTheReport) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 16, 32}, "x");
  const std::string w = b.constant<float>({32, 8}, normal(256, 1));
  OnnxBuilder::declare(b.graph().add_output(), b.node("MatMul", {x, w}), 1, {-1, 16, 8});
  const std::string model = write("n.onnx", b.bytes());
  std::vector<float> values = normal(40 * 512, 1);
  values[5] = NAN;
  values[777] = INFINITY;
  ASSERT_TRUE(tool::write_npy(path("n.npy"), DType::kFloat32, {40, 16, 32}, values.data(),
                              values.size() * 4)
                  .ok());
  const CommandResult r = run("qrt_quantize", {model, "--calibration", path("n.npy"), "--force",
                                               "--report", path("r.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto report = nlohmann::json::parse(read(path("r.json")));
  for (const auto& t : report["tensors"]) {
    EXPECT_TRUE(t["mean_shift"].is_number()) << t.dump();
    EXPECT_TRUE(t["name"] != "x" || t["not_finite"] == 2) << t.dump();
  }
}

// Options for single nodes and tensors are obeyed: nodes stay in float, and tensors have the bits
// and ranges that are asked for.
TEST_F(Quantize, DoesWhatIsAskedOfSingleNodesAndTensors) {
  const std::string model = network(), data = samples(40);
  const auto report_of = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {
        model,    "--calibration",  data,       "-o",          path("out.qrt"),
        "--onnx", path("out.onnx"), "--report", path("r.json")};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult r = run("qrt_quantize", all);
    EXPECT_EQ(r.status, 0) << r.err;
    return nlohmann::json::parse(read(path("r.json")));
  };
  const auto whole = report_of({});
  std::string conv, relu;
  for (const auto& n : whole["nodes"])
    if (n["op"] == "Conv" && conv.empty()) conv = n["node"];
  for (const auto& t : whole["tensors"])
    if (t["op"] == "Relu") relu = t["name"];
  ASSERT_FALSE(conv.empty() || relu.empty());
  EXPECT_EQ(whole["float_nodes"], 0);

  EXPECT_GT(report_of({"--exclude", conv})["float_nodes"], 0);
  const double one = report_of({"--exclude", "Gemm"})["float_nodes"];
  EXPECT_GT(one, 0);
  EXPECT_GT(report_of({"--exclude", "*", "--force"})["float_nodes"], one);

  const auto wide = report_of({"--bits", relu + "=16"});
  for (const auto& t : wide["tensors"]) EXPECT_EQ(t["bits"], t["name"] == relu ? 16 : 8);
  EXPECT_GE(wide["agreement"]["held_out"]["all"]["sqnr_db"],
            whole["agreement"]["held_out"]["all"]["sqnr_db"].get<double>() - 3);

  const auto ranged = report_of({"--range", relu + "=0:51", "--force"});
  for (const auto& t : ranged["tensors"]) {
    if (t["name"] != relu) continue;
    EXPECT_EQ(t["rule"], "given");
    EXPECT_FLOAT_EQ(t["scale"].get<float>(), 0.2f);
    EXPECT_EQ(t["zero_point"], 0);
  }
  // In a file the same.
  const std::string bytes = read(path("out.onnx"));
  const std::string config = write("config.json", "{\"ranges\": {\"" + relu + "\": [0, 51]}}");
  report_of({"--config", config, "--force"});
  EXPECT_TRUE(read(path("out.onnx")) == bytes);

  for (const auto& [option, value, part] :
       {std::tuple{"--exclude", "Convolution", "has no such node or type of operator"},
        {"--bits", "nothing=16", "no node, tensor or weights of this name"},
        {"--bits", "x=12", "expected PATTERN=8 or PATTERN=16"},
        {"--range", "nothing=0:1", "no tensor of this name is quantised"},
        {"--range", "x=1", "expected TENSOR=LOW:HIGH"}})
    expect_failure("qrt_quantize",
                   {model, "--calibration", data, "-o", path("no.qrt"), option, value}, 2, part);
  expect_failure(
      "qrt_quantize",
      {model, "--calibration", data, "-o", path("no.qrt"), "--scheme", "cvm", "--exclude", "Gemm"},
      2, "CVM has no float");
}

TEST_F(Quantize, RangesThatWereSavedGiveTheSameModel) {
  const std::string model = network(), data = samples(40);
  for (const char* scheme : {"ort-u8", "ort-s8", "espdl-s8", "cvm"}) {
    const std::vector<std::string> common = {model,          "--calibration", data,   "--ladder",
                                             "none",         "--scheme",      scheme, "-o",
                                             path("out.qrt")};
    std::vector<std::string> save = common, load = common;
    save.insert(save.end(), {"--save-ranges", path("ranges.json")});
    load.insert(load.end(), {"--load-ranges", path("ranges.json")});
    ASSERT_EQ(run("qrt_quantize", save).status, 0);
    const std::string bytes = read(path("out.qrt"));
    const CommandResult r = run("qrt_quantize", load);
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_TRUE(read(path("out.qrt")) == bytes) << scheme;
  }
}

// Weights are integers, activations become integers at run time; the ONNX form has the same bits.
TEST_F(Quantize, TheDynamicSchemeNeedsNoRanges) {
  OnnxBuilder b(17);
  const std::string ids = b.input<int64_t>({1, -1}, "ids");
  const std::string table = b.constant<float>({80, 16}, normal(80 * 16, 1));
  std::string x = b.node("Gather", {table, ids});
  x = b.node("Add", {b.node("MatMul", {x, b.constant<float>({16, 24}, normal(384, 0.3f))}),
                     b.constant<float>({24}, normal(24, 0.1f))});
  x = b.node("MatMul", {b.node("Relu", {x}), b.constant<float>({24, 8}, normal(192, 0.3f))});
  OnnxBuilder::declare(b.graph().add_output(), x, 1, {1, -1, 8});
  testing::number_open_dims(&b.graph());
  const std::string model = write("float.onnx", b.bytes());
  std::filesystem::create_directory(path("texts"));
  for (int64_t i = 0; i < 20; ++i) {
    std::vector<int64_t> words(static_cast<size_t>(5 + i % 7));
    for (int64_t& w : words) w = static_cast<int64_t>(random_() % 80);
    const Shape shape = {1, static_cast<int64_t>(words.size())};
    ASSERT_TRUE(tool::write_npy(path("texts/" + std::to_string(i) + ".npy"), DType::kInt64, shape,
                                words.data(), words.size() * 8)
                    .ok());
  }
  const CommandResult r = run(
      "qrt_quantize", {model, "--calibration", path("texts"), "--scheme", "ort-dynamic", "-o",
                       path("out.qrt"), "--onnx", path("out.onnx"), "--report", path("r.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto report = nlohmann::json::parse(read(path("r.json")));
  EXPECT_EQ(report["scheme"], "ort-dynamic");
  EXPECT_EQ(report["held_out_samples"], 20);
  EXPECT_GT(report["agreement"]["held_out"]["all"]["sqnr_db"], 30.0);
  onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(read(path("out.onnx"))));
  std::map<std::string, int> ops;
  std::set<std::string> names;
  for (const onnx::NodeProto& n : written.graph().node()) {
    ++ops[n.op_type()];
    EXPECT_TRUE(names.insert(n.name()).second) << n.name();
  }
  EXPECT_EQ(ops["DynamicQuantizeLinear"], 2);
  EXPECT_EQ(ops["MatMulInteger"], 2);
  EXPECT_EQ(ops["MatMul"], 0);
  EXPECT_EQ(ops["Gather"], 2);  // of rows, and of their scales
  for (const onnx::TensorProto& t : written.graph().initializer())
    EXPECT_NE(t.name(), table) << "the float table is not needed any more";
  const CommandResult converted =
      run("qrt_convert", {path("out.onnx"), "--allow-float", "-o", path("again.qrt")});
  ASSERT_EQ(converted.status, 0) << converted.err;
  for (const char* text : {"texts/3.npy", "texts/5.npy"})
    EXPECT_EQ(run("qrt_run", {path("again.qrt"), path(text), "--sha256"}).out,
              run("qrt_run", {path("out.qrt"), path(text), "--sha256"}).out);
  expect_failure("qrt_quantize",
                 {model, "--calibration", path("texts"), "--scheme", "ort-dynamic", "-o",
                  path("no.qrt"), "--range", "x=0:1"},
                 2, "has the ranges of each run");
  expect_failure("qrt_quantize",
                 {model, "--calibration", path("texts"), "--scheme", "ort-dynamic", "-o",
                  path("no.qrt"), "--exclude", "*"},
                 4, "could become integers");
}

TEST_F(Quantize, RandomSamplesAreMarkedInTheFile) {
  ASSERT_EQ(
      run("qrt_quantize", {network(), "--calibration", "random", "-o", path("out.qrt")}).status, 0);
  const CommandResult r = run("qrt_inspect", {path("out.qrt"), "--format", "json"});
  EXPECT_NE(read(path("out.qrt")).find("random: for timing only"), std::string::npos);
}

TEST_F(Quantize, RefusesSamplesThatAreNone) {
  const std::string model = network();
  std::filesystem::create_directories(path("empty"));
  expect_refused({model}, 2, "--calibration is missing");
  expect_refused({model, "--per-channel"}, 2, "for the schemes espdl-s8 and espdl-s16");
  expect_refused({model, "--calibration", samples(20), "--report", path("no/such/folder")}, 5,
                 "no/such/folder: cannot be written: No such file or directory");
  expect_refused({model, "--calibration", path("empty")}, 3, "holds no samples");
  expect_refused({model, "--calibration", path("missing.npy")}, 5, "No such file");
  expect_refused({model, "--calibration", samples(1)}, 3, "give at least 2");
  expect_refused({model, "--calibration", samples(20, 0)}, 3, "every value of every sample is 0");
  expect_refused({model, "--calibration", samples(20, 1, {3, 9, 9})}, 3, "has shape [20, 3, 9, 9]");
  for (const char* option : {"--mean=0.5", "--scale=1", "--bgr"})
    expect_refused({model, "--calibration", samples(20), option}, 2, "are for images");
  expect_refused({model, "--calibration", "random", "--std=2"}, 2, "are for images");
  const std::vector<uint8_t> bytes(20 * 192, 7);
  ASSERT_TRUE(
      tool::write_npy(path("bytes.npy"), DType::kUInt8, {20, 3, 8, 8}, bytes.data(), bytes.size())
          .ok());
  expect_refused({model, "--calibration", path("bytes.npy")}, 3,
                 "holds uint8, the input 'x' takes float32");
  expect_refused({model, "--calibration", samples(20), "--labels", write("l.txt", "1\n2\n")}, 3,
                 "2 labels for 20 samples");
}

TEST_F(Quantize, RefusesModelsThatAreNone) {
  const std::string data = samples(20);
  expect_refused({network(NAN), "--calibration", data}, 3, "holds NaN");
  expect_refused({write("text.onnx", "no model"), "--calibration", data}, 3,
                 "is not an ONNX model");
  expect_refused({write("m.tflite", "....TFL3"), "--calibration", data}, 3, "is a model of TFLite");
  expect_refused({write("m.qrt", "....QRT1"), "--calibration", data}, 3, "is a .qrt file already");

  OnnxBuilder quantised;
  const std::string x = quantised.input<float>({-1, 3, 8, 8}, "x");
  quantised.output(quantised.qdq<uint8_t>(x, 0.1f, 3));
  expect_refused({write("q.onnx", quantised.bytes()), "--calibration", data}, 4, "qrt_convert");

  OnnxBuilder unknown;
  const std::string u = unknown.input<float>({-1, 3, 8, 8}, "x");
  OnnxBuilder::declare(unknown.graph().add_output(), unknown.node("RoiAlignOfTomorrow", {u}), 1,
                       {-1, 3});
  expect_refused({write("u.onnx", unknown.bytes()), "--calibration", data}, 4,
                 "RoiAlignOfTomorrow (node '");
}

TEST_F(Quantize, RefusesAnOutputThatDoesNotDependOnTheInput) {
  OnnxBuilder b;
  const std::string x = b.input<float>({-1, 4}, "x");
  const std::string zero = b.node("Mul", {x, b.constant<float>({4}, {0, 0, 0, 0})});
  const std::string y = b.node("Gemm", {zero, b.constant<float>({4, 4}, normal(16, 1)),
                                        b.constant<float>({4}, {1, 2, 3, 4})});
  OnnxBuilder::declare(b.graph().add_output(), y, 1, {-1, 4});
  expect_refused({write("c.onnx", b.bytes()), "--calibration", samples(20, 1, {4})}, 3,
                 "does not depend on");
}

// A tool overwrites neither its inputs nor one result by another.
TEST_F(Quantize, DoesNotOverwriteWhatItReads) {
  const std::string model = network(), data = samples(4), qrt = path("m.qrt");
  const struct {
    std::vector<std::string> files;
    const char* message;
  } cases[] = {{{"-o", model}, "would overwrite"},
               {{"-o", qrt, "--report", data}, "would overwrite"},
               {{"-o", qrt, "--labels", data, "--onnx", data}, "would overwrite"},
               {{"-o", qrt, "--onnx", qrt}, "would be written twice"}};
  for (const auto& c : cases) {
    std::vector<std::string> arguments = {model, "--calibration", data};
    arguments.insert(arguments.end(), c.files.begin(), c.files.end());
    const CommandResult r = run("qrt_quantize", arguments);
    EXPECT_EQ(r.status, 2) << c.files.back();
    EXPECT_NE(r.err.find(c.message), std::string::npos) << r.err;
  }
}

TEST_F(Quantize, DoesNotOverwriteDataBesideItsModel) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read(network())));
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || tensor.raw_data().empty()) continue;
    const std::string name = "weights.bin";
    write(name, tensor.raw_data());
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto* location = tensor.add_external_data();
    location->set_key("location");
    location->set_value(name);
    break;
  }
  const std::string data = path("weights.bin"), content = read(data);
  expect_failure("qrt_quantize",
                 {write("external.onnx", model.SerializeAsString()), "--calibration", samples(20),
                  "-o", path("m.qrt"), "--report", data},
                 2, "would overwrite");
  EXPECT_EQ(read(data), content);
}

}  // namespace
}  // namespace qrt::program_test
