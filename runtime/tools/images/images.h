// SPDX-License-Identifier: Apache-2.0
// Pictures in files as pixels: PNG (libpng), JPEG (libjpeg), WebP (libwebp), BMP, PPM and PGM.
#ifndef QRT_RUNTIME_TOOLS_IMAGES_IMAGES_H_
#define QRT_RUNTIME_TOOLS_IMAGES_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/budget.h"

namespace qrt::tool {

// Pixels of more than these are not read: a small file may claim any size.
constexpr size_t kMostPixels = size_t{1} << 26;

struct Image {
  size_t height = 0, width = 0;
  std::vector<uint8_t> rgb;  // [height, width, 3]
};

// Reads a picture, whose format its first bytes tell. The pixels and the work of decoding them are taken from
// `budget`, to which the file is added. kIoError, kInvalidModel, kUnsupported; the message names the file.
Status read_image(const std::string& path, Budget* budget, Image* image);

// Real pixels, [height, width, 3].
struct Picture {
  size_t height = 0, width = 0;
  std::vector<float> rgb;
};
// Resizes by a triangle filter over all pixels that a new one covers, as PIL's BILINEAR.
// kUnsupported where the budget is too small.
Status resize(const Image& image, size_t height, size_t width, Budget* budget, Picture* result);
Picture cropped(const Picture& picture, size_t height, size_t width);  // its centre

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_IMAGES_IMAGES_H_
