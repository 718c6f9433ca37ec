// SPDX-License-Identifier: Apache-2.0
// Arrays as a command line names them, [NAME=]FILE, and which of a model's inputs or outputs each is
// for. FILE is a .npy, or an .npz, which may hold those of several.
#ifndef QRT_RUNTIME_TOOLS_ARRAYS_H_
#define QRT_RUNTIME_TOOLS_ARRAYS_H_

#include <string>
#include <vector>

#include "runtime/status.h"
#include "runtime/tools/budget.h"
#include "runtime/tools/npy.h"

namespace qrt::tool {

struct ArrayFile {
  std::string path, member;  // path "": none, "-": standard input; member: of an .npz
  // Returns the array's name for messages: "a.npz[x]".
  std::string text() const;
  bool is_stdin() const { return path == "-"; }

  // Reads the type and shape alone; from standard input, which is read once, the elements, too. Statuses
  // as of read_npy().
  Status read_head(NpyArray* array) const;
  // Reads all that read_head() has begun. The bytes that an .npz inflates to are taken from `budget`.
  Status read(Budget* budget, NpyArray* array) const;
};

// Adds the sizes of the files to the budget, of each file once.
Status add_files(const std::vector<ArrayFile>& files, Budget* budget);

// Returns which of `tensors` NAME=FILE names, their number if none, and sets the file. A name may
// hold '=', a file too: the longest name that fits wins.
size_t find_named(const std::string& text, const std::vector<std::string>& tensors,
                  std::string* file);

// The arrays and tensors that may be left out when they are matched.
enum class Match {
  kAll,     // nothing: every array is for a tensor, and every tensor has one
  kArrays,  // tensors: every array is for one
  kSome     // arrays and tensors, but for one pair
};

// Returns kInvalidArgument, with the names of both sides, where `match` does not allow what is left over:
// `arrays` that are for no tensor, `missing` tensors that have no array. `tensors`: all of them. `kind`:
// "input", for messages. `some`: the option that allows it, "" if there is none.
Status check_match(Match match, const char* kind, const std::vector<std::string>& arrays,
                   const std::vector<std::string>& missing, const std::vector<std::string>& tensors,
                   const char* some = "");

// Gives each of `tensors` a file, or none: of `given` first those with a name, then the others, in their
// order, for those that have none yet. An .npz without a name gives each tensor the array of its name;
// where it has none of these, what numpy calls arr_0, arr_1 ..., or its only array, stands for
// tensors in their order. With a name in front, one array of an .npz is meant and the others are not.
// kInvalidArgument where one is given twice, and as check_match(); else as list_npz().
Status assign_arrays(const char* kind, const std::vector<std::string>& tensors,
                     const std::vector<std::string>& given, Match match,
                     std::vector<ArrayFile>* assigned, const char* some = "");

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_ARRAYS_H_
