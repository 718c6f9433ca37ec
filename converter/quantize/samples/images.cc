#include "converter/quantize/samples/images.h"

#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/tools/files.h"

namespace qrt::quantize {
namespace {

constexpr size_t kMostBytes = size_t{1} << 29;  // of a file

Status read_bytes(const std::string& path, std::vector<uint8_t>* bytes) {
  QRT_TRY(tool::check_readable(path));
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rb"), fclose);
  if (!file || fseek(file.get(), 0, SEEK_END) != 0) return error(Code::kIoError, "cannot be read");
  const long end = ftell(file.get());
  rewind(file.get());
  if (end <= 0 || static_cast<size_t>(end) > kMostBytes)
    return error(Code::kInvalidModel, "has %ld bytes, expected 1 to %zu", end, kMostBytes);
  bytes->resize(static_cast<size_t>(end));
  if (fread(bytes->data(), 1, bytes->size(), file.get()) != bytes->size())
    return error(Code::kIoError, "cannot be read");
  return {};
}

Status check_size(size_t height, size_t width) {
  if (height == 0 || width == 0 || width > kMostPixels / height)
    return error(Code::kInvalidModel, "is %zu x %zu pixels: expected 1 to %zu in all", height,
                 width, kMostPixels);
  return {};
}

Status read_png(const std::vector<uint8_t>& bytes, Image* image) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> frees(&png, png_image_free);
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return error(Code::kInvalidModel, "is a damaged PNG: %s", png.message);
  QRT_TRY(check_size(png.height, png.width));
  png.format = PNG_FORMAT_RGB;
  image->height = png.height;
  image->width = png.width;
  image->rgb.resize(image->height * image->width * 3);
  const png_color black = {0, 0, 0};  // behind what is transparent
  if (!png_image_finish_read(&png, &black, image->rgb.data(), 0, nullptr))
    return error(Code::kInvalidModel, "is a damaged PNG: %s", png.message);
  return {};
}

// libjpeg's errors end in a jump; nothing with a destructor lives where it starts from.
struct JpegErrors {
  jpeg_error_mgr manager;
  jmp_buf start;
  char message[JMSG_LENGTH_MAX];
};
void jpeg_failed(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  longjmp(errors->start, 1);
}
void no_jpeg_warnings(j_common_ptr) {}

bool decode_jpeg(const uint8_t* bytes, size_t n, bool header_only, Image* image,
                 JpegErrors* errors) {
  jpeg_decompress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors->manager);
  errors->manager.error_exit = jpeg_failed;
  errors->manager.output_message = no_jpeg_warnings;
  if (setjmp(errors->start)) {
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, bytes, n);
  jpeg_read_header(&jpeg, TRUE);
  if (header_only) {
    image->height = jpeg.image_height;
    image->width = jpeg.image_width;
  } else {
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = image->rgb.data() + size_t{jpeg.output_scanline} * image->width * 3;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
  }
  jpeg_destroy_decompress(&jpeg);
  return true;
}

Status read_jpeg(const std::vector<uint8_t>& bytes, Image* image) {
  JpegErrors errors = {};
  if (decode_jpeg(bytes.data(), bytes.size(), true, image, &errors)) {
    QRT_TRY(check_size(image->height, image->width));
    image->rgb.resize(image->height * image->width * 3);
    if (decode_jpeg(bytes.data(), bytes.size(), false, image, &errors)) return {};
  }
  return error(Code::kInvalidModel, "is a damaged JPEG: %s", errors.message);
}

