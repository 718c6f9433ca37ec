// SPDX-License-Identifier: Apache-2.0
// The JSON text of a graph, its form checked: keys, types, lengths and ranges.
#ifndef QRT_CONVERTER_IMPORT_CVM_SYMBOL_H_
#define QRT_CONVERTER_IMPORT_CVM_SYMBOL_H_

#include <string>
#include <vector>

#include "converter/import/cvm/model.h"

namespace qrt::convert::from_cvm {

struct Symbol {
  std::string version;
  std::vector<Node> nodes;
  std::vector<Entry> entries;
  std::vector<EntryId> heads;
};

Status parse_symbol(const std::string& text, Symbol* symbol);

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_SYMBOL_H_
