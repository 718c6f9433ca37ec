// SPDX-License-Identifier: Apache-2.0
// A tool's command line: options and arguments, help, and messages for errors. CLI11, whose header
// takes seconds to compile, parses it and is only included by options.cc.
#ifndef QRT_RUNTIME_TOOLS_OPTIONS_H_
#define QRT_RUNTIME_TOOLS_OPTIONS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace qrt::tool {

// A function that returns what is wrong with an option's value, or "" for a valid one.
using Check = std::string (*)(const std::string& value);

// Declares a tool's options and arguments, then parses a command line. The variables that `value`
// points to hold the defaults; parse() overwrites them with the user's values. An option's name is
// as on the command line, with the word for its value in the help: "-o,--output FILE". Arguments
// have no names on the command line: "MODEL".
class CommandLine {
 public:
  // `examples` are the lines below the options' help, each at most 80 columns wide. Every tool has
  // --help, --version and --quiet.
  CommandLine(const std::string& description, const std::string& examples);
  ~CommandLine();

  // Adds a required argument, which is told by its place.
  void argument(const std::string& name, std::string* value, const std::string& help);
  // Adds an argument that takes all further arguments, also none.
  void arguments(const std::string& name, std::vector<std::string>* values,
                 const std::string& help);
  // Adds an argument that takes all further arguments, at least one.
  void some_arguments(const std::string& name, std::vector<std::string>* values,
                      const std::string& help);

  // Begins a group of options, which has a title in the help.
  void group(const std::string& title);

  void flag(const std::string& name, bool* value, const std::string& help);
  // Adds a flag with an optional value, one of `choices`. --name sets *value to the first choice,
  // --name=CHOICE to that choice.
  void flag_or_choice(const std::string& name, const std::vector<std::string>& choices,
                      std::string* value, const std::string& help);

  void text(const std::string& name, std::string* value, const std::string& help);
  // Adds an option whose text `check` has to accept.
  void checked_text(const std::string& name, std::string* value, Check check,
                    const std::string& help);
  // Adds an option whose value has to be one of `choices`.
  void choice(const std::string& name, std::string* value, const std::vector<std::string>& choices,
              const std::string& help);
  // Adds an option that may be repeated.
  void texts(const std::string& name, std::vector<std::string>* values, const std::string& help);

  // Add an option whose number has to be in [least, most].
  void number(const std::string& name, size_t* value, size_t least, size_t most,
              const std::string& help);
  void number(const std::string& name, double* value, double least, double most,
              const std::string& help);

  // Parses a command line. Returns whether the tool goes on; if not, parse() has printed all
  // messages, and *exit is the status to end with. --option-table alone, which the help does not
  // list, prints the table for write_documents.py.
  bool parse(int argc, char** argv, int* exit);

 private:
  struct App;
  std::unique_ptr<App> app_;
};

// Prints that parsed arguments contradict each other, and how to get help. Returns kUsage.
int refuse_usage(const std::string& message);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_OPTIONS_H_
