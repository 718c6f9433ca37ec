// SPDX-License-Identifier: Apache-2.0
// Calibration samples from files.
#include "converter/quantize/samples/samples.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "converter/quantize/samples/labels.h"
#include "runtime/tools/images/images.h"
#include "runtime/tools/npy.h"
#include "tests/support/zip.h"

namespace qrt::quantize::samples_test {
namespace {

class SamplesTest : public ::testing::Test {
 protected:
  SamplesTest() {
    char name[] = "/tmp/qrt_test_XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~SamplesTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  // 0, 1, 2, ...
  std::string array(const std::string& name, const Shape& shape,
                    DType type = DType::kFloat32) const {
    const auto n = static_cast<size_t>(shape.elements());
    std::vector<float> reals;
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < n; ++i) {
      reals.push_back(static_cast<float>(i));
      bytes.push_back(static_cast<uint8_t>(i));
    }
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    const bool is_real = type == DType::kFloat32;
    const void* data = is_real ? static_cast<const void*>(reals.data()) : bytes.data();
    EXPECT_TRUE(tool::write_npy(path(name), type, shape, data, n * (is_real ? 4 : 1)).ok());
    return path(name);
  }
  static FloatModel model(const Dims& shape, const std::string& second = "") {
    FloatModel m;
    m.inputs.push_back({"x", shape, Element::kFloat});
    if (!second.empty()) m.inputs.push_back({second, {-1, 2}, Element::kFloat});
    return m;
  }
  Status open(const std::vector<std::string>& sources, const FloatModel& m,
              const tool::PictureOptions& options = {}) {
    return open_samples(sources, options, m, &samples_);
  }
  std::vector<float> sample(size_t i, const std::string& input = "x") {
    Values feeds;
    const Status s = samples_->read(i, &feeds);
    EXPECT_TRUE(s.ok()) << s.message();
    return feeds[input].reals;
  }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::string directory_;
  std::unique_ptr<Samples> samples_;
};

TEST_F(SamplesTest, OfOneArrayLieAlongItsFirstDimension) {
  ASSERT_TRUE(open({array("a.npy", {3, 2})}, model({-1, 2})).ok());
  EXPECT_EQ(samples_->count(), 3u);
  EXPECT_EQ(sample(2), (std::vector<float>{4, 5}));
  EXPECT_EQ(sample(0), (std::vector<float>{0, 1}));
}

TEST_F(SamplesTest, OfAFolderCountOn) {
  array("d/a.npy", {2, 2});
  array("d/b.npy", {2});  // one sample, without a batch
  ASSERT_TRUE(open({path("d")}, model({-1, 2})).ok());
  EXPECT_EQ(samples_->count(), 3u);
  EXPECT_EQ(sample(2), (std::vector<float>{0, 1}));
  EXPECT_EQ(sample(1), (std::vector<float>{2, 3}));
}

TEST_F(SamplesTest, HaveTheModelsOwnBatch) {
  const std::string file = array("a.npy", {6, 2});
  ASSERT_TRUE(open({file}, model({3, 2})).ok());
  EXPECT_EQ(samples_->count(), 2u);
  EXPECT_EQ(sample(1).size(), 6u);
  const Status s = open({file}, model({4, 2}));
  EXPECT_EQ(s.code(), Code::kInvalidModel);
  EXPECT_NE(strstr(s.message(), "that its batch divides"), nullptr) << s.message();
}

TEST_F(SamplesTest, MayCarryTheirOwnBatch) {
  ASSERT_TRUE(open({array("a.npy", {3, 1, 2})}, model({-1, 2})).ok());
  EXPECT_EQ(samples_->count(), 3u);
  EXPECT_EQ(sample(2), (std::vector<float>{4, 5}));
  ASSERT_TRUE(open({array("b.npy", {2, 3, 2})}, model({3, 2})).ok());
  EXPECT_EQ(samples_->count(), 2u);
  EXPECT_EQ(sample(1), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(open({array("c.npy", {3, 2, 2})}, model({-1, 2})).code(), Code::kInvalidModel);
}

TEST_F(SamplesTest, OfAScalarAreNumbers) {
  ASSERT_TRUE(open({array("a.npy", {3})}, model({})).ok());
  EXPECT_EQ(samples_->count(), 3u);
  EXPECT_EQ(sample(2), (std::vector<float>{2}));
  ASSERT_TRUE(open({array("b.npy", {})}, model({})).ok());
  EXPECT_EQ(samples_->count(), 1u);
  EXPECT_EQ(open({array("c.npy", {3, 1})}, model({})).code(), Code::kInvalidModel);
}

TEST_F(SamplesTest, OfTwoInputsAreNamed) {
  const std::string a = array("a.npy", {2, 3}), b = array("b.npy", {2, 2}),
                    c = array("c.npy", {3, 2});
  ASSERT_TRUE(open({"x=" + a, "z=" + b}, model({-1, 3}, "z")).ok());
  EXPECT_EQ(sample(1, "z"), (std::vector<float>{2, 3}));
  EXPECT_TRUE(open({a, b}, model({-1, 3}, "z")).ok());  // in the model's order
  const Status misspelt = open({"x=" + a, "zz=" + b}, model({-1, 3}, "z"));
  EXPECT_NE(strstr(misspelt.message(), "has no input 'zz': its inputs are x, z"), nullptr)
      << misspelt.message();
  const Status missing = open({"x=" + a}, model({-1, 3}, "z"));
  EXPECT_NE(strstr(missing.message(), "no samples for the input 'z'"), nullptr)
      << missing.message();
  const Status uneven = open({"x=" + a, "z=" + c}, model({-1, 3}, "z"));
  EXPECT_NE(strstr(uneven.message(), "3 samples for the input 'z', 2 for 'x'"), nullptr)
      << uneven.message();
}

TEST_F(SamplesTest, OfArchivesStoredOrDeflated) {
  const std::string npy = content(array("a.npy", {2, 2}));
  for (const bool packed : {false, true}) {
    const Status s = open({write("a.npz", testing::zip({{"x.npy", npy}}, packed))}, model({-1, 2}));
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(samples_->count(), 2u);
    EXPECT_EQ(sample(1), (std::vector<float>{2, 3}));
  }
}

TEST_F(SamplesTest, OfDamagedArchivesAreRefused) {
  const std::string whole = testing::zip({{"x.npy", content(array("a.npy", {8, 2}))}}, true);
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(open({write("a.npz", whole.substr(0, n))}, model({-1, 2})).code(),
              Code::kInvalidModel)
        << n;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 0x41);
    if (!open({write("a.npz", other)}, model({-1, 2})).ok()) continue;
    Values feeds;
    for (size_t i = 0; i < samples_->count(); ++i) (void)samples_->read(i, &feeds).ok();
  }
}

TEST_F(SamplesTest, OfOtherShapesAndTypesSayWhatIsExpected) {
  const Status shape = open({array("a.npy", {3, 5})}, model({-1, 2}));
  EXPECT_EQ(shape.code(), Code::kInvalidModel);
  EXPECT_NE(strstr(shape.message(), "has shape [3, 5], the input 'x' is float32 [-1, 2]"), nullptr)
      << shape.message();
  const Status type = open({array("b.npy", {3, 2}, DType::kUInt8)}, model({-1, 2}));
  EXPECT_NE(strstr(type.message(), "holds uint8, the input 'x' takes float32"), nullptr)
      << type.message();
  std::filesystem::create_directories(path("empty"));
  const Status empty = open({path("empty")}, model({-1, 2}));
  EXPECT_NE(strstr(empty.message(), "holds no samples"), nullptr) << empty.message();
}

TEST_F(SamplesTest, MayDifferInOpenDimensions) {
  array("d/a.npy", {2, 4});
  array("d/b.npy", {1, 5});
  array("d/c.npy", {3});
  const Status s = open({path("d")}, model({-1, -1}));
  ASSERT_TRUE(s.ok()) << s.message();
  ASSERT_EQ(samples_->count(), 4u);
  EXPECT_EQ(sample(1), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(sample(3), (std::vector<float>{0, 1, 2}));
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < samples_->count(); ++i) {
    quantize::Shapes shapes;
    ASSERT_TRUE(samples_->read_shapes(i, &shapes).ok());
    EXPECT_EQ(shapes.at("x")[0], 1);
    sizes.push_back(shapes.at("x")[1]);
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 5, 3}));
}

