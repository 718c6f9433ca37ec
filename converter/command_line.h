// SPDX-License-Identifier: Apache-2.0
// The common part of the command lines of qrt_convert, qrt_diff and qrt_quantize: the options of
// the source formats, and which format a file is of.
#ifndef QRT_CONVERTER_COMMAND_LINE_H_
#define QRT_CONVERTER_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "converter/import/frontend.h"
#include "runtime/status.h"
#include "runtime/tools/options.h"

namespace qrt::convert {

// The options that source formats have (import/frontend.h), and --from. Formats may share one: then
// it is told once, with the values and the help of all.
class FormatOptions {
 public:
  void add_to(tool::CommandLine* line);
  ImportOptions given() const;
  // Finds the format by --from, or by the file's content. kIoError; kInvalidModel for empty files and .qrt files.
  Status find_format(const std::string& input, const Frontend** format) const;

 private:
  struct Given {
    bool is_flag = false, is_on = false;
    std::string value, help, placeholder;
    std::vector<std::string> choices, values;
    bool is_list = false;
  };
  std::string from_;
  std::map<std::string, Given> given_;
};

// Sets *found to whether a file is a .qrt file, by its first bytes.
Status look_for_qrt(const std::string& path, bool* found);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_COMMAND_LINE_H_
