// SPDX-License-Identifier: Apache-2.0
// Pictures as samples.
#include "converter/quantize/samples/samples.h"

namespace qrt::quantize {
namespace {

class ImageSamples : public Samples {
 public:
  explicit ImageSamples(std::vector<std::string> files) : files_(std::move(files)) {}

  Status prepare(const FloatModel& model, const tool::PictureOptions& options) {
    if (model.inputs.size() != 1 || model.inputs[0].shape.size() != 4)
      return error(Code::kInvalidModel,
                   "images are for models with one input of 4 dimensions: give .npy or .npz files");
    const Value& input = model.inputs[0];
    name_ = input.name;
    element_ = input.element;
    if (element_ != Element::kFloat && element_ != Element::kUint8)
      return error(Code::kInvalidModel, "images are for inputs of float32 or uint8, '%s' is %s",
                   name_.c_str(), describe(input).c_str());
    if (input.shape[0] > 1)
      return error(Code::kInvalidModel, "images are for models of batch 1, '%s' is %s",
                   name_.c_str(), describe(input).c_str());
    return reader_.prepare(options, {name_,
                                     describe(input),
                                     {input.shape.begin(), input.shape.end()},
                                     element_ == Element::kUint8});
  }

  size_t count() const override { return files_.size(); }
  std::vector<std::string> files() const override { return files_; }
  Status read(size_t i, Values* feeds) override {
    std::vector<float> values;
    std::vector<int64_t> shape;
    Budget budget(0);
    QRT_TRY(reader_.read(files_[i], &budget, &values, &shape));
    Tensor& t = (*feeds)[name_];
    t.element = element_;
    t.shape.assign(shape.begin(), shape.end());
    if (t.is_real())
      t.reals = std::move(values);
    else
      t.integers.assign(values.begin(), values.end());
    return {};
  }

 private:
  std::vector<std::string> files_;
  std::string name_;
  Element element_ = Element::kFloat;
  tool::PictureReader reader_;
};

}  // namespace

Status open_images(const std::vector<std::string>& files, const tool::PictureOptions& options,
                   const FloatModel& model, std::unique_ptr<Samples>* samples) {
  auto result = std::make_unique<ImageSamples>(files);
  QRT_TRY(result->prepare(model, options).at("--calibration"));
  *samples = std::move(result);
  return {};
}

}  // namespace qrt::quantize