TEST_F(SamplesTest, AtRandomAreTheSameEachTime) {
  ASSERT_TRUE(open({"random"}, model({-1, 2, 3})).ok());
  const std::vector<float> first = sample(3);
  EXPECT_EQ(first.size(), 6u);
  EXPECT_EQ(sample(3), first);
  EXPECT_NE(sample(4), first);
  EXPECT_EQ(open({"random"}, model({-1, -1})).code(), Code::kOk);
  Values feeds;
  EXPECT_EQ(samples_->read(0, &feeds).code(), Code::kInvalidArgument);
}

// 2 x 2: red, green / blue, white.
const char kPpm[] = "P6\n# colours\n2 2\n255\n\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff";

TEST_F(SamplesTest, OfImagesAreLaidOutAndScaled) {
  const std::string file = write("a.ppm", std::string(kPpm, sizeof kPpm - 1));
  tool::PictureOptions options;
  options.mean = {0.5f};
  options.std = {0.5f};
  ASSERT_TRUE(open({file}, model({-1, 3, 2, 2}), options).ok());
  EXPECT_EQ(sample(0), (std::vector<float>{1, -1, -1, 1, -1, 1, -1, 1, -1, -1, 1, 1}));
  ASSERT_TRUE(open({file}, model({-1, 2, 2, 3}), options).ok());
  EXPECT_EQ(sample(0), (std::vector<float>{1, -1, -1, -1, 1, -1, -1, -1, 1, 1, 1, 1}));
  options.is_bgr = true;
  ASSERT_TRUE(open({file}, model({-1, 3, 2, 2}), options).ok());
  EXPECT_EQ(sample(0), (std::vector<float>{-1, -1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1}));
}

