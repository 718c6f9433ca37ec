// SPDX-License-Identifier: Apache-2.0
#include "converter/import/recognise.h"

#include <cstring>

#include "runtime/tools/extension.h"
#include "runtime/tools/file_kind.h"

namespace qrt::convert {
namespace {

using Head = std::vector<uint8_t>;

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

Status find_format(const std::string& input, const Head& head, const std::string& from,
                   const Frontend** format) {
  const char* file = input.c_str();
  if (head.empty()) return error(Code::kInvalidModel, "%s: the file is empty", file);
  if (is_qrt(head))
    return error(Code::kInvalidModel, "%s: is a .qrt file already: qrt_run takes it", file);
  *format = from.empty() ? &recognise(head) : find_frontend(from);
  // ONNX files have no mark, so that whatever is not recognised would be read as one.
  const std::string foreign = foreign_format(input, head);
  if (from.empty() && *format == &frontends().back() && !foreign.empty())
    return error(Code::kInvalidModel, "%s: is %s", file, foreign.c_str());
  return {};
}

bool is_qrt(const Head& head) {
  return head.size() >= 8 && memcmp(head.data() + 4, "QRT1", 4) == 0;
}

}  // namespace qrt::convert
