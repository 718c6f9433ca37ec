// SPDX-License-Identifier: Apache-2.0
// The first check of a file: that it is a flatbuffer of the schema, and one that does not blow up when it is read.
#ifndef QRT_RUNTIME_STRUCTURE_H_
#define QRT_RUNTIME_STRUCTURE_H_

#include "runtime/model_bytes.h"
#include "runtime/status.h"

namespace qrt {

// Checks a file's structure, without the options of operators that are not built in (QRT_OPS).
Status check_structure(const ModelBytes& bytes);

}  // namespace qrt

#endif  // QRT_RUNTIME_STRUCTURE_H_
