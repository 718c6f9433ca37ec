// Source models: bytes -> import -> lint -> passes -> write -> load -> run.
#include <sys/mman.h>
#include <unistd.h>

#include "converter/convert.h"
#include "converter/lint.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"

namespace qrt::fuzz {
namespace {

// Bytes as a file that has a path.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : fd_(memfd_create("model", MFD_CLOEXEC)) {
    if (fd_ < 0 || write(fd_, data, size) != static_cast<ssize_t>(size))
      failed("cannot make a file in memory");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

// Damaged, beyond this version, or I/O (external data that is not there): all with a message.
void check_refusal(const Status& status) {
  if (status.code() != Code::kInvalidModel && status.code() != Code::kUnsupported &&
      status.code() != Code::kIoError)
    failed(std::string("refused with a code that blames something else than the file: ") +
           status.message());
  if (status.message()[0] == '\0') failed("a refusal without a message");
}

// What an import gave is a model that converts, loads and runs alike everywhere, or a refusal.
void check_import(Status status, convert::Graph* graph, convert::Report* report, size_t size) {
  report->text(true);
  if (status.ok() || report->has_refusals()) convert::lint(*graph, report);
  report->warnings_text();
  report->json({true, true});
  if (!status.ok()) return check_refusal(status);
  std::vector<uint8_t> bytes;
  status = convert::run_passes(graph, nullptr);
  if (status.ok()) status = convert::write_model(*graph, &bytes);
  if (!status.ok()) return check_refusal(status);
  const ModelPtr model = load(bytes.data(), bytes.size(), &status);
  if (model == nullptr) failed(std::string("the converted model is refused: ") + status.message());
  compare_runs(model, size);
}

}  // namespace

// One file in two may have layers left in float.
void fuzz_onnx(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  convert::Graph graph;
  convert::Report report;
  Status status = convert::import_onnx(file.path(), &graph, &report, size % 2 != 0);
  check_import(std::move(status), &graph, &report, size);
}

void fuzz_tflite(const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  convert::Graph graph;
  convert::Report report;
  Status status = convert::import_tflite(file.path(),
                                         size % 2 != 0 ? convert::TfliteReference::kSingleRounding
                                                       : convert::TfliteReference::kDoubleRounding,
                                         &graph, &report);
  check_import(std::move(status), &graph, &report, size);
}

}  // namespace qrt::fuzz
