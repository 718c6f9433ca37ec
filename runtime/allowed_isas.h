// SPDX-License-Identifier: Apache-2.0
// Decides which instruction sets a session may use.
#ifndef QRT_RUNTIME_ALLOWED_ISAS_H_
#define QRT_RUNTIME_ALLOWED_ISAS_H_

#include <string>

#include "kernels/isa.h"
#include "runtime/status.h"

namespace qrt {

// Returns the sets to use: this CPU's, capped by `cap`, or where that is null by QRT_ISA of the
// environment. kInvalidArgument for a `cap` that is unknown or of another architecture; the
// environment's is ignored then, which was not the caller's mistake.
Result<IsaSet> allowed_isas(const char* cap);

// Returns the warning about a QRT_ISA that is ignored; "" where there is none.
std::string isa_warning();

}  // namespace qrt

#endif  // QRT_RUNTIME_ALLOWED_ISAS_H_
