// SPDX-License-Identifier: Apache-2.0
// Limits how much an import makes of its file. Many nodes may name one tensor of it, and each makes
// weights, a table or an index map of its own: a megabyte could grow to as many gigabytes as it has
// nodes, and be read as many times. So all that is made and read is counted, and the import refuses
// the operators from where it is too much.
#ifndef QRT_CONVERTER_IMPORT_COMMON_GROWTH_H_
#define QRT_CONVERTER_IMPORT_COMMON_GROWTH_H_

#include <cstddef>
#include <cstdint>

#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert {

class Growth {
 public:
  // Charges bytes that are made beside the graph, or only to be refused.
  void charge(uint64_t bytes) { made_ += bytes; }
  // Counts a constant of so many bytes that an operator reads, whatever is made of it.
  void read(uint64_t bytes) { read_ += bytes; }
  // Counts the work of making so many bytes, before they are made. kUnsupported where that is too much, or where
  // there is no room for them. The bytes themselves are counted where they are kept.
  Status reserve(uint64_t bytes, const Graph& graph, uint64_t source_bytes);
  // Counts what the graph has more than the last time. kUnsupported where more was made or read than
  // any honest file of `source_bytes` needs: to be asked before each operator is looked at.
  Status check(const Graph& graph, uint64_t source_bytes);
  // Returns how many bytes were read.
  uint64_t bytes_read() const { return read_; }

 private:
  uint64_t made_ = 0, read_ = 0;
  size_t values_ = 0, nodes_ = 0;  // values and nodes of the graph that have been counted
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_GROWTH_H_
