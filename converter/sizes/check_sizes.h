// SPDX-License-Identifier: Apache-2.0
// Compares a model with open dimensions with the source as it is imported at one size after the other.
#ifndef QRT_CONVERTER_SIZES_CHECK_SIZES_H_
#define QRT_CONVERTER_SIZES_CHECK_SIZES_H_

#include <functional>

#include "converter/ir.h"
#include "converter/sizes/probes.h"

namespace qrt::convert {

// The file of a source imported at some sizes.
struct FileOfSizes {
  std::vector<uint8_t> bytes;
  std::vector<Distance> distances;  // the import's
  uint64_t bytes_read = 0;          // bytes of constants that the import read
};

// Makes the file of a source imported at these sizes; kUnsupported or kInvalidModel where it has none,
// kCancelled where that would be too much work. The distances and bytes_read are the import's even then.
using FileAtSizes = std::function<Status(const Sizes& sizes, FileOfSizes* file)>;

// Runs the file of `graph`, which is final, at small sizes, at some chosen at random and around those at which the source begins to
// do something else, and compares it with the file that the source gives there alone: every byte of the outputs, and the tensors
// before them by their names. Where they differ, or the source fails and the file does not, raises the least size of a symbol, or its
// step, so that such sizes are refused. kUnsupported where that is not enough. Sizes at which a comparison costs more than a source of
// its size may ask for are left out, or excluded where the source begins to do something else there; kUnsupported where none could be
// compared.
Status check_sizes(const FileAtSizes& file_at, Graph* graph);

// Checks the sizes for which the caller asked. Fails with kUnsupported for a dimension that cannot
// have all of them.
Status check_asked(const std::vector<Symbol>& symbols);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_CHECK_SIZES_H_
