// SPDX-License-Identifier: Apache-2.0
// The formats that the WebAssembly module knows by sight only: ONNX, for want of protobuf, and MRT/CVM, whose models are two
// files.
#include "converter/import/frontend.h"

namespace qrt::convert {

const Import kImportOnnx = nullptr, kImportCvm = nullptr;

}  // namespace qrt::convert
