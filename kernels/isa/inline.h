// SPDX-License-Identifier: Apache-2.0
// Macros that kernel code needs from the compiler: functions that are certainly inlined (accumulators
// are passed by reference and must stay in registers) and loops that are certainly unrolled.
#ifndef QRT_KERNELS_ISA_INLINE_H_
#define QRT_KERNELS_ISA_INLINE_H_

// The namespace of what the files of one instruction set share (kernels/isa/): set_<isa>, by the build.
// The linker keeps one copy for them, and none may come from the files of another set.
#ifndef QRT_KERNEL_SET
#define QRT_KERNEL_SET set_none
#endif

#define QRT_INLINE static inline __attribute__((always_inline))
#define QRT_INLINE_LAMBDA __attribute__((always_inline))

#if defined(QRT_NO_UNROLL)  // sanitizers' checks in unrolled tiles take minutes to compile
#define QRT_UNROLL
#elif defined(__clang__)
#define QRT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define QRT_UNROLL _Pragma("GCC unroll 64")
#endif

#endif  // QRT_KERNELS_ISA_INLINE_H_
