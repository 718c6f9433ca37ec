// Pictures as samples: resized, cropped, scaled and laid out as the model's input is.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "converter/quantize/samples/images.h"
#include "converter/quantize/samples/samples.h"

namespace qrt::quantize {
namespace {

constexpr size_t kMostSide = 1 << 14;

// "256" or "224x320"; one number stands in both.
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

class ImageSamples : public Samples {
 public:
  ImageSamples(std::vector<std::string> files, ImageOptions options)
      : files_(std::move(files)), options_(std::move(options)) {}

  Status prepare(const FloatModel& model) {
    if (model.inputs.size() != 1 || model.inputs[0].shape.size() != 4)
      return error(Code::kInvalidArgument,
                   "--calibration: images are for models with one input of 4 dimensions: give .npy "
                   "or .npz files");
    const Value& input = model.inputs[0];
    name_ = input.name;
    element_ = input.element;
    const Dims& s = input.shape;
    const auto is_channels = [](int64_t n) { return n == 1 || n == 3; };
    is_nhwc_ = options_.layout == "nhwc" ||
               (options_.layout.empty() && !is_channels(s[1]) && is_channels(s[3]));
    channels_ = s[is_nhwc_ ? 3 : 1];
    if (!is_channels(channels_) || (element_ != Element::kFloat && element_ != Element::kUint8))
      return error(
          Code::kInvalidArgument,
          "--calibration: images are for inputs of 1 or 3 channels, '%s' is %s (--layout?)",
          name_.c_str(), describe(input).c_str());
    if (s[0] > 1)
      return error(Code::kInvalidArgument,
                   "--calibration: images are for models of batch 1, '%s' is %s", name_.c_str(),
                   describe(input).c_str());
    for (const auto* numbers : {&options_.mean, &options_.std})
      if (!numbers->empty() && numbers->size() != 1 &&
          numbers->size() != static_cast<size_t>(channels_))
        return error(Code::kInvalidArgument,
                     "--mean and --std take 1 number or %lld, one for each channel",
                     static_cast<long long>(channels_));
    const int64_t h = s[is_nhwc_ ? 1 : 2], w = s[is_nhwc_ ? 2 : 3];
    if (!options_.crop.empty()) QRT_TRY(read_size("--crop", options_.crop, &crop_h_, &crop_w_));
    if (!options_.resize.empty()) {
      QRT_TRY(read_size("--resize", options_.resize, &resize_h_, &resize_w_));
      keeps_ratio_ = options_.resize.find('x') == std::string::npos;
    } else if (h > 0 && w > 0 && options_.crop.empty()) {
      resize_h_ = static_cast<size_t>(h);
      resize_w_ = static_cast<size_t>(w);
    }
    if (keeps_ratio_ && crop_h_ == 0 && h > 0 && w > 0) {
      crop_h_ = static_cast<size_t>(h);
      crop_w_ = static_cast<size_t>(w);
    }
    height_ = h;
    width_ = w;
    return {};
  }

  size_t count() const override { return files_.size(); }
  Status read(size_t i, Values* feeds) override {
    Image image;
    QRT_TRY(read_image(files_[i], &image));
    size_t h = resize_h_ ? resize_h_ : image.height, w = resize_h_ ? resize_w_ : image.width;
    if (keeps_ratio_) {
      // The shorter side becomes the size that was given.
      const double ratio =
          static_cast<double>(resize_h_) / static_cast<double>(std::min(image.height, image.width));
      h = std::max(static_cast<size_t>(std::nearbyint(static_cast<double>(image.height) * ratio)),
                   resize_h_);
      w = std::max(static_cast<size_t>(std::nearbyint(static_cast<double>(image.width) * ratio)),
                   resize_h_);
    }
    if (w > kMostPixels / h || w > kMostPixels / image.height)
      return error(Code::kInvalidModel, "%s: would have %zu x %zu pixels after --resize",
                   files_[i].c_str(), h, w);
    Picture picture = resized(image, h, w);
    if (crop_h_ > 0) {
      if (crop_h_ > h || crop_w_ > w)
        return error(Code::kInvalidModel,
                     "%s: is %zu x %zu after --resize, smaller than the crop of %zu x %zu",
                     files_[i].c_str(), h, w, crop_h_, crop_w_);
      picture = cropped(picture, crop_h_, crop_w_);
    }
    if ((height_ > 0 && picture.height != static_cast<size_t>(height_)) ||
        (width_ > 0 && picture.width != static_cast<size_t>(width_)))
      return error(Code::kInvalidArgument,
                   "%s: is %zu x %zu, the input '%s' takes %lld x %lld: correct --resize or --crop",
                   files_[i].c_str(), picture.height, picture.width, name_.c_str(),
                   static_cast<long long>(height_), static_cast<long long>(width_));
    lay_out(picture, &(*feeds)[name_]);
    return {};
  }

 private:
  float number(const std::vector<float>& of, size_t channel, float otherwise) const {
    return of.empty() ? otherwise : of[of.size() > 1 ? channel : 0];
  }
  void lay_out(const Picture& picture, Tensor* t) const {
    const auto channels = static_cast<size_t>(channels_), pixels = picture.height * picture.width;
    const auto h = static_cast<int64_t>(picture.height), w = static_cast<int64_t>(picture.width);
    t->element = element_;
    t->shape = is_nhwc_ ? Dims{1, h, w, channels_} : Dims{1, channels_, h, w};
    std::vector<float> values(pixels * channels);
    for (size_t p = 0; p < pixels; ++p)
      for (size_t c = 0; c < channels; ++c) {
        const float* rgb = &picture.rgb[p * 3];
        // Grey as PIL's "L".
        const float v = channels == 1 ? 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]
                                      : rgb[options_.is_bgr ? 2 - c : c];
        values[is_nhwc_ ? p * channels + c : c * pixels + p] =
            element_ == Element::kUint8
                ? std::nearbyint(v)
                : (v * options_.scale - number(options_.mean, c, 0)) / number(options_.std, c, 1);
      }
    if (t->is_real())
      t->reals = std::move(values);
    else
      t->integers.assign(values.begin(), values.end());
  }

  std::vector<std::string> files_;
  ImageOptions options_;
  std::string name_;
  Element element_ = Element::kFloat;
  bool is_nhwc_ = false, keeps_ratio_ = false;
  int64_t channels_ = 3, height_ = -1, width_ = -1;
  size_t resize_h_ = 0, resize_w_ = 0, crop_h_ = 0, crop_w_ = 0;  // 0: as it is
};

}  // namespace

Status open_images(const std::vector<std::string>& files, const ImageOptions& options,
                   const FloatModel& model, std::unique_ptr<Samples>* samples) {
  auto result = std::make_unique<ImageSamples>(files, options);
  QRT_TRY(result->prepare(model));
  *samples = std::move(result);
  return {};
}

}  // namespace qrt::quantize
