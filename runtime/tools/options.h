// A tool's command line. Over CLI11, whose header takes seconds to compile and so stays in
// options.cc.
#ifndef QRT_RUNTIME_TOOLS_OPTIONS_H_
#define QRT_RUNTIME_TOOLS_OPTIONS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace qrt::tool {

// Says what is wrong with an option's value, "" if nothing.
using Check = std::string (*)(const std::string& value);

// Declares what a tool takes, then parses. The variables given hold the defaults; parse() writes
// what the user gave into them. Names are as on the command line: "-o,--output", or without dashes
// for what is told by its place.
class CommandLine {
 public:
  // `examples` are the lines below the options' help. --help and --version are there already.
  CommandLine(const std::string& description, const std::string& examples);
  ~CommandLine();

  // By its place, and required.
  void argument(const std::string& name, std::string* value, const std::string& help);
  // All further ones by their places, any number.
  void arguments(const std::string& name, std::vector<std::string>* values,
                 const std::string& help);
  // The same, one at least.
  void some_arguments(const std::string& name, std::vector<std::string>* values,
                      const std::string& help);

  void flag(const std::string& name, bool* value, const std::string& help);
  // A flag that may be given a text: `value` is `bare` after --name, and "json" after --name=json.
  void flag_or_text(const std::string& name, const std::string& bare, std::string* value,
                    const std::string& help);

  void text(const std::string& name, std::string* value, const std::string& help);
  // As text(), but only values that `check` has nothing to say about. `form` stands in the help.
  void checked_text(const std::string& name, std::string* value, const std::string& form,
                    Check check, const std::string& help);
  // One of `choices`.
  void choice(const std::string& name, std::string* value, const std::vector<std::string>& choices,
              const std::string& help);
  // May be repeated.
  void texts(const std::string& name, std::vector<std::string>* values, const std::string& help);

  // Within least..most.
  void number(const std::string& name, size_t* value, size_t least, size_t most,
              const std::string& help);
  void number(const std::string& name, double* value, double least, double most,
              const std::string& help);

  // True to go on; otherwise *exit holds the status to end with, and everything was printed.
  bool parse(int argc, char** argv, int* exit);

 private:
  struct App;
  std::unique_ptr<App> app_;
};

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_OPTIONS_H_