// P5 (grey) and P6 (colour) of 8 bits.
Status read_pnm(const std::vector<uint8_t>& bytes, Image* image) {
  size_t at = 2, numbers[3] = {};
  for (size_t& number : numbers) {
    for (bool comment = false; at < bytes.size(); ++at) {
      if (bytes[at] == '#') comment = true;
      if (bytes[at] == '\n') comment = false;
      if (!comment && bytes[at] >= '0' && bytes[at] <= '9') break;
    }
    for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9' && number < kMostPixels; ++at)
      number = number * 10 + (bytes[at] - '0');
  }
  ++at;
  image->width = numbers[0];
  image->height = numbers[1];
  QRT_TRY(check_size(image->height, image->width));
  const size_t channels = bytes[1] == '6' ? 3 : 1, pixels = image->height * image->width;
  if (numbers[2] != 255)
    return error(Code::kUnsupported, "has values up to %zu, expected 255", numbers[2]);
  if (at > bytes.size() || bytes.size() - at < pixels * channels)
    return error(Code::kInvalidModel, "is cut short");
  image->rgb.resize(pixels * 3);
  for (size_t i = 0; i < image->rgb.size(); ++i)
    image->rgb[i] = bytes[at + (channels == 3 ? i : i / 3)];
  return {};
}

Status decode(const std::vector<uint8_t>& bytes, Image* image) {
  const auto starts_with = [&](const char* magic, size_t n) {
    return bytes.size() > n && memcmp(bytes.data(), magic, n) == 0;
  };
  if (starts_with("\x89PNG", 4)) return read_png(bytes, image);
  if (starts_with("\xff\xd8", 2)) return read_jpeg(bytes, image);
  if (starts_with("P5", 2) || starts_with("P6", 2)) return read_pnm(bytes, image);
  return error(Code::kInvalidModel, "is no PNG, JPEG, PPM (P6) or PGM (P5) file");
}

// The old pixels that a new one is made of, and their weights, whose sum is 1.
struct Taps {
  size_t first = 0;
  std::vector<float> weights;
};
std::vector<Taps> filter_taps(size_t from, size_t to) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(ratio, 1.0);
  std::vector<Taps> result(to);
  for (size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const double lo = std::max(std::floor(centre - reach + 0.5), 0.0);
    const double hi = std::min(std::floor(centre + reach + 0.5), static_cast<double>(from));
    result[i].first = static_cast<size_t>(lo);
    double sum = 0;
    std::vector<double> weights;
    for (double x = lo; x < hi; ++x) {
      weights.push_back(std::max(0.0, 1 - std::fabs((x + 0.5 - centre) / reach)));
      sum += weights.back();
    }
    for (const double w : weights) result[i].weights.push_back(static_cast<float>(w / sum));
  }
  return result;
}

}  // namespace

Status read_image(const std::string& path, Image* image) {
  std::vector<uint8_t> bytes;
  QRT_TRY(read_bytes(path, &bytes).at(path));
  return decode(bytes, image).at(path);
}

Picture resized(const Image& image, size_t height, size_t width) {
  const std::vector<Taps> across = filter_taps(image.width, width),
                          down = filter_taps(image.height, height);
  std::vector<float> rows(image.height * width * 3);
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < 3; ++c) {
        float sum = 0;
        for (size_t k = 0; k < across[x].weights.size(); ++k)
          sum += across[x].weights[k] *
                 static_cast<float>(image.rgb[(y * image.width + across[x].first + k) * 3 + c]);
        rows[(y * width + x) * 3 + c] = sum;
      }
  Picture result = {height, width, std::vector<float>(height * width * 3)};
  for (size_t y = 0; y < height; ++y)
    for (size_t i = 0; i < width * 3; ++i) {
      float sum = 0;
      for (size_t k = 0; k < down[y].weights.size(); ++k)
        sum += down[y].weights[k] * rows[(down[y].first + k) * width * 3 + i];
      result.rgb[y * width * 3 + i] = sum;
    }
  return result;
}

Picture cropped(const Picture& picture, size_t height, size_t width) {
  Picture result = {height, width, {}};
  const size_t top = (picture.height - height) / 2, left = (picture.width - width) / 2;
  for (size_t y = 0; y < height; ++y) {
    const float* row = picture.rgb.data() + ((top + y) * picture.width + left) * 3;
    result.rgb.insert(result.rgb.end(), row, row + width * 3);
  }
  return result;
}

}  // namespace qrt::quantize
