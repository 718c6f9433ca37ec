// SPDX-License-Identifier: Apache-2.0
// Pictures in files as pixels: which format a file is of, and the formats that need no library.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/tools/file_kind.h"
#include "runtime/tools/files.h"
#include "runtime/tools/images/decoders.h"
#include "runtime/tools/images/images.h"

namespace qrt::tool {

Status check_size(size_t height, size_t width) {
  if (height == 0 || width == 0 || width > kMostPixels / height)
    return error(Code::kInvalidModel, "is %zu x %zu pixels: expected 1 to %zu in all", height,
                 width, kMostPixels);
  return {};
}

Status make_pixels(size_t height, size_t width, uint64_t steps, Budget* budget, Image* image) {
  QRT_TRY(check_size(height, width));
  const size_t pixels = height * width;
  QRT_TRY(budget->charge(steps * pixels));
  QRT_TRY(budget->reserve(3 * pixels));
  image->height = height;
  image->width = width;
  image->rgb.resize(3 * pixels);
  return {};
}

namespace {

constexpr size_t kMostBytes = size_t{1} << 29;  // of a file

Status read_bytes(const std::string& path, std::vector<uint8_t>* bytes) {
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

// Reads P5 (grey) and P6 (colour) of 8 bits.
Status read_pnm(const std::vector<uint8_t>& bytes, Budget* budget, Image* image) {
  constexpr uint64_t kPnmSteps = 4;
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
  QRT_TRY(check_size(numbers[1], numbers[0]));
  const size_t channels = bytes[1] == '6' ? 3 : 1, pixels = numbers[1] * numbers[0];
  if (numbers[2] != 255)
    return error(Code::kUnsupported, "has values up to %zu, expected 255", numbers[2]);
  if (at > bytes.size() || bytes.size() - at < pixels * channels)
    return error(Code::kInvalidModel, "is cut short");
  QRT_TRY(make_pixels(numbers[1], numbers[0], kPnmSteps, budget, image));
  for (size_t i = 0; i < image->rgb.size(); ++i)
    image->rgb[i] = bytes[at + (channels == 3 ? i : i / 3)];
  return {};
}

Status decode(const std::vector<uint8_t>& bytes, Budget* budget, Image* image) {
  const auto starts_with = [&](const char* magic, size_t n) {
    return bytes.size() > n && memcmp(bytes.data(), magic, n) == 0;
  };
  if (starts_with("\x89PNG", 4)) {
#ifdef QRT_HAS_PNG
    return read_png(bytes, budget, image);
#else
    return error(Code::kUnsupported, "is a PNG, which this build cannot read (no libpng)");
#endif
  }
  if (starts_with("\xff\xd8", 2)) {
#ifdef QRT_HAS_JPEG
    return read_jpeg(bytes, budget, image);
#else
    return error(Code::kUnsupported, "is a JPEG, which this build cannot read (no libjpeg)");
#endif
  }
  if (starts_with("RIFF", 4) && bytes.size() > 12 && memcmp(&bytes[8], "WEBP", 4) == 0) {
#ifdef QRT_HAS_WEBP
    return read_webp(bytes, budget, image);
#else
    return error(Code::kUnsupported, "is a WebP, which this build cannot read (no libwebp)");
#endif
  }
  if (starts_with("BM", 2)) return read_bmp(bytes, budget, image);
  if (starts_with("P5", 2) || starts_with("P6", 2)) return read_pnm(bytes, budget, image);
  const FileKind* kind = find_kind(
      {bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min(bytes.size(), kKindBytes))},
      "");
  return error(Code::kInvalidModel, "is no PNG, JPEG, BMP, WebP, PPM (P6) or PGM (P5) file%s%s%s%s",
               kind != nullptr ? ", it is " : "", kind != nullptr ? kind->name : "",
               kind != nullptr && kind->remedy[0] != '\0' ? ": " : "",
               kind != nullptr ? kind->remedy : "");
}

}  // namespace

Status read_image(const std::string& path, Budget* budget, Image* image) {
  std::vector<uint8_t> bytes;
  QRT_TRY(check_readable(path));
  QRT_TRY(read_bytes(path, &bytes).at(path));
  budget->add_file(bytes.size());
  return decode(bytes, budget, image).at(path);
}

}  // namespace qrt::tool
