// SPDX-License-Identifier: Apache-2.0
// Comparison with an earlier run, the roofline and the provider of kernels, as scripts meet them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/model_builder.h"

namespace qrt::qrt_bench_test {
namespace {

using nlohmann::json;
using testing::CommandResult;

class Bench : public testing::CommandTest {
 protected:
  // A fully connected layer, and a reshape of its output.
  Bench() {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 64}), y = m.tensor({-1, 32});
    const uint32_t z = m.output({-1, 4, 8});
    fb::FullyConnectedOptionsT fc;
    fc.weight_sum.assign(32, 64);
    fc.requant = testing::requant_f32({0.01f});
    const uint32_t w = m.gemm_weights({32, 64}, std::vector<int8_t>(32 * 64, 1));
    m.op(std::move(fc), {x, w, m.bias(std::vector<int32_t>(32))}, {y});
    fb::ReshapeOptionsT reshape;
    reshape.shape = {-1, 4, 8};
    m.op(std::move(reshape), {y}, {z});
    model_ = write("model.qrt", m.build());
  }

  CommandResult bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {model_, "--seconds", "0.02"});
    return run("qrt_bench", arguments);
  }

  // Returns the result of a run, changed by `change` and written to a file.
  template <class F>
  std::string old_run(const F& change) const {
    const CommandResult r = bench({"--format", "json"});
    EXPECT_EQ(r.status, 0) << r.err;
    json root = json::parse(r.out);
    change(root);
    return write("old.json", root.dump());
  }

  std::string model_;
};

TEST_F(Bench, ComparesWithAnEarlierRun) {
  // Runs that took far longer and far less than any noise explains, both without noise of their
  // own.
  const auto scaled = [](double factor) {
    return [=](json& root) {
      root["noise"]["min"] = 0;
      for (const char* key : {"latency_ms", "cpu_ms"})
        for (auto& value : root[key]) value = value.get<double>() * factor;
    };
  };
  const std::string slow = old_run(scaled(1e6));
  CommandResult r = bench({"--compare", slow, "--format", "json"});
  ASSERT_EQ(r.status, 0) << r.err;
  const json comparison = json::parse(r.out)["compare"];
  ASSERT_EQ(comparison["regression"], false);
  ASSERT_LT(comparison["least_change"].get<double>(), 0);
  ASSERT_GE(comparison["tolerance"].get<double>(), 0.02);

  const std::string fast = old_run(scaled(1e-6));
  r = bench({"--compare", fast});
  ASSERT_EQ(r.status, 1);
  ASSERT_NE(r.err.find("regression"), std::string::npos) << r.err;
  ASSERT_NE(r.out.find("regression"), std::string::npos) << r.out;
}

// The least time alone decides: other programs add to every other number.
TEST_F(Bench, ComparesTheLeastTimeWhateverTheMedianDoes) {
  const auto moved = [](double median, double least) {
    return [=](json& root) {
      root["noise"]["min"] = 0;
      for (const char* key : {"latency_ms", "cpu_ms"}) {
        root[key]["median"] = root[key]["median"].get<double>() * median;
        root[key]["min"] = root[key]["min"].get<double>() * least;
      }
    };
  };
  // Against a run of a far greater median and a far smaller least time, and the other way round.
  CommandResult r = bench({"--compare", old_run(moved(1e6, 1e-6)), "--format", "json"});
  EXPECT_EQ(r.status, 1) << r.out;
  json comparison = json::parse(r.out)["compare"];
  EXPECT_EQ(comparison["regression"], true);
  EXPECT_LT(comparison["median_change"].get<double>(), 0);
  r = bench({"--compare", old_run(moved(1e-6, 1e6)), "--format", "json"});
  EXPECT_EQ(r.status, 0) << r.out;
  comparison = json::parse(r.out)["compare"];
  EXPECT_EQ(comparison["regression"], false);
  EXPECT_GT(comparison["median_change"].get<double>(), 1);
}

