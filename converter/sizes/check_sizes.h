// Compares a model with open dimensions with the source as it is imported at one size after the other.
#ifndef QRT_CONVERTER_SIZES_CHECK_SIZES_H_
#define QRT_CONVERTER_SIZES_CHECK_SIZES_H_

#include <functional>

#include "converter/ir.h"
#include "converter/sizes/probes.h"

namespace qrt::convert {

// Makes the file of a source imported at these sizes; kUnsupported or kInvalidModel where it has none,
// kCancelled where that would be too much work. *distances are the import's.
using FileAtSizes = std::function<Status(const Sizes& sizes, std::vector<uint8_t>* file,
                                         std::vector<Distance>* distances)>;

// Runs the file of `graph`, which is final, at small sizes, at some chosen at random and around those at which the
// source begins to do something else, and compares every byte of its outputs with the file that the source gives there alone. Where
// they differ, or the source fails and the file does not, raises the least size of a symbol, or its step, so that
// such sizes are refused. kUnsupported where that is not enough. Sizes at which a comparison costs more than a
// source of its size may ask for are left out, or excluded where the source begins to do something else there; kUnsupported where
// none could be compared.
Status check_sizes(const FileAtSizes& file_at, Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_SIZES_CHECK_SIZES_H_
