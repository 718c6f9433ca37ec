// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/images/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace qrt::tool {
namespace {

constexpr size_t kMostSide = 1 << 14;

// Reads "256" or "224x320"; one number stands for both sides.
Status read_size(const char* option, const std::string& text, size_t* height, size_t* width) {
  char* end = nullptr;
  *height = *width = strtoul(text.c_str(), &end, 10);
  if (*end == 'x') *width = strtoul(end + 1, &end, 10);
  if (*end || *height == 0 || *width == 0 || *height > kMostSide || *width > kMostSide)
    return error(Code::kInvalidArgument,
                 "%s %s: expected a size such as 256 or 224x320 (height x width)", option,
                 text.c_str());
  return {};
}

// "0.485,0.456,0.406"
bool read_numbers(const std::string& text, std::vector<float>* numbers) {
  const char* at = text.c_str();
  while (*at) {
    char* end;
    numbers->push_back(strtof(at, &end));
    if (end == at || (*end && *end != ',')) return false;
    at = *end ? end + 1 : end;
  }
  return true;
}

float number(const std::vector<float>& of, size_t channel, float otherwise) {
  return of.empty() ? otherwise : of[of.size() > 1 ? channel : 0];
}

}  // namespace

void PictureArguments::add_to(CommandLine* line) {
  line->group("Pictures");
  line->text("--mean NUMBERS", &mean_,
             "Subtracted from pixel * scale; one number or one for each channel");
  line->text("--std NUMBERS", &std_, "Divides what is left");
  line->number("--scale NUMBER", &scale_, 1e-9, 1e9, "Factor of the pixels, 1/255");
  line->text("--resize SIZE", &resize_,
             "The shorter side, or HEIGHTxWIDTH; if not given, the input's size");
  line->text("--crop SIZE", &crop_, "Centre of the resized picture, SIZE or HEIGHTxWIDTH");
  line->choice("--layout ORDER", &layout_, {"nchw", "nhwc"}, "Order of the input's dimensions");
  line->flag("--rgb", &is_rgb_, "Red first, as without an option");
  line->flag("--bgr", &is_bgr_, "Blue first");
}

Status PictureArguments::complete(PictureOptions* options) const {
  options->resize = resize_;
  options->crop = crop_;
  options->layout = layout_;
  options->is_bgr = is_bgr_;
  options->is_given = any();
  options->scale = static_cast<float>(scale_);
  if (!read_numbers(mean_, &options->mean) || !read_numbers(std_, &options->std))
    return error(Code::kInvalidArgument,
                 "--mean and --std take numbers, one or one for each channel: 0.5,0.5,0.5");
  const auto usable = [](const std::vector<float>& numbers, bool divides) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](float v) { return std::isfinite(v) && !(divides && v == 0); });
  };
  if (!usable(options->mean, false) || !usable(options->std, true))
    return error(Code::kInvalidArgument,
                 "--mean and --std take finite numbers, --std none that is 0");
  if (is_rgb_ && is_bgr_)
    return error(Code::kInvalidArgument, "--rgb and --bgr exclude each other");
  return {};
}

bool PictureArguments::any() const {
  for (const std::string* text : {&mean_, &std_, &resize_, &crop_, &layout_})
    if (!text->empty()) return true;
  return is_bgr_ || is_rgb_ || scale_ != PictureArguments().scale_;
}

Status PictureReader::prepare(const PictureOptions& options, const PictureInput& input) {
  options_ = options;
  input_ = input;
  const std::vector<int64_t>& s = input.dims;
  if (s.size() != 4)
    return error(Code::kInvalidModel, "images are for inputs of 4 dimensions, '%s' is %s",
                 input.name.c_str(), input.text.c_str());
  const auto is_channels = [](int64_t n) { return n == 1 || n == 3; };
  is_nhwc_ = options_.layout == "nhwc" ||
             (options_.layout.empty() && !is_channels(s[1]) && is_channels(s[3]));
  channels_ = s[is_nhwc_ ? 3 : 1];
  if (!is_channels(channels_))
    return error(Code::kInvalidModel,
                 "images are for inputs of 1 or 3 channels, '%s' is %s (--layout?)",
                 input.name.c_str(), input.text.c_str());
  for (const auto* numbers : {&options_.mean, &options_.std})
    if (!numbers->empty() && numbers->size() != 1 &&
        numbers->size() != static_cast<size_t>(channels_))
      return error(Code::kInvalidArgument,
                   "--mean and --std take 1 number or %lld, one for each channel",
                   static_cast<long long>(channels_));
  height_ = s[is_nhwc_ ? 1 : 2];
  width_ = s[is_nhwc_ ? 2 : 3];
  const bool is_fixed = height_ > 0 && width_ > 0;
  if (!options_.crop.empty()) QRT_TRY(read_size("--crop", options_.crop, &crop_h_, &crop_w_));
  if (!options_.resize.empty()) {
    QRT_TRY(read_size("--resize", options_.resize, &resize_h_, &resize_w_));
    keeps_ratio_ = options_.resize.find('x') == std::string::npos;
  } else if (is_fixed && options_.crop.empty()) {
    resize_h_ = static_cast<size_t>(height_);
    resize_w_ = static_cast<size_t>(width_);
  }
  if (keeps_ratio_ && crop_h_ == 0 && is_fixed) {
    crop_h_ = static_cast<size_t>(height_);
    crop_w_ = static_cast<size_t>(width_);
  }
  return {};
}

