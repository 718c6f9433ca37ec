// SPDX-License-Identifier: Apache-2.0
// Recognises what a file is, so that a message can say it where something else was expected.
#ifndef QRT_RUNTIME_TOOLS_FILE_KIND_H_
#define QRT_RUNTIME_TOOLS_FILE_KIND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qrt::tool {

// The number of first bytes of a file that find_kind() looks at.
constexpr size_t kKindBytes = 64;

enum class FileUse {
  kModel,    // qrt_run takes it
  kSource,   // qrt_convert takes it
  kForeign,  // holds a model, or a part of one, in a format that qrt does not read
  kArray,    // an input
  kPicture,  // an input by --image
  kOther     // nothing that qrt reads
};

struct FileKind {
  const char* name;  // "a safetensors file"
  FileUse use;
  // The user's next step with a file of FileUse::kForeign or kOther where a model was expected; "": none is known.
  const char* remedy;
};

// Recognises a file by its first bytes; null where it cannot. ONNX files have no mark, and a text is told
// from one by the file's name, too.
const FileKind* find_kind(const std::vector<uint8_t>& head, const std::string& path);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_FILE_KIND_H_
