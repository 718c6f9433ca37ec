// SPDX-License-Identifier: Apache-2.0
// The source formats: one row each. qrt_convert, the tests, the fuzzers and the support table go through
// this table, so that a new format is a folder beside onnx/ and tflite/ and a row in frontend.cc.
#ifndef QRT_CONVERTER_IMPORT_FRONTEND_H_
#define QRT_CONVERTER_IMPORT_FRONTEND_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "converter/check_values.h"
#include "converter/ir.h"
#include "converter/report.h"
#include "runtime/status.h"

namespace qrt::convert {

// An option of the command line that a format has, beside those that all have.
struct ImportOption {
  const char* name;                  // "reference" for --reference
  const char* help;                  // its description in --help
  bool is_flag = false;              // has no value
  std::vector<std::string> choices;  // its values; empty: any text
  bool is_list = false;              // has any number of values, joined by line feeds
  const char* placeholder = "NAME";  // stands for its value in the help
};

// Values of the options that are given, by name; of a flag: "on".
using ImportOptions = std::map<std::string, std::string>;

// Returns the values of an option that is a list.
std::vector<std::string> list_of(const ImportOptions& options, const char* name);
// Returns the value of an option; "" where it is not given.
std::string text_of(const ImportOptions& options, const char* name);

// Reads a file into a graph. kIoError, kInvalidModel (damaged), or kUnsupported with every refused
// node in the report. *graph is meaningful only on success.
using Import = Status (*)(const std::string& path, const ImportOptions& options, Graph* graph,
                          Report* report);

// The importers that a build may lack: import/onnx/ and import/cvm/ define them, or converter/wasm/
// does as null.
extern const Import kImportOnnx, kImportCvm;

struct Frontend {
  const char* name;   // "tflite": for --from and messages
  const char* title;  // "TFLite": as its makers write it
  // Returns whether a file is of this format, by its first kHeadBytes, or all of it if it is shorter.
  bool (*recognises)(const std::vector<uint8_t>& head);
  std::vector<ImportOption> options;
  Import import;  // null: this build knows the format by sight only
  // The models of a file, a line each; null: a file of this format is one model.
  Status (*list)(const std::string& path, std::vector<std::string>* models) = nullptr;
  // Inputs and outputs that a file holds to test it with; null: the format has none.
  Status (*read_tests)(const std::string& path, const ImportOptions& options,
                       TestValues* values) = nullptr;
};

constexpr size_t kHeadBytes = 64;

const std::vector<Frontend>& frontends();
// Returns the front end of this name, or null.
const Frontend* find_frontend(const std::string& name);
// Returns the first that recognises the file. The last row takes every file, so there is one.
const Frontend& recognise(const std::vector<uint8_t>& head);

// Imports a file; kInvalidArgument for options that the format does not have, or not with that
// value.
Status import_model(const Frontend& frontend, const std::string& path, const ImportOptions& options,
                    Graph* graph, Report* report);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_FRONTEND_H_
