// SPDX-License-Identifier: Apache-2.0
// Sessions at the same time: throughput, latency under load, requests at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/support/command.h"
#include "tests/support/counter_model.h"
#include "tests/support/model_builder.h"

namespace qrt::qrt_bench_streams_test {
namespace {

using nlohmann::json;
using testing::CommandResult;

class BenchStreams : public testing::CommandTest {
 protected:
  BenchStreams() {
    testing::ModelBuilder m;
    const uint32_t x = m.input({-1, 64}), y = m.output({-1, 32});
    fb::FullyConnectedOptionsT fc;
    fc.weight_sum.assign(32, 64);
    fc.requant = testing::requant_f32({0.01f});
    const uint32_t w = m.gemm_weights({32, 64}, std::vector<int8_t>(32 * 64, 1));
    m.op(std::move(fc), {x, w, m.bias(std::vector<int32_t>(32))}, {y});
    model_ = write("model.qrt", m.build());
  }

  CommandResult bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {model_, "--seconds", "0.05"});
    return run("qrt_bench", arguments);
  }
  json bench_json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const CommandResult r = bench(arguments);
    EXPECT_EQ(r.status, 0) << r.err;
    return json::parse(r.out);
  }
  static size_t sum(const json& counts) {
    const auto n = counts.get<std::vector<size_t>>();
    return std::accumulate(n.begin(), n.end(), size_t{0});
  }

  std::string model_;
};

TEST_F(BenchStreams, ThroughputIsThatOfAllStreams) {
  const json list = bench_json({"--streams", "1,3", "--batch", "2"});
  ASSERT_EQ(list.size(), 2u);
  for (const json& root : list) {
    const json& throughput = root["throughput"];
    ASSERT_EQ(throughput["stream_runs"].size(), root["streams"]);
    EXPECT_EQ(sum(throughput["stream_runs"]), root["runs"]);
    for (const json& runs : throughput["stream_runs"]) EXPECT_GE(runs, 5);
    const double rate = throughput["runs_per_second"];
    EXPECT_GT(rate, 0);
    EXPECT_DOUBLE_EQ(throughput["samples_per_second"].get<double>(), 2 * rate);
    // A run is due when the one before has ended, so that those of stream i last for all of its time t:
    // sum(n / t) * sum(t) / sum(n), which is 1 at least, and the number of streams where all are alike.
    EXPECT_GE(rate * root["latency_ms"]["mean"].get<double>() * 1e-3, 0.999);
    EXPECT_GE(root["latency_ms"]["p99"], root["latency_ms"]["median"]);
    EXPECT_EQ(root.count("cpu_ms"), 0u);
    EXPECT_EQ(root["macs"], 2 * 32 * 64);
  }
  EXPECT_EQ(list[0]["throughput"].count("scaling"), 0u);
  const json& three = list[1]["throughput"];
  EXPECT_DOUBLE_EQ(
      three["scaling"].get<double>(),
      three["runs_per_second"].get<double>() / three["one_stream_runs_per_second"].get<double>());
  EXPECT_GE(three["one_stream_spread"].get<double>(), 0);
}

TEST_F(BenchStreams, RunsAreThoseOfAllStreams) {
  const json root = bench_json({"--streams", "2", "--runs", "40", "--warmup", "3"});
  EXPECT_EQ(root["runs"], 40);
  EXPECT_EQ(sum(root["throughput"]["stream_runs"]), 40u);
}

TEST_F(BenchStreams, WithoutThemNothingChanges) {
  const json root = bench_json({});
  for (const char* key : {"streams", "throughput", "shared_pool"}) EXPECT_EQ(root.count(key), 0u);
  EXPECT_EQ(root.count("cpu_ms"), 1u);
}

