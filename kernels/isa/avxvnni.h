// SPDX-License-Identifier: Apache-2.0
// The encoding of AVX-VNNI's dot products, before their mnemonics in inline assembly, which is used for the
// reason given in isa/avx512vnni.h.
#ifndef QRT_KERNELS_ISA_AVXVNNI_H_
#define QRT_KERNELS_ISA_AVXVNNI_H_

#ifdef QRT_EMULATED_AVXVNNI  // AVX512-VL has the same instructions in its own encoding
#define QRT_AVXVNNI "%{evex%} "
#else
#define QRT_AVXVNNI "%{vex%} "
#endif

#endif  // QRT_KERNELS_ISA_AVXVNNI_H_
