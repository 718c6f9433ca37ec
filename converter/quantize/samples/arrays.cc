// SPDX-License-Identifier: Apache-2.0
// Samples in .npy and .npz files. A file holds one sample, or several along a dimension in front.
#include <algorithm>
#include <cstring>

#include "converter/quantize/samples/samples.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/npz.h"

namespace qrt::quantize {
namespace {

// Samples of one input in one file, all of one shape.
struct SampleFile {
  std::string path, member;  // member: of an .npz
  size_t first = 0, count = 0;
  Dims shape;  // of a sample
};

Status open_file(const SampleFile& sample_file, tool::NpyFile* file) {
  if (sample_file.member.empty()) return file->open(sample_file.path);
  return tool::open_npz_member(sample_file.path, sample_file.member, file);
}

// Returns whether elements of an array can be given to an input: the same type, or integers of another width.
bool fits(DType array, Element input) {
  switch (input) {
    case Element::kFloat: return array == DType::kFloat32;
    case Element::kInt64:
    case Element::kInt32: return array == DType::kInt64 || array == DType::kInt32;
    case Element::kBool: return array == DType::kBool || array == DType::kUInt8;
    case Element::kUint8: return array == DType::kUInt8;
    case Element::kInt8: return array == DType::kInt8;
    case Element::kUint16: return array == DType::kUInt16;
    case Element::kInt16: return array == DType::kInt16;
  }
  return false;
}

template <class T>
void append(const std::vector<uint8_t>& bytes, Tensor* t) {
  std::vector<T> values(bytes.size() / sizeof(T));
  memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  if (t->is_real())
    t->reals.assign(values.begin(), values.end());
  else
    t->integers.assign(values.begin(), values.end());
}

// All samples of one input.
class InputArrays {
 public:
  explicit InputArrays(const Value& input) : input_(input) {}

  Status add(const std::string& path, const std::string& member) {
    SampleFile sample_file = {path, member, count_, 0, {}};
    tool::NpyFile file;
    QRT_TRY(open_file(sample_file, &file));
    const std::string where = path + (member.empty() ? "" : "[" + member + "]");
    const Shape& shape = file.shape();
    if (!fits(file.dtype(), input_.element))
      return error(Code::kInvalidModel, "%s: holds %s, the input '%s' takes %s%s", where.c_str(),
                   dtype_name(file.dtype()), input_.name.c_str(), describe(input_).c_str(),
                   input_.element == Element::kFloat
                       ? ": convert it as the model's training did (images may be given as files, "
                         "with --mean and --std)"
                       : "");
    const auto rank = static_cast<int>(input_.shape.size());
    // Dimensions in front of one sample's own: none; the number of samples; that, and the batch that each sample carries.
    const int own = std::max(rank - 1, 0), skip = shape.rank() - own;
    bool matches = skip >= 0 && skip <= (rank > 0 ? 2 : 1);
    if (matches && skip == 2) matches = shape[1] == batch();
    Dims sample;
    if (rank > 0) sample.push_back(batch());
    for (int d = 1; matches && d < rank; ++d) {
      const int64_t n = shape[d - 1 + skip], wanted = input_.shape[static_cast<size_t>(d)];
      matches = n > 0 && (wanted < 0 || wanted == n);
      sample.push_back(n);
    }
    int64_t images = skip > 0 && matches ? shape[0] : 1;
    if (skip == 2) images *= batch();
    if (!matches || images % batch() != 0 || images == 0)
      return error(Code::kInvalidModel,
                   "%s: has shape %s, the input '%s' is %s: expected samples of that shape, any "
                   "number%s in front",
                   where.c_str(), shape.to_string().c_str(), input_.name.c_str(),
                   describe(input_).c_str(), batch() > 1 ? " that its batch divides" : "");
    sample_file.shape = sample;
    sample_file.count = static_cast<size_t>(images / batch());
    count_ += sample_file.count;
    sample_files_.push_back(sample_file);
    return {};
  }
  size_t count() const { return count_; }

