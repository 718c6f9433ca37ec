// SPDX-License-Identifier: Apache-2.0
// Command lines over CLI11; the one file that includes it.
#include "runtime/tools/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "qrt/qrt.hpp"
#include "runtime/allowed_isas.h"
#include "runtime/platform/tools.h"
#include "runtime/tools/counted.h"
#include "runtime/tools/nearest.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

std::string version_text() {
  std::string text = std::string(platform::program_name()) + " " + qrt_version() +
                     "\ninstruction sets of this machine:";
  for (size_t i = 0; qrt_isa(i) != nullptr; ++i) text += std::string(" ") + qrt_isa(i);
  return text + "\n";
}

// Returns the words in lines of at most `width` columns, of which all but the first begin with `indent`
// spaces. The first begins at column `at`.
std::string wrapped(const std::string& text, size_t at, size_t indent, size_t width) {
  std::istringstream words(text);
  std::string result;
  size_t column = at;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > at || !result.empty()) {
      result += " ";
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + "\n";
}

// Returns a line of the help: what is typed in one column, and what it does in the other.
std::string row(const std::string& left, const std::string& help, size_t width) {
  constexpr size_t kWideColumn = 28, kNarrowColumn = 8, kLeastHelp = 30;
  const size_t column = width >= kWideColumn + kLeastHelp ? kWideColumn : kNarrowColumn;
  std::string text = "  " + left;
  if (text.size() + 2 <= column)
    text.resize(column, ' ');
  else
    text += "\n" + std::string(column, ' ');
  return text + wrapped(help, column, column, width);
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string number_text(double n) {
  std::ostringstream text;
  text << n;
  return text.str();
}

constexpr char kStatuses[] =
    "Exit status: 0 done, 1 a check failed, 2 usage, 3 the model or an input file is bad, 4 valid "
    "but not supported, 5 I/O or memory. Messages go to stderr, data to stdout.";

// Returns the option's name, which "--top 5" and "--top=5" share.
std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

}  // namespace

struct CommandLine::App {
  struct Entry {
    std::string left;  // "" for a title
    std::string help;
    std::string names = "", value = "";  // "-o,--output" and " FILE"; none of a title
    std::string choices = "";            // of the value, in words
  };

  CLI::App cli;
  std::string description, examples, usage;
  std::vector<Entry> arguments, options;
  std::vector<std::string> names;                          // of the options
  std::map<const CLI::Option*, std::string> placeholders;  // of the options that have a value
  bool quiet = false;

  // Splits "-o,--output FILE".
  static std::string declared(const std::string& name, std::string* placeholder) {
    const size_t space = name.find(' ');
    *placeholder = space == std::string::npos ? "" : name.substr(space + 1);
    return name.substr(0, space);
  }

  void show(const std::string& names_text, const std::string& value, const std::string& help) {
    std::string left;
    std::istringstream all(names_text);
    for (std::string name; std::getline(all, name, ',');) {
      left += (left.empty() ? "" : ", ") + name;
      names.push_back(name);
    }
    options.push_back({left + value, help, names_text, value});
  }

  template <class T>
  CLI::Option* add(const std::string& name, T* value, const std::string& help) {
    std::string placeholder;
    const std::string option = declared(name, &placeholder);
    show(option, " " + placeholder, help);
    CLI::Option* added = cli.add_option(option, *value);
    placeholders[added] = placeholder;
    return added;
  }

  CLI::Option* add_argument(const std::string& name, const std::string& in_usage,
                            std::vector<std::string>* values, const std::string& help) {
    usage += " " + in_usage;
    arguments.push_back({name, help});
    return cli.add_option(name, *values);
  }

  std::string usage_line() const {
    return std::string(platform::program_name()) + " [OPTIONS]" + usage;
  }

  std::string help() const {
    const size_t width = columns();
    std::string text = wrapped(description, 0, 0, width) + "\n" +
                       wrapped("Usage: " + usage_line(), 0, 7, width) + "\n";
    for (const Entry& e : arguments) text += row(e.left, e.help, width);
    text += "\nOptions:\n";
    for (const Entry& e : options)
      text += e.left.empty() ? "\n" + e.help + ":\n" : row(e.left, e.help, width);
    text += "\nExamples:\n" + examples + "\n\n";
    return text + wrapped(kStatuses, 0, 0, width);
  }

  // Returns the text of which write_documents.py makes man pages and completions: a line for each entry, with
  // tabs between its kind and its parts.
  std::string table() const {
    std::string text = "usage\t" + usage_line() + "\ndescription\t" + description + "\n";
    for (const Entry& e : arguments) text += "argument\t" + e.left + "\t" + e.help + "\n";
    for (const Entry& e : options)
      text += e.left.empty()
                  ? "group\t" + e.help + "\n"
                  : "option\t" + e.names + "\t" + e.value + "\t" + e.choices + "\t" + e.help + "\n";
    std::istringstream lines(examples);
    for (std::string line; std::getline(lines, line);) text += "example\t" + line + "\n";
    return text + "status\t" + kStatuses + "\n";
  }

  // Says what is wrong with words that belong to no option and no argument.
  std::string left_over() const {
    std::vector<std::string> words = cli.remaining(), more;
    for (const std::string& word : words) {
      if (word.size() > 1 && word[0] == '-')
        return name_of(word) + ": there is no such option" + did_you_mean(name_of(word), names);
      more.push_back("'" + word + "'");
    }
    return counted(more.size(), "argument") + (more.size() == 1 ? " is" : " are") +
           " left over: " + listed(more) + "; the usage is " + usage_line();
  }