TEST_F(Bench, PeakMemoryIsNotThatOfTheProgramThatStartedIt) {
  const size_t bytes = 512 << 20;
  {
    std::vector<char> much(bytes, 1);  // of this process, which starts qrt_bench
    const CommandResult r = bench({"--format", "json"});
    ASSERT_EQ(r.status, 0) << r.err;
    const json root = json::parse(r.out);
    EXPECT_LT(root["peak_memory_bytes"].get<size_t>(), bytes / 2);
    EXPECT_GT(root["peak_memory_bytes"].get<size_t>(), size_t{1} << 20);
    EXPECT_EQ(much[bytes / 2], 1);
  }
}

TEST_F(Bench, RefusesToCompareOtherWork) {
  const std::string old = old_run([](json& root) { root["threads"] = 2; });
  expect_failure("qrt_bench", {model_, "--seconds", "0.01", "--compare", old}, 2,
                 "measured something else: 2 threads");
  // Before anything is measured.
  expect_failure("qrt_bench", {model_, "--seconds", "80000", "--compare", old}, 2,
                 "measured something else: 2 threads");
  for (const char* content : {"no json", "{}", "[1]", "{\"latency_ms\": 1}"}) {
    const CommandResult r = bench({"--compare", write("other.json", content)});
    EXPECT_EQ(r.status, 3) << content;
    EXPECT_NE(r.err.find("other.json: not what qrt_bench --format json writes: "),
              std::string::npos)
        << r.err;
    EXPECT_EQ(r.err.find("json.exception"), std::string::npos) << r.err;
  }
  expect_failure("qrt_bench", {model_, "--compare", write("empty.json", "{}")}, 3, "latency_ms");
  expect_failure("qrt_bench", {model_, "--compare", path("absent")}, 5, "absent");
}

TEST_F(Bench, RooflineGivesEveryOperatorALimit) {
  const CommandResult r = bench({"--roofline", "--format", "json"});
  ASSERT_EQ(r.status, 0) << r.err;
  const json root = json::parse(r.out);
  ASSERT_EQ(root["ops"].size(), 2u);
  const json& layer = root["ops"][0];
  ASSERT_EQ(layer["macs"], 32 * 64);
  ASSERT_EQ(layer["constant_bytes"], 32 * 64 + 32 * 4);
  ASSERT_EQ(layer["bytes"], 32 * 64 + 32 * 4 + 64 + 32);
  ASSERT_GT(layer["compute_ms"].get<double>(), 0);
  ASSERT_GT(layer["memory_ms"].get<double>(), 0);
  ASSERT_EQ(root["ops"][1]["memory_ms"], 0) << "a view costs nothing";
  ASSERT_EQ(root["roofline"]["peaks"].size(), 1u);
  ASSERT_GT(root["roofline"]["peaks"][0]["gmacs_per_second"].get<double>(), 0);
  ASSERT_EQ(root["roofline"]["memory"].back()["level"], "memory");

  const CommandResult text = bench({"--roofline"});
  ASSERT_EQ(text.status, 0) << text.err;
  ASSERT_NE(text.out.find("of limit"), std::string::npos) << text.out;
}

// An operator may take less time than its limit, and nowhere without a reason.
TEST_F(Bench, WhatIsAboveItsLimitHasAReason) {
  const json root = json::parse(bench({"--roofline", "--format", "json"}).out);
  for (const json& op : root["ops"])
    EXPECT_EQ(op.count("above_limit") == 1, op["of_limit"].get<double>() > 1) << op;
  const std::string csv = bench({"--roofline", "--format", "csv"}).out;
  std::istringstream lines(csv);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  ASSERT_NE(line.find(",of_limit,above_limit"), std::string::npos) << line;
  while (std::getline(lines, line)) {
    const size_t last = line.rfind(','), before = line.rfind(',', last - 1);
    EXPECT_TRUE(std::stod(line.substr(before + 1)) <= 1 || last + 1 < line.size()) << line;
  }
}