  const Dims& shape(size_t i) const { return file_of(i).shape; }
  Status read(size_t i, Tensor* t) {
    const SampleFile& sample_file = file_of(i);
    if (open_ != &sample_file) {
      open_ = nullptr;
      file_ = tool::NpyFile();
      QRT_TRY(open_file(sample_file, &file_));
      open_ = &sample_file;
    }
    t->element = input_.element;
    t->shape = sample_file.shape;
    std::vector<uint8_t> bytes(static_cast<size_t>(elements(t->shape)) *
                               dtype_bytes(file_.dtype()));
    QRT_TRY(file_.read((i - sample_file.first) * bytes.size(), bytes.size(), bytes.data())
                .at(sample_file.path));
    switch (file_.dtype()) {
      case DType::kFloat32: append<float>(bytes, t); break;
      case DType::kInt64: append<int64_t>(bytes, t); break;
      case DType::kInt32: append<int32_t>(bytes, t); break;
      case DType::kInt8: append<int8_t>(bytes, t); break;
      case DType::kInt16: append<int16_t>(bytes, t); break;
      case DType::kUInt16: append<uint16_t>(bytes, t); break;
      default: append<uint8_t>(bytes, t); break;
    }
    return {};
  }

 private:
  int64_t batch() const {
    return input_.shape.empty() || input_.shape[0] < 1 ? 1 : input_.shape[0];
  }

  const SampleFile& file_of(size_t i) const {
    return *(std::upper_bound(sample_files_.begin(), sample_files_.end(), i,
                              [](size_t n, const SampleFile& p) { return n < p.first; }) -
             1);
  }

  Value input_;
  std::vector<SampleFile> sample_files_;
  size_t count_ = 0;
  const SampleFile* open_ = nullptr;  // the file that was read last stays open
  tool::NpyFile file_;
};

class ArraySamples : public Samples {
 public:
  explicit ArraySamples(const FloatModel& model) {
    for (const Value& v : model.inputs) inputs_.emplace(v.name, v);
  }
  Status add(const ArrayFile& file) {
    files_.push_back(file.path);
    if (!file.input.empty()) return inputs_.at(file.input).add(file.path, "");
    std::vector<std::string> members;
    QRT_TRY(tool::list_npz(file.path, &members));
    for (auto& [name, arrays] : inputs_) {
      const bool is_only = inputs_.size() == 1 && members.size() == 1;
      if (!is_only && std::find(members.begin(), members.end(), name) == members.end()) {
        std::string known;
        for (const std::string& m : members) known += (known.empty() ? "" : ", ") + m;
        return error(Code::kInvalidModel,
                     "%s: has no array '%s' for the model's input (it has: %s)", file.path.c_str(),
                     name.c_str(), known.c_str());
      }
      QRT_TRY(arrays.add(file.path, is_only ? members[0] : name));
    }
    return {};
  }
  Status check() const {
    for (const auto& [name, arrays] : inputs_) {
      if (arrays.count() == 0)
        return error(Code::kInvalidArgument,
                     "--calibration: no samples for the input '%s': give %s=FILE.npy", name.c_str(),
                     name.c_str());
      if (arrays.count() != count())
        return error(Code::kInvalidModel,
                     "--calibration: %zu samples for the input '%s', %zu for '%s'", arrays.count(),
                     name.c_str(), count(), inputs_.begin()->first.c_str());
    }
    return {};
  }
  size_t count() const override { return inputs_.begin()->second.count(); }
  std::vector<std::string> files() const override { return files_; }
  Status read(size_t i, Values* feeds) override {
    for (auto& [name, arrays] : inputs_) QRT_TRY(arrays.read(i, &(*feeds)[name]));
    return {};
  }
  Status read_shapes(size_t i, Shapes* shapes) override {
    for (const auto& [name, arrays] : inputs_) (*shapes)[name] = arrays.shape(i);
    return {};
  }

 private:
  std::map<std::string, InputArrays> inputs_;
  std::vector<std::string> files_;
};

}  // namespace

Status open_arrays(const std::vector<ArrayFile>& files, const FloatModel& model,
                   std::unique_ptr<Samples>* samples) {
  auto result = std::make_unique<ArraySamples>(model);
  for (const ArrayFile& file : files) QRT_TRY(result->add(file));
  QRT_TRY(result->check());
  *samples = std::move(result);
  return {};
}

}  // namespace qrt::quantize
