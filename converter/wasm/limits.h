// SPDX-License-Identifier: Apache-2.0
// Before all others: <limits.h> of wasi-libc has a macro ARG_MAX, which is an operator of TFLite. Its guard keeps it from being
// defined again.
#include <limits.h>
#undef ARG_MAX
