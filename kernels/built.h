// SPDX-License-Identifier: Apache-2.0
// Tells which operators and parts the library has (QRT_OPS), for tables of kernels that belong to one of them: a null
// pointer takes the place of a kernel that is left out, and the linker drops it.
#ifndef QRT_KERNELS_BUILT_H_
#define QRT_KERNELS_BUILT_H_

namespace qrt::built {

#define QRT_OP(Name, stem) constexpr bool k##Name = true;
#define QRT_NO_OP(Name) constexpr bool k##Name = false;
#include "built_ops.inc"
#define QRT_PART(Name, is_built) constexpr bool k##Name = is_built;
#include "built_parts.inc"

}  // namespace qrt::built

#endif  // QRT_KERNELS_BUILT_H_
