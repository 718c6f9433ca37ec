// SPDX-License-Identifier: Apache-2.0
// Drops what no output needs, for front ends that make more.
#ifndef QRT_CONVERTER_IMPORT_COMMON_DROP_UNREAD_H_
#define QRT_CONVERTER_IMPORT_COMMON_DROP_UNREAD_H_

#include "converter/ir.h"

namespace qrt::convert {

// Removes the operators that no output of the graph needs, and the values that nothing left reads;
// those that stay are numbered anew.
void drop_unread(Graph* graph);

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_DROP_UNREAD_H_