TEST_F(SamplesTest, OfImagesAreResizedAndCropped) {
  std::string pixels;
  for (int i = 0; i < 8 * 4; ++i) pixels += static_cast<char>(i % 8 * 10);
  const std::string file = write("a.pgm", "P5 8 4 255\n" + pixels);
  tool::PictureOptions options;
  options.scale = 1;
  ASSERT_TRUE(open({file}, model({-1, 1, 2, 4}), options).ok());
  const std::vector<float> halved = sample(0);
  // A triangle over four columns: 10, 30, ...; at the edges what there is.
  EXPECT_NEAR(halved[1], 25, 0.01f);
  EXPECT_NEAR(halved[2], 45, 0.01f);
  EXPECT_EQ(halved[0], halved[4]);
  options.resize = "4";  // the shorter side
  options.crop = "4x4";
  ASSERT_TRUE(open({file}, model({-1, 1, 4, 4}), options).ok());
  EXPECT_NEAR(sample(0)[0], 20, 0.01f);
  EXPECT_NEAR(sample(0)[3], 50, 0.01f);
  options.crop = "4x9";
  ASSERT_TRUE(open({file}, model({-1, 1, -1, -1}), options).ok());
  Values feeds;
  EXPECT_NE(strstr(samples_->read(0, &feeds).message(), "smaller than the crop"), nullptr);
}