// A run is a step of a stream, whose state goes on.
TEST_F(BenchStreams, AStepIsComparedWithItsFrame) {
  const std::string counter = write("counter.qrt", testing::counter_model(5).build());
  const CommandResult r =
      run("qrt_bench", {counter, "--stream", "0.5", "--seconds", "0.05", "--format", "json"});
  ASSERT_EQ(r.status, 0) << r.err;
  const json root = json::parse(r.out), &stream = root["stream"];
  EXPECT_EQ(stream["frame_ms"], 0.5);
  EXPECT_DOUBLE_EQ(stream["real_time_factor"].get<double>(),
                   root["latency_ms"]["median"].get<double>() / 0.5);
  EXPECT_DOUBLE_EQ(stream["p99_real_time_factor"].get<double>(),
                   root["latency_ms"]["p99"].get<double>() / 0.5);
  EXPECT_EQ(r.err.find("keeps no state"), std::string::npos) << r.err;
  const CommandResult text = bench({"--stream", "20", "--streams", "2"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("of a frame's 20 ms (p99 "), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("the model keeps no state"), std::string::npos) << text.err;
  EXPECT_EQ(bench_json({}).count("stream"), 0u);
  EXPECT_EQ(bench({"--stream", "0"}).status, 2);
}

// A full cache begins anew: the place in a table of 7 rows is a state, which every run moves on, so
// after 7 runs there is none left.
TEST_F(BenchStreams, AFullCacheBeginsAnew) {
  testing::ModelBuilder m;
  m.input({1, 4});
  const uint32_t place = m.tensor({1}, DType::kInt32), next = m.tensor({1}, DType::kInt32);
  fb::TakeOptionsT take;
  take.is_checked = true;
  m.model().version = 2;
  m.op(take, {m.constant({7, 4}, DType::kUInt8, std::vector<uint8_t>(28)), place},
       {m.output({1, 4})});
  fb::IntegerOptionsT add;
  add.function = fb::IntegerFunction::ADD;
  m.op(add, {place, m.constant({1}, DType::kInt32, std::vector<int32_t>{1})}, {next});
  m.variable(place, next);
  const std::string model = write("places.qrt", m.build());
  for (const char* option : {"--stream=10", "--profile", "--streams=2"}) {
    const CommandResult r = run("qrt_bench", {model, option, "--runs", "50", "--warmup", "3"});
    EXPECT_EQ(r.status, 0) << option << ": " << r.err;
  }
}

TEST_F(BenchStreams, RequestsComeAtTheRateAskedFor) {
  const json root = bench_json({"--streams", "2", "--qps", "2000", "--runs", "100"});
  const json& throughput = root["throughput"];
  EXPECT_EQ(throughput["qps"], 2000);
  EXPECT_EQ(root["runs"], 100);
  // They come within 50 ms, give or take 5; a busy machine takes longer.
  EXPECT_LE(throughput["runs_per_second"], 3200);
  EXPECT_GT(throughput["utilization"], 0);
  EXPECT_LE(throughput["utilization"], 1);
  EXPECT_EQ(throughput.count("scaling"), 0u);
  // One stream is enough to ask for.
  EXPECT_EQ(bench_json({"--qps", "500"})["streams"], 1);
  EXPECT_EQ(bench_json({"--qps", "500", "--runs", "7"})["runs"], 7);
  EXPECT_EQ(bench_json({"--qps", "500,1000.5", "--runs", "1"})[1]["throughput"]["qps"], 1000.5);
  for (const char* rates : {"0", "-1", "1e-7", "1e10", "1,", "x", "nan", "inf"})
    expect_failure("qrt_bench", {model_, "--qps", rates}, 2, "is no number of 0.000001 to 1e9");
  expect_failure("qrt_bench", {model_, "--seconds", "0", "--qps", "1"}, 2,
                 "no request came in 0 seconds");
}

TEST_F(BenchStreams, MoreRequestsThanCanBeServedAreTold) {
  // All are due within milliseconds, and a run takes longer than it is until the next.
  const CommandResult r = bench({"--qps", "1000000", "--batch", "4096", "--runs", "1000"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.err.find("1e+06 requests a second are more than can be served: "), std::string::npos)
      << r.err;
}

TEST_F(BenchStreams, ModelsRunAtTheSameTime) {
  const std::string other = write("other.qrt", read(model_));
  const json list = bench_json({other, "--streams", "2", "--concurrent-models"});
  ASSERT_EQ(list.size(), 2u);
  for (const json& root : list) {
    EXPECT_EQ(root["concurrent_models"], (std::vector<std::string>{model_, other}));
    EXPECT_EQ(root["throughput"]["stream_runs"].size(), 2u);
    EXPECT_GT(root["throughput"]["scaling"], 0);
  }
  EXPECT_EQ(list[1]["model"], other);
  // One of each is compared with it alone, too.
  EXPECT_EQ(bench_json({other, "--concurrent-models"})[0]["throughput"].count("scaling"), 1u);
  const CommandResult text = bench({other, "--concurrent-models"});
  EXPECT_NE(text.out.find("concurrent       with " + other + "\n"), std::string::npos) << text.out;
  expect_failure("qrt_bench", {model_, "--concurrent-models"}, 2, "needs several models");
}

TEST_F(BenchStreams, ThreadsAreOfEachOrShared) {
  const auto warnings = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--affinity", "0", "--streams", "2", "--threads", "2"});
    return bench(more).err;
  };
  EXPECT_NE(warnings({}).find("4 threads (2 streams of 2) on 1 CPU"), std::string::npos);
  EXPECT_NE(warnings({"--shared-pool"}).find(": 2 threads on 1 CPU"), std::string::npos);
  EXPECT_EQ(bench_json({"--streams", "2", "--threads", "2", "--shared-pool"})["shared_pool"], true);
}

TEST_F(BenchStreams, EveryFormatTellsThem) {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const std::vector<std::string> all = {"--streams", "1,2", "--threads", "1,2", "--format"};
  const auto bench_as = [&](const char* format) {
    std::vector<std::string> arguments = all;
    arguments.push_back(format);
    return bench(arguments).out;
  };
  EXPECT_EQ(lines(bench_as("jsonl")), 4);
  const std::string csv = bench_as("csv"), md = bench_as("md"), text = bench_as("text");
  EXPECT_EQ(lines(csv), 5) << csv;
  const std::string header = csv.substr(0, csv.find('\n'));
  EXPECT_NE(header.find(",streams,runs_per_second,samples_per_second,scaling,"), std::string::npos);
  const std::string row = csv.substr(csv.find('\n') + 1, csv.find('\n', csv.find('\n') + 1));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(row.begin(), row.begin() + static_cast<long>(row.find('\n')), ','));
  EXPECT_NE(md.find("| streams |"), std::string::npos) << md;
  EXPECT_EQ(lines(md), 8) << md;
  EXPECT_NE(text.find("streams threads  batch   runs/s scaling"), std::string::npos) << text;
  EXPECT_NE(text.find("of one stream alone"), std::string::npos) << text;
  EXPECT_NE(text.find(" % apart)"), std::string::npos) << text;
  EXPECT_NE(md.find("| one stream runs/s | its spread |"), std::string::npos) << md;
  EXPECT_NE(header.find(",one_stream_runs_per_second,one_stream_spread"), std::string::npos);
}

