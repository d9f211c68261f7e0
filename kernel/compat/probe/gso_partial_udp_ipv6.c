// SPDX-License-Identifier: GPL-2.0
/*
 * The stack gives the packets of a UDP GSO buffer over IPv6 their length where
 * it cuts in part (NETIF_F_GSO_PARTIAL). No interface tells: 7.0 to 7.1.4 do not.
 */
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 5)
#error wrong lengths
#endif

int probe;