  std::string what_is_wrong(const CLI::ParseError& e) const {
    if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) return left_over();
    if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr)
      return std::string(e.what()) + "; the usage is " + usage_line();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr)
      for (const auto& [option, placeholder] : placeholders)
        if (std::string(e.what()).rfind(option->get_name() + ":", 0) == 0)
          return option->get_name() +
                 (option->count() > 1 ? ": is given more than once" : ": its value is missing: ") +
                 (option->count() > 1 ? "" : option->get_name() + " " + placeholder);
    return e.what();
  }
};

CommandLine::CommandLine(const std::string& description, const std::string& examples)
    : app_(std::make_unique<App>()) {
  app_->description = description;
  app_->examples = examples;
  app_->cli.set_help_flag("-h,--help");
  app_->show("-h,--help", "", "Print this help and end");
  app_->cli.set_version_flag("--version", version_text);
  app_->show("--version", "", "Print version, commit and instruction sets, and end");
  flag("--quiet", &app_->quiet, "No progress, notes or warnings, only errors and results");
}

CommandLine::~CommandLine() = default;

void CommandLine::argument(const std::string& name, std::string* value, const std::string& help) {
  app_->usage += " " + name;
  app_->arguments.push_back({name, help});
  app_->cli.add_option(name, *value)->required();
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>* values,
                            const std::string& help) {
  app_->add_argument(name, "[" + name + "...]", values, help);
}

void CommandLine::some_arguments(const std::string& name, std::vector<std::string>* values,
                                 const std::string& help) {
  app_->add_argument(name, name + "...", values, help)->required();
}

void CommandLine::group(const std::string& title) { app_->options.push_back({"", title}); }

void CommandLine::flag(const std::string& name, bool* value, const std::string& help) {
  app_->show(name, "", help);
  app_->cli.add_flag(name, *value)->check([](const std::string& given) {
    return given == "true" ? "" : "takes no value, and '" + given + "' is one";
  });
}

void CommandLine::flag_or_choice(const std::string& name, const std::vector<std::string>& choices,
                                 std::string* value, const std::string& help) {
  app_->show(name, "[=FORMAT]", help + "; FORMAT is one of " + listed(choices));
  app_->options.back().choices = in_words(choices);
  app_->cli.add_flag(name + "{" + choices[0] + "}", *value)
      ->check([choices](const std::string& given) {
        const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
        return known ? "" : "'" + given + "' is none of " + listed(choices);
      });
}

void CommandLine::text(const std::string& name, std::string* value, const std::string& help) {
  app_->add(name, value, help + (value->empty() ? "" : " (default: " + *value + ")"));
}

void CommandLine::checked_text(const std::string& name, std::string* value, Check check,
                               const std::string& help) {
  app_->add(name, value, help)->check([check](const std::string& given) { return check(given); });
}

void CommandLine::choice(const std::string& name, std::string* value,
                         const std::vector<std::string>& choices, const std::string& help) {
  const std::string usual = value->empty() ? "" : " (default: " + *value + ")";
  CLI::Option* option = app_->add(name, value, help + ": one of " + listed(choices) + usual);
  app_->options.back().choices = in_words(choices);
  option->check([choices](const std::string& given) {
    const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
    return known ? ""
                 : "'" + given + "' is none of " + listed(choices) + did_you_mean(given, choices);
  });
}

void CommandLine::texts(const std::string& name, std::vector<std::string>* values,
                        const std::string& help) {
  app_->add(name, values, help)->allow_extra_args(false);
}

void CommandLine::number(const std::string& name, size_t* value, size_t least, size_t most,
                         const std::string& help) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  const std::string usual = *value == 0 ? "" : " (default: " + std::to_string(*value) + ")";
  app_->add(name, value, help + usual)->check([=](const std::string& given) {
    const bool is_number =
        !given.empty() && given.find_first_not_of("0123456789") == std::string::npos;
    errno = 0;
    const unsigned long long n = strtoull(given.c_str(), nullptr, 10);
    const bool fits = is_number && errno == 0 && n >= least && n <= most;
    return fits ? "" : "'" + given + "' is no whole number of " + range;
  });
}

void CommandLine::number(const std::string& name, double* value, double least, double most,
                         const std::string& help) {
  const std::string range = number_text(least) + " to " + number_text(most);
  const std::string usual = *value == 0 ? "" : " (default: " + number_text(*value) + ")";
  app_->add(name, value, help + usual)->check([=](const std::string& given) {
    char* end;
    const double n = strtod(given.c_str(), &end);
    const bool fits = !given.empty() && *end == '\0' && n >= least && n <= most;  // NaN is not
    return fits ? "" : "'" + given + "' is no number of " + range;
  });
}

bool CommandLine::parse(int argc, char** argv, int* exit) {
  if (argc == 2 && strcmp(argv[1], "--option-table") == 0) {
    fputs(app_->table().c_str(), stdout);
    *exit = kDone;
    return false;
  }
  try {
    app_->cli.parse(argc, argv);
    set_quiet(app_->quiet);
    if (const std::string ignored = isa_warning(); !ignored.empty()) warn(ignored);
    return true;
  } catch (const CLI::CallForHelp&) {
    fputs(app_->help().c_str(), stdout);
    *exit = kDone;
  } catch (const CLI::CallForVersion&) {
    fputs(version_text().c_str(), stdout);
    *exit = kDone;
  } catch (const CLI::ParseError& e) {
    *exit = refuse_usage(app_->what_is_wrong(e));
  }
  return false;
}

int refuse_usage(const std::string& message) {
  complain(message + " (see --help)");
  return kUsage;
}

}  // namespace qrt::tool
