// Arrays as a command line names them, [NAME=]FILE, and which of a model's inputs or outputs each is
// for. FILE is a .npy, or an .npz, which may hold those of several.
#ifndef QRT_RUNTIME_TOOLS_ARRAYS_H_
#define QRT_RUNTIME_TOOLS_ARRAYS_H_

#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {

struct ArrayFile {
  std::string path, member;  // path "": none, "-": standard input; member: of an .npz
  // For messages: "a.npz[x]".
  std::string text() const;
  // As read_npy().
  Status read(NpyArray* array) const;
};

// Which of `tensors` NAME=FILE names, their number if none, and the file. A name may hold '=', a file
// too: the longest name that fits wins.
size_t find_named(const std::string& text, const std::vector<std::string>& tensors,
                  std::string* file);

// A file for each of `tensors`, or none: of `given` first those with a name, then the others, in their
// order, for those that have none yet. An .npz without a name gives each tensor the array of its name;
// where it has none of these, what numpy calls arr_0, arr_1 ..., or its only array, stands for
// tensors in their order. `kind`: "input", for messages. kInvalidArgument where one is given twice or a
// file is left over; else as list_npz().
Status assign_arrays(const char* kind, const std::vector<std::string>& tensors,
                     const std::vector<std::string>& given, std::vector<ArrayFile>* assigned);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_ARRAYS_H_
