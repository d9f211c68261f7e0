/* SPDX-License-Identifier: (GPL-2.0 OR Linux-OpenIB) */
/*
 * Where the compiler must have put what frdma-abi.h describes. Module and
 * provider both include this, each in one file, so that neither can be built
 * with another layout.
 */
#ifndef FRDMA_ABI_LAYOUT_H
#define FRDMA_ABI_LAYOUT_H

#include "frdma-abi.h"

#define FRDMA_SIZE(name, bytes)						\
	_Static_assert(sizeof(struct name) == (bytes), #name)
#define FRDMA_AT(name, member, offset)					\
	_Static_assert(__builtin_offsetof(struct name, member) == (offset), \
		       #name "." #member)

_Static_assert(sizeof(struct frdma_ring_head) == FRDMA_RING_SLOTS, "slots");

FRDMA_SIZE(frdma_ring_head, 192);
FRDMA_AT(frdma_ring_head, prod, 0);
FRDMA_AT(frdma_ring_head, cons, 64);
FRDMA_AT(frdma_ring_head, armed, 68);
FRDMA_AT(frdma_ring_head, flags, 128);

FRDMA_SIZE(frdma_ring_desc, 24);
FRDMA_AT(frdma_ring_desc, mmap_offset, 0);
FRDMA_AT(frdma_ring_desc, mmap_size, 8);
FRDMA_AT(frdma_ring_desc, entries, 16);
FRDMA_AT(frdma_ring_desc, stride, 20);

FRDMA_SIZE(frdma_dm_desc, 16);
FRDMA_AT(frdma_dm_desc, mmap_offset, 0);
FRDMA_AT(frdma_dm_desc, mmap_size, 8);

FRDMA_SIZE(frdma_sge, 16);
FRDMA_AT(frdma_sge, addr, 0);
FRDMA_AT(frdma_sge, length, 8);
FRDMA_AT(frdma_sge, lkey, 12);

FRDMA_SIZE(frdma_send_wqe, 64);
FRDMA_AT(frdma_send_wqe, wr_id, 0);
FRDMA_AT(frdma_send_wqe, opcode, 8);
FRDMA_AT(frdma_send_wqe, flags, 9);
FRDMA_AT(frdma_send_wqe, num_sge, 10);
FRDMA_AT(frdma_send_wqe, inline_len, 12);
FRDMA_AT(frdma_send_wqe, ex, 16);
FRDMA_AT(frdma_send_wqe, rkey, 20);
FRDMA_AT(frdma_send_wqe, remote_addr, 24);
FRDMA_AT(frdma_send_wqe, atomic.compare_add, 32);
FRDMA_AT(frdma_send_wqe, atomic.swap, 40);
FRDMA_AT(frdma_send_wqe, ud.ah, 32);
FRDMA_AT(frdma_send_wqe, ud.dqpn, 36);
FRDMA_AT(frdma_send_wqe, ud.qkey, 40);
FRDMA_AT(frdma_send_wqe, ud.pkey_index, 44);
FRDMA_AT(frdma_send_wqe, reg.mr, 32);
FRDMA_AT(frdma_send_wqe, reg.access, 40);
FRDMA_AT(frdma_send_wqe, reg.key, 44);
FRDMA_AT(frdma_send_wqe, bind.addr, 32);
FRDMA_AT(frdma_send_wqe, bind.length, 40);
FRDMA_AT(frdma_send_wqe, bind.key, 48);
FRDMA_AT(frdma_send_wqe, bind.mr_key, 52);
FRDMA_AT(frdma_send_wqe, bind.access, 56);
FRDMA_AT(frdma_send_wqe, flush.length, 32);
FRDMA_AT(frdma_send_wqe, flush.placement, 40);
FRDMA_AT(frdma_send_wqe, flush.select, 44);
FRDMA_AT(frdma_send_wqe, xrc.operands, 32);
FRDMA_AT(frdma_send_wqe, xrc.srqn, 48);

FRDMA_SIZE(frdma_recv_wqe, 16);
FRDMA_AT(frdma_recv_wqe, wr_id, 0);
FRDMA_AT(frdma_recv_wqe, num_sge, 8);

FRDMA_SIZE(frdma_cqe, 64);
FRDMA_AT(frdma_cqe, wr_id, 0);
FRDMA_AT(frdma_cqe, status, 8);
FRDMA_AT(frdma_cqe, opcode, 12);
FRDMA_AT(frdma_cqe, byte_len, 16);
FRDMA_AT(frdma_cqe, ex, 20);
FRDMA_AT(frdma_cqe, qp_num, 24);
FRDMA_AT(frdma_cqe, src_qp, 28);
FRDMA_AT(frdma_cqe, wc_flags, 32);
FRDMA_AT(frdma_cqe, pkey_index, 36);
FRDMA_AT(frdma_cqe, sl, 38);
FRDMA_AT(frdma_cqe, network_hdr_type, 39);
FRDMA_AT(frdma_cqe, vendor_err, 40);
FRDMA_AT(frdma_cqe, vlan_id, 44);
FRDMA_AT(frdma_cqe, timestamp, 48);
FRDMA_AT(frdma_cqe, kernel_qp, 56);

FRDMA_SIZE(frdma_alloc_ucontext_resp, 8);
FRDMA_AT(frdma_alloc_ucontext_resp, max_inline_bytes, 0);

FRDMA_SIZE(frdma_create_cq_resp, 24);
FRDMA_AT(frdma_create_cq_resp, cq, 0);

FRDMA_SIZE(frdma_resize_cq_resp, 24);
FRDMA_AT(frdma_resize_cq_resp, cq, 0);

FRDMA_SIZE(frdma_create_qp_resp, 48);
FRDMA_AT(frdma_create_qp_resp, sq, 0);
FRDMA_AT(frdma_create_qp_resp, rq, 24);

FRDMA_SIZE(frdma_create_srq_resp, 24);
FRDMA_AT(frdma_create_srq_resp, srq, 0);

FRDMA_SIZE(frdma_modify_srq, 16);
FRDMA_AT(frdma_modify_srq, resp_addr, 0);
FRDMA_AT(frdma_modify_srq, resp_len, 8);

FRDMA_SIZE(frdma_modify_srq_resp, 24);
FRDMA_AT(frdma_modify_srq_resp, srq, 0);

FRDMA_SIZE(frdma_create_ah_resp, 8);
FRDMA_AT(frdma_create_ah_resp, ah, 0);

#undef FRDMA_SIZE
#undef FRDMA_AT

#endif /* FRDMA_ABI_LAYOUT_H */
