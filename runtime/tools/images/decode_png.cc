// SPDX-License-Identifier: Apache-2.0
// PNG by libpng.
#include <png.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/tools/images/decoders.h"

namespace qrt::tool {

namespace {

constexpr size_t kSignatureBytes = 8, kChunkBytes = 12;  // a chunk's length, name and checksum
constexpr uint64_t kSteps = 20;                          // of a pixel

// Returns whether the pixels depend on a chunk of this name: those of upper case, and some that say what the
// others mean. Texts are among the rest, which a thousand bytes may inflate to megabytes.
bool is_needed(const uint8_t* name) {
  if ((name[0] & 0x20) == 0) return true;
  for (const char* known : {"tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT"})
    if (memcmp(name, known, 4) == 0) return true;
  return false;
}

// Returns the file without the chunks that are not needed.
std::vector<uint8_t> needed_chunks(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> kept(bytes.begin(), bytes.begin() + std::min(bytes.size(), kSignatureBytes));
  for (size_t at = kept.size(); at < bytes.size();) {
    const size_t left = bytes.size() - at;
    size_t length = left;
    if (left >= kChunkBytes) {
      const uint8_t* p = bytes.data() + at;
      const size_t data = size_t{p[0]} << 24 | size_t{p[1]} << 16 | size_t{p[2]} << 8 | p[3];
      length = std::min(left, kChunkBytes + data);
    }
    const auto from = bytes.begin() + static_cast<ptrdiff_t>(at);
    if (left < kChunkBytes || is_needed(&bytes[at + 4]))
      kept.insert(kept.end(), from, from + static_cast<ptrdiff_t>(length));
    at += length;
  }
  return kept;
}

}  // namespace

Status read_png(const std::vector<uint8_t>& file, Budget* budget, Image* image) {
  const std::vector<uint8_t> bytes = needed_chunks(file);
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> frees(&png, png_image_free);
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
    return error(Code::kInvalidModel, "is a damaged PNG: %s", png.message);
  png.format = PNG_FORMAT_RGB;
  QRT_TRY(make_pixels(png.height, png.width, kSteps, budget, image));
  const png_color black = {0, 0, 0};  // behind what is transparent
  if (!png_image_finish_read(&png, &black, image->rgb.data(), 0, nullptr))
    return error(Code::kInvalidModel, "is a damaged PNG: %s", png.message);
  return {};
}

}  // namespace qrt::tool
