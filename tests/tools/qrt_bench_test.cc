// Comparison with an earlier run, the roofline and the provider of kernels, as scripts meet them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.h"
#include "tests/support/model_builder.h"

namespace qrt {
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

  // The result of a run, changed by `change` and written to a file.
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

TEST_F(Bench, ChecksItsOptions) {
  expect_failure("qrt_bench", {model_, "--cpu-mask", "5x"}, 2, "'5x' is not a hexadecimal number");
  expect_failure("qrt_bench", {model_, "--cpu-mask", "0"}, 2, "names no CPU");
  expect_failure("qrt_bench", {model_, "--kernels", "fast"}, 2, "unknown provider 'fast'");
  ASSERT_EQ(bench({"--kernels", "qrt"}).status, 0);
}

}  // namespace
}  // namespace qrt
