// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/inputs.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/tools/arrays.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/elements.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

// "input 0 'data' (float32 [-1, 3, 224, 224])"
std::string describe_input(const Model& model, size_t i) {
  const qrt_tensor_info info = model.input_info(i);
  return "input " + std::to_string(i) + " '" + info.name + "' (" + type_text(info) + ")";
}

std::vector<std::string> input_names(const Model& model) {
  std::vector<std::string> names;
  for (size_t i = 0; i < model.input_count(); ++i) names.emplace_back(model.input_info(i).name);
  return names;
}

Status check_names(const std::vector<std::string>& inputs, const std::vector<std::string>& named) {
  for (const std::string& text : named) {
    std::string file;
    if (find_named(text, inputs, &file) < inputs.size()) continue;
    std::string names;
    for (const std::string& name : inputs) names += (names.empty() ? "'" : ", '") + name + "'";
    return error(Code::kInvalidArgument,
                 "--input %s: no input of the model has this name, they are %s: NAME=FILE.npy",
                 text.c_str(), names.c_str());
  }
  return {};
}

// Returns how to quantise real numbers with numpy, for an input of integers.
std::string remedy(DType array, const qrt_tensor_info& input) {
  const DType dtype = dtype_of(input);
  if (array != DType::kFloat32 || holds_reals(dtype) || input.quantization->count != 1) return "";
  char text[160];
  snprintf(text, sizeof text,
           ": quantise it, as by numpy's (x / %.9g).round() + %d, clipped, as %s",
           static_cast<double>(input.quantization->scale[0]), input.quantization->zero_point[0],
           dtype_name(dtype));
  return text;
}

// Checks a size that an array has. kInvalidModel where the dimension cannot have it.
Status check_size(const qrt_dim_info& dim, int64_t size, const std::string& source) {
  if (size >= dim.least && size <= dim.most && (size - dim.least) % dim.step == 0) return {};
  std::string legal = std::to_string(dim.least);
  legal += dim.most > INT32_MAX - dim.step ? " or more" : " to " + std::to_string(dim.most);
  if (dim.step > 1) legal += " in steps of " + std::to_string(dim.step);
  return error(Code::kInvalidModel, "%s: '%s' is %lld, expected %s", source.c_str(), dim.name,
               static_cast<long long>(size), legal.c_str());
}

// Checks that an array fits an input, or one input for each index of a dimension in front: *is_sequence
// then. Where the model leaves a dimension open, the array says its size. Messages begin with `source`.
Status check_input(const Model& model, size_t i, const NpyArray& array, const std::string& source,
                   Dims* dims, bool* is_sequence) {
  const qrt_tensor_info info = model.input_info(i);
  *is_sequence = array.shape.rank() == info.rank + 1 && array.shape[0] >= 1;
  bool fits =
      array.dtype == npy_dtype(dtype_of(info)) && (*is_sequence || array.shape.rank() == info.rank);
  const auto size = [&](int d) { return array.shape[d + (*is_sequence ? 1 : 0)]; };
  for (int d = 0; fits && d < info.rank; ++d) fits = info.dims[d] < 0 || size(d) == info.dims[d];
  if (!fits)
    return error(Code::kInvalidModel, "%s: it holds %s %s, expected %s%s", source.c_str(),
                 dtype_name(array.dtype), array.shape.to_string().c_str(),
                 describe_input(model, i).c_str(), remedy(array.dtype, info).c_str());
  for (int d = 0; d < info.rank; ++d) {
    if (info.dims[d] >= 0) continue;
    const char* name = info.dim_names[d];
    // A size that is a formula of several dimensions is checked when the array is put in.
    qrt_dim_info dim;
    if (!find_open_dim(model, name, &dim)) continue;
    // A size that --dims asks for is no fault of the array.
    if (!dims->has(name, size(d))) QRT_TRY(check_size(dim, size(d), source));
    QRT_TRY(dims->set(name, size(d), source));
  }
  return {};
}

// Returns element `step` of a sequence of `steps` along dimension 0.
NpyArray part_of(const NpyArray& array, size_t step, size_t steps) {
  NpyArray part;
  part.dtype = array.dtype;
  for (int d = 1; d < array.shape.rank(); ++d) part.shape.push_back(array.shape[d]);
  const size_t bytes = array.data.size() / steps;
  const auto begin = array.data.begin() + static_cast<ptrdiff_t>(step * bytes);
  part.data.assign(begin, begin + static_cast<ptrdiff_t>(bytes));
  return part;
}

