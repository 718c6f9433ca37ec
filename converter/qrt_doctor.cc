// SPDX-License-Identifier: Apache-2.0
// qrt_doctor: what a file is, whether it converts, what stays in float, what to do next, and how fast it would be
// here, on one screen. Command line only; the work is in doctor/.
#include <cstdio>

#include "converter/doctor/diagnosis.h"
#include "runtime/tools/files.h"
#include "runtime/tools/options.h"
#include "runtime/tools/terminal.h"

namespace qrt {
namespace {

int doctor_main(int argc, char** argv) {
  tool::CommandLine line(
      "Tells on one screen what a model is, whether it converts, what stays in float, how fast it "
      "would be here, and what to do next. Writes no files.",
      "  qrt_doctor model.onnx\n"
      "  qrt_doctor model.tflite --seconds 0       without measuring\n"
      "  qrt_doctor model.qrt --format json | jq .next");
  std::string model, format = "text";
  doctor::Settings settings;
  line.argument("MODEL", &model,
                "ONNX, TFLite, ESP-DL, CVM or .qrt, by content; - is standard input");
  line.number("--seconds NUMBER", &settings.seconds, 0.0, 3600.0,
              "How long to measure; 0: not at all");
  line.number("--threads COUNT", &settings.threads, 1, 1024, "Threads");
  line.choice("--format NAME", &format, {"text", "json"}, "Form of the output");
  int exit;
  if (!line.parse(argc, argv, &exit)) return exit;
  doctor::Diagnosis diagnosis;
  Status status = tool::take_stdin(&model);
  if (status.ok()) status = doctor::diagnose(model, settings, &diagnosis);
  if (!status.ok()) return tool::fail(status);
  fputs((format == "json" ? doctor::json(diagnosis) : doctor::screen(diagnosis, tool::columns()))
            .c_str(),
        stdout);
  return diagnosis.converts ? tool::kDone : tool::kUnsupported;
}

}  // namespace
}  // namespace qrt

int main(int argc, char** argv) { return qrt::tool::guarded(qrt::doctor_main, argc, argv); }