TEST_F(Bench, ScalingGivesTheTimeOfAnImageAtEveryBatch) {
  const CommandResult r = bench({"--scaling", "5", "--format", "json"});
  ASSERT_EQ(r.status, 0) << r.err;
  const json scaling = json::parse(r.out)["scaling"];
  ASSERT_EQ(scaling.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(scaling[i]["batch"], 1 << i);
    ASSERT_GT(scaling[i]["image_ms"].get<double>(), 0);
    ASSERT_GT(scaling[i]["of_batch_1"].get<double>(), 0);
  }
  ASSERT_EQ(scaling[0]["of_batch_1"], 1);
  const CommandResult text = bench({"--scaling", "2"}),
                      csv = bench({"--scaling", "2", "--format", "csv"});
  ASSERT_NE(text.out.find("batch 2"), std::string::npos) << text.out;
  ASSERT_EQ(csv.out.rfind("batch,image_ms,of_batch_1\n1,", 0), 0u) << csv.out;
}

TEST_F(Bench, MeasuresEveryModelThreadCountAndBatch) {
  const std::vector<std::string> all = {model_, "--seconds", "0.01", "--threads",
                                        "1,2",  "--batch",   "1,3",  "--format"};
  const auto bench_as = [&](const char* format) {
    std::vector<std::string> arguments = all;
    arguments.push_back(format);
    arguments.insert(arguments.begin(), write("other.qrt", read(model_)));
    const CommandResult r = run("qrt_bench", arguments);
    EXPECT_EQ(r.status, 0) << r.err;
    return r.out;
  };
  const json list = json::parse(bench_as("json"));
  ASSERT_EQ(list.size(), 8u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(list[i]["model"], i < 4 ? path("other.qrt") : model_);
    EXPECT_EQ(list[i]["threads"], i % 4 < 2 ? 1 : 2);
    EXPECT_EQ(list[i]["batch"], i % 2 == 0 ? 1 : 3);
    EXPECT_EQ(list[i]["macs"], (i % 2 == 0 ? 1 : 3) * 32 * 64);
  }
  const std::string lines = bench_as("jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 8) << lines;
  EXPECT_EQ(json::parse(lines.substr(0, lines.find('\n')))["batch"], 1);
  const std::string csv = bench_as("csv"), md = bench_as("md"), text = bench_as("text");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9) << csv;
  EXPECT_NE(md.find("|---|"), std::string::npos) << md;
  EXPECT_EQ(std::count(md.begin(), md.end(), '\n'), 12) << md;
  EXPECT_NE(text.find("model                                threads"), std::string::npos) << text;
  // A second run compares each result with its own.
  const std::string old = write("old.jsonl", lines);
  for (const char* format : {"json", "jsonl", "md", "csv", "text"}) {
    std::vector<std::string> arguments = all;
    arguments.insert(arguments.end(), {format, "--compare", old});
    const CommandResult r = run("qrt_bench", arguments);
    EXPECT_LE(r.status, 1) << r.err;
    const bool is_told =
        r.out.find("regression") != std::string::npos || r.out.find("change") != std::string::npos;
    EXPECT_TRUE(is_told) << format << r.out;
  }
  expect_failure("qrt_bench",
                 {model_, "--seconds", "0", "--threads", "2", "--batch", "5", "--compare", old}, 2,
                 "the earlier runs hold none of");
}

// Names in csv are no formulas, which a spreadsheet would compute from the name of a stranger's model.
TEST_F(Bench, NamesInCsvAreNoFormulas) {
  testing::ModelBuilder m;
  uint32_t x = m.input({1, 4});
  for (const char* name : {"=1+1", "+1", "-1", "@SUM(1)", "plain", "a=b"}) {
    const bool is_last = std::string(name) == "a=b";
    const uint32_t y = is_last ? m.output({1, 4}) : m.tensor({1, 4});
    fb::LutOptionsT lut;
    lut.table = m.buffer(std::vector<uint8_t>(256, 7));
    m.op(std::move(lut), {x}, {y}).name = name;
    x = y;
  }
  const CommandResult r = run(
      "qrt_bench", {write("m.qrt", m.build()), "--seconds", "0", "--profile", "--format", "csv"});
  ASSERT_EQ(r.status, 0) << r.err;
  for (const char* cell :
       {",\"'=1+1\",", ",\"'+1\",", ",\"'-1\",", ",\"'@SUM(1)\",", ",\"plain\",", ",\"a=b\","})
    EXPECT_NE(r.out.find(cell), std::string::npos) << cell << '\n' << r.out;
}

