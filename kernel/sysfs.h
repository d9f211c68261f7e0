/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /sys/class/infiniband/<link>/:
 *
 *	check_interface	a packet has to arrive by the interface that has its
 *			destination address (rx.c)
 *	cnp_dscp	DSCP of congestion notifications (cnp.h)
 *	cnp_priority	their priority in queues of this host
 *	ecn		packets are ECN-capable (tx.c)
 *	frdma_abi	version of the ABI; the provider looks for this file
 *	gather_us	interval in which the kernel looks at a send queue while
 *			its process posts one by one (proto/gather.h), in us
 *	guard		a process needs CAP_NET_RAW to send UDP to or from the
 *			RoCE port (guard.c)
 *	loopback	messages of the device to itself are no packets
 *			(loopback.h)
 *	max_reads	READs and atomics of a connection at a time, as
 *			advertised
 *	parent		interface of the link
 *	poll_us		time for which the poller watches send queues (poller.h),
 *			in us
 *	trains		packets leave in trains (tx.h)
 */
#ifndef FRDMA_SYSFS_H
#define FRDMA_SYSFS_H

struct attribute_group;

extern const struct attribute_group frdma_attr_group;

#endif /* FRDMA_SYSFS_H */
