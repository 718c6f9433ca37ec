// SPDX-License-Identifier: Apache-2.0
// Declares what infers and what imports each operator, from functions.inc. One file per group.
#ifndef QRT_CONVERTER_IMPORT_CVM_OPS_OPS_H_
#define QRT_CONVERTER_IMPORT_CVM_OPS_OPS_H_

#include "converter/import/cvm/importer.h"
#include "converter/import/cvm/infer.h"

namespace qrt::convert::from_cvm {

#define QRT_CVM_FUNCTION(infer, import, name, ...) \
  Status infer(Inference* inference);              \
  Status import(Importer& importer, const Op& op);
#include "converter/import/cvm/functions.inc"

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_OPS_OPS_H_
