// SPDX-License-Identifier: Apache-2.0
// Pictures, arrays, texts and command lines that the tools read.
#include <fcntl.h>

#include <filesystem>
#include <sstream>

#include "converter/command_line.h"
#include "converter/convert.h"
#include "converter/diff/reference.h"
#include "converter/import/tflite/option_map.h"
#include "converter/quantize/samples/labels.h"
#include "runtime/tools/images/images.h"
#include "runtime/tools/images/pictures.h"
#include "runtime/tools/npy.h"
#include "runtime/tools/npz.h"
#include "runtime/tools/options.h"
#include "runtime/tools/terminal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace qrt::fuzz {
namespace {

// Members of an archive that are read.
constexpr size_t kMostMembers = 4;
constexpr size_t kSide = 32;

void check(const Status& status) {
  if (!status.ok() && status.message()[0] == '\0') failed("a refusal without a message");
}

// An empty folder until the process ends.
class TempFolder {
 public:
  TempFolder()
      : path_((std::filesystem::temp_directory_path() / ("qrt_fuzz_" + std::to_string(getpid())))
                  .string()) {
    std::filesystem::create_directory(path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Sends what is printed to nowhere while it lives.
class Silence {
 public:
  Silence() {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int fd : {1, 2}) {
      kept_[fd] = dup(fd);
      dup2(nowhere, fd);
    }
    close(nowhere);
  }
  ~Silence() {
    fflush(stdout);
    for (int fd : {1, 2}) {
      dup2(kept_[fd], fd);
      close(kept_[fd]);
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int kept_[3] = {};
};

}  // namespace

void fuzz_image(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  Budget budget(0);
  tool::Image image;
  Status status = tool::read_image(file.path(), &budget, &image);
  tool::Picture picture;
  if (status.ok()) status = tool::resize(image, kSide, kSide, &budget, &picture);
  if (status.ok() && picture.rgb.size() != kSide * kSide * 3) failed("a picture of another size");
  check(status);
}

void fuzz_npy(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  tool::NpyArray array;
  check(tool::read_npy(file.path(), &array));
}

void fuzz_npz(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  std::vector<std::string> names;
  check(tool::list_npz(file.path(), &names));
  for (size_t i = 0; i < names.size() && i < kMostMembers; ++i) {
    tool::NpyFile member;
    Status status = tool::open_npz_member(file.path(), names[i], &member);
    tool::NpyArray array;
    if (status.ok()) status = tool::read_all(member, &array);
    check(status);
  }
}

void fuzz_labels(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  std::vector<int64_t> labels;
  check(quantize::read_labels(file.path(), size / 2, &labels));
}

void fuzz_test_data(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  convert::TestTensor tensor;
  check(convert::read_onnx_tensor(file.path(), &tensor));
}

void fuzz_json(const uint8_t* data, size_t size) {
  static const TempFolder folder;
  // The folder's file is one in memory: a file system on a disk begins to write a file that is replaced, which
  // takes five times as long as all else here.
  static MemoryFile index("", 0);
  static const bool is_linked = [] {
    const std::string link = folder.path() + "/index.json";
    unlink(link.c_str());  // that a process of the same number has left
    return symlink(index.path().c_str(), link.c_str()) == 0;
  }();
  if (!is_linked) failed("cannot make a symbolic link");
  index.replace(data, size);
  diff::Reference reference;
  check(reference.open(folder.path()));
}

void fuzz_flexbuffers(const uint8_t* data, size_t size) {
  convert::from_tflite::OptionMap map;
  Status status = convert::from_tflite::OptionMap::open(data, size, &map);
  check(status);
  if (!status.ok()) return;
  int64_t integer = 0;
  float real = 0;
  bool flag = false;
  check(map.read("max_detections", &integer));
  check(map.read("y_scale", &real));
  check(map.read("use_regular_nms", &flag));
}

// Arguments of which each is a line, read as a tool would that has options of every kind.
void fuzz_options(const uint8_t* data, size_t size) {
  std::vector<std::string> arguments = {"qrt_run"};
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  for (std::string line; std::getline(lines, line);) arguments.push_back(line.c_str());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  tool::CommandLine line("A tool.", "  qrt_run model.qrt");
  std::string model, report;
  std::vector<std::string> files, images;
  size_t count = 0;
  double real = 0;
  tool::PictureArguments pictures;
  convert::FormatOptions formats;
  line.argument("MODEL", &model, "A file");
  line.arguments("INPUT", &files, "More files");
  line.texts("--image FILE", &images, "Pictures");
  line.flag_or_choice("--report", {"text", "json"}, &report, "A report");
  line.number("--print COUNT", &count, 1, 1000, "A count");
  line.number("--percentile NUMBER", &real, 0, 1, "A number");
  pictures.add_to(&line);
  formats.add_to(&line);

  int exit = -1;
  const bool goes_on = [&] {
    const Silence silence;
    return line.parse(static_cast<int>(arguments.size()), pointers.data(), &exit);
  }();
  if (!goes_on) {
    if (exit != tool::kDone && exit != tool::kUsage) failed("a command line with another status");
    return;
  }
  if (count > 1000 || !(real >= 0 && real <= 1)) failed("a number outside its range");
  formats.given();
  tool::PictureOptions options;
  check(pictures.complete(&options));
  tool::PictureReader reader;
  check(reader.prepare(options, {"x", "float32 [1, 3, -1, -1]", {1, 3, -1, -1}, false}));
}

}  // namespace qrt::fuzz
