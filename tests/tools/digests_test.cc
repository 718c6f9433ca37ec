// SPDX-License-Identifier: Apache-2.0
// qrt_convert --digests and qrt_run --check: the first operator that differs has a name.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "qrt_model_generated.h"
#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/open_dims.h"

namespace qrt::digests_test {
namespace {

using testing::CommandResult;
using testing::Dims;

constexpr int kLayers = 24, kWidth = 16;

// Fully connected layers, one behind the other, each of other weights.
std::string layers(const Dims& input = {-1, kWidth}, int count = kLayers) {
  testing::OnnxBuilder b;
  std::mt19937 random(1);
  std::string x = b.integer_input<uint8_t>(input, 0.05f, 128);
  for (int layer = 0; layer < count; ++layer) {
    std::vector<int8_t> weights(kWidth * kWidth);
    for (int8_t& w : weights) w = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({kWidth, kWidth}, weights), 0.0035f, 0);
    x = b.qdq<uint8_t>(b.node("MatMul", {x, w}), 0.05f, 128);
  }
  b.integer_output<uint8_t>(x, 0.05f, 128);
  testing::number_open_dims(&b.graph());
  return b.bytes();
}

class Digests : public testing::CommandTest {
 protected:
  Digests() {
    onnx_ = write("model.onnx", layers());
    std::vector<uint8_t> x(kWidth);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(37 * i + 11);
    x_ = npy("x.npy", 1, x);
  }

  std::string npy(const std::string& name, int64_t batch, const std::vector<uint8_t>& data) {
    return npy(name, Shape{batch, kWidth}, data);
  }
  std::string npy(const std::string& name, const Shape& shape, const std::vector<uint8_t>& data) {
    EXPECT_TRUE(tool::write_npy(path(name), DType::kUInt8, shape, data.data(), data.size()).ok());
    return path(name);
  }
  std::string convert() {
    const CommandResult r = run("qrt_convert", {onnx_, "-o", path("m.qrt"), "--digests", x_});
    EXPECT_EQ(r.status, 0) << r.err;
    return path("m.qrt");
  }

