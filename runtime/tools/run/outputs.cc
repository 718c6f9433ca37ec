// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/run/outputs.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <cstdio>

#include "runtime/text.h"
#include "runtime/tools/arrays.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/elements.h"
#include "runtime/tools/model_file.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/run/show.h"

namespace qrt::tool {
namespace {

// Returns the size of the last dimension: the classes, where an output has some.
size_t row_size(const qrt_tensor_info& info) {
  return info.rank == 0 ? 1 : static_cast<size_t>(info.dims[info.rank - 1]);
}

Status read_labels(const RunOptions& options, const std::vector<Output>& outputs,
                   std::vector<std::string>* labels) {
  if (options.labels.empty()) return {};
  QRT_TRY(read_lines(options.labels, labels));
  for (const Output& o : outputs)
    if (row_size(o.info) == labels->size()) return {};
  return error(Code::kInvalidModel,
               "%s: holds %s, but no output has as many classes: output 0 '%s' is %s",
               options.labels.c_str(), counted(labels->size(), "label").c_str(),
               outputs[0].info.name, shape_of(outputs[0].info).to_string().c_str());
}

}  // namespace

Status Outputs::keep(const Session& session) {
  for (size_t i = 0; i < runs_.size(); ++i) {
    const qrt_tensor_info info = session.output_info(i);
    if (info.rank == kMaxTensorRank || is_packed(dtype_of(info)))
      return error(Code::kUnsupported,
                   "output %zu '%s' has 6 dimensions or packed elements, which a sequence cannot "
                   "have",
                   i, info.name);
    const auto* data = static_cast<const uint8_t*>(qrt_session_output_data(session.get(), i));
    runs_[i].insert(runs_[i].end(), data, data + info.bytes);
  }
  return {};
}

std::vector<Output> Outputs::collect(const Session& session) const {
  std::vector<Output> outputs;
  for (size_t i = 0; i < count_; ++i) {
    Output o = {session.output_info(i), qrt_session_output_data(session.get(), i)};
    if (!runs_.empty()) {
      const size_t steps = runs_[i].size() / o.info.bytes;
      o.dims = {static_cast<int64_t>(steps)};
      o.dims.insert(o.dims.end(), o.info.dims, o.info.dims + o.info.rank);
      o.info.dims = o.dims.data();
      ++o.info.rank;
      o.info.bytes = runs_[i].size();
      o.data = runs_[i].data();
    }
    outputs.push_back(std::move(o));
  }
  return outputs;
}

Status deliver(const RunOptions& options, const std::string& stem, const qrt_tensor_info& info,
               const void* data, NpzWriter* archive) {
  if (options.to_stdout()) {
    const std::string content = npy_content(dtype_of(info), shape_of(info), data, info.bytes);
    if (fwrite(content.data(), 1, content.size(), stdout) == content.size()) return {};
    return error(Code::kIoError, "standard output: %s", strerror(errno));
  }
  if (!options.writes_files() || options.sha256) print_digest(stem, info, data, options.sha256);
  if (!options.output.empty())
    return archive->add(info.name, dtype_of(info), shape_of(info), data, info.bytes);
  if (options.output_dir.empty()) return {};
  return write_npy(options.output_dir + "/" + stem + ".npy", dtype_of(info), shape_of(info), data,
                   info.bytes);
}

Status deliver_outputs(const RunOptions& options, const std::vector<Output>& outputs,
                       NpzWriter* archive) {
  std::vector<std::string> labels;
  QRT_TRY(read_labels(options, outputs, &labels));
  const bool shows = options.print > 0 || options.top > 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output& o = outputs[i];
    const std::string stem = "output_" + std::to_string(i);
    QRT_TRY(deliver(options, stem, o.info, o.data, archive));
    if (shows && options.writes_files() && !options.sha256)
      printf("%s '%s' %s\n", stem.c_str(), escaped(o.info.name).c_str(), type_text(o.info).c_str());
    if (options.print > 0) print_elements(o.info, o.data, options.print, options.dequantize);
    // Labels belong to those outputs whose rows are as long as the list.
    if (options.top > 0)
      print_greatest(o.info, o.data, options.top,
                     row_size(o.info) == labels.size() ? labels : std::vector<std::string>(),
                     options.dequantize);
  }
  return {};
}

Status read_expected(const RunOptions& options, const std::vector<Output>& outputs,
                     std::vector<Expected>* expected) {
  if (options.expected.empty()) return {};
  std::vector<std::string> names;
  for (const Output& output : outputs) names.emplace_back(output.info.name);
  std::vector<ArrayFile> files;
  const Match match = options.expect_some ? Match::kSome : Match::kAll;
  QRT_TRY(assign_arrays("output", names, options.expected, match, &files, "--expect-some")
              .at("--expect"));
  Budget budget(0);
  QRT_TRY(add_files(files, &budget));
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].path.empty()) continue;
    const qrt_tensor_info& info = outputs[i].info;
    const DType dtype = dtype_of(info);
    const auto check = [&](const NpyArray& array) -> Status {
      if (array.dtype == npy_dtype(dtype) && array.shape == shape_of(info)) return {};
      return error(Code::kInvalidModel, "%s: it holds %s %s, output %zu '%s' is %s",
                   files[i].text().c_str(), dtype_name(array.dtype),
                   array.shape.to_string().c_str(), i, info.name, type_text(info).c_str());
    };
    NpyArray array;
    QRT_TRY(files[i].read_head(&array));
    QRT_TRY(check(array));
    QRT_TRY(files[i].read(&budget, &array));
    QRT_TRY(check(array));
    QRT_TRY(from_npy_form(dtype, &array).at(files[i].text()));
    expected->push_back({i, std::move(array)});
  }
  return {};
}

bool compare_outputs(const std::vector<Output>& outputs, const std::vector<Expected>& expected) {
  bool equal = true;
  for (const Expected& e : expected) {
    const Output& output = outputs[e.output];
    const Difference d = compare(dtype_of(output.info), output.data, e.array.data.data(),
                                 static_cast<size_t>(e.array.shape.elements()));
    printf("expect output_%zu '%s': %s\n", e.output, escaped(output.info.name).c_str(),
           describe(d).c_str());
    equal &= d.different == 0;
  }
  return equal;
}

}  // namespace qrt::tool
