// SPDX-License-Identifier: Apache-2.0
// The functions of the WebAssembly module qrt_convert.wasm: each instance makes one conversion; arguments are
// numbers and offsets in its memory.
// Names that begin with qrt_js_ are those of the runtime's modules, too (runtime/wasm/module.c).
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/import/frontend.h"
#include "converter/import/recognise.h"
#include "converter/levels.h"
#include "converter/lint.h"
#include "converter/wasm/source.h"
#include "qrt/qrt.h"
#include "runtime/text.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

namespace qrt::convert {
namespace {

// One conversion.
struct Conversion {
  ImportOptions options;
  std::string from, require_level;
  bool lints = false;
  std::vector<uint8_t> file;
  std::string report, refusals, notes, message;
};

Conversion& conversion() {
  static Conversion one;
  return one;
}

// Fails unless an option is of a format or of all conversions and is a flag, or else a text.
Status check_kind(const std::string& name, bool is_flag) {
  std::map<std::string, bool> are_flags = {
      {"from", false}, {"require-level", false}, {"lint", true}};
  for (const Frontend& f : frontends())
    for (const ImportOption& o : f.options) are_flags[o.name] = o.is_flag;
  const auto found = are_flags.find(name);
  if (found == are_flags.end())
    return error(Code::kInvalidArgument, "there is no option --%s", name.c_str());
  if (found->second != is_flag)
    return error(Code::kInvalidArgument, "--%s takes %s", name.c_str(),
                 found->second ? "true or false" : "a text");
  return {};
}

void set_import_option(const std::string& name, const std::string& value) {
  if (value.empty())
    conversion().options.erase(name);
  else
    conversion().options[name] = value;
}

Status set_flag(const std::string& name, bool is_on) {
  QRT_TRY(check_kind(name, true));
  if (name == "lint")
    conversion().lints = is_on;
  else
    set_import_option(name, is_on ? "on" : "");
  return {};
}

// An empty text means that the option is not given.
Status set_text(const std::string& name, const std::string& value) {
  QRT_TRY(check_kind(name, false));
  Conversion& c = conversion();
  if (name == "from") {
    c.from = value;
    if (!value.empty() && find_frontend(value) == nullptr)
      return error(Code::kInvalidArgument, "no source format is called '%s'", value.c_str());
    return {};
  }
  if (name == "require-level") {
    c.require_level = value;
    if (!value.empty() && value != "I0" && value != "I1")
      return error(Code::kInvalidArgument, "the required level is I0 or I1, not '%s'",
                   value.c_str());
    return {};
  }
  set_import_option(name, value);
  return {};
}

Status check_level(const Conversion& c) {
  if (c.require_level.empty()) return {};
  const std::vector<std::string> above = operators_above(c.file, c.require_level == "I0" ? 0 : 1);
  if (above.empty()) return {};
  std::string names;
  for (const std::string& op : above) names += (names.empty() ? "" : ", ") + op;
  return error(Code::kUnsupported, "%zu of the operators %s above level %s: %s", above.size(),
               above.size() == 1 ? "is" : "are", c.require_level.c_str(), names.c_str());
}

Status convert(const std::string& name, const std::vector<uint8_t>& head) {
  Conversion& c = conversion();
  const Frontend* format = nullptr;
  QRT_TRY(find_format(name, head, c.from, &format));
  Graph graph;
  Report report;
  Status status = import_model(*format, name, c.options, &graph, &report);
  if (c.lints && (status.ok() || report.has_refusals())) lint(graph, &report);
  const bool is_imported = status.ok();
  if (is_imported) {
    status = run_passes(&graph, nullptr);
    if (status.ok()) status = write_model(graph, &c.file);
    if (status.ok()) set_levels(c.file, &report);
    report_sizes(graph, &report);
    for (const std::string& note : notes_on(graph)) c.notes += (c.notes.empty() ? "" : "\n") + note;
    if (!status.ok()) status = std::move(status).at(name);
  } else if (report.has_refusals()) {
    c.refusals = "\n" + report.text(false);
  }
  if (is_imported || report.has_refusals()) c.report = report.json({true, c.lints});
  QRT_TRY(std::move(status));
  return check_level(c);
}

// Keeps the message of a status, with what was refused, and returns its code.
int result(const Status& status) {
  conversion().message = escaped(status.message()) + conversion().refusals;
  return static_cast<int>(status.code());
}

}  // namespace
}  // namespace qrt::convert

extern "C" {

void* EXPORT(qrt_js_allocate)(size_t bytes) { return malloc(std::max<size_t>(bytes, 1)); }
void EXPORT(qrt_js_release)(void* p) { free(p); }
const char* EXPORT(qrt_js_message)() { return qrt::convert::conversion().message.c_str(); }
const char* EXPORT(qrt_js_status_name)(int code) {
  return qrt_status_name(static_cast<qrt_status>(code));
}

// Set an option, called as on the command line: a flag, or a text, which for a list has lines.
int EXPORT(qrt_convert_set_flag)(const char* name, int is_on) {
  return qrt::convert::result(qrt::convert::set_flag(name, is_on != 0));
}
int EXPORT(qrt_convert_set_text)(const char* name, const char* value) {
  return qrt::convert::result(qrt::convert::set_text(name, value));
}

// Converts a file and returns the status code. The bytes must stay in place until this returns; `name` is used in messages only.
int EXPORT(qrt_convert_run)(const uint8_t* data, size_t bytes, const char* name) {
  qrt::convert::set_source(data, bytes);
  const std::vector<uint8_t> head(data, data + std::min(bytes, qrt::convert::kHeadBytes));
  return qrt::convert::result(qrt::convert::convert(name, head));
}

// Return the .qrt file that qrt_convert_run() made, its report as JSON ("" if no model was read), and its notes, one a line.
const uint8_t* EXPORT(qrt_convert_file)() { return qrt::convert::conversion().file.data(); }
size_t EXPORT(qrt_convert_file_bytes)() { return qrt::convert::conversion().file.size(); }
const char* EXPORT(qrt_convert_report)() { return qrt::convert::conversion().report.c_str(); }
const char* EXPORT(qrt_convert_notes)() { return qrt::convert::conversion().notes.c_str(); }

}  // extern "C"
