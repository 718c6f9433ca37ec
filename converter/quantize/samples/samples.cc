// SPDX-License-Identifier: Apache-2.0
// Opens the kind of samples that the user gave.
#include "converter/quantize/samples/samples.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "runtime/tools/budget.h"
#include "runtime/tools/files.h"

namespace qrt::quantize {
namespace {

constexpr size_t kRandomSamples = 16;

bool ends_with(const std::string& path, const char* extension) {
  const size_t n = strlen(extension);
  if (path.size() < n) return false;
  std::string end = path.substr(path.size() - n);
  std::transform(end.begin(), end.end(), end.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return end == extension;
}
bool is_array(const std::string& p) { return ends_with(p, ".npy") || ends_with(p, ".npz"); }
bool is_image(const std::string& p) {
  for (const char* e : {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm", ".pgm"})
    if (ends_with(p, e)) return true;
  return false;
}
bool is_folder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Lists the files of a folder, by name.
Status list_folder(const std::string& path, std::vector<std::string>* files) {
  DIR* folder = opendir(path.c_str());
  if (!folder) return error(Code::kIoError, "%s: %s", path.c_str(), strerror(errno));
  errno = 0;  // only an error sets it
  while (const dirent* entry = readdir(folder)) {
    const std::string file = path + "/" + entry->d_name;
    if (is_array(file) || is_image(file)) files->push_back(file);
    errno = 0;
  }
  const int failure = errno;
  closedir(folder);
  if (failure != 0) return error(Code::kIoError, "%s: %s", path.c_str(), strerror(failure));
  std::sort(files->begin(), files->end());
  if (files->empty())
    return error(
        Code::kInvalidModel,
        "%s: the folder holds no samples: expected .npy, .npz, .png, .jpg, .bmp, .webp, .ppm or "
        ".pgm files",
        path.c_str());
  return {};
}

// Reads a list, one file's name a line; relative names are beside the list.
Status read_list(const std::string& path, std::vector<std::string>* files) {
  std::string text;
  QRT_TRY(tool::read_text(path, &text));
  std::istringstream list(text);
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  Budget budget(text.size());
  for (std::string line; std::getline(list, line);) {
    // A list doubles when it is full.
    QRT_TRY(budget.reserve(2 * sizeof line + folder.size() + line.size()).at(path));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) files->push_back(line[0] == '/' ? line : folder + line);
  }
  if (files->empty()) return error(Code::kInvalidModel, "%s: the list is empty", path.c_str());
  return {};
}

class RandomSamples : public Samples {
 public:
  explicit RandomSamples(const FloatModel& model)
      : inputs_(model.inputs), most_(model.limits.value) {}
  size_t count() const override { return kRandomSamples; }
  Status read(size_t i, Values* feeds) override {
    uint32_t state = static_cast<uint32_t>(i) * 2654435761u + 12345;
    feeds->clear();
    for (const Value& input : inputs_) {
      Tensor& t = (*feeds)[input.name];
      t.element = input.element;
      t.shape = input.shape;
      for (size_t d = 0; d < t.shape.size(); ++d) {
        if (t.shape[d] >= 0) continue;
        if (d > 0)
          return error(
              Code::kInvalidArgument,
              "--calibration random: dimension %zu of the input '%s' is open: give samples "
              "in .npy files, which say it",
              d, input.name.c_str());
        t.shape[d] = 1;
      }
      if (!is_within(t.shape, most_)) return input_too_large(input, t.shape, most_);
      for (int64_t k = t.size(); k > 0; --k) {
        state = state * 1664525 + 1013904223;
        const float real = static_cast<float>(state >> 8) / 8388608.0f - 1;
        if (t.is_real())
          t.reals.push_back(real);
        else
          t.integers.push_back(state >> 31);
      }
    }
    return {};
  }

 private:
  std::vector<Value> inputs_;
  int64_t most_;  // elements of an input
};

// Splits "NAME=FILE" where NAME is an input of the model. Returns whether it is.
bool split_name(const std::string& source, const FloatModel& model, ArrayFile* file) {
  for (const Value& input : model.inputs) {
    if (source.compare(0, input.name.size() + 1, input.name + "=") != 0) continue;
    file->input = input.name;
    file->path = source.substr(input.name.size() + 1);
    return true;
  }
  return false;
}

// Says of "NAME=FILE" where there is no such file that there is no such input.
Status check_name(const std::string& source, const FloatModel& model) {
  const size_t equals = source.find('=');
  struct stat info;
  if (equals == std::string::npos || stat(source.c_str(), &info) == 0) return {};
  std::string names;
  for (const Value& input : model.inputs) names += (names.empty() ? "" : ", ") + input.name;
  return error(Code::kInvalidArgument,
               "--calibration %s: the model has no input '%s': its inputs are %s", source.c_str(),
               source.substr(0, equals).c_str(), names.c_str());
}

}  // namespace

Status Samples::read_shapes(size_t i, Shapes* shapes) {
  Values feeds;
  QRT_TRY(read(i, &feeds));
  for (const auto& [name, tensor] : feeds) (*shapes)[name] = tensor.shape;
  return {};
}

std::string describe(const Value& input) {
  return std::string(element_name(input.element)) + " " + to_string(input.shape);
}

std::unique_ptr<Samples> random_samples(const FloatModel& model) {
  return std::make_unique<RandomSamples>(model);
}

Status open_samples(const std::vector<std::string>& sources, const tool::PictureOptions& images,
                    const FloatModel& model, std::unique_ptr<Samples>* samples) {
  const auto check_no_options = [&]() -> Status {
    if (!images.is_given) return {};
    return error(
        Code::kInvalidArgument,
        "--mean, --std, --scale, --resize, --crop, --layout, --rgb and --bgr are for "
        "images; other samples are taken as they are, so give them as the model gets them");
  };
  if (sources.size() == 1 && sources[0] == "random") {
    QRT_TRY(check_no_options());
    *samples = random_samples(model);
    return {};
  }
  std::vector<ArrayFile> arrays;
  std::vector<std::string> pictures;
  size_t next_input = 0;
  for (const std::string& source : sources) {
    ArrayFile named;
    std::vector<std::string> files = {source};
    if (split_name(source, model, &named)) {
      arrays.push_back(named);
      continue;
    }
    QRT_TRY(check_name(source, model));
    if (is_folder(source)) {
      files.clear();
      QRT_TRY(list_folder(source, &files));
    } else if (ends_with(source, ".txt")) {
      files.clear();
      QRT_TRY(read_list(source, &files));
    }
    // Several .npy files given one by one are for one input after the other.
    const bool by_order = is_array(source) && model.inputs.size() > 1;
    for (const std::string& file : files) {
      if (is_image(file)) {
        pictures.push_back(file);
        continue;
      }
      if (!is_array(file))
        return error(
            Code::kInvalidModel,
            "--calibration %s: expected .npy, .npz, images (.png .jpg .bmp .webp .ppm .pgm), "
            "a folder or a .txt list of them, or `random`",
            file.c_str());
      ArrayFile array = {file, ""};
      if (ends_with(file, ".npy")) {
        if (model.inputs.size() > 1 && (!by_order || next_input >= model.inputs.size()))
          return error(
              Code::kInvalidArgument,
              "--calibration %s: the model has %zu inputs: give NAME=FILE.npy for each, or "
              ".npz files with an array for each",
              file.c_str(), model.inputs.size());
        array.input = model.inputs[model.inputs.size() > 1 ? next_input++ : 0].name;
      }
      arrays.push_back(array);
    }
  }
  if (!arrays.empty() && !pictures.empty())
    return error(Code::kInvalidArgument,
                 "--calibration: both arrays (%s) and images (%s): give one kind",
                 arrays[0].path.c_str(), pictures[0].c_str());
  if (!pictures.empty()) return open_images(pictures, images, model, samples);
  QRT_TRY(check_no_options());
  return open_arrays(arrays, model, samples);
}

}  // namespace qrt::quantize
