// SPDX-License-Identifier: Apache-2.0
#include "converter/command_line.h"

#include <cstring>

#include "runtime/tools/file_kind.h"
#include "runtime/tools/files.h"

namespace qrt::convert {
namespace {

using Head = std::vector<uint8_t>;

bool has_mark(const Head& head, size_t at, const char* mark) {
  const size_t length = strlen(mark);
  return head.size() >= at + length && memcmp(head.data() + at, mark, length) == 0;
}

bool is_qrt(const Head& head) { return has_mark(head, 4, "QRT1"); }

// Returns the format of a file that qrt_convert does not read, as messages name it; "" where it is unknown.
std::string foreign_format(const std::string& input, const Head& head) {
  if (const tool::FileKind* kind = tool::find_kind(head, input))
    return std::string(kind->name) +
           (kind->remedy[0] == '\0' ? ", not a model" : std::string(": ") + kind->remedy);
  if (tool::has_extension(input, ".tflite"))
    return "no TFLite file, whose name it has: 'TFL3' is not at byte 4";
  if (tool::has_extension(input, ".espdl"))
    return "no ESP-DL file, whose name it has: it begins neither with 'EDL' nor with 'PDL'";
  return "";
}

}  // namespace

void FormatOptions::add_to(tool::CommandLine* line) {
  std::vector<std::string> names;
  for (const Frontend& f : frontends()) {
    names.push_back(f.name);
    for (const ImportOption& o : f.options) {
      Given& given = given_[o.name];
      given.is_flag = o.is_flag;
      given.is_list = o.is_list;
      given.placeholder = o.placeholder;
      given.choices.insert(given.choices.end(), o.choices.begin(), o.choices.end());
      if (given.help != o.help)
        given.help += (given.help.empty() ? "" : ". ") + std::string(o.help);
    }
  }
  line->group("Source formats");
  line->choice("--from FORMAT", &from_, names, "Source format, instead of recognising it");
  for (auto& [name, given] : given_) {
    const std::string option = "--" + name + (given.is_flag ? "" : " " + given.placeholder);
    if (given.is_flag)
      line->flag(option, &given.is_on, given.help);
    else if (given.is_list)
      line->texts(option, &given.values, given.help);
    else if (given.choices.empty())
      line->text(option, &given.value, given.help);
    else
      line->choice(option, &given.value, given.choices, given.help);
  }
}

ImportOptions FormatOptions::given() const {
  ImportOptions options;
  for (const auto& [name, given] : given_) {
    if (given.is_on) options[name] = "on";
    if (!given.value.empty()) options[name] = given.value;
    for (const std::string& value : given.values) {
      std::string& all = options[name];
      all += (all.empty() ? "" : "\n") + value;
    }
  }
  return options;
}

Status FormatOptions::find_format(const std::string& input, const Frontend** format) const {
  QRT_TRY(tool::check_readable(input));
  std::vector<uint8_t> head;
  QRT_TRY(tool::read_head(input, kHeadBytes, &head));
  const char* file = input.c_str();
  if (head.empty()) return error(Code::kInvalidModel, "%s: the file is empty", file);
  if (is_qrt(head))
    return error(Code::kInvalidModel, "%s: is a .qrt file already: qrt_run takes it", file);
  *format = from_.empty() ? &recognise(head) : find_frontend(from_);
  // ONNX files have no mark, so that whatever is not recognised would be read as one.
  const std::string foreign = foreign_format(input, head);
  if (from_.empty() && *format == &frontends().back() && !foreign.empty())
    return error(Code::kInvalidModel, "%s: is %s", file, foreign.c_str());
  return {};
}

Status look_for_qrt(const std::string& path, bool* found) {
  QRT_TRY(tool::check_readable(path));
  std::vector<uint8_t> head;
  QRT_TRY(tool::read_head(path, 8, &head));
  *found = is_qrt(head);
  return {};
}

}  // namespace qrt::convert