TEST_F(BenchStreams, SustainedRunsAreThoseOfAllStreams) {
  const json root = bench_json({"--streams", "2", "--sustained", "0.001"});
  EXPECT_GT(root["sustained"]["intervals"][0]["runs_per_second"], 0);
}

TEST_F(BenchStreams, WhatIsOfOneSessionIsRefused) {
  for (const char* option : {"--profile", "--roofline"})
    expect_failure("qrt_bench", {model_, "--streams", "2", option}, 2, "leave out --profile");
  expect_failure("qrt_bench", {model_, "--streams", "2", "--scaling", "2"}, 2, "leave out");
  expect_failure("qrt_bench", {model_, "--streams", "0"}, 2, "is no number of 1 to 1024");
}

TEST_F(BenchStreams, AreNoEarlierRunOfOneSession) {
  const std::string old = write("old.json", bench({"--streams", "1", "--format", "json"}).out);
  expect_failure("qrt_bench", {model_, "--compare", old}, 2,
                 "old.json: was measured with --streams: only runs of one session are compared");
  expect_failure("qrt_bench", {model_, "--streams", "1", "--compare", old}, 2, "leave out");
}

TEST_F(BenchStreams, InterruptedTheyTellWhatWasMeasured) {
  const std::string command = "timeout --foreground --preserve-status -s INT 2 " +
                              std::string(QRT_BIN_DIR) + "/qrt_bench " + model_ +
                              " --streams 2 --runs 1000000000 --warmup 0 --format json >" +
                              path("out.json");
  const int status = system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const json root = json::parse(read(path("out.json")));
  EXPECT_EQ(root["interrupted"], true);
  EXPECT_GT(root["runs"], 0);
  // While it waits for requests that are far apart, too.
  const std::string waits = "timeout --foreground --preserve-status -s INT 1 " +
                            std::string(QRT_BIN_DIR) + "/qrt_bench " + model_ +
                            " --streams 2 --seconds 3600 --warmup 0 --qps 0.001 2>" + path("err");
  EXPECT_EQ(WEXITSTATUS(system(waits.c_str())), 130);
  EXPECT_NE(read(path("err")).find("interrupted before a run was measured"), std::string::npos);
}

}  // namespace
}  // namespace qrt::qrt_bench_streams_test
