/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Last include of crc.c: what older kernels, and User Mode Linux, do not know of
 * a processor.
 */
#ifndef FRDMA_COMPAT_X86_H
#define FRDMA_COMPAT_X86_H

#include <asm/cpufeatures.h>

/* Not told which ones 512 bits slow down, we let all do with 256. */
#ifndef X86_FEATURE_PREFER_YMM
#define X86_FEATURE_PREFER_YMM	X86_FEATURE_AVX512F
#endif

/* Its processor has the flags for which the kernel below saves registers. */
#ifdef CONFIG_UML
#define cpu_has_xfeatures(needed, name)	true
#endif

#endif /* FRDMA_COMPAT_X86_H */
