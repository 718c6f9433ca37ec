// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/file_kind.h"

#include <cstring>

#include "runtime/tools/extension.h"

namespace qrt::tool {
namespace {

using Head = std::vector<uint8_t>;

bool has_mark(const Head& head, size_t at, const char* mark, size_t bytes) {
  return head.size() >= at + bytes && memcmp(head.data() + at, mark, bytes) == 0;
}

struct Mark {
  size_t at;
  const char* bytes;
  FileKind kind;
};

// The bytes end before the first NUL.
constexpr Mark kMarks[] = {
    {4, "QRT1", {"a .qrt model", FileUse::kModel, ""}},
    {4, "TFL3", {"a TFLite model", FileUse::kSource, ""}},
    {0, "EDL", {"an ESP-DL model", FileUse::kSource, ""}},
    {0, "PDL", {"an ESP-DL model", FileUse::kSource, ""}},
    {0, "\x93NUMPY", {"a NumPy array", FileUse::kArray, "it is an input of a model"}},
    {0, "\x89PNG", {"a PNG picture", FileUse::kPicture, ""}},
    {0, "\xff\xd8\xff", {"a JPEG picture", FileUse::kPicture, ""}},
    {8, "WEBP", {"a WebP picture", FileUse::kPicture, ""}},
    {0, "GIF8", {"a GIF picture", FileUse::kOther, "save it as PNG"}},
    {0, "II*", {"a TIFF picture", FileUse::kOther, "save it as PNG"}},
    {4, "ftypheic", {"a HEIC picture", FileUse::kOther, "save it as PNG or JPEG"}},
    {4, "ftypavif", {"an AVIF picture", FileUse::kOther, "save it as PNG or JPEG"}},
    {0,
     "PK\3\4",
     {"a zip archive, as PyTorch and Keras save models", FileUse::kForeign,
      "export it as ONNX (torch.onnx.export), or as TFLite"}},
    {0,
     "\x80\x02",
     {"a Python pickle, as PyTorch saves models", FileUse::kForeign,
      "export it as ONNX (torch.onnx.export)"}},
    {0,
     "\x89HDF",
     {"an HDF5 file, as Keras saves models", FileUse::kForeign, "export it as TFLite"}},
    {0,
     "GGUF",
     {"a GGUF file, a format that qrt does not read", FileUse::kForeign,
      "export the model as ONNX from the program that made it"}},
    {0,
     "<?xml",
     {"an XML file, as OpenVINO saves models", FileUse::kForeign,
      "convert the ONNX or TFLite file that it was made from"}},
    {0,
     "version https://git-lfs",
     {"a pointer of Git LFS and not the file itself", FileUse::kOther, "fetch it by git lfs pull"}},
    {0,
     "<!DOCTYPE",
     {"an HTML page, as a failed download leaves", FileUse::kOther, "download the file again"}},
    {0,
     "<html",
     {"an HTML page, as a failed download leaves", FileUse::kOther, "download the file again"}},
    {0, "%PDF", {"a PDF document", FileUse::kOther, ""}},
    {0, "\x1f\x8b", {"a gzip archive", FileUse::kOther, "unpack it first"}},
    {0,
     "\xfd"
     "7zXZ",
     {"an xz archive", FileUse::kOther, "unpack it first"}},
    {0, "7z\xbc\xaf", {"a 7-Zip archive", FileUse::kOther, "unpack it first"}},
    {0, "\x28\xb5\x2f\xfd", {"a Zstandard archive", FileUse::kOther, "unpack it first"}},
    {0,
     "\x7f"
     "ELF",
     {"a program", FileUse::kOther, ""}},
};

constexpr FileKind kBmp = {"a BMP picture", FileUse::kPicture, ""};
constexpr FileKind kPnm = {"a PPM or PGM picture", FileUse::kPicture, ""};
constexpr FileKind kNpz = {"an .npz archive of arrays", FileUse::kArray,
                           "it holds inputs of a model"};
constexpr FileKind kSafetensors = {
    "a safetensors file, which holds weights without a graph", FileUse::kForeign,
    "export the model as ONNX from the program that made it (torch.onnx.export)"};
constexpr FileKind kMarkdown = {"a Markdown text", FileUse::kOther, ""};
constexpr FileKind kText = {"a text", FileUse::kOther, ""};

// Looks further than "BM", with which an ONNX file may begin, too: 4 bytes of 0 and the size of a
// header follow.
bool is_bmp(const Head& head) {
  return has_mark(head, 0, "BM", 2) && has_mark(head, 6, "\0\0\0\0", 4) && head.size() > 17 &&
         head[14] >= 12 && head[14] <= 124 && has_mark(head, 15, "\0\0\0", 3);
}

bool is_pnm(const Head& head) {
  return head.size() > 2 && head[0] == 'P' && (head[1] == '5' || head[1] == '6') &&
         (strchr(" \t\r\n#", head[2]) != nullptr && head[2] != 0);
}

// Looks for the length of the JSON header, in 8 bytes, and the beginning of that header.
bool is_safetensors(const Head& head) {
  return head.size() > 9 && head[8] == '{' && head[5] == 0 && head[6] == 0 && head[7] == 0 &&
         (head[9] == '"' || head[9] == ' ' || head[9] == '}');
}

bool is_text(const Head& head) {
  for (const uint8_t c : head)
    if (c == 0x7f || (c < 0x20 && strchr("\t\n\r\f", c) == nullptr) || c == 0) return false;
  return !head.empty();
}

}  // namespace

const FileKind* find_kind(const Head& head, const std::string& path) {
  if (has_mark(head, 0, "PK\3\4", 4) && has_extension(path, ".npz")) return &kNpz;
  for (const Mark& mark : kMarks)
    if (has_mark(head, mark.at, mark.bytes, strlen(mark.bytes))) return &mark.kind;
  if (is_bmp(head)) return &kBmp;
  if (is_pnm(head)) return &kPnm;
  if (is_safetensors(head)) return &kSafetensors;
  if (!is_text(head)) return nullptr;
  if (has_extension(path, ".md")) return &kMarkdown;
  // An ONNX or CVM file may begin with letters alone.
  for (const char* extension : {".txt", ".py", ".csv", ".yaml", ".yml", ".log", ".rst", ".ipynb",
                                ".pbtxt", ".prototxt", ".sh", ".toml", ".ini", ".cfg"})
    if (has_extension(path, extension)) return &kText;
  return nullptr;
}

}  // namespace qrt::tool