// Leaves files out that hold no elements, where there are more files than inputs: the converter leaves
// such inputs out of a model, and the source's own files may be given as they are.
std::vector<std::string> without_empty(const std::vector<std::string>& files, size_t inputs) {
  std::vector<std::string> kept;
  for (const std::string& text : files) {
    const bool is_npy = text.size() > 4 && text.compare(text.size() - 4, 4, ".npy") == 0;
    NpyArray array;
    if (files.size() > inputs && is_npy && read_npy(text, &array).ok() &&
        array.shape.elements() == 0)
      continue;
    kept.push_back(text);
  }
  return kept;
}

}  // namespace

Status Inputs::read(const Model& model, const std::vector<std::string>& files,
                    const std::vector<std::string>& named) {
  QRT_TRY(check_names(input_names(model), named));
  std::vector<std::string> given = named;
  const std::vector<std::string> filled = without_empty(files, model.input_count() - named.size());
  given.insert(given.end(), filled.begin(), filled.end());
  return read_any(model, given);
}

Status Inputs::read_any(const Model& model, const std::vector<std::string>& given) {
  std::vector<ArrayFile> assigned;
  QRT_TRY(assign_arrays("input", input_names(model), given, Match::kArrays, &assigned));
  arrays_.resize(assigned.size());
  names_.clear();
  for (size_t i = 0; i < assigned.size(); ++i) {
    if (assigned[i].path.empty())
      return error(Code::kInvalidArgument, "no file for %s: give one, or --input %s=FILE.npy",
                   describe_input(model, i).c_str(), model.input_info(i).name);
    names_.push_back(assigned[i].text());
    QRT_TRY(assigned[i].read_head(&arrays_[i]));
  }
  // Checks all types and shapes before elements are read, and again behind that, as another program
  // may change a file meanwhile.
  QRT_TRY(check(model));
  Budget budget(0);
  QRT_TRY(add_files(assigned, &budget));
  for (size_t i = 0; i < assigned.size(); ++i) QRT_TRY(assigned[i].read(&budget, &arrays_[i]));
  warn_of_nan();
  return check(model);
}

Status Inputs::take(const Model& model, std::vector<NpyArray> arrays,
                    std::vector<std::string> names) {
  arrays_ = std::move(arrays);
  names_ = std::move(names);
  return check(model);
}

Status Inputs::check(const Model& model) {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    bool is_sequence;
    QRT_TRY(check_input(model, i, arrays_[i], names_[i], &dims_, &is_sequence));
    const size_t length = is_sequence ? static_cast<size_t>(arrays_[i].shape[0]) : 0;
    if (i > 0 && length != steps_)
      return error(Code::kInvalidModel, "%s: inputs of %zu and of %zu runs (0: no sequence)",
                   names_[i].c_str(), steps_, length);
    steps_ = length;
  }
  return {};
}

void Inputs::warn_of_nan() const {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const NpyArray& array = arrays_[i];
    if (array.dtype != DType::kFloat32) continue;
    const size_t elements = array.data.size() / sizeof(float);
    size_t count = 0;
    for (size_t e = 0; e < elements; ++e) {
      float value;
      memcpy(&value, &array.data[e * sizeof value], sizeof value);
      count += std::isnan(value);
    }
    if (count > 0)
      warn(names_[i] + ": " + std::to_string(count) + " of " + counted(elements, "element") +
           (count == 1 ? " is" : " are") +
           " NaN, which an input that is quantised takes for the least number that it can hold");
  }
}

Status Inputs::put(size_t step, Session* session) const {
  for (size_t i = 0; i < arrays_.size(); ++i) {
    NpyArray array = steps_ > 0 ? part_of(arrays_[i], step, steps_) : arrays_[i];
    QRT_TRY(from_npy_form(dtype_of(session->input_info(i)), &array).at(names_[i]));
    if (const qrt_tensor_info info = session->input_info(i); array.data.size() != info.bytes)
      return error(Code::kInvalidModel, "%s: it holds %s, expected %s", names_[i].c_str(),
                   array.shape.to_string().c_str(), type_text(info).c_str());
    session->set_input_bytes(i, array.data.data(), array.data.size());
  }
  return {};
}

}  // namespace qrt::tool