// 16 x 8 pixels, the left half (200, 40, 40), the right one (20, 90, 220), but for what JPEG rounds.
constexpr uint8_t kJpeg[] = {
    0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x00, 0x00, 0x01,
    0x00, 0x01, 0x00, 0x00, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x03, 0x02, 0x02, 0x03, 0x02, 0x02, 0x03,
    0x03, 0x03, 0x03, 0x04, 0x03, 0x03, 0x04, 0x05, 0x08, 0x05, 0x05, 0x04, 0x04, 0x05, 0x0a, 0x07,
    0x07, 0x06, 0x08, 0x0c, 0x0a, 0x0c, 0x0c, 0x0b, 0x0a, 0x0b, 0x0b, 0x0d, 0x0e, 0x12, 0x10, 0x0d,
    0x0e, 0x11, 0x0e, 0x0b, 0x0b, 0x10, 0x16, 0x10, 0x11, 0x13, 0x14, 0x15, 0x15, 0x15, 0x0c, 0x0f,
    0x17, 0x18, 0x16, 0x14, 0x18, 0x12, 0x14, 0x15, 0x14, 0xff, 0xdb, 0x00, 0x43, 0x01, 0x03, 0x04,
    0x04, 0x05, 0x04, 0x05, 0x09, 0x05, 0x05, 0x09, 0x14, 0x0d, 0x0b, 0x0d, 0x14, 0x14, 0x14, 0x14,
    0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14,
    0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14,
    0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0x14, 0xff, 0xc0,
    0x00, 0x11, 0x08, 0x00, 0x08, 0x00, 0x10, 0x03, 0x01, 0x11, 0x00, 0x02, 0x11, 0x01, 0x03, 0x11,
    0x01, 0xff, 0xc4, 0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x07, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xc4,
    0x00, 0x16, 0x01, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x09, 0x07, 0x08, 0xff, 0xc4, 0x00, 0x14, 0x11, 0x01, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xda, 0x00, 0x0c,
    0x03, 0x01, 0x00, 0x02, 0x11, 0x03, 0x11, 0x00, 0x3f, 0x00, 0x8a, 0x26, 0xed, 0xaa, 0x29, 0x15,
    0x15, 0xef, 0xff, 0xd9,
};

TEST_F(SamplesTest, OfJpegImagesAreRead) {
  const std::string bytes(reinterpret_cast<const char*>(kJpeg), sizeof kJpeg);
  tool::PictureOptions options;
  options.scale = 1;
  ASSERT_TRUE(open({write("a.jpg", bytes)}, model({-1, 3, 8, 16}), options).ok());
  const std::vector<float> x = sample(0);
  ASSERT_EQ(x.size(), 3u * 8 * 16);
  const float left[] = {200, 40, 40}, right[] = {20, 90, 220};
  for (size_t c = 0; c < 3; ++c)
    for (const size_t row : {size_t{0}, size_t{7}}) {
      EXPECT_NEAR(x[c * 128 + row * 16 + 2], left[c], 4) << c;
      EXPECT_NEAR(x[c * 128 + row * 16 + 13], right[c], 4) << c;
    }
  tool::Image image;
  for (size_t n = 0; n < bytes.size(); n += 7) {
    Budget budget(0);
    EXPECT_FALSE(tool::read_image(write("a.jpg", bytes.substr(0, n)), &budget, &image).ok()) << n;
  }
}

TEST_F(SamplesTest, OfDamagedImagesAreRefused) {
  const std::string ppm(kPpm, sizeof kPpm - 1);
  tool::Image image;
  Budget budget(0);
  for (size_t n = 0; n < ppm.size(); ++n)
    EXPECT_FALSE(tool::read_image(write("a.ppm", ppm.substr(0, n)), &budget, &image).ok()) << n;
  for (const char* other : {"\xff\xd8\xff\xe0 no jpeg", "\x89PNG\r\n\x1a\n no png",
                            "P6 99999999 99999999 255\n", "GIF89a"})
    EXPECT_FALSE(tool::read_image(write("a.png", other), &budget, &image).ok()) << other;
}

TEST_F(SamplesTest, LabelsAreOneForEachSample) {
  std::vector<int64_t> labels;
  ASSERT_TRUE(read_labels(write("l.txt", "3\n1\n2\n"), 3, &labels).ok());
  EXPECT_EQ(labels, (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(read_labels(write("l.txt", "3\n1\n"), 3, &labels).code(), Code::kInvalidModel);
  EXPECT_EQ(read_labels(write("l.txt", "3\ncat\n2"), 3, &labels).code(), Code::kInvalidModel);
  EXPECT_EQ(read_labels(write("l.txt", "3\n-1\n2\n"), 3, &labels).code(), Code::kInvalidModel);
  EXPECT_TRUE(check_labels("l.txt", {3, 1, 2}, 4).ok());
  EXPECT_STREQ(check_labels("l.txt", {2, 1, 3}, 3).message(),
               "l.txt: label 2 is 3, expected a class, 0 to 2");
  labels.clear();
  ASSERT_TRUE(read_labels(array("l.npy", {4}, DType::kUInt8), 4, &labels).ok());
  EXPECT_EQ(labels, (std::vector<int64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace qrt::quantize::samples_test
