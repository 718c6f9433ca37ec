// SPDX-License-Identifier: Apache-2.0
// qrt_diff: which layer differs from a folder of tensors.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/model_builder.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/open_dims.h"
#include "tests/support/tflite_models.h"

namespace qrt::qrt_diff_test {
namespace {

using testing::CommandResult;

constexpr int kLayers = 4;

// Returns a model of kLayers convolutions in sequence, whose tensors by default are [1, 3, 4, 4] in
// the source and [1, 4, 4, 3] in qrt.
std::string layers(const testing::Dims& image = {1, 3, 4, 4}) {
  testing::OnnxBuilder b;
  std::string x = b.dq<uint8_t>(b.input<uint8_t>(image, "image"), 0.05f, 128);
  for (int layer = 0; layer < kLayers; ++layer) {
    std::vector<int8_t> weights;
    for (int i = 0; i < 9; ++i) weights.push_back(static_cast<int8_t>(i * 37 % 100 + layer - 40));
    const std::string w = b.dq<int8_t>(b.constant<int8_t>({3, 3, 1, 1}, weights), 0.01f, 0);
    x = b.qdq<uint8_t>(b.node("Conv", {x, w}), 0.05f, 128);
  }
  b.integer_output<uint8_t>(x, 0.05f, 128);
  testing::number_open_dims(&b.graph());
  return b.bytes();
}

class Diff : public testing::CommandTest {
 protected:
  Diff() {
    onnx_ = write("model.onnx", layers());
    std::vector<uint8_t> image(48);
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(41 * i + 3);
    image_ = path("image.npy");
    EXPECT_TRUE(
        tool::write_npy(image_, DType::kUInt8, {1, 3, 4, 4}, image.data(), image.size()).ok());
    EXPECT_EQ(run("qrt_convert", {onnx_, "-o", path("m.qrt")}).status, 0);
    EXPECT_EQ(
        run("qrt_run", {path("m.qrt"), image_, "--dump-all", "--output-dir", path("dump")}).status,
        0);
    index_ = nlohmann::json::parse(read(path("dump/index.json")));
  }

  // Returns the dump's entry for the output of convolution i.
  const nlohmann::json& entry(int i) const {
    for (const auto& e : index_)
      if (e.value("operator", "") == "Conv2D" && i-- == 0) return e;
    return index_[0];
  }
  tool::NpyArray tensor(int i) const {
    tool::NpyArray array;
    EXPECT_TRUE(tool::read_npy(path("dump/" + entry(i)["file"].get<std::string>()), &array).ok());
    return array;
  }

