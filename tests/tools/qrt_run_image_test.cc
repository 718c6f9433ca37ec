// SPDX-License-Identifier: Apache-2.0
// qrt_run --image: pictures as inputs.
#include <gtest/gtest.h>
#include <png.h>

#include <cstdio>  // jpeglib.h needs FILE
// clang-format off: in this order
#include <jpeglib.h>
// clang-format on

#include <cstdlib>

#include "runtime/tools/npy.h"
#include "tests/support/command.h"
#include "tests/support/model_builder.h"

namespace qrt::qrt_run_image_test {
namespace {

// 2 x 2: red, green / blue, white.
const std::string kPpm("P6\n2 2\n255\n\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff", 23);

class RunImage : public testing::CommandTest {
 protected:
  // Returns a model of y = 255 - x, for an input of this shape and scale (0: none).
  std::string model(const std::vector<int>& dims, float scale = 0, int zero_point = 0) {
    testing::ModelBuilder m;
    Shape shape;
    for (const int d : dims) shape.push_back(d);
    const uint32_t x = m.input(shape, DType::kUInt8, "x");
    const uint32_t y = m.output(shape, DType::kUInt8, "y");
    if (scale > 0) {
      auto q = std::make_unique<fb::QuantizationT>();
      q->scale = {scale};
      q->zero_point = {zero_point};
      m.model().tensors[x]->quantization = std::move(q);
    }
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
    fb::LutOptionsT lut;
    lut.table = m.buffer(table);
    m.op(std::move(lut), {x}, {y});
    return write("model.qrt", m.build());
  }