TEST_F(Bench, TellsTheMachineTheModelAndTheFirstRuns) {
  const json root = json::parse(bench({"--format", "json"}).out);
  EXPECT_NE(root["machine"]["cpu"], "");
  EXPECT_EQ(root["machine"]["os"].get<std::string>().rfind("Linux ", 0), 0u);
  EXPECT_GE(root["machine"]["cpus"], 1);
  EXPECT_EQ(root["model_sha256"].get<std::string>().size(), 64u);
  EXPECT_EQ(root["date"].get<std::string>().size(), 20u);
  EXPECT_NE(root["commit"], "");
  EXPECT_GT(root["first_ms"].get<double>(), 0);
  EXPECT_GT(root["second_ms"].get<double>(), 0);
  // The CPU time is measured around the latency, and is raised to the least wall time where a system's
  // CPU clock stands still.
  // Each is a quotient of its own, so that equal times may differ in their last digits.
  EXPECT_GE(root["cpu_ms"]["min"].get<double>(),
            root["latency_ms"]["min"].get<double>() * (1 - 1e-9));
}

// Clocks do not count in short runs: reading the clock takes longer than such a run, so several
// runs are timed together.
TEST_F(Bench, ClocksDoNotCountInShortRuns) {
  double least = HUGE_VAL;
  for (int attempt = 0; attempt < 5 && least > 1.1;
       ++attempt) {  // a busy machine moves one or the other
    const json root = json::parse(bench({"--format", "json"}).out);
    ASSERT_LT(root["latency_ms"]["median"].get<double>(), 0.01);
    least = std::min(
        least, root["cpu_ms"]["median"].get<double>() / root["latency_ms"]["median"].get<double>());
  }
  EXPECT_LE(least, 1.1);
}

TEST_F(Bench, GroupsOfShortRunsEndWithTheLastThatWasAskedFor) {
  for (const char* runs : {"1", "7", "1003"}) {
    const json root =
        json::parse(run("qrt_bench", {model_, "--runs", runs, "--format", "json"}).out);
    EXPECT_EQ(root["runs"].get<size_t>(), strtoul(runs, nullptr, 10));
  }
}

TEST_F(Bench, TimesBelowAMicrosecondHaveDigitsToCompare) {
  const std::string out = bench({}).out;
  std::smatch median;
  ASSERT_TRUE(std::regex_search(out, median, std::regex("median ([0-9.]+) ms"))) << out;
  std::string digits = median[1].str().substr(median[1].str().find_first_of("123456789"));
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  EXPECT_GE(digits.size(), 2u) << median[1];
}

