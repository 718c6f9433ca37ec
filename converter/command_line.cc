#include "converter/command_line.h"

#include <cstring>

#include "runtime/tools/files.h"

namespace qrt::convert {
namespace {

bool is_qrt(const std::vector<uint8_t>& head) {
  return head.size() >= 8 && memcmp(head.data() + 4, "QRT1", 4) == 0;
}

}  // namespace

void FormatOptions::add_to(tool::CommandLine* line) {
  std::vector<std::string> names;
  for (const Frontend& f : frontends()) {
    names.push_back(f.name);
    for (const ImportOption& o : f.options) {
      Given& given = given_[o.name];
      given.is_flag = o.is_flag;
      given.choices.insert(given.choices.end(), o.choices.begin(), o.choices.end());
      given.help += (given.help.empty() ? "" : ". ") + std::string(o.help);
    }
  }
  line->choice("--from", &from_, names, "Source format, instead of recognising it");
  for (auto& [name, given] : given_) {
    if (given.is_flag)
      line->flag("--" + name, &given.is_on, given.help);
    else if (given.choices.empty())
      line->text("--" + name, &given.value, given.help);
    else
      line->choice("--" + name, &given.value, given.choices, given.help);
  }
}

ImportOptions FormatOptions::given() const {
  ImportOptions options;
  for (const auto& [name, given] : given_) {
    if (given.is_on) options[name] = "on";
    if (!given.value.empty()) options[name] = given.value;
  }
  return options;
}

Status FormatOptions::find_format(const std::string& input, const Frontend** format) const {
  QRT_TRY(tool::check_readable(input));
  std::vector<uint8_t> head;
  QRT_TRY(tool::read_head(input, kHeadBytes, &head));
  const char* file = input.c_str();
  if (head.empty()) return error(Code::kInvalidModel, "%s: the file is empty", file);
  if (is_qrt(head)) return error(Code::kInvalidModel, "%s: is a .qrt file already", file);
  *format = from_.empty() ? &recognise(head) : find_frontend(from_);
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
