// SPDX-License-Identifier: Apache-2.0
// The common declarations of the readers of single image formats.
#ifndef QRT_RUNTIME_TOOLS_IMAGES_DECODERS_H_
#define QRT_RUNTIME_TOOLS_IMAGES_DECODERS_H_

#include <cstdint>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/images/images.h"

namespace qrt::tool {

// Checks a picture's size. Fails with kInvalidModel for pictures without pixels and of more than kMostPixels.
Status check_size(size_t height, size_t width);

// Takes the pixels of an image of this size from the budget, and `steps` of work for each, and makes
// room for them.
Status make_pixels(size_t height, size_t width, uint64_t steps, Budget* budget, Image* image);

// Decodes a picture. Fails with kInvalidModel where the file is damaged, kUnsupported where the
// budget is too small; the message does not name the file.
Status read_png(const std::vector<uint8_t>& bytes, Budget* budget, Image* image);
Status read_jpeg(const std::vector<uint8_t>& bytes, Budget* budget, Image* image);
Status read_webp(const std::vector<uint8_t>& bytes, Budget* budget, Image* image);
Status read_bmp(const std::vector<uint8_t>& bytes, Budget* budget, Image* image);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_IMAGES_DECODERS_H_
