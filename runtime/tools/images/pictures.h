// SPDX-License-Identifier: Apache-2.0
// Pictures as a model's input: resized, cropped, scaled and laid out; and the options of a command
// line that say how.
#ifndef QRT_RUNTIME_TOOLS_IMAGES_PICTURES_H_
#define QRT_RUNTIME_TOOLS_IMAGES_PICTURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/images/images.h"
#include "runtime/tools/options.h"

namespace qrt::tool {

// The conversion of pixels to the model's input: x = (pixel * scale - mean) / std.
struct PictureOptions {
  std::vector<float> mean, std;  // one, or one for each channel; empty: 0, 1
  float scale = 1.0f / 255;
  std::string resize, crop;  // "256": the shorter side; "224x320": height and width
  std::string layout;        // "nchw", "nhwc", or "": by the input's shape
  bool is_bgr = false;
  bool is_given = false;  // the user has set at least one of these
};

// The command-line arguments that set PictureOptions: --mean, --std, --scale, --resize, --crop,
// --layout, --rgb and --bgr.
class PictureArguments {
 public:
  void add_to(CommandLine* line);
  // kInvalidArgument.
  Status complete(PictureOptions* options) const;
  // Returns whether one of them was given.
  bool any() const;

 private:
  std::string mean_, std_, resize_, crop_, layout_;
  double scale_ = 1.0 / 255;
  bool is_bgr_ = false, is_rgb_ = false;
};

// The input that pictures are for.
struct PictureInput {
  std::string name, text;     // `text`: its type and shape, for messages
  std::vector<int64_t> dims;  // negative: open
  bool takes_pixels = false;  // pixels as they are, 0 to 255, instead of real numbers
};

class PictureReader {
 public:
  // Prepares for a model's input. Fails with kInvalidArgument and what would be accepted.
  Status prepare(const PictureOptions& options, const PictureInput& input);
  // Reads the values of one image, in the input's layout, and their shape. The file is added to
  // `budget`, and the values are taken from it. The message names the file.
  Status read(const std::string& file, Budget* budget, std::vector<float>* values,
              std::vector<int64_t>* shape) const;

 private:
  Status fit(const Image& image, Budget* budget, Picture* picture) const;
  void lay_out(const Picture& picture, std::vector<float>* values) const;

  PictureOptions options_;
  PictureInput input_;
  bool is_nhwc_ = false, keeps_ratio_ = false;
  int64_t channels_ = 3, height_ = -1, width_ = -1;
  size_t resize_h_ = 0, resize_w_ = 0, crop_h_ = 0, crop_w_ = 0;  // 0: as it is
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_IMAGES_PICTURES_H_
