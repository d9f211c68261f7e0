/* SPDX-License-Identifier: (GPL-2.0 OR Linux-OpenIB) */
/*
 * What the frdma kernel module and its libibverbs provider share: mapped
 * rings, the entries in them, and the driver data of verbs calls.
 *
 * A ring is one mapping: struct frdma_ring_head, then @entries slots of
 * @stride bytes from FRDMA_RING_SLOTS on. Indices run freely and are masked
 * when a slot is addressed; a ring is full when prod - cons == entries.
 * Whoever produces writes the slot, then releases @prod; whoever consumes
 * acquires @prod, reads the slot, then releases @cons. The kernel trusts
 * nothing that a process writes: it copies a slot once and uses the copy.
 * Where it gives a ring up, it leaves @prod and @cons further apart than there
 * are slots: nothing comes from there any more.
 *
 * Numbers of opcodes, flags and statuses are those of ib_user_verbs.h
 * (IB_UVERBS_WR_*, IB_UVERBS_WC_*) and, where it names none, those of enum
 * ib_send_flags and enum ib_wc_status; libibverbs has the same.
 */
#ifndef FRDMA_ABI_H
#define FRDMA_ABI_H

#include <linux/types.h>

/* Raised with every change that an older partner would misread. */
#define FRDMA_ABI_VERSION	2

/* "FRMA": far from the numbers that the kernel's enum gives out. */
#define FRDMA_DRIVER_ID		0x46524d41

/*
 * "FRM": the vendor. Locally administered. Programs take 0 and 0xffffff for
 * rdma_rxe and switch features off.
 */
#define FRDMA_VENDOR_ID		0x46524d

/*
 * Methods of UVERBS_OBJECT_QP, called by ioctl() on the command file
 * descriptor. Numbers of a driver's own begin at 1 << UVERBS_ID_NS_SHIFT.
 */
enum frdma_qp_method {
	/* The kernel looks at the rings of a queue pair. */
	FRDMA_METHOD_QP_DOORBELL = 1 << 12,
};

enum frdma_qp_doorbell_attr {
	/* The queue pair's handle. */
	FRDMA_ATTR_QP_DOORBELL_HANDLE = 1 << 12,
};

/* Methods of UVERBS_OBJECT_PD, called likewise. */
enum frdma_pd_method {
	/* Is that a protection domain? A process asks that imports it. */
	FRDMA_METHOD_PD_QUERY = 1 << 12,
};

enum frdma_pd_query_attr {
	/* The protection domain's handle. */
	FRDMA_ATTR_PD_QUERY_HANDLE = 1 << 12,
};

/* Methods of UVERBS_OBJECT_DEVICE, called by ioctl() as well. */
enum frdma_device_method {
	/* Reads the clock of completion timestamps. */
	FRDMA_METHOD_DEVICE_CLOCK = 1 << 12,
};

enum frdma_device_clock_attr {
	/* Out: 64 bits, nanoseconds. */
	FRDMA_ATTR_DEVICE_CLOCK_NS = 1 << 12,
};

/* Methods of UVERBS_OBJECT_DM, called likewise. */
enum frdma_dm_method {
	/* Where is it? A process asks that imports it. */
	FRDMA_METHOD_DM_QUERY = 1 << 12,
};

enum frdma_dm_query_attr {
	/* The device memory's handle. */
	FRDMA_ATTR_DM_QUERY_HANDLE = 1 << 12,
	/* Out: struct frdma_dm_desc. */
	FRDMA_ATTR_DM_QUERY_DESC,
	/* Out: 64 bits, the bytes that were asked for. */
	FRDMA_ATTR_DM_QUERY_LENGTH,
};

/**
 * struct frdma_ring_head - the indices of a mapped ring
 * @prod: next slot that the producer fills; written by the producer only
 * @cons: next slot that the consumer takes; written by the consumer only
 * @armed: of completions: FRDMA_ARM_*, set by the consumer with a full barrier
 *	behind it; the kernel clears it when it raises the event
 * @flags: FRDMA_RING_*, written by the kernel only
 * @reserved_prod: zero; gives each of the three a cache line of its own
 * @reserved_cons: likewise
 * @reserved_flags: likewise
 */
struct frdma_ring_head {
	__u32 prod;
	__u32 reserved_prod[15];
	__u32 cons;
	__u32 armed;
	__u32 reserved_cons[14];
	__u32 flags;
	__u32 reserved_flags[15];
};

/* Offset of slot 0 in the mapping. */
#define FRDMA_RING_SLOTS	192

/*
 * Set while the kernel will not look at the ring by itself (a receive queue
 * of a queue pair in the error state): after releasing @prod the producer
 * issues a full barrier, reads @flags, and rings the doorbell if it is set.
 */
