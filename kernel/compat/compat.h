/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes older kernels look like the newest one, which frdma is written for.
 * Comes before the first line of every file of the module. What the kernel at
 * hand has, probes.h says, by compiling the files in probe/: distributions
 * carry interfaces back, so that a version number would not tell.
 *
 * compat/ops.h does the same for the signatures of struct ib_device_ops.
 */
#ifndef FRDMA_COMPAT_H
#define FRDMA_COMPAT_H

/* Here and not in the files: a kernel header below would come before theirs. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "compat/probes.h"

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#ifndef HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/* Older kernels have no shadow stacks in processes. */
#ifndef VM_SHADOW_STACK
#define VM_SHADOW_STACK	VM_NONE
#endif

/* Older kernels know one network namespace for a new device: the first. */
#ifndef ib_alloc_device_with_net
#define ib_alloc_device_with_net(type, member, net) \
	ib_alloc_device(type, member)
#endif

/* Where the core cannot note who chose the name, udev may change it. */
#ifndef HAVE_IB_MARK_NAME_ASSIGNED_BY_USER
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
}
#endif

#ifndef HAVE_IB_GET_CURR_PORT_STATE
static inline enum ib_port_state
ib_get_curr_port_state(struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ?
		IB_PORT_ACTIVE : IB_PORT_DOWN;
}
#endif

/*
 * The core's own drops an event that reports no change. This one does not:
 * frdma calls it on a change only.
 */
#ifndef HAVE_IB_DISPATCH_PORT_STATE_EVENT
static inline void ib_dispatch_port_state_event(struct ib_device *ibdev,
						struct net_device *ndev)
{
	struct ib_event event = {
		.device = ibdev,
		.element.port_num = 1,
		.event = ib_get_curr_port_state(ndev) == IB_PORT_ACTIVE ?
			IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ib_dispatch_event(&event);
}
#endif

/* Devices without DMA have always carried kernel pointers as DMA addresses. */
#ifndef HAVE_IB_VIRT_DMA_TO_PTR
static inline void *ib_virt_dma_to_ptr(u64 dma_addr)
{
	return (void *)(uintptr_t)dma_addr;
}
#endif

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#ifndef HAVE_SKB_FRAGS_READABLE
/* All fragments are pages of this host. */
#define skb_frags_readable(skb)		true
#endif

/* There is one bit, for the innermost header. */
#ifndef HAVE_SKB_GSO_TCP_FIXEDID_INNER
#define SKB_GSO_TCP_FIXEDID_INNER	SKB_GSO_TCP_FIXEDID
#endif

/*
 * Where a device lets the stack cut GSO buffers in part (NETIF_F_GSO_PARTIAL), 7.0
 * to 7.1.4 give the packets of one over UDP and IPv6 a wrong length.
 */
#ifdef HAVE_GSO_PARTIAL_UDP_IPV6
#define FRDMA_GSO_PARTIAL_IS_BROKEN	false
#else
#define FRDMA_GSO_PARTIAL_IS_BROKEN	true
#endif

#ifndef HAVE_IB_UMEM_GET_VA
static inline struct ib_umem *ib_umem_get_va(struct ib_device *device,
					     unsigned long addr, size_t size,
					     int access)
{
	return ib_umem_get(device, addr, size, access);
}
#endif

/* Pages pinned for reading cannot become writable: they may be shared. */
#ifndef HAVE_IB_UMEM_CHECK_REREG
static inline int ib_umem_check_rereg(struct ib_umem *umem, int flags,
				      int new_access_flags)
{
	if (!umem || umem->writable)
		return 0;
	if (!(flags & IB_MR_REREG_ACCESS) || (flags & IB_MR_REREG_TRANS))
		return 0;
	return ib_access_writable(new_access_flags) ? -EACCES : 0;
}
#endif

/* The core hands on what it has no name for. */
#ifndef HAVE_IB_WR_ATOMIC_WRITE
#define IB_DEVICE_ATOMIC_WRITE	BIT_ULL(40)
#define IB_WC_ATOMIC_WRITE	9
#define IB_WR_ATOMIC_WRITE	15
#endif

/* Nor does it register memory for what it has no name for. */
#ifndef HAVE_IB_WR_FLUSH
#define IB_DEVICE_FLUSH_GLOBAL		0
#define IB_DEVICE_FLUSH_PERSISTENT	0
#define IB_WC_FLUSH			8
#define IB_WR_FLUSH			14
#endif

#ifndef HAVE_IB_ODP_SUPPORT_FLUSH
#define IB_ODP_SUPPORT_FLUSH		BIT(6)
#define IB_ODP_SUPPORT_ATOMIC_WRITE	BIT(7)
#endif

#ifndef HAVE_UDP_TUNNEL_SK
#include <net/udp_tunnel.h>

#define setup_udp_tunnel_sock(net, sk, cfg) \
	setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)
#define udp_tunnel_sock_release(sk) \
	udp_tunnel_sock_release((sk)->sk_socket)
#endif

#endif /* FRDMA_COMPAT_H */