  std::string onnx_, image_;
  nlohmann::json index_;
};

TEST_F(Diff, EqualDumpsHaveNoDifference) {
  for (const std::string& model : {onnx_, path("m.qrt")}) {
    const CommandResult r = run("qrt_diff", {model, path("dump"), "--isa", "scalar"});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.out, "6 of 6 tensors compared, 0 differ\n");
  }
}

TEST_F(Diff, NamesTheFirstLayerThatDiffers) {
  for (int layer : {2, 1}) {
    tool::NpyArray array = tensor(layer);
    array.data[5] ^= 4;
    ASSERT_TRUE(tool::write_npy(path("dump/" + entry(layer)["file"].get<std::string>()),
                                array.dtype, array.shape, array.data.data(), array.data.size())
                    .ok());
    const CommandResult r = run("qrt_diff", {onnx_, path("dump")});
    EXPECT_EQ(r.status, 1) << r.err;
    const std::string first = "first difference: '" + entry(layer)["name"].get<std::string>() +
                              "' of operator " + entry(layer)["operator_index"].dump() + " '";
    EXPECT_EQ(r.out.rfind(first, 0), 0u) << r.out;
    EXPECT_NE(r.out.find("1 of 48 differ, the first at 5: "), std::string::npos) << r.out;
    EXPECT_NE(r.out.find("6 of 6 tensors compared, " + std::to_string(3 - layer) +
                         (layer == 2 ? " differs\n" : " differ\n")),
              std::string::npos)
        << r.out;
  }
}

// Arrays of real numbers, or of int8 where qrt has uint8, are compared by name without an
// index.json, as a script writes them from another runtime.
TEST_F(Diff, ComparesRealNumbersAndInt8ByName) {
  std::filesystem::create_directory(path("other"));
  const auto save = [&](int layer, DType dtype, const void* data, size_t bytes) {
    std::string name = entry(layer)["name"].get<std::string>();
    ASSERT_TRUE(
        tool::write_npy(path("other/" + name + ".npy"), dtype, {1, 3, 4, 4}, data, bytes).ok());
  };
  std::vector<float> real;
  for (const uint8_t q : tensor(0).data)
    real.push_back(static_cast<float>(static_cast<int>(q) - 128) * 0.05f);
  save(0, DType::kFloat32, real.data(), real.size() * 4);
  std::vector<uint8_t> shifted = tensor(1).data;
  for (uint8_t& q : shifted) q = static_cast<uint8_t>(q - 128);
  save(1, DType::kInt8, shifted.data(), shifted.size());
  CommandResult r =
      run("qrt_diff", {onnx_, path("other"), "--input", image_, "--all", "--expect-some"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("2 of 6 tensors compared, 0 differ\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("    no reference of this name\n"), std::string::npos) << r.out;
  real[7] += 0.05f;
  save(0, DType::kFloat32, real.data(), real.size() * 4);
  r = run("qrt_diff", {onnx_, path("other"), "--input", image_, "--expect-some"});
  EXPECT_EQ(r.status, 1);
  EXPECT_NE(r.out.find("1 of 48 differ, the first at 7: "), std::string::npos) << r.out;
}

// A model with open dimensions runs at the sizes of the given arrays.
TEST_F(Diff, TakesTheSizesOfTheFolder) {
  const std::string open = write("open.onnx", layers({-1, 3, -1, -1}));
  std::vector<uint8_t> image(size_t{2} * 3 * 6 * 5);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(41 * i + 3);
  const std::string array = path("other.npy");
  ASSERT_TRUE(tool::write_npy(array, DType::kUInt8, {2, 3, 6, 5}, image.data(), image.size()).ok());
  ASSERT_EQ(run("qrt_convert", {open, "-o", path("open.qrt")}).status, 0);
  // A model with equal weights and fixed sizes makes the references.
  const std::string fixed = write("fixed.onnx", layers({2, 3, 6, 5})), dump = path("sizes");
  ASSERT_EQ(run("qrt_convert", {fixed, "-o", path("fixed.qrt")}).status, 0);
  ASSERT_EQ(run("qrt_run", {path("fixed.qrt"), array, "--dump-all", "--output-dir", dump}).status,
            0);
  for (const std::string& model : {open, path("open.qrt")}) {
    for (const std::vector<std::string>& input : {std::vector<std::string>{}, {"--input", array}}) {
      std::vector<std::string> arguments = {model, dump};
      arguments.insert(arguments.end(), input.begin(), input.end());
      const CommandResult r = run("qrt_diff", arguments);
      EXPECT_EQ(r.status, 0) << r.err;
      EXPECT_EQ(r.out, "6 of 6 tensors compared, 0 differ\n");
    }
  }
  // The folder's tensors are of other sizes than the input that is given.
  expect_failure("qrt_diff", {open, dump, "--input", image_}, 3,
                 "has a reference of its name, shape and type");
}

// Tensors of one name and shape, which the converter can make, are compared in their order.
TEST_F(Diff, OfSeveralOfOneNameEachHasItsOwn) {
  testing::ModelBuilder m;
  uint32_t x = m.input({1, 4}, DType::kUInt8, "x");
  for (int i = 0; i < 4; ++i) {
    const uint32_t y =
        i == 3 ? m.output({1, 4}, DType::kUInt8, "y") : m.tensor({1, 4}, DType::kUInt8, "same");
    fb::AddOptionsT add;
    add.a_scale = add.b_scale = testing::float_bits(1.0f);
    m.op(add, {x, x}, {y});
    x = y;
  }
  const std::vector<uint8_t> bytes = m.build();
  const std::string model = write("same.qrt", std::string(bytes.begin(), bytes.end()));
  const uint8_t numbers[] = {1, 2, 3, 4};
  ASSERT_TRUE(tool::write_npy(path("x.npy"), DType::kUInt8, {1, 4}, numbers, 4).ok());
  const std::string dump = path("same");
  ASSERT_EQ(run("qrt_run", {model, path("x.npy"), "--dump-all", "--output-dir", dump}).status, 0);
  CommandResult r = run("qrt_diff", {model, dump});
  EXPECT_EQ(r.status, 0) << r.err << r.out;
  EXPECT_EQ(r.out, "4 of 4 tensors compared, 0 differ\n");
}

TEST_F(Diff, ReadsTfliteModels) {
  const std::string model = write("m.tflite", testing::tflite_models::conv().build());
  std::vector<int8_t> x(144);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(41 * i + 3);
  ASSERT_TRUE(tool::write_npy(path("x.npy"), DType::kInt8, {1, 6, 6, 4}, x.data(), x.size()).ok());
  ASSERT_EQ(run("qrt_convert", {model, "-o", path("t.qrt")}).status, 0);
  const std::string dump = path("tflite");
  ASSERT_EQ(
      run("qrt_run", {path("t.qrt"), path("x.npy"), "--dump-all", "--output-dir", dump}).status, 0);
  CommandResult r = run("qrt_diff", {model, dump, "--isa", "scalar"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find(" tensors compared, 0 differ\n"), std::string::npos) << r.out;

  // Arrays as a script dumps them from TFLite's interpreter: int8, by name, without an index.
  std::string file;
  for (const auto& e : nlohmann::json::parse(read(dump + "/index.json")))
    if (e["name"] == "t3") file = e["file"];
  tool::NpyArray array;
  ASSERT_TRUE(tool::read_npy(dump + "/" + file, &array).ok());
  if (array.dtype == DType::kUInt8)
    for (uint8_t& q : array.data) q = static_cast<uint8_t>(q - 128);
  std::filesystem::create_directory(path("int8"));
  for (const uint8_t change : {0, 1}) {
    array.data[5] = static_cast<uint8_t>(array.data[5] + change);
    ASSERT_TRUE(tool::write_npy(path("int8/t3.npy"), DType::kInt8, {1, 3, 3, 8}, array.data.data(),
                                array.data.size())
                    .ok());
    r = run("qrt_diff", {model, path("int8"), "--input", path("x.npy"), "--expect-some"});
    EXPECT_EQ(r.status, change) << r.err << r.out;
  }
  EXPECT_EQ(r.out.rfind("first difference: 't3' of operator ", 0), 0u) << r.out;
  EXPECT_NE(r.out.find("1 of 72 differ, the first at 5: "), std::string::npos) << r.out;
}

// A misspelt name is an error, since its tensor would not be compared.
TEST_F(Diff, LeavesNothingOutUnasked) {
  const std::string all = path("dump"), last = index_.back()["name"];
  const auto write_index = [&](const nlohmann::json& index) {
    write("dump/index.json", index.dump());
  };
  nlohmann::json index = index_;
  index.back()["name"] = "misspelt";
  write_index(index);
  expect_failure(
      "qrt_diff", {onnx_, all}, 2,
      "dump: 1 array is for no output of the model: 'misspelt'; 1 output has no array: '" + last +
          "'");
  CommandResult r = run("qrt_diff", {onnx_, all, "--expect-some"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "5 of 6 tensors compared, 0 differ\n");
  // A tensor between the layers has a misspelt name.
  index = index_;
  index[2]["name"] = "misspelt";
  write_index(index);
  expect_failure("qrt_diff", {onnx_, all}, 2, "1 array is for no output of the model: 'misspelt'");
  // An output has no array.
  index = index_;
  index.erase(index.size() - 1);
  write_index(index);
  expect_failure("qrt_diff", {onnx_, all}, 2, "1 output has no array: '" + last + "'");
  // An array has another shape.
  write_index(index_);
  ASSERT_TRUE(tool::write_npy(path("dump/" + index_.back()["file"].get<std::string>()),
                              DType::kUInt8, {1, 2}, "xy", 2)
                  .ok());
  expect_failure("qrt_diff", {onnx_, all}, 3, "a reference cannot be compared, '" + last + "': ");
  // An input is given twice.
  write_index(index_);
  expect_failure("qrt_diff", {onnx_, all, "--input", image_, "--input", image_}, 2,
                 "--input: 1 array is for no input of the model: '" + image_ + "'");
}

TEST_F(Diff, SaysWhatIsMissing) {
  expect_failure("qrt_diff", {onnx_, path("none")}, 5, "none: No such file");
  std::filesystem::create_directory(path("empty"));
  expect_failure("qrt_diff", {onnx_, path("empty")}, 3, "neither an index.json nor .npy files");
  ASSERT_TRUE(tool::write_npy(path("empty/a.npy"), DType::kUInt8, {1}, "x", 1).ok());
  expect_failure("qrt_diff", {onnx_, path("empty")}, 2, "holds no tensor 'image', an input");
  expect_failure("qrt_diff", {onnx_, path("empty"), "--input", image_, "--expect-some"}, 3,
                 "none of the model's 6 tensors has a reference");
  write("empty/index.json", "[{\"name\": \"x\"}]");
  expect_failure("qrt_diff", {onnx_, path("empty")}, 3, "\"name\" and \"file\"");
}

}  // namespace
}  // namespace qrt::qrt_diff_test