#define FRDMA_RING_NEED_DOORBELL	(1U << 0)

/*
 * Set while the kernel looks at the ring by itself (a send queue): after
 * releasing @prod the producer issues a full barrier, reads @flags, and rings
 * the doorbell unless it is set. Who rings all the same does no harm.
 */
#define FRDMA_RING_WATCHED		(1U << 1)

/*
 * Which completion raises an event: one that is solicited, or in error; any.
 * Whoever has asked polls once more: what was there before raises none.
 */
#define FRDMA_ARM_SOLICITED		(1U << 0)
#define FRDMA_ARM_NEXT			(1U << 1)

/**
 * struct frdma_ring_desc - where a ring is and what shape it has
 * @mmap_offset: offset for mmap() on the command file descriptor
 * @mmap_size: bytes to map
 * @entries: number of slots, a power of two
 * @stride: bytes from one slot to the next
 *
 * It does not grow: responses embed it, and grow at their own end.
 */
struct frdma_ring_desc {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 entries;
	__u32 stride;
};

/* One more attribute of UVERBS_METHOD_DM_ALLOC. */
enum frdma_dm_alloc_attr {
	/* Out: struct frdma_dm_desc. */
	FRDMA_ATTR_DM_ALLOC_DESC = 1 << 12,
};

/**
 * struct frdma_dm_desc - where device memory can be mapped
 * @mmap_offset: offset for mmap() on the command file descriptor
 * @mmap_size: bytes to map
 */
struct frdma_dm_desc {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
};

/**
 * struct frdma_sge - a piece of registered memory
 * @addr: virtual address in the memory region
 * @length: bytes
 * @lkey: local key of the region
 */
struct frdma_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct frdma_send_wqe - a slot of a send queue, followed by its payload
 * @wr_id: returned in the completion
 * @opcode: IB_UVERBS_WR_*
 * @flags: enum ib_send_flags
 * @num_sge: number of struct frdma_sge that follow; 0 with inline data
 * @inline_len: bytes of inline data that follow, where @flags say so
 * @ex: immediate data (big endian, as it goes on the wire) or the key to
 *      invalidate (in the byte order of the machine)
 * @rkey: remote key of READ, WRITE, ATOMIC WRITE, FLUSH and atomics
 * @remote_addr: remote address of the same
 * @atomic: of COMPARE_SWAP and FETCH_ADD
 * @atomic.compare_add: value to compare with, or to add
 * @atomic.swap: value to store if the comparison holds
 * @ud: of datagrams
 * @ud.ah: number of the address handle, from struct frdma_create_ah_resp
 * @ud.dqpn: destination queue pair
 * @ud.qkey: Q_Key; with bit 31 set the queue pair's own is used
 * @ud.pkey_index: kernel consumers on the GSI QP only
 * @reg: of REG_MR
 * @reg.mr: kernel consumers only: region to register
 * @reg.access: kernel consumers only: IB_ACCESS_*
 * @reg.key: kernel consumers only: new key of the region
 * @bind: of BIND_MW
 * @bind.addr: first byte to show, as the region counts addresses
 * @bind.length: bytes; 0: of a window of type 1, show nothing any more
 * @bind.key: new remote key: all but its last eight bits are the window's
 * @bind.mr_key: local key of the region; not looked at if @bind.length is 0
 * @bind.access: IB_UVERBS_ACCESS_REMOTE_*, IB_UVERBS_ACCESS_ZERO_BASED
 * @bind.reserved: zero
 * @flush: of FLUSH
 * @flush.length: bytes from @remote_addr on, unless the whole region is meant
 * @flush.placement: enum ib_placement_type
 * @flush.select: enum ib_selectivity_level
 * @xrc: of extended reliable connections, beside @atomic
 * @xrc.operands: those of @atomic
 * @xrc.srqn: number of the peer's shared receive queue
 * @xrc.reserved: zero
 * @reserved: zero; room for operations to come
 */
struct frdma_send_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;
	__u8 flags;
	__u16 num_sge;
	__u32 inline_len;
	__u32 ex;
	__u32 rkey;
	__aligned_u64 remote_addr;
	union {
		struct {
			__aligned_u64 compare_add;
			__aligned_u64 swap;
		} atomic;
		struct {
			__u32 ah;
			__u32 dqpn;
			__u32 qkey;
			__u32 pkey_index;
		} ud;
		struct {
			__aligned_u64 mr;
			__u32 access;
			__u32 key;
		} reg;
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;
			__u32 key;
			__u32 mr_key;
			__u32 access;
			__u32 reserved;
		} bind;
		struct {
			__aligned_u64 length;
			__u32 placement;
			__u32 select;
		} flush;
		struct {
			__aligned_u64 operands[2];
			__u32 srqn;
			__u32 reserved;
		} xrc;
		__aligned_u64 reserved[4];
	};
	/* struct frdma_sge sge[num_sge], or inline_len bytes */
};