  // Returns the input that the model was given: 255 less its output.
  std::vector<int> input(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--output-dir", path("out")});
    const testing::CommandResult r = run("qrt_run", arguments);
    EXPECT_EQ(r.status, 0) << r.err;
    tool::NpyArray array;
    EXPECT_TRUE(tool::read_npy(path("out/output_0.npy"), &array).ok());
    std::vector<int> values;
    for (const uint8_t v : array.data) values.push_back(255 - v);
    return values;
  }
};

TEST_F(RunImage, PixelsGoToInputsWithoutAScale) {
  const std::string ppm = write("a.ppm", kPpm);
  const std::vector<int> rows = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  EXPECT_EQ(input({model({-1, 2, 2, 3}), "--image", ppm}), rows);
  EXPECT_EQ(input({model({-1, 3, 2, 2}), "--image", ppm}),
            (std::vector<int>{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255}));
  EXPECT_EQ(input({model({-1, 2, 2, 3}), "--image", ppm, "--rgb"}), rows);
  EXPECT_EQ(input({model({-1, 2, 2, 3}), "--image", ppm, "--bgr"}),
            (std::vector<int>{0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255}));
  // A batch of two.
  std::vector<int> two = rows;
  two.insert(two.end(), rows.begin(), rows.end());
  EXPECT_EQ(input({model({-1, 2, 2, 3}), "--image", ppm, "--image", ppm}), two);
  EXPECT_EQ(input({model({-1, 1, 1, 3}), "--image", ppm, "--resize", "1", "--layout", "nhwc"}),
            (std::vector<int>{128, 128, 128}));
}

// Real numbers are quantised by the input's scale: (pixel / 255 - 0.5) / 0.5 is -1 or 1, at a scale
// of 1/127 and a zero point of 128: 1 or 255.
TEST_F(RunImage, RealNumbersAreQuantisedByTheInputsScale) {
  EXPECT_EQ(input({model({-1, 2, 2, 3}, 1.0f / 127, 128), "--image", write("a.ppm", kPpm), "--mean",
                   "0.5", "--std", "0.5,0.5,0.5"}),
            (std::vector<int>{255, 1, 1, 1, 255, 1, 1, 1, 255, 255, 255, 255}));
}

// Pixels may be scaled otherwise: pixel * 2 - 255 is -255 or 255, at a scale of 3 and a zero point
// of 100: 15 or 185.
TEST_F(RunImage, PixelsMayBeScaledOtherwise) {
  EXPECT_EQ(input({model({-1, 2, 2, 3}, 3.0f, 100), "--image", write("a.ppm", kPpm), "--scale", "2",
                   "--mean", "255"}),
            (std::vector<int>{185, 15, 15, 15, 185, 15, 15, 15, 185, 185, 185, 185}));
}

TEST_F(RunImage, ReadsPng) {
  const uint8_t rgb[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = png.height = 2;
  png.format = PNG_FORMAT_RGB;
  ASSERT_TRUE(png_image_write_to_file(&png, path("a.png").c_str(), 0, rgb, 0, nullptr));
  EXPECT_EQ(input({model({-1, 2, 2, 3}), "--image", path("a.png")}),
            (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

// A picture of four inks is read, as printers have it: as Adobe's programs store it, and as the standard does.
TEST_F(RunImage, ReadsJpegOfFourInks) {
  for (const bool is_adobe : {true, false}) {
    jpeg_compress_struct jpeg;
    jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* data = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &data, &size);
    jpeg.image_width = jpeg.image_height = 2;
    jpeg.input_components = 4;
    jpeg.in_color_space = JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg.write_Adobe_marker = is_adobe;
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < 2; ++y) {
      uint8_t row[8];
      for (int i = 0; i < 8; ++i) {
        const int inks[4] = {0, 100, 255, 51};  // cyan, magenta, yellow, black
        row[i] = static_cast<uint8_t>(is_adobe ? 255 - inks[i % 4] : inks[i % 4]);
      }
      JSAMPROW rows = row;
      jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    const std::string file = write("a.jpg", std::string(data, data + size));
    free(data);
    // 255 * 204 / 255, 155 * 204 / 255, 0.
    std::vector<int> expected;
    for (int i = 0; i < 4; ++i) expected.insert(expected.end(), {204, 124, 0});
    EXPECT_EQ(input({model({-1, 2, 2, 3}), "--image", file}), expected) << is_adobe;
  }
}

// Returns a header of 40 bytes behind the file's own, and what follows it.
std::string bmp(int width, int height, int bits, int compression, const std::string& palette,
                const std::string& pixels) {
  std::string file = "BM" + std::string(8, '\0');
  const auto add = [&](int64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file += static_cast<char>(value >> (8 * i) & 255);
  };
  add(54 + static_cast<int64_t>(palette.size()), 4);
  add(40, 4);
  add(width, 4);
  add(height, 4);
  add(1, 2);
  add(bits, 2);
  add(compression, 4);
  file += std::string(20, '\0');
  return file + palette + pixels;
}

// Every form of BMP is read: the picture of kPpm, rows from the bottom up, blue first, in multiples of 4 bytes.
TEST_F(RunImage, ReadsBmp) {
  const std::string nhwc = model({-1, 2, 2, 3});
  const std::vector<int> expected = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  const std::string blue("\xff\0\0", 3), green("\0\xff\0", 3), red("\0\0\xff", 3),
      white("\xff\xff\xff"), pad("\0\0", 2), zero("\0", 1);
  const std::string palette = red + zero + green + zero + blue + zero + white + zero;
  const std::string five("\x00\x7c\xe0\x03", 4), lower("\x1f\x00\xff\x7f", 4);
  const std::string masks("\0\0\xff\0\0\xff\0\0\xff\0\0\0", 12);
  const std::vector<std::pair<const char*, std::string>> files = {
      {"24 bits", bmp(2, 2, 24, 0, "", blue + white + pad + red + green + pad)},
      {"from above", bmp(2, -2, 24, 0, "", red + green + pad + blue + white + pad)},
      {"32 bits", bmp(2, 2, 32, 0, "", blue + zero + white + zero + red + zero + green + zero)},
      {"16 bits", bmp(2, 2, 16, 0, "", lower + five)},
      {"masks", bmp(2, 2, 32, 3, masks, blue + zero + white + zero + red + zero + green + zero)},
      {"8 bits", bmp(2, 2, 8, 0, palette, std::string("\2\3\0\0\0\1\0\0", 8))},
      {"4 bits", bmp(2, 2, 4, 0, palette, std::string("\x23\0\0\0\x01\0\0\0", 8))},
      {"runs of bytes", bmp(2, 2, 8, 1, palette, std::string("\1\2\1\3\0\0\1\0\1\1\0\1", 12))},
      {"runs of halves", bmp(2, 2, 4, 2, palette, std::string("\2\x23\0\0\2\x01\0\1", 8))},
  };
  for (const auto& [name, file] : files) {
    EXPECT_EQ(input({nhwc, "--image", write("a.bmp", file)}), expected) << name;
    EXPECT_EQ(input({nhwc, write("a", file)}), expected) << name << ", by its content";
    // Cut at every place: an error, or what the runs gave so far
    for (size_t n = 3; n < file.size(); ++n) {
      const testing::CommandResult r =
          n % 7 == 0 ? run("qrt_run", {nhwc, "--image", write("cut.bmp", file.substr(0, n))})
                     : testing::CommandResult{3, "", ""};
      EXPECT_TRUE(r.status == 3 || r.status == 4 || r.status == 0) << name << n << r.err;
    }
  }
  expect_failure("qrt_run", {nhwc, "--image", write("b.bmp", bmp(60000, 60000, 8, 1, "", ""))}, 3,
                 "b.bmp: is 60000 x 60000 pixels");
  expect_failure("qrt_run", {nhwc, "--image", write("b.bmp", bmp(8000, 8000, 8, 1, "", "\1"))}, 4,
                 "asks for more work than a file of its size may");
  expect_failure("qrt_run", {nhwc, "--image", write("b.bmp", bmp(2, 2, 24, 9, "", ""))}, 4,
                 "save it as PNG");
  expect_failure("qrt_run", {nhwc, "--image", write("b.bmp", bmp(2, 2, 24, 0, "", red))}, 3,
                 "is a damaged BMP: it is cut short");
}

TEST_F(RunImage, ReadsWebp) {
  const std::string nhwc = model({-1, 2, 2, 3});
  const std::string plain(
      "\x52\x49\x46\x46\x2c\x00\x00\x00\x57\x45\x42\x50\x56\x50\x38\x4c\x1f\x00\x00\x00\x2f\x01\x40"
      "\x00\x00\x1f\x20\x10\x48\xde\x1f\x3a\x8d\xf9\x17\x10\x14\xfc\x1f\xdd\xfc\x47\x64\x0f\xe0\x06"
      "\x0c\x11\xfd\x0f\x01\x00",
      52);
  const std::string clear(
      "\x52\x49\x46\x46\x34\x00\x00\x00\x57\x45\x42\x50\x56\x50\x38\x4c\x27\x00\x00\x00\x2f\x01\x40"
      "\x00\x10\x1f\x30\xff\x02\x82\x22\xff\x47\x13\x10\x14\xf9\x3f\x9a\x80\xa0\xe8\xba\xe5\x02\xec"
      "\xa6\x82\x9a\xb6\x0d\x58\xfc\x26\x1d\x11\xfd\x8f\x03\x00",
      60);
  const std::string file = write("a.webp", plain);
  const testing::CommandResult r = run("qrt_run", {nhwc, "--image", file});
  if (r.status == 4) {  // without libwebp
    EXPECT_NE(r.err.find("no libwebp"), std::string::npos) << r.err;
    GTEST_SKIP();
  }
  const std::vector<int> expected = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  EXPECT_EQ(input({nhwc, "--image", file}), expected);
  EXPECT_EQ(input({nhwc, file}), expected);
  // Black behind what is half or wholly transparent.
  EXPECT_EQ(input({nhwc, write("b.webp", clear)}),
            (std::vector<int>{255, 0, 0, 0, 128, 0, 0, 0, 0, 255, 255, 255}));
  for (size_t n = 13; n < plain.size(); n += 5)
    expect_failure("qrt_run", {nhwc, "--image", write("cut.webp", plain.substr(0, n))}, 3,
                   "cut.webp: is a damaged WebP");
}

TEST_F(RunImage, SaysWhatDoesNotFit) {
  const std::string ppm = write("a.ppm", kPpm), nhwc = model({-1, 2, 2, 3});
  expect_failure("qrt_run", {nhwc, "--image", ppm, "--input", "x=a.npy"}, 2,
                 "either arrays or pictures");
  expect_failure("qrt_run", {nhwc, "--image", "/absent.png"}, 5,
                 "error: /absent.png: No such file or directory");
  expect_failure("qrt_run", {nhwc, "a.npy", "--mean", "0.5"}, 2, "give one by --image");
  expect_failure("qrt_run", {nhwc, "--image", ppm, "--mean", "1,2"}, 2, "one for each channel");
  expect_failure("qrt_run", {nhwc, "--image", ppm, "--crop", "5"}, 3, "smaller than the crop");
  expect_failure("qrt_run", {nhwc, "--image", write("b.png", "GIF89a")}, 3, "b.png: is no PNG");
  expect_failure("qrt_run", {nhwc, "--image", path("none.png")}, 5, "none.png");
  expect_failure("qrt_run", {model({-1, 4}), "--image", ppm}, 3, "4 dimensions, 'x' is uint8");
  expect_failure("qrt_run", {model({1, 2, 2, 3}), "--image", ppm, "--image", ppm}, 3,
                 "it holds uint8 [2, 2, 2, 3]");
}

}  // namespace
}  // namespace qrt::qrt_run_image_test