TEST_F(Bench, RunsAsOftenAsAsked) {
  const CommandResult r =
      run("qrt_bench", {model_, "--runs", "17", "--warmup", "0", "--format", "json"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(json::parse(r.out)["runs"], 17);
}

TEST_F(Bench, TakesInputs) {
  const std::vector<uint8_t> x(128);
  ASSERT_TRUE(tool::write_npy(path("x.npy"), DType::kUInt8, {2, 64}, x.data(), x.size()).ok());
  EXPECT_EQ(bench({"--input", path("x.npy"), "--batch", "2"}).status, 0);
  const json root = json::parse(bench({"--input", path("x.npy"), "--format", "json"}).out);
  EXPECT_EQ(root["batch"], 2);
  expect_failure("qrt_bench", {model_, "--input", path("x.npy"), "--batch", "1"}, 3,
                 "expected one run of batch 1");
  expect_failure("qrt_bench", {model_, "--input", path("x.npy"), "--scaling", "2"}, 2,
                 "leave one out");
}

TEST_F(Bench, SustainedRunsAreToldByInterval) {
  const CommandResult r = bench({"--sustained", "0.001", "--format", "json"});
  ASSERT_EQ(r.status, 0) << r.err;
  const json sustained = json::parse(r.out)["sustained"];
  ASSERT_GE(sustained["intervals"].size(), 1u);
  EXPECT_GT(sustained["of_peak"].get<double>(), 0);
  EXPECT_LE(sustained["of_peak"].get<double>(), 1);
  EXPECT_GE(sustained["intervals"][0]["p90_ms"], sustained["intervals"][0]["median_ms"]);
}

TEST_F(Bench, WritesATrace) {
  const CommandResult r = bench({"--trace", path("trace.json")});
  ASSERT_EQ(r.status, 0) << r.err;
  const json events = json::parse(read(path("trace.json")))["traceEvents"];
  ASSERT_GE(events.size(), 4u);
  EXPECT_EQ(events[0]["ph"], "M");
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_EQ(events[1]["cat"], "FullyConnected");
  double end = 0;
  for (size_t i = 1; i < events.size(); ++i) {
    EXPECT_GE(events[i]["ts"].get<double>(), end - 1e-6);
    end = events[i]["ts"].get<double>() + events[i]["dur"].get<double>();
  }
}

TEST_F(Bench, WarnsOfMoreThreadsThanCpus) {
  const CommandResult r = bench({"--affinity", "0", "--threads", "2"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.err.find("warning: " + model_ + ": 2 threads on 1 CPU"), std::string::npos) << r.err;
  for (const char* list : {"0-", "0,", ",0", "x"})
    expect_failure("qrt_bench", {model_, "--affinity", list}, 2, "expected big, little or a list");
  expect_failure("qrt_bench", {model_, "--affinity", "1000"}, 2, "names no CPU");
}

TEST_F(Bench, RunsOnTheCpusAskedFor) {
  for (const std::vector<std::string>& option : {std::vector<std::string>{"--affinity", "0"},
                                                 {"--affinity", "0-0"},
                                                 {"--cpu-mask", "0x1"}}) {
    const CommandResult r = bench({option[0], option[1], "--format", "json"});
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(json::parse(r.out)["machine"]["cpus"], 1) << option[1];
  }
}

TEST_F(Bench, WarnsWhenTheMedianMovedMuch) {
  const json root = json::parse(bench({"--format", "json"}).out);
  const bool is_warned = root["warnings"].dump().find("the median moved") != std::string::npos;
  EXPECT_EQ(is_warned, root["noise"]["median"] > 0.25) << root.dump();
}

// Progress is shown on a terminal, which `script` makes, and nowhere else.
TEST_F(Bench, ShowsItsProgressOnATerminal) {
  if (system("script -qec true /dev/null >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no pseudo-terminals here: is /dev/pts mounted?";
  const std::string bench_command =
      std::string(QRT_BIN_DIR) + "/qrt_bench " + model_ + " --seconds 3 --warmup 1";
  ASSERT_EQ(system(("script -qec '" + bench_command + "' /dev/null >" + path("seen")).c_str()), 0);
  const std::string seen = read(path("seen"));
  EXPECT_NE(seen.find("\r\033[Kqrt_bench: " + model_ + ", 1 thread, "), std::string::npos) << seen;
  EXPECT_NE(seen.find(" s left"), std::string::npos) << seen;
  // Without a terminal stderr has no progress; it may have the warning of a busy machine.
  const std::string err = run("qrt_bench", {model_, "--seconds", "1.5", "--warmup", "1"}).err;
  EXPECT_EQ(err.find('\r'), std::string::npos) << err;
  EXPECT_EQ(err.find(" s left"), std::string::npos) << err;
}

TEST_F(Bench, PrintsWhatWasMeasuredWhenInterrupted) {
  const std::string command = "timeout --foreground --preserve-status -s INT 2 " +
                              std::string(QRT_BIN_DIR) + "/qrt_bench " + model_ +
                              " --runs 1000000000 --warmup 0 --format json >" + path("out.json");
  const int status = system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const json root = json::parse(read(path("out.json")));
  EXPECT_EQ(root["interrupted"], true);
  EXPECT_GT(root["runs"], 0);
}

// Text, help included, fits lines of 80 columns, or as many as COLUMNS says.
TEST_F(Bench, TextFitsItsLines) {
  const auto longest = [](const std::string& text) {
    size_t most = 0, begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      most = std::max(most, end - begin);
    return most;
  };
  const std::string bench_command = std::string(QRT_BIN_DIR) + "/qrt_bench m.qrt --seconds 0.01 ";
  const std::string shown = "cp " + model_ + " m.qrt && " + bench_command + "--profile >out";
  ASSERT_EQ(system(("cd " + path("") + " && " + shown).c_str()), 0);
  EXPECT_LE(longest(read(path("out"))), 80u) << read(path("out"));
  ASSERT_EQ(system(("cd " + path("") + " && " + bench_command + "--format json >old.json").c_str()),
            0);
  for (const char* options : {"--compare old.json", "--roofline", "--streams 1,2"}) {
    const int status =
        system(("cd " + path("") + " && " + bench_command + options + " >out").c_str());
    EXPECT_LE(WEXITSTATUS(status), 1) << options;  // 1: slower than before
    EXPECT_LE(longest(read(path("out"))), 80u) << read(path("out"));
  }
  ASSERT_EQ(system(("cd " + path("") + " && export COLUMNS=200 && " + shown).c_str()), 0);
  EXPECT_NE(read(path("out")).find("kernel"), std::string::npos);
  for (const char* tool :
       {"qrt_bench", "qrt_run", "qrt_inspect", "qrt_convert", "qrt_diff", "qrt_quantize"})
    EXPECT_LE(longest(run(tool, {"--help"}).out), 80u) << tool;
  ASSERT_EQ(
      system(("cd " + path("") + " && " + QRT_BIN_DIR + "/qrt_inspect m.qrt --ops --tensors >shown")
                 .c_str()),
      0);
  EXPECT_LE(longest(read(path("shown"))), 80u) << read(path("shown"));
}

TEST_F(Bench, ChecksItsOptions) {
  for (const char* counts : {"0", "1,", "1,x", "-1", ",2"})
    expect_failure("qrt_bench", {model_, "--threads", counts}, 2, "is no number of 1 to 1024");

  expect_failure("qrt_bench", {model_, "--seconds", "nan"}, 2, "'nan' is no number");
  expect_failure("qrt_bench", {model_, "--cpu-mask", "5x"}, 2, "'5x' is not a hexadecimal number");
  expect_failure("qrt_bench", {model_, "--cpu-mask", "0"}, 2, "names no CPU");
  expect_failure("qrt_bench", {model_, "--kernels", "fast"}, 2, "unknown provider 'fast'");
  ASSERT_EQ(bench({"--kernels", "qrt"}).status, 0);
}

// Files that cannot be written are reported before an hour of measuring, not after it.
TEST_F(Bench, FilesThatCannotBeWrittenAreToldFirst) {
  for (const char* option : {"--html", "--trace"}) {
    expect_failure("qrt_bench", {model_, "--seconds", "3600", option, path("no/such/folder/x")}, 5,
                   "no/such/folder/x: cannot be written: No such file or directory");
    expect_failure("qrt_bench", {model_, "--seconds", "3600", option, path("")}, 5,
                   "cannot be written: Is a directory");
    ASSERT_EQ(bench({option, "/dev/null"}).status, 0);
  }
  expect_failure("qrt_inspect", {model_, "--html", path("no/x.html")}, 5, "cannot be written");
  for (const auto& file : std::filesystem::directory_iterator(path("")))
    EXPECT_EQ(file.path().string().find("x."), std::string::npos) << file.path();
}

TEST_F(Bench, FilesThatAreReadAreNotWrittenOver) {
  const std::string named = "x=" + path("x.npy"), old = path("old.json");
  for (const std::string& file : {path("x.npy"), old}) std::ofstream(file) << "content";
  for (const char* option : {"--html", "--trace"}) {
    expect_failure("qrt_bench", {model_, option, model_}, 2, " would overwrite ");
    expect_failure("qrt_bench", {model_, "--input", named, option, path("x.npy")}, 2,
                   " would overwrite ");
    expect_failure("qrt_bench", {model_, "--compare", old, option, old}, 2, " would overwrite ");
  }
  expect_failure("qrt_bench", {model_, "--html", path("a"), "--trace", path("a")}, 2,
                 " would be written twice");
  expect_failure("qrt_inspect", {model_, "--html", model_}, 2, " would overwrite ");
  EXPECT_EQ(bench({"--html", "/dev/null", "--trace", "/dev/null"}).status, 0);
}

}  // namespace
}  // namespace qrt::qrt_bench_test