// Messages without the file's name.
Status PictureReader::fit(const Image& image, Budget* budget, Picture* picture) const {
  size_t h = resize_h_ ? resize_h_ : image.height, w = resize_h_ ? resize_w_ : image.width;
  if (keeps_ratio_) {
    // The shorter side becomes the size that was given.
    const double ratio =
        static_cast<double>(resize_h_) / static_cast<double>(std::min(image.height, image.width));
    const auto scaled = [&](size_t side) {
      return std::max(static_cast<size_t>(std::nearbyint(static_cast<double>(side) * ratio)),
                      resize_h_);
    };
    h = scaled(image.height);
    w = scaled(image.width);
  }
  if (w > kMostPixels / h || w > kMostPixels / image.height)
    return error(Code::kInvalidModel, "would have %zu x %zu pixels after --resize", h, w);
  QRT_TRY(resize(image, h, w, budget, picture));
  if (crop_h_ > 0) {
    if (crop_h_ > h || crop_w_ > w)
      return error(
          Code::kInvalidModel,
          "is %zu x %zu after --resize, smaller than the crop of %zu x %zu: correct --resize "
          "or --crop",
          h, w, crop_h_, crop_w_);
    *picture = cropped(*picture, crop_h_, crop_w_);
  }
  if ((height_ > 0 && picture->height != static_cast<size_t>(height_)) ||
      (width_ > 0 && picture->width != static_cast<size_t>(width_)))
    return error(Code::kInvalidArgument,
                 "is %zu x %zu, the input '%s' takes %lld x %lld: correct --resize or --crop",
                 picture->height, picture->width, input_.name.c_str(),
                 static_cast<long long>(height_), static_cast<long long>(width_));
  return {};
}

void PictureReader::lay_out(const Picture& picture, std::vector<float>* values) const {
  const auto channels = static_cast<size_t>(channels_);
  const size_t pixels = picture.height * picture.width;
  values->resize(pixels * channels);
  for (size_t p = 0; p < pixels; ++p)
    for (size_t c = 0; c < channels; ++c) {
      const float* rgb = &picture.rgb[p * 3];
      // Grey as PIL's "L".
      const float v = channels == 1 ? 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]
                                    : rgb[options_.is_bgr ? 2 - c : c];
      (*values)[is_nhwc_ ? p * channels + c : c * pixels + p] =
          input_.takes_pixels
              ? std::nearbyint(v)
              : (v * options_.scale - number(options_.mean, c, 0)) / number(options_.std, c, 1);
    }
}

Status PictureReader::read(const std::string& file, Budget* budget, std::vector<float>* values,
                           std::vector<int64_t>* shape) const {
  Budget on_the_way = *budget;
  Image image;
  QRT_TRY(read_image(file, &on_the_way, &image));
  budget->add_file(on_the_way.file_bytes() - budget->file_bytes());
  Picture picture;
  QRT_TRY(fit(image, &on_the_way, &picture).at(file));
  const uint64_t bytes =
      sizeof(float) * static_cast<uint64_t>(channels_) * picture.height * picture.width;
  QRT_TRY(on_the_way.reserve(bytes).at(file));
  QRT_TRY(budget->reserve(bytes).at(file));
  lay_out(picture, values);
  const auto h = static_cast<int64_t>(picture.height), w = static_cast<int64_t>(picture.width);
  *shape = is_nhwc_ ? std::vector<int64_t>{1, h, w, channels_}
                    : std::vector<int64_t>{1, channels_, h, w};
  return {};
}

}  // namespace qrt::tool
