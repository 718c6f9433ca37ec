// SPDX-License-Identifier: Apache-2.0
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
  bool decodes;  // the header is read
};
void jpeg_failed(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  longjmp(errors->start, 1);
}
// Warnings that libjpeg gives among the pixels tell that these are not the picture's: they end early, or
// do not follow from the bytes that stand there.
void jpeg_warned(j_common_ptr info, int level) {
  const auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  if (level < 0 && errors->decodes) jpeg_failed(info);
}

// Converts a row of cyan, magenta, yellow and black to red, green and blue, as inks that each absorb their
// part of the light. Adobe's programs, which mark their files, store the light that is left: 255 is no ink.
void mix(const uint8_t* inks, size_t width, bool is_inverted, uint8_t* rgb) {
  for (size_t x = 0; x < width; ++x)
    for (size_t c = 0; c < 3; ++c) {
      const unsigned ink = inks[4 * x + c], black = inks[4 * x + 3];
      const unsigned light = is_inverted ? ink * black : (255 - ink) * (255 - black);
      rgb[3 * x + c] = static_cast<uint8_t>((light + 127) / 255);
    }
}

// A step is about a nanosecond: each scan of a progressive file goes over the coefficients again.
constexpr uint64_t kScanSteps = 40, kPixelSteps = 10;

// Counts the rows of blocks of each scan that libjpeg keeps until the last one is read; libjpeg calls it for each.
struct JpegScans {
  jpeg_progress_mgr manager;
  Budget* budget;
  uint64_t row_steps;
  Status* status;
};
void charge_row(j_common_ptr info) {
  const auto* scans = reinterpret_cast<JpegScans*>(info->progress);
  *scans->status = scans->budget->charge(scans->row_steps);
  if (!scans->status->ok()) longjmp(reinterpret_cast<JpegErrors*>(info->err)->start, 1);
}

// Reserves the coefficients of a file of several scans, and has each scan charged.
void watch_scans(jpeg_decompress_struct* jpeg, JpegScans* scans) {
  uint64_t blocks = 0;
  for (int i = 0; i < jpeg->num_components; ++i)
    blocks += uint64_t{jpeg->comp_info[i].width_in_blocks + MAX_SAMP_FACTOR} *
              (jpeg->comp_info[i].height_in_blocks + MAX_SAMP_FACTOR);
  scans->row_steps = kScanSteps * (blocks / jpeg->total_iMCU_rows + 1);
  scans->manager.progress_monitor = charge_row;
  *scans->status = scans->budget->reserve(blocks * DCTSIZE2 * sizeof(JCOEF));
  jpeg->progress = &scans->manager;
}

// Decodes a JPEG. False where *errors has a message, or *scans->status is not OK.
bool decode_jpeg(const uint8_t* bytes, size_t n, bool header_only, Image* image, JpegScans* scans,
                 JpegErrors* errors) {
  jpeg_decompress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors->manager);
  errors->manager.error_exit = jpeg_failed;
  errors->manager.emit_message = jpeg_warned;
  errors->decodes = false;
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
    errors->decodes = true;
    if (jpeg_has_multiple_scans(&jpeg)) watch_scans(&jpeg, scans);
    if (!scans->status->ok()) longjmp(errors->start, 1);
    jpeg_start_decompress(&jpeg);
    jpeg.progress = nullptr;
    JSAMPARRAY inks = is_cmyk ? jpeg.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&jpeg),
                                                       JPOOL_IMAGE, jpeg.output_width * 4, 1)
                              : nullptr;
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = image->rgb.data() + size_t{jpeg.output_scanline} * image->width * 3;
      jpeg_read_scanlines(&jpeg, is_cmyk ? inks : &row, 1);
      if (is_cmyk) mix(inks[0], jpeg.output_width, jpeg.saw_Adobe_marker != 0, row);
    }
    jpeg_finish_decompress(&jpeg);  // reads what follows the last pixel
  }
  jpeg_destroy_decompress(&jpeg);
  return true;
}

}  // namespace

Status read_jpeg(const std::vector<uint8_t>& bytes, Budget* budget, Image* image) {
  JpegErrors errors = {};
  Status status;
  JpegScans scans = {{}, budget, 0, &status};
  if (decode_jpeg(bytes.data(), bytes.size(), true, image, &scans, &errors)) {
    QRT_TRY(make_pixels(image->height, image->width, kPixelSteps, budget, image));
    if (decode_jpeg(bytes.data(), bytes.size(), false, image, &scans, &errors)) return {};
    QRT_TRY(std::move(status));
  }
  return error(Code::kInvalidModel, "is a damaged JPEG: %s", errors.message);
}

}  // namespace qrt::tool
