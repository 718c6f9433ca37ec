// SPDX-License-Identifier: Apache-2.0
// A build with QRT_INTEGER_ONLY: the runtime refuses models with these products when it loads them, so that nothing
// calls them.
#include "kernels/nbits/nbits.h"

namespace qrt {

const NBitsKernel* nbits_kernels(size_t* count) {
  *count = 0;
  return nullptr;
}
const NBitsKernel* select_nbits(IsaSet) { return nullptr; }

}  // namespace qrt
