// SPDX-License-Identifier: Apache-2.0
// Calibration samples: what a user has, read one at a time, so that their number costs no memory.
#ifndef QRT_CONVERTER_QUANTIZE_SAMPLES_SAMPLES_H_
#define QRT_CONVERTER_QUANTIZE_SAMPLES_SAMPLES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "converter/quantize/float/float_model.h"
#include "runtime/status.h"
#include "runtime/tools/images/pictures.h"

namespace qrt::quantize {

using Values = std::map<std::string, Tensor>;  // name of an input -> its elements

class Samples {
 public:
  virtual ~Samples() = default;
  virtual size_t count() const = 0;
  // Returns the files of the samples; none where they are made up.
  virtual std::vector<std::string> files() const { return {}; }
  // Reads sample i: every input of the model, of batch 1 or the model's own. REQUIRES: i < count().
  virtual Status read(size_t i, Values* feeds) = 0;
  // Reads the shapes of the arrays that read() gives.
  virtual Status read_shapes(size_t i, Shapes* shapes);
};

// Opens samples. `sources`: "random"; .npy or NAME=FILE.npy for each input; .npz; a folder of these
// or of images; a .txt that lists images; images. Fails with kInvalidArgument, kInvalidModel,
// kUnsupported or kIoError, and says what would be accepted.
Status open_samples(const std::vector<std::string>& sources, const tool::PictureOptions& images,
                    const FloatModel& model, std::unique_ptr<Samples>* samples);

// A file of arrays for one input or several: the parts open_samples() is made of.
// arrays.cc: .npy and .npz files, by the input they are for ("": by their members' names).
struct ArrayFile {
  std::string path, input;
};
Status open_arrays(const std::vector<ArrayFile>& files, const FloatModel& model,
                   std::unique_ptr<Samples>* samples);
// image_samples.cc: opens images, each file one sample of a model with one input.
Status open_images(const std::vector<std::string>& files, const tool::PictureOptions& options,
                   const FloatModel& model, std::unique_ptr<Samples>* samples);
// samples.cc: returns random numbers, for models that are only to be timed.
std::unique_ptr<Samples> random_samples(const FloatModel& model);

// "float32 [-1, 3, 224, 224]", for messages.
std::string describe(const Value& input);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SAMPLES_SAMPLES_H_
