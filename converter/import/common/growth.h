// SPDX-License-Identifier: Apache-2.0
// Limits how many bytes an import makes from a file. Many nodes may name one tensor of the file,
// and each makes weights, a table or an index map of its own: a megabyte could grow to as many
// gigabytes as there are nodes, and be read as many times. So all bytes made and read are counted,
// and the import refuses the operators after the limit is reached.
#ifndef QRT_CONVERTER_IMPORT_COMMON_GROWTH_H_
#define QRT_CONVERTER_IMPORT_COMMON_GROWTH_H_

#include <cstddef>
#include <cstdint>

#include "converter/ir.h"
#include "runtime/status.h"

namespace qrt::convert {

class Growth {
 public:
  // Charges bytes that are made but not kept in the graph.
  void charge(uint64_t bytes) { made_ += bytes; }
  // Counts the bytes of a constant that an operator reads.
  void read(uint64_t bytes) { read_ += bytes; }
  // Charges the work of making `bytes` before they are allocated. Fails with kUnsupported where the
  // limit is exceeded or memory does not suffice. check() counts those of the bytes that the graph
  // keeps.
  Status reserve(uint64_t bytes, const Graph& graph, uint64_t source_bytes);
  // Counts the bytes by which the graph grew since the last call. Fails with kUnsupported where
  // more bytes were made or read than any honest file of `source_bytes` needs. To be called before
  // each operator is imported.
  Status check(const Graph& graph, uint64_t source_bytes);
  // Returns how many bytes were read.
  uint64_t bytes_read() const { return read_; }

 private:
  uint64_t made_ = 0, read_ = 0;
  size_t values_ = 0, nodes_ = 0;  // values and nodes of the graph that have been counted
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_GROWTH_H_
