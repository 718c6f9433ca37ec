// Command lines over CLI11; the one file that includes it.
#include "runtime/tools/options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "qrt/qrt.hpp"
#include "runtime/platform/tools.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

std::string version_text() {
  std::string text = std::string(platform::program_name()) + " " + qrt_version() +
                     "\ninstruction sets of this machine:";
  for (size_t i = 0; qrt_isa(i) != nullptr; ++i) text += std::string(" ") + qrt_isa(i);
  return text;
}

// Lines longer than `width` go on below themselves: an option's help under its help. Commands, which
// the examples are, stay as they are.
std::string wrapped(const std::string& text, size_t width) {
  constexpr size_t kHelpColumn = 30;  // of CLI11's formatter
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const size_t start = line.find_first_not_of(' ');
    const bool is_command = line.find(platform::program_name()) == 2;
    const bool is_option = start != std::string::npos && start >= 2 && !is_command;
    while (line.size() > width && !is_command) {
      size_t cut = line.rfind(' ', width);
      const size_t indent = is_option ? kHelpColumn : 0;
      if (cut == std::string::npos || cut <= indent) cut = width;
      result += line.substr(0, cut) + "\n";
      line = std::string(indent, ' ') + line.substr(line[cut] == ' ' ? cut + 1 : cut);
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace

struct CommandLine::App {
  CLI::App cli;

  // A default of its own stands in the help; an empty text or a 0 means that there is none.
  template <class T>
  CLI::Option* add(const std::string& name, T* value, const std::string& help) {
    CLI::Option* option = cli.add_option(name, *value, help);
    if (*value != T()) option->capture_default_str();
    return option;
  }
};

CommandLine::CommandLine(const std::string& description, const std::string& examples)
    : app_(std::make_unique<App>()) {
  app_->cli.description(description);
  app_->cli.footer(
      "Examples:\n" + examples +
      "\n\nExit status: 0 done, 1 a check failed, 2 usage, 3 the model or an input file is\n"
      "bad, 4 valid but not supported, 5 I/O or memory. Messages go to stderr, data\n"
      "to stdout.");
  app_->cli.set_version_flag("--version", version_text,
                             "Print version, commit and instruction sets");
}

CommandLine::~CommandLine() = default;

void CommandLine::argument(const std::string& name, std::string* value, const std::string& help) {
  app_->cli.add_option(name, *value, help)->required();
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>* values,
                            const std::string& help) {
  app_->cli.add_option(name, *values, help);
}

void CommandLine::some_arguments(const std::string& name, std::vector<std::string>* values,
                                 const std::string& help) {
  app_->cli.add_option(name, *values, help)->required();
}

void CommandLine::flag(const std::string& name, bool* value, const std::string& help) {
  app_->cli.add_flag(name, *value, help);
}

void CommandLine::flag_or_text(const std::string& name, const std::string& bare, std::string* value,
                               const std::string& help) {
  app_->cli.add_flag(name + "{" + bare + "}", *value, help);
}

void CommandLine::text(const std::string& name, std::string* value, const std::string& help) {
  app_->add(name, value, help);
}

void CommandLine::checked_text(const std::string& name, std::string* value, const std::string& form,
                               Check check, const std::string& help) {
  app_->add(name, value, help)
      ->check(CLI::Validator([check](std::string& text) { return check(text); }, form, form));
}

void CommandLine::choice(const std::string& name, std::string* value,
                         const std::vector<std::string>& choices, const std::string& help) {
  app_->add(name, value, help)->check(CLI::IsMember(choices));
}

void CommandLine::texts(const std::string& name, std::vector<std::string>* values,
                        const std::string& help) {
  app_->cli.add_option(name, *values, help)->allow_extra_args(false);
}

void CommandLine::number(const std::string& name, size_t* value, size_t least, size_t most,
                         const std::string& help) {
  app_->add(name, value, help)->check(CLI::Range(least, most));
}

void CommandLine::number(const std::string& name, double* value, double least, double most,
                         const std::string& help) {
  CLI::Option* option = app_->add(name, value, help)->check(CLI::Range(least, most));
  option->check([](const std::string& text) {  // which is on no side of a limit
    return std::isnan(strtod(text.c_str(), nullptr)) ? "'" + text + "' is no number" : "";
  });
}

bool CommandLine::parse(int argc, char** argv, int* exit) {
  try {
    app_->cli.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app_->cli.exit(e, text, text);
      fputs(wrapped(text.str(), columns()).c_str(), stdout);
      *exit = kDone;
    } else {
      complain(std::string(e.what()) + " (see --help)");
      *exit = kUsage;
    }
    return false;
  }
}

}  // namespace qrt::tool