/**
 * struct frdma_recv_wqe - a slot of a receive queue, followed by its SGEs
 * @wr_id: returned in the completion
 * @num_sge: number of struct frdma_sge that follow
 * @reserved: zero
 */
struct frdma_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
	/* struct frdma_sge sge[num_sge] */
};

/* Opcodes of receives: ib_user_verbs.h has no names for them. */
#define FRDMA_WC_RECV			128U
#define FRDMA_WC_RECV_RDMA_WITH_IMM	129U

/*
 * Flags of a completion: those of enum ib_wc_flags. libibverbs agrees on the
 * first two and has another number for an invalidated key.
 */
#define FRDMA_WC_GRH		(1U << 0)
#define FRDMA_WC_WITH_IMM	(1U << 1)
#define FRDMA_WC_WITH_INV	(1U << 2)

/*
 * RoCE has no service levels. In the completion of a datagram received it says
 * which header is in front of the payload, as mlx5 has it and UCX reads it.
 */
#define FRDMA_SL_UDP_IPV6	(8U | 1U)
#define FRDMA_SL_UDP_IPV4	(8U | 2U)

/**
 * struct frdma_cqe - a slot of a completion queue
 * @wr_id: of the work request
 * @status: enum ib_wc_status
 * @opcode: IB_UVERBS_WC_* opcode, or FRDMA_WC_RECV*
 * @byte_len: bytes received or read
 * @ex: immediate data (big endian) or the key that was invalidated
 * @qp_num: local queue pair
 * @src_qp: remote queue pair (UD; XRC: of receives)
 * @wc_flags: FRDMA_WC_* in a process's ring, enum ib_wc_flags in the kernel's
 * @pkey_index: 0
 * @sl: FRDMA_SL_* (UD)
 * @network_hdr_type: enum rdma_network_type, for kernel consumers
 * @vendor_err: the engine's verdict behind an error, for people
 * @vlan_id: 0xffff: none
 * @reserved: zero
 * @timestamp: nanoseconds of CLOCK_MONOTONIC_RAW at completion, without the
 *	offset of a time namespace
 * @kernel_qp: struct ib_qp for kernel consumers, 0 in a process's ring
 */
struct frdma_cqe {
	__aligned_u64 wr_id;
	__u32 status;
	__u32 opcode;
	__u32 byte_len;
	__u32 ex;
	__u32 qp_num;
	__u32 src_qp;
	__u32 wc_flags;
	__u16 pkey_index;
	__u8 sl;
	__u8 network_hdr_type;
	__u32 vendor_err;
	__u16 vlan_id;
	__u16 reserved;
	__aligned_u64 timestamp;
	__aligned_u64 kernel_qp;
};

/** struct frdma_alloc_ucontext_resp - @max_inline_bytes: largest inline send */
struct frdma_alloc_ucontext_resp {
	__u32 max_inline_bytes;
	__u32 reserved;
};

/** struct frdma_create_cq_resp - @cq: the ring of completions */
struct frdma_create_cq_resp {
	struct frdma_ring_desc cq;
};

/**
 * struct frdma_resize_cq_resp - answer to a change of a completion queue's size
 * @cq: the ring that replaces the old one
 *
 * Completions not yet polled have been moved to it, from slot 0 on.
 */
struct frdma_resize_cq_resp {
	struct frdma_ring_desc cq;
};

/** struct frdma_create_qp_resp - @sq, @rq: the rings (rq: no entries with SRQ) */
struct frdma_create_qp_resp {
	struct frdma_ring_desc sq;
	struct frdma_ring_desc rq;
};

/** struct frdma_create_srq_resp - @srq: the ring of receive requests */
struct frdma_create_srq_resp {
	struct frdma_ring_desc srq;
};

/**
 * struct frdma_modify_srq - driver data to the kernel, for a change of size
 * @resp_addr: where the kernel writes struct frdma_modify_srq_resp: this
 *	command of the core has no response
 * @resp_len: bytes there. The kernel writes no more, and fills a longer
 *	structure with zeroes
 * @reserved: zero
 */
struct frdma_modify_srq {
	__aligned_u64 resp_addr;
	__u32 resp_len;
	__u32 reserved;
};

/**
 * struct frdma_modify_srq_resp - response to a change of size
 * @srq: the ring that replaces the old one; its indices are those of the old
 */
struct frdma_modify_srq_resp {
	struct frdma_ring_desc srq;
};

/** struct frdma_create_ah_resp - @ah: number to put into struct frdma_send_wqe */
struct frdma_create_ah_resp {
	__u32 ah;
	__u32 reserved;
};

#endif /* FRDMA_ABI_H */
