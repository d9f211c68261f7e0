/* SPDX-License-Identifier: GPL-2.0 */
/* Found only where the kernel has no header of this name. */
#include <asm/unaligned.h>
