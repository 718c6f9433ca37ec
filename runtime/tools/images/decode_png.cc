// PNG by libpng.
#include <png.h>

#include <memory>

#include "runtime/tools/images/decoders.h"

namespace qrt::tool {

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

}  // namespace qrt::tool
