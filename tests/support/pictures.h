// SPDX-License-Identifier: Apache-2.0
// Pictures in PNG and JPEG files, usual and costly ones.
#ifndef QRT_TESTS_SUPPORT_PICTURES_H_
#define QRT_TESTS_SUPPORT_PICTURES_H_

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// clang-format off: jpeglib.h needs FILE
#include <jpeglib.h>
// clang-format on

namespace qrt::testing {

inline std::string big_endian(uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

// ---- PNG ----

// Compresses at level 9, to any length: `fill` again and again.
inline std::string compressed(const std::string& fill, size_t times) {
  z_stream z = {};
  deflateInit(&z, 9);
  std::string data, block(1 << 16, '\0');
  for (size_t i = 0; i <= times; ++i) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(fill.data()));
    z.avail_in = i < times ? static_cast<uInt>(fill.size()) : 0;
    do {
      z.next_out = reinterpret_cast<Bytef*>(block.data());
      z.avail_out = static_cast<uInt>(block.size());
      deflate(&z, i < times ? Z_NO_FLUSH : Z_FINISH);
      data.append(block, 0, block.size() - z.avail_out);
    } while (z.avail_out == 0);
  }
  deflateEnd(&z);
  return data;
}

inline std::string chunk(const std::string& name, const std::string& data) {
  const std::string content = name + data;
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + content +
         big_endian(static_cast<uint32_t>(crc));
}

// Returns a black image of one bit per pixel, with other chunks in front of the pixels.
inline std::string png(uint32_t width, uint32_t height, const std::string& chunks = "") {
  const std::string row((width + 7) / 8 + 1, '\0');
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(width) + big_endian(height) + std::string("\1\0\0\0\0", 5)) +
         chunks + chunk("IDAT", compressed(row, height)) + chunk("IEND", "");
}

// ---- JPEG ----

// Returns a pattern that has coefficients everywhere, or grey where it is progressive.
inline std::string jpeg(unsigned width, unsigned height, int channels, bool is_progressive,
                        unsigned restart = 0, const std::vector<jpeg_scan_info>& scans = {}) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* data = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&c, &data, &bytes);
  c.image_width = width;
  c.image_height = height;
  c.input_components = channels;
  c.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&c);
  if (is_progressive) jpeg_simple_progression(&c);
  c.restart_interval = restart;
  if (!scans.empty()) {
    c.scan_info = scans.data();
    c.num_scans = static_cast<int>(scans.size());
  }
  jpeg_start_compress(&c, TRUE);
  std::vector<JSAMPLE> row(size_t{width} * static_cast<size_t>(channels));
  while (c.next_scanline < height) {
    if (!is_progressive || c.next_scanline == 0)
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = static_cast<JSAMPLE>((i * i + c.next_scanline * 37) * 2654435761u >> 8);
    if (is_progressive) std::fill(row.begin(), row.end(), JSAMPLE{128});
    JSAMPROW at = row.data();
    jpeg_write_scanlines(&c, &at, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  std::string result(reinterpret_cast<char*>(data), bytes);
  free(data);
  return result;
}

// Returns the file with its last scan, and the tables in front of that, again and again.
inline std::string with_scans(const std::string& file, size_t times) {
  std::vector<size_t> ends;  // of the scans
  size_t at = 2;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(file[i]); };
  while (byte(at + 1) != 0xd9) {
    const bool is_scan = byte(at + 1) == 0xda;
    at += 2 + (size_t{byte(at + 2)} << 8 | byte(at + 3));
    if (!is_scan) continue;
    while (byte(at) != 0xff || byte(at + 1) == 0) ++at;
    ends.push_back(at);
  }
  const std::string last = file.substr(ends[ends.size() - 2], at - ends[ends.size() - 2]);
  std::string result = file.substr(0, at);
  for (size_t i = 0; i < times; ++i) result += last;
  return result + "\xff\xd9";
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_PICTURES_H_
