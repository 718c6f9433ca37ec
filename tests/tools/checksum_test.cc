// SPDX-License-Identifier: Apache-2.0
// The checksum at the end of a .qrt file: who writes it, who compares it, and what it finds.
#include "runtime/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "qrt/qrt.h"
#include "qrt_model_generated.h"
#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/onnx_builder.h"

namespace qrt::checksum_test {
namespace {

constexpr int kWidth = 16;
constexpr size_t kSumBytes = 8;

uint64_t hash(const std::string& text) {
  return xxh64(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// The hash has published values, for texts shorter than a word and longer than a stripe of 32
// bytes.
TEST(Xxh64, IsThePublishedHash) {
  EXPECT_EQ(hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

class Checksum : public testing::CommandTest {
 protected:
  Checksum() {
    testing::OnnxBuilder b;
    std::vector<int8_t> weights(kWidth * kWidth);
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<int8_t>(37 * i % 255 - 127);
    std::string x = b.integer_input<uint8_t>({-1, kWidth}, 0.05f, 128);
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({kWidth, kWidth}, weights), 0.0035f, 0);
    x = b.qdq<uint8_t>(b.node("MatMul", {x, w}), 0.05f, 128);
    b.integer_output<uint8_t>(x, 0.05f, 128);
    onnx_ = write("model.onnx", b.bytes());
    const std::vector<uint8_t> data(kWidth, 77);
    x_ = path("x.npy");
    EXPECT_TRUE(tool::write_npy(x_, DType::kUInt8, {1, kWidth}, data.data(), data.size()).ok());
  }

  std::string convert(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {onnx_, "-o", path("m.qrt")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const testing::CommandResult r = run("qrt_convert", arguments);
    EXPECT_EQ(r.status, 0) << r.err;
    return read(path("m.qrt"));
  }

  // Returns the offset of the file's only weights.
  static size_t weights_of(const std::string& file) {
    const fb::Model& model = *fb::GetModel(file.data());
    const uint32_t tensor = model.operators()->Get(0)->inputs()->Get(1);
    const auto* data = model.buffers()->Get(model.tensors()->Get(tensor)->buffer())->data();
    return static_cast<size_t>(reinterpret_cast<const char*>(data->data()) - file.data());
  }

  static qrt_status load(const std::string& file, unsigned flags, std::string* message = nullptr) {
    qrt_model* model = nullptr;
    qrt_error error = {};
    qrt_load_options options;
    qrt_struct_init(&options);
    options.flags = QRT_LOAD_COPY | flags;
    const qrt_status status =
        qrt_model_load_memory(file.data(), file.size(), &options, &model, &error);
    EXPECT_EQ(model != nullptr, status == QRT_OK);
    qrt_model_destroy(model);
    if (message != nullptr) *message = error.message;
    return status;
  }

  std::string onnx_, x_;
};

TEST_F(Checksum, FindsEveryFlippedBit) {
  const std::string file = convert();
  EXPECT_EQ(load(file, QRT_LOAD_CHECK), QRT_OK);
  const size_t mark = file.size() - kChecksumBytes;
  ASSERT_EQ(file.compare(mark, kSumBytes, std::string("QRTSUM1\0", 8)), 0);
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    if (bit / 8 >= mark && bit / 8 < mark + kSumBytes) continue;  // a file without a checksum
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    std::string message;
    ASSERT_EQ(load(damaged, QRT_LOAD_CHECK, &message), QRT_INVALID_MODEL) << "bit " << bit;
    ASSERT_EQ(message, "the file is damaged: its bytes do not have the checksum at its end");
  }
}

TEST_F(Checksum, IsComparedOnlyWhenThatIsAskedFor) {
  std::string file = convert();
  file[weights_of(file)] ^= 1;
  EXPECT_EQ(load(file, 0), QRT_OK);
  EXPECT_EQ(load(file, QRT_LOAD_CHECK), QRT_INVALID_MODEL);
  qrt_model* model = nullptr;
  qrt_load_options options;
  qrt_struct_init(&options);
  const std::string name = write("damaged.qrt", file);
  EXPECT_EQ(qrt_model_load_file(name.c_str(), &options, &model, nullptr), QRT_OK);
  qrt_model_destroy(model);
  options.flags = QRT_LOAD_CHECK;
  EXPECT_EQ(qrt_model_load_file(name.c_str(), &options, &model, nullptr), QRT_INVALID_MODEL);
  options.flags = 4;
  EXPECT_EQ(qrt_model_load_file(name.c_str(), &options, &model, nullptr), QRT_INVALID_ARGUMENT);
}

// A file needs no checksum: files of earlier converters have zeros in its place.
TEST_F(Checksum, IsNotNeeded) {
  std::string file = convert();
  std::fill(file.end() - static_cast<ptrdiff_t>(kChecksumBytes), file.end(), '\0');
  EXPECT_EQ(load(file, QRT_LOAD_CHECK), QRT_OK);
  const std::string name = write("old.qrt", file);
  EXPECT_EQ(run("qrt_run", {name, x_}).status, 0);
  EXPECT_EQ(run("qrt_inspect", {name}).status, 0);
  std::string message;
  EXPECT_EQ(load("too short", QRT_LOAD_CHECK, &message), QRT_INVALID_MODEL);
  EXPECT_EQ(message.find("damaged"), std::string::npos) << message;
}

TEST_F(Checksum, IsAlwaysComparedByTheTools) {
  std::string file = convert();
  file[weights_of(file) + 100] ^= 16;
  const std::string name = write("damaged.qrt", file);
  const std::string message =
      "damaged.qrt: the file is damaged: its bytes do not have the checksum at its end";
  expect_failure("qrt_run", {name, x_}, 3, message);
  expect_failure("qrt_inspect", {name}, 3, message);
  expect_failure("qrt_inspect", {name, name, "--ops-list"}, 3, message);
}

// qrt_run --check also compares the checksum, and reports a mismatch if the file has no digests
// that could name the damaged operator.
TEST_F(Checksum, IsComparedByCheckToo) {
  std::string file = convert({"--digests", x_});
  const std::string name = path("damaged.qrt");
  const std::string metadata = "digests";
  // With another key for its digests the file has test values only.
  const size_t key = file.find(metadata + std::string(1, '\0'));
  ASSERT_NE(key, std::string::npos);
  std::string plain = file;
  plain[key] = 'D';
  write_checksum(reinterpret_cast<uint8_t*>(plain.data()), plain.size());
  write("plain.qrt", plain);
  EXPECT_EQ(run("qrt_run", {path("plain.qrt"), "--check"}).status, 0);
  plain[weights_of(plain)] ^= 64;
  write("plain.qrt", plain);
  expect_failure("qrt_run", {path("plain.qrt"), "--check"}, 3, "the file is damaged");

  // With digests the message names the operator; damage that no digest covers is found, too.
  std::string weights = file;
  weights[weights_of(weights)] ^= 64;
  write("damaged.qrt", weights);
  const testing::CommandResult r = run("qrt_run", {name, "--check"});
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.out.find("its constants are not those that were converted: the file is damaged"),
            std::string::npos)
      << r.out;
  file[file.size() - kChecksumBytes - 1] ^= 1;  // a byte that nothing refers to
  write("damaged.qrt", file);
  EXPECT_EQ(run("qrt_run", {name, "--check"}).status, 3);
}

}  // namespace
}  // namespace qrt::checksum_test
