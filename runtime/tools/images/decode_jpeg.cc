// JPEG by libjpeg.
#include <cstdio>  // jpeglib.h needs FILE
// clang-format off: in this order
#include <jpeglib.h>
// clang-format on

#include <csetjmp>

#include "runtime/tools/images/decoders.h"

namespace qrt::tool {
namespace {

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

// A row of cyan, magenta, yellow and black as red, green and blue, as inks that each take their part of
// the light. Adobe's programs, which mark their files, store the light that is left: 255 is no ink.
void mix(const uint8_t* inks, size_t width, bool is_inverted, uint8_t* rgb) {
  for (size_t x = 0; x < width; ++x)
    for (size_t c = 0; c < 3; ++c) {
      const unsigned ink = inks[4 * x + c], black = inks[4 * x + 3];
      const unsigned light = is_inverted ? ink * black : (255 - ink) * (255 - black);
      rgb[3 * x + c] = static_cast<uint8_t>((light + 127) / 255);
    }
}

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
    const bool is_cmyk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
    jpeg.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;  // libjpeg makes no RGB of four inks
    jpeg_start_decompress(&jpeg);
    JSAMPARRAY inks = is_cmyk ? jpeg.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&jpeg),
                                                       JPOOL_IMAGE, jpeg.output_width * 4, 1)
                              : nullptr;
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = image->rgb.data() + size_t{jpeg.output_scanline} * image->width * 3;
      jpeg_read_scanlines(&jpeg, is_cmyk ? inks : &row, 1);
      if (is_cmyk) mix(inks[0], jpeg.output_width, jpeg.saw_Adobe_marker != 0, row);
    }
  }
  jpeg_destroy_decompress(&jpeg);
  return true;
}

}  // namespace

Status read_jpeg(const std::vector<uint8_t>& bytes, Image* image) {
  JpegErrors errors = {};
  if (decode_jpeg(bytes.data(), bytes.size(), true, image, &errors)) {
    QRT_TRY(check_size(image->height, image->width));
    image->rgb.resize(image->height * image->width * 3);
    if (decode_jpeg(bytes.data(), bytes.size(), false, image, &errors)) return {};
  }
  return error(Code::kInvalidModel, "is a damaged JPEG: %s", errors.message);
}

}  // namespace qrt::tool
