// SPDX-License-Identifier: Apache-2.0
#include "converter/command_line.h"

#include "converter/import/recognise.h"
#include "runtime/tools/files.h"

namespace qrt::convert {
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
  return convert::find_format(input, head, from_, format);
}

Status look_for_qrt(const std::string& path, bool* found) {
  QRT_TRY(tool::check_readable(path));
  std::vector<uint8_t> head;
  QRT_TRY(tool::read_head(path, 8, &head));
  *found = is_qrt(head);
  return {};
}

}  // namespace qrt::convert
