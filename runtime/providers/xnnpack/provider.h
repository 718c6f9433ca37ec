// SPDX-License-Identifier: Apache-2.0
// XNNPACK as a provider. provider.cc implements this for the tools and the tests where QRT_WITH_XNNPACK is
// on, absent.cc for libqrt, which does not depend on XNNPACK.
#ifndef QRT_RUNTIME_PROVIDERS_XNNPACK_PROVIDER_H_
#define QRT_RUNTIME_PROVIDERS_XNNPACK_PROVIDER_H_

#include "runtime/providers/provider.h"

namespace qrt {

// Returns XNNPACK's operators where they give the same bytes as the library's own kernels; null where this
// build has no XNNPACK or that does not support the CPU.
const Provider* xnnpack_provider();

// Returns XNNPACK's operators wherever it has one, even if that gives other bytes; null as above.
const Provider* xnnpack_provider_of_all();

}  // namespace qrt

#endif  // QRT_RUNTIME_PROVIDERS_XNNPACK_PROVIDER_H_