  std::string onnx_, x_;
};

TEST_F(Digests, AreTheSameOnEveryInstructionSet) {
  const std::string model = convert();
  for (const char* isa : {"scalar", "avx2", ""}) {
    std::vector<std::string> arguments = {model, "--check", "--threads", "2"};
    if (*isa) arguments.insert(arguments.end(), {"--isa", isa});
    const CommandResult r = run("qrt_run", arguments);
    if (r.status == 2 && std::string(isa) == "avx2") continue;  // none of this machine's
    EXPECT_EQ(r.status, 0) << r.out << r.err;
    EXPECT_NE(r.out.find("all 16 equal\ncheck operators: all 24 equal\n"), std::string::npos)
        << r.out;
  }
}

// A damaged weight names its operator: one byte, in a copy of the file, for 20 operators chosen at random.
TEST_F(Digests, ADamagedWeightNamesItsOperator) {
  const std::string bytes = read(convert());
  const fb::Model& model = *fb::GetModel(bytes.data());
  ASSERT_EQ(model.operators()->size(), static_cast<size_t>(kLayers));
  std::mt19937 random(7);
  std::set<uint32_t> seen;
  while (seen.size() < 20) {
    const uint32_t op = static_cast<uint32_t>(random()) % kLayers;
    if (!seen.insert(op).second) continue;
    SCOPED_TRACE(op);
    const uint32_t weights = model.operators()->Get(op)->inputs()->Get(1);
    const auto* data = model.buffers()->Get(model.tensors()->Get(weights)->buffer())->data();
    std::string damaged = bytes;
    const auto at = reinterpret_cast<const char*>(data->data()) - bytes.data() +
                    static_cast<ptrdiff_t>(random() % data->size());
    damaged[static_cast<size_t>(at)] = static_cast<char>(damaged[static_cast<size_t>(at)] ^ 0x40);
    const CommandResult r = run("qrt_run", {write("damaged.qrt", damaged), "--check"});
    EXPECT_EQ(r.status, 1) << r.err;
    EXPECT_NE(r.out.find("the first of 24 that differs is " + std::to_string(op) + " '" +
                         model.operators()->Get(op)->name()->str() + "' (FullyConnected"),
              std::string::npos)
        << r.out;
    EXPECT_NE(r.out.find("the file is damaged"), std::string::npos) << r.out;
  }
}

// An operator that computes something else is named, as on a device with other kernels: here the
// digest of an output is changed.
TEST_F(Digests, AnOperatorThatComputesSomethingElseIsNamed) {
  std::string bytes = read(convert());
  const fb::Model& model = *fb::GetModel(bytes.data());
  std::string digests;
  for (const fb::KeyValue* entry : *model.metadata())
    if (entry->key()->str() == "digests") digests = entry->value()->str();
  const size_t at = bytes.find(digests) + 5 * 34 + 20;  // of operator 5
  bytes[at] = bytes[at] == '0' ? '1' : '0';
  CommandResult r = run("qrt_run", {write("other.qrt", bytes), "--check"});
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.out.find("the first of 24 that differs is 5 '"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("its constants are right, its output is not"), std::string::npos) << r.out;
  bytes[at] = 'x';
  r = run("qrt_run", {write("bad.qrt", bytes), "--check"});
  EXPECT_EQ(r.status, 3);
  EXPECT_NE(r.err.find("the metadata 'digests' holds"), std::string::npos) << r.err;
}

// Returns the metadata of a file whose key is "test_values".
std::string test_values(const std::string& bytes) {
  for (const fb::KeyValue* entry : *fb::GetModel(bytes.data())->metadata())
    if (entry->key()->str() == "test_values") return entry->value()->str();
  return "";
}

TEST_F(Digests, AreOfTheInputsSizes) {
  const std::vector<uint8_t> x(6 * kWidth, 77);
  const std::string rows = write("rows.onnx", layers({-1, -1, kWidth}, 3)), out = path("m.qrt");
  struct Case {
    std::string model, array, sizes;
  };
  for (const Case& c : {Case{onnx_, npy("batch.npy", 6, x), "1 > 2 @ 6"},
                        Case{rows, npy("rows.npy", Shape{2, 3, kWidth}, x), "1 > 2 @ 2 3"},
                        Case{rows, npy("one.npy", Shape{6, 1, kWidth}, x), "1 > 2 @ 6 1"}}) {
    CommandResult r = run("qrt_convert", {c.model, "-o", out, "--digests", c.array});
    ASSERT_EQ(r.status, 0) << r.err;
    const std::string told = test_values(read(out));
    EXPECT_EQ(told.substr(told.find('@')), c.sizes.substr(c.sizes.find('@')));
    r = run("qrt_run", {out, "--check"});
    EXPECT_EQ(r.status, 0) << r.out << r.err;
    EXPECT_NE(r.out.find("all 96 equal\ncheck operators: all "), std::string::npos) << r.out;
  }
}

TEST_F(Digests, SizesThatTheModelCannotHaveAreRefused) {
  const std::string array = npy("batch.npy", 6, std::vector<uint8_t>(6 * kWidth));
  ASSERT_EQ(run("qrt_convert", {onnx_, "-o", path("m.qrt"), "--digests", array}).status, 0);
  const std::string bytes = read(path("m.qrt")), told = test_values(bytes);
  const auto check = [&](char size, int status, const std::string& part) {
    std::string changed = bytes;
    changed[bytes.find(told) + told.size() - 1] = size;
    expect_failure("qrt_run", {write("changed.qrt", changed), "--check"}, status, part);
  };
  check('x', 3, "the metadata 'test_values' has a size of 'x'");
  check('0', 2, "the size of 'batch' is 0");
  check('5', 3, "96 bytes of test values for ");
}

TEST_F(Digests, InputsMustFit) {
  const std::string out = path("none.qrt");
  const std::vector<uint8_t> two(2 * kWidth);
  expect_failure("qrt_convert",
                 {onnx_, "-o", out, "--digests", npy("two.npy", Shape{2, 1, kWidth}, two)}, 3,
                 "--digests: the inputs are a sequence of 2 runs, expected one");
  expect_failure("qrt_convert", {onnx_, "-o", out, "--digests", path("no.npy")}, 5, "no.npy");
  expect_failure("qrt_convert", {onnx_, "-o", out, "--digests", x_, "--digests", x_}, 2,
                 "1 array is for no input of the model");
  expect_failure("qrt_convert", {onnx_, "-o", out, "--digests", x_, "--keep-test-values"}, 2,
                 "exclude each other");
  EXPECT_EQ(read(out), "");
}

}  // namespace
}  // namespace qrt::digests_test
