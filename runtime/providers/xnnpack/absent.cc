// SPDX-License-Identifier: Apache-2.0
// A build without XNNPACK.
#include "runtime/providers/xnnpack/provider.h"

namespace qrt {

const Provider* xnnpack_provider() { return nullptr; }
const Provider* xnnpack_provider_of_all() { return nullptr; }

}  // namespace qrt
