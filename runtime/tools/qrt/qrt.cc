// SPDX-License-Identifier: Apache-2.0
// qrt: one name for the tools. `qrt run MODEL` starts the program qrt_run that lies beside this one, with the
// arguments that follow; nothing of the tools is linked in here.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/platform/tools.h"
#include "runtime/text.h"
#include "runtime/tools/nearest.h"
#include "runtime/tools/terminal.h"

namespace qrt::tool {
namespace {

struct Subcommand {
  const char* name;
  const char* help;
};

constexpr Subcommand kSubcommands[] = {
    {"doctor", "What a model is, whether it converts, and what to do next"},
    {"convert", "Make a .qrt file of a quantised model (ONNX, TFLite, ESP-DL, CVM)"},
    {"quantize", "Make a .qrt file of a float ONNX model and samples"},
    {"run", "Run a .qrt model on arrays or pictures"},
    {"bench", "Measure a .qrt model on this machine"},
    {"inspect", "Show what a .qrt model takes, gives and costs"},
    {"diff", "Find the first layer that differs from another system's"},
};

constexpr char kDescription[] =
    "Runs, converts, measures and examines quantised models: one name for the tools.";

constexpr char kUsageText[] =
    "\n\n"
    "Usage: qrt COMMAND [ARGUMENTS]\n"
    "       qrt help COMMAND\n"
    "\n"
    "Commands:\n";

constexpr const char* kExamples[] = {
    "  qrt doctor model.onnx",
    "  qrt convert model.onnx -o model.qrt",
    "  qrt run model.qrt cat.jpg --top 5",
};

constexpr char kStatuses[] =
    "Each command is the program qrt_COMMAND beside this one, which may be called by\n"
    "that name, too. Exit status: that of the command; 2 where there is no such one.\n";

void print_help() {
  printf("%s%s", kDescription, kUsageText);
  for (const Subcommand& s : kSubcommands) printf("  %-10s %s\n", s.name, s.help);
  puts("\nExamples:");
  for (const char* example : kExamples) puts(example);
  printf("\n%s", kStatuses);
}

// Prints what CommandLine prints for --option-table.
void print_table() {
  printf("usage\tqrt COMMAND [ARGUMENTS]\ndescription\t%s\n", kDescription);
  for (const Subcommand& s : kSubcommands) printf("command\t%s\t%s\n", s.name, s.help);
  for (const char* example : kExamples) printf("example\t%s\n", example);
  std::string statuses = kStatuses;
  for (char& c : statuses) c = c == '\n' ? ' ' : c;
  printf("status\t%s\n", statuses.c_str());
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Subcommand& s : kSubcommands) all.emplace_back(s.name);
  return all;
}

int refuse(const std::string& message) {
  fprintf(stderr, "qrt: error: %s (see qrt --help)\n", escaped(message).c_str());
  return kUsage;
}

// Returns the status of the program, or kSystem where it cannot be started.
int run(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string program = platform::program_folder() + "/qrt_" + name;
  const int status = platform::run_program(program, arguments);
  if (status >= 0) return status;
  fprintf(stderr, "qrt: error: %s: %s: qrt %s needs this program beside qrt\n",
          escaped(program).c_str(), strerror(errno), name.c_str());
  return kSystem;
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) return refuse("a command is missing: qrt COMMAND [ARGUMENTS]");
  std::string name = arguments[0];
  arguments.erase(arguments.begin());
  if (name == "--version") return run("run", {"--version"});
  if (name == "--option-table") {
    print_table();
    return fflush(stdout) == 0 ? kDone : kSystem;
  }
  const bool asks_help = name == "help" || name == "--help" || name == "-h";
  if (asks_help && arguments.empty()) {
    print_help();
    return fflush(stdout) == 0 ? kDone : kSystem;
  }
  if (asks_help) {
    name = arguments[0];
    arguments = {"--help"};
  }
  const std::string program = "qrt_";
  if (name.compare(0, program.size(), program) == 0) name.erase(0, program.size());
  std::string known;
  for (const Subcommand& s : kSubcommands) {
    if (name == s.name) return run(name, arguments);
    known += (known.empty() ? "" : ", ") + std::string(s.name);
  }
  if (name.find_first_of("./\\") != std::string::npos)
    return refuse("'" + name + "' is no command; qrt doctor '" + name +
                  "' tells what to do with a file");
  return refuse("'" + name + "' is no command, they are " + known + did_you_mean(name, names()));
}

}  // namespace
}  // namespace qrt::tool

int main(int argc, char** argv) {
  return qrt::tool::dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
