// SPDX-License-Identifier: Apache-2.0
// BMP: 1 to 32 bits a pixel, with a palette, with masks, and by runs (RLE4, RLE8).
#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/tools/images/decoders.h"

namespace qrt::tool {
namespace {

constexpr size_t kFileHeader = 14, kOldHeader = 12, kLeastHeader = 40, kMostHeader = 124;
constexpr uint64_t kSteps = 10;  // of a pixel

enum Compression : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kAlphaMasks = 6 };

// The fields of a file's headers that pixels depend on.
struct Header {
  size_t bytes = 0;      // of the second header, which follows the file's own
  size_t pixels_at = 0;  // in the file
  size_t width = 0, height = 0;
  bool is_top_down = false;
  uint32_t bits = 0, compression = kPlain, colours = 0;
  std::array<uint32_t, 3> masks = {};
};

class Reader {
 public:
  explicit Reader(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}
  bool has(size_t at, size_t n) const { return at <= bytes_.size() && bytes_.size() - at >= n; }
  uint32_t read16(size_t at) const { return bytes_[at] | uint32_t{bytes_[at + 1]} << 8; }
  uint32_t read32(size_t at) const { return read16(at) | read16(at + 2) << 16; }

 private:
  const std::vector<uint8_t>& bytes_;
};

Status cut_short() { return error(Code::kInvalidModel, "is a damaged BMP: it is cut short"); }

// Masks of what has none in the file: 5 bits of 16, or 8 of 32, blue in the lowest.
std::array<uint32_t, 3> usual_masks(uint32_t bits) {
  if (bits == 16) return {0x7c00, 0x03e0, 0x001f};
  return {0xff0000, 0x00ff00, 0x0000ff};
}

Status read_header(const Reader& file, Header* h) {
  if (!file.has(0, kFileHeader + kOldHeader)) return cut_short();
  h->pixels_at = file.read32(10);
  h->bytes = file.read32(kFileHeader);
  const bool is_old = h->bytes == kOldHeader;
  if (!is_old && (h->bytes < kLeastHeader || h->bytes > kMostHeader))
    return error(Code::kUnsupported,
                 "is a BMP with a header of %zu bytes, expected 12 or 40 to 124", h->bytes);
  if (!file.has(kFileHeader, h->bytes)) return cut_short();
  const size_t at = kFileHeader + 4;
  int64_t width = 0, height = 0;
  if (is_old) {
    width = file.read16(at);
    height = file.read16(at + 2);
    h->bits = file.read16(at + 6);
  } else {
    width = static_cast<int32_t>(file.read32(at));
    height = static_cast<int32_t>(file.read32(at + 4));
    h->bits = file.read16(at + 10);
    h->compression = file.read32(at + 12);
    h->colours = file.read32(at + 28);
  }
  h->is_top_down = height < 0;
  if (width < 0) return error(Code::kInvalidModel, "is a damaged BMP: its width is negative");
  h->width = static_cast<size_t>(width);
  h->height = static_cast<size_t>(height < 0 ? -height : height);
  QRT_TRY(check_size(h->height, h->width));
  h->masks = usual_masks(h->bits);
  const bool has_masks = h->compression == kMasks || h->compression == kAlphaMasks;
  const bool fits = h->compression == kPlain ? h->bits == 1 || h->bits == 4 || h->bits == 8 ||
                                                   h->bits == 16 || h->bits == 24 || h->bits == 32
                    : h->compression == kRuns8 ? h->bits == 8 && !h->is_top_down
                    : h->compression == kRuns4 ? h->bits == 4 && !h->is_top_down
                                               : has_masks && (h->bits == 16 || h->bits == 32);
  if (!fits)
    return error(Code::kUnsupported, "is a BMP of %u bits a pixel, compression %u: save it as PNG",
                 h->bits, h->compression);
  if (!has_masks) return {};
  // They follow the shortest of these headers and are a part of the longer ones.
  const size_t masks_at = kFileHeader + kLeastHeader;
  if (!file.has(masks_at, 12)) return cut_short();
  for (size_t i = 0; i < 3; ++i) h->masks[i] = file.read32(masks_at + 4 * i);
  return {};
}

using Palette = std::array<std::array<uint8_t, 3>, 256>;  // red, green, blue; black where it ends

void read_palette(const std::vector<uint8_t>& bytes, const Header& h, Palette* palette) {
  *palette = {};
  const bool is_old = h.bytes == kOldHeader;
  const size_t entry = is_old ? 3 : 4, most = size_t{1} << h.bits;
  const size_t count = h.colours == 0 ? most : std::min<size_t>(h.colours, most);
  size_t at = kFileHeader + h.bytes;
  for (size_t i = 0; i < count && at + 3 <= bytes.size(); ++i, at += entry)
    (*palette)[i] = {bytes[at + 2], bytes[at + 1], bytes[at]};
}

// Returns one of the parts of a pixel, as 0 to 255.
uint8_t part(uint32_t pixel, uint32_t mask) {
  if (mask == 0) return 0;
  const uint32_t lowest = mask & (~mask + 1);
  const uint64_t most = mask / lowest, value = (pixel & mask) / lowest;
  return static_cast<uint8_t>((value * 255 + most / 2) / most);
}

// Reads a row of pixels that are not run-length encoded.
void read_row(const uint8_t* row, const Header& h, const Palette& palette, uint8_t* rgb) {
  for (size_t x = 0; x < h.width; ++x, rgb += 3) {
    if (h.bits <= 8) {
      const size_t bit = x * h.bits;
      const uint32_t code = row[bit / 8] >> (8 - h.bits - bit % 8) & ((1u << h.bits) - 1);
      memcpy(rgb, palette[code].data(), 3);
    } else if (h.bits == 24) {
      const uint8_t* p = row + 3 * x;
      rgb[0] = p[2];
      rgb[1] = p[1];
      rgb[2] = p[0];
    } else {
      const uint8_t* p = row + x * h.bits / 8;
      uint32_t pixel = p[0] | uint32_t{p[1]} << 8;
      if (h.bits == 32) pixel |= uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
      for (size_t c = 0; c < 3; ++c) rgb[c] = part(pixel, h.masks[c]);
    }
  }
}

// Decodes runs: a count and a code, or 0 and a count of codes that follow, or 0 and a move. Pixels that no run
// reaches have code 0. Each byte of the file is read once, and pixels beyond the picture are not written.
Status read_runs(const std::vector<uint8_t>& bytes, const Header& h, const Palette& palette,
                 Image* image) {
  for (size_t i = 0; i < image->rgb.size(); i += 3) memcpy(&image->rgb[i], palette[0].data(), 3);
  const bool is_halved = h.bits == 4;
  size_t at = h.pixels_at, x = 0, y = 0;  // y: from below
  const auto put = [&](uint32_t code) {
    if (x < h.width && y < h.height)
      memcpy(&image->rgb[3 * ((h.height - 1 - y) * h.width + x)], palette[code].data(), 3);
    ++x;
  };
  const auto code_of = [&](uint8_t byte, size_t i) -> uint32_t {
    if (!is_halved) return byte;
    return i % 2 == 0 ? byte >> 4 : byte & 15;
  };
  while (y < h.height) {
    if (at > bytes.size() || bytes.size() - at < 2) return cut_short();
    const size_t count = bytes[at], value = bytes[at + 1];
    at += 2;
    if (count > 0) {
      for (size_t i = 0; i < count; ++i) put(code_of(static_cast<uint8_t>(value), i));
    } else if (value == 0) {  // the row ends
      x = 0;
      ++y;
    } else if (value == 1) {  // the picture ends
      return {};
    } else if (value == 2) {
      if (bytes.size() - at < 2) return cut_short();
      x += bytes[at];
      y += bytes[at + 1];
      at += 2;
    } else {
      const size_t packed = is_halved ? (value + 1) / 2 : value;
      if (bytes.size() - at < packed) return cut_short();
      for (size_t i = 0; i < value; ++i) put(code_of(bytes[at + (is_halved ? i / 2 : i)], i));
      at += packed + packed % 2;
    }
  }
  return {};
}

}  // namespace

Status read_bmp(const std::vector<uint8_t>& bytes, Budget* budget, Image* image) {
  Header h;
  QRT_TRY(read_header(Reader(bytes), &h));
  Palette palette = {};
  if (h.bits <= 8) read_palette(bytes, h, &palette);
  const bool has_runs = h.compression == kRuns8 || h.compression == kRuns4;
  const size_t row_bytes = (h.width * h.bits + 31) / 32 * 4;
  if (!has_runs &&
      (h.pixels_at > bytes.size() || (bytes.size() - h.pixels_at) / row_bytes < h.height))
    return cut_short();
  QRT_TRY(make_pixels(h.height, h.width, kSteps, budget, image));
  if (has_runs) return read_runs(bytes, h, palette, image);
  for (size_t y = 0; y < h.height; ++y) {
    const size_t row = h.is_top_down ? y : h.height - 1 - y;
    read_row(bytes.data() + h.pixels_at + row * row_bytes, h, palette,
             image->rgb.data() + 3 * y * h.width);
  }
  return {};
}

}  // namespace qrt::tool
