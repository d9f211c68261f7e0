/* SPDX-License-Identifier: GPL-2.0 */
/* Last include of crc.c: what older kernels do not know of a processor. */
#ifndef FRDMA_COMPAT_X86_H
#define FRDMA_COMPAT_X86_H

#include <asm/cpufeatures.h>

/* Not told which ones 512 bits slow down, we let all do with 256. */
#ifndef X86_FEATURE_PREFER_YMM
#define X86_FEATURE_PREFER_YMM	X86_FEATURE_AVX512F
#endif

#endif /* FRDMA_COMPAT_X86_H */
