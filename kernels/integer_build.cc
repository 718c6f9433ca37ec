// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer_build.h"

#include "kernels/integer_only.h"

namespace qrt {

bool is_integer_build() { return kIntegerOnly; }

}  // namespace qrt
