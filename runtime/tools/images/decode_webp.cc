// SPDX-License-Identifier: Apache-2.0
// WebP by libwebp.
#include <webp/decode.h>

#include "runtime/tools/images/decoders.h"

namespace qrt::tool {
namespace {

// The cost of a pixel: 4 bytes of RGBA here and, where the file is lossless, 4 in libwebp; some 40 steps.
constexpr uint64_t kSteps = 40, kPixelBytes = 8;

}  // namespace

Status read_webp(const std::vector<uint8_t>& bytes, Budget* budget, Image* image) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK)
    return error(Code::kInvalidModel, "is a damaged WebP");
  if (features.has_animation)
    return error(Code::kUnsupported, "is a WebP animation: save one of its pictures as PNG");
  const auto width = static_cast<size_t>(features.width),
             height = static_cast<size_t>(features.height);
  QRT_TRY(make_pixels(height, width, kSteps, budget, image));
  QRT_TRY(budget->reserve(kPixelBytes * width * height));
  std::vector<uint8_t> rgba(4 * width * height);
  const int stride = 4 * features.width;
  if (WebPDecodeRGBAInto(bytes.data(), bytes.size(), rgba.data(), rgba.size(), stride) == nullptr)
    return error(Code::kInvalidModel, "is a damaged WebP");
  // Transparent pixels are shown on black.
  for (size_t i = 0; i < width * height; ++i)
    for (size_t c = 0; c < 3; ++c)
      image->rgb[3 * i + c] =
          static_cast<uint8_t>((unsigned{rgba[4 * i + c]} * rgba[4 * i + 3] + 127) / 255);
  return {};
}

}  // namespace qrt::tool
