// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/steps/metric.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "runtime/text.h"
#include "runtime/tools/npy.h"

namespace qrt::quantize {
namespace {

constexpr size_t kMostMeasured = 512;
constexpr size_t kMostPrinted = 4096;  // bytes of what the program prints

// A folder of outputs, which is gone with this object.
class OutputFolder {
 public:
  OutputFolder() = default;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() {
    files_.clear();
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  Status create(const std::vector<size_t>& samples) {
    const char* folder = getenv("TMPDIR");
    std::string path = std::string(folder && *folder ? folder : "/tmp") + "/qrt_metric_XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return error(Code::kIoError, "%s: %s", path.c_str(), strerror(errno));
    path_ = path;
    count_ = static_cast<int64_t>(samples.size());
    const std::vector<int64_t> indices(samples.begin(), samples.end());
    return tool::write_npy(path_ + "/samples.npy", DType::kInt64, {count_}, indices.data(),
                           indices.size() * sizeof(int64_t));
  }
  const std::string& path() const { return path_; }

  // Adds the outputs of the next sample.
  Status add(const std::vector<Value>& outputs, const Values& made) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& t = made.at(outputs[i].name);
      if (files_.size() == i) QRT_TRY(open(t));
      if (t.shape != shapes_[i])
        return error(Code::kUnsupported,
                     "--metric: the output '%s' has shape %s, and %s for another sample: give "
                     "samples of one size",
                     outputs[i].name.c_str(), to_string(t.shape).c_str(),
                     to_string(shapes_[i]).c_str());
      QRT_TRY(t.is_real() ? write(i, t.reals) : write(i, t.integers));
    }
    return {};
  }
  Status close() {
    for (auto& file : files_)
      if (fclose(file.release()) != 0)
        return error(Code::kIoError, "%s: %s", path_.c_str(), strerror(errno));
    return {};
  }

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };

  // Opens the file of the next output, whose first sample is given.
  Status open(const Tensor& first) {
    const std::string path = path_ + "/output_" + std::to_string(files_.size()) + ".npy";
    files_.emplace_back(fopen(path.c_str(), "wb"));
    if (!files_.back()) return error(Code::kIoError, "%s: %s", path.c_str(), strerror(errno));
    shapes_.push_back(first.shape);
    Shape all;
    all.push_back(count_ * (first.shape.empty() ? 1 : first.shape[0]));
    for (size_t d = 1; d < first.shape.size(); ++d) all.push_back(first.shape[d]);
    const std::string header =
        tool::npy_header(first.is_real() ? DType::kFloat32 : DType::kInt64, all);
    return write(files_.size() - 1, header);
  }
  template <class Elements>
  Status write(size_t i, const Elements& elements) {
    const size_t n = elements.size();
    if (fwrite(elements.data(), sizeof(elements[0]), n, files_[i].get()) == n) return {};
    return error(Code::kIoError, "%s: %s", path_.c_str(), strerror(errno));
  }

  std::string path_;
  int64_t count_ = 0;
  std::vector<std::unique_ptr<FILE, Close>> files_;
  std::vector<Dims> shapes_;
};

// Returns a text as one word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

Status run_program(const std::string& command, const std::string& folder, double* score) {
  fflush(nullptr);
  FILE* program = popen((command + " " + quoted(folder)).c_str(), "re");
  if (program == nullptr) return error(Code::kIoError, "--metric: %s", strerror(errno));
  std::string printed(kMostPrinted, '\0');
  printed.resize(fread(printed.data(), 1, printed.size(), program));
  char rest[256];
  while (fread(rest, 1, sizeof rest, program) > 0) continue;
  const int status = pclose(program);
  if (status != 0)
    return error(Code::kInvalidArgument, "--metric %s: the program ends with status %d",
                 command.c_str(), WIFEXITED(status) ? WEXITSTATUS(status) : status);
  char* end;
  *score = strtod(printed.c_str(), &end);
  const bool is_number = end != printed.c_str() && end[strspn(end, " \t\r\n")] == '\0';
  if (is_number && std::isfinite(*score)) return {};
  return error(Code::kInvalidArgument, "--metric %s: the program prints '%s', expected a number",
               command.c_str(), escaped(printed.c_str(), 40).c_str());
}

}  // namespace

std::vector<size_t> measured_samples(const Work& work) {
  std::vector<size_t> which = work.fit.judged;
  which.insert(which.end(), work.fit.used.begin(), work.fit.used.end());
  if (which.size() > kMostMeasured) which.resize(kMostMeasured);
  return which;
}

Status measure(Work* work, const Parameters* parameters, double* score) {
  const std::vector<size_t> which = measured_samples(*work);
  Document document;
  Conversion conversion;
  IntegerRunner integers;
  if (parameters != nullptr) {
    QRT_TRY(convert_parameters(*work, *parameters, &document, &conversion));
    QRT_TRY(integers.create(conversion.bytes, static_cast<size_t>(work->settings.threads)));
  }
  OutputFolder folder;
  QRT_TRY(folder.create(which));
  for (size_t i = 0; i < which.size(); ++i) {
    work->progress("metric", static_cast<double>(i) / static_cast<double>(which.size()));
    Values feeds, made;
    const Values* outputs = &made;
    QRT_TRY(work->samples->read(which[i], &feeds));
    if (parameters != nullptr)
      QRT_TRY(integers.run(feeds, &made));
    else
      QRT_TRY(real_outputs(work, which[i], feeds, &made, &outputs));
    QRT_TRY(folder.add(work->model.outputs, *outputs));
  }
  QRT_TRY(folder.close());
  return run_program(work->settings.metric, folder.path(), score);
}

}  // namespace qrt::quantize
