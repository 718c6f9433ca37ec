// What the readers of single formats share.
#ifndef QRT_RUNTIME_TOOLS_IMAGES_DECODERS_H_
#define QRT_RUNTIME_TOOLS_IMAGES_DECODERS_H_

#include <cstdint>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/images/images.h"

namespace qrt::tool {

// kInvalidModel for pictures without pixels and of more than kMostPixels.
Status check_size(size_t height, size_t width);

// kInvalidModel where the file is damaged; the message does not name it.
Status read_png(const std::vector<uint8_t>& bytes, Image* image);
Status read_jpeg(const std::vector<uint8_t>& bytes, Image* image);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_IMAGES_DECODERS_H_
