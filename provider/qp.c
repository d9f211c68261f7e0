// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <ccan/array_size.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>

#include "frdma.h"
#include "qp.h"

/* An extended connection can what a reliable one can. */
#define RC	(1U << IBV_QPT_RC | 1U << IBV_QPT_XRC_SEND)
#define UC	(1U << IBV_QPT_UC)
#define UD	(1U << IBV_QPT_UD)

#define SEND_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
			 IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/**
 * struct wr_kind - what the opcode of a send work request asks for
 * @qp_types: queue pairs that can do it
 * @ops: its IBV_QP_EX_WITH_*
 * @sends: its scatter/gather list is data to send, which may be inline
 * @remote: names memory of the peer
 * @atomic: has operands
 * @ex: carries immediate data or a key to invalidate
 * @bind: binds a memory window
 * @built: by the builder only, since struct ibv_send_wr has no place for it
 */
struct wr_kind {
	uint16_t qp_types;
	uint16_t ops;
	bool sends	: 1;
	bool remote	: 1;
	bool atomic	: 1;
	bool ex		: 1;
	bool bind	: 1;
	bool built	: 1;
};

static const struct wr_kind wr_kinds[] = {
	[IBV_WR_RDMA_WRITE] = {
		.qp_types = RC | UC, .ops = IBV_QP_EX_WITH_RDMA_WRITE,
		.sends = true, .remote = true,
	},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		.qp_types = RC | UC, .ops = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
		.sends = true, .remote = true, .ex = true,
	},
	[IBV_WR_SEND] = {
		.qp_types = RC | UC | UD, .ops = IBV_QP_EX_WITH_SEND,
		.sends = true,
	},
	[IBV_WR_SEND_WITH_IMM] = {
		.qp_types = RC | UC | UD, .ops = IBV_QP_EX_WITH_SEND_WITH_IMM,
		.sends = true, .ex = true,
	},
	[IBV_WR_RDMA_READ] = {
		.qp_types = RC, .ops = IBV_QP_EX_WITH_RDMA_READ,
		.remote = true,
	},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {
		.qp_types = RC, .ops = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
		.remote = true, .atomic = true,
	},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {
		.qp_types = RC, .ops = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		.remote = true, .atomic = true,
	},
#if FRDMA_WR_FLUSH
	[IBV_WR_FLUSH] = {
		.qp_types = RC, .ops = IBV_QP_EX_WITH_FLUSH,
		.remote = true, .built = true,
	},
#endif
	[IBV_WR_ATOMIC_WRITE] = {
		.qp_types = RC, .ops = IBV_QP_EX_WITH_ATOMIC_WRITE,
		.sends = true, .remote = true,
	},
	[IBV_WR_LOCAL_INV] = {
		.qp_types = RC | UC, .ops = IBV_QP_EX_WITH_LOCAL_INV,
		.ex = true,
	},
	[IBV_WR_BIND_MW] = {
		.qp_types = RC | UC, .ops = IBV_QP_EX_WITH_BIND_MW,
		.bind = true,
	},
	[IBV_WR_SEND_WITH_INV] = {
		.qp_types = RC, .ops = IBV_QP_EX_WITH_SEND_WITH_INV,
		.sends = true, .ex = true,
	},
};

static_assert(sizeof(struct frdma_sge) == sizeof(struct ibv_sge), "sge");
static_assert(offsetof(struct frdma_sge, addr) ==
	      offsetof(struct ibv_sge, addr), "sge");
static_assert(offsetof(struct frdma_sge, length) ==
	      offsetof(struct ibv_sge, length), "sge");
static_assert(offsetof(struct frdma_sge, lkey) ==
	      offsetof(struct ibv_sge, lkey), "sge");

/* NULL where the queue pair cannot do it. */
static const struct wr_kind *find_wr_kind(enum ibv_qp_type type,
					  unsigned int opcode)
{
	if (opcode >= ARRAY_SIZE(wr_kinds))
		return NULL;
	if (!(wr_kinds[opcode].qp_types & 1U << type))
		return NULL;

	return &wr_kinds[opcode];
}

/*
 * The kernel then looks at both rings of the queue pair. An ioctl() works for
 * whoever holds the file; write() only with the credentials that opened it.
 */
static int ring_doorbell(const struct ibv_qp *ibvqp)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr handle;
	} call = {
		.hdr = {
			.length		= sizeof(call),
			.object_id	= UVERBS_OBJECT_QP,
			.method_id	= FRDMA_METHOD_QP_DOORBELL,
			.num_attrs	= 1,
			.driver_id	= FRDMA_DRIVER_ID,
		},
		.handle = {
			.attr_id	= FRDMA_ATTR_QP_DOORBELL_HANDLE,
			.flags		= UVERBS_ATTR_F_MANDATORY,
			.data		= ibvqp->handle,
		},
	};

	if (ioctl(ibvqp->context->cmd_fd, RDMA_VERBS_IOCTL, &call))
		return errno;

	return 0;
}

/*
 * Publish the slots before @at, unlock, and ring the doorbell unless the
 * kernel watches the ring. The doorbell is a system call: a thread that wants
 * the lock must not spin for its duration. If two threads publish, the kernel
 * finds the slots of both at either doorbell.
 */
static int hand_over_sends(struct frdma_qp *qp, uint32_t at)
{
	frdma_ring_publish(&qp->sq.ring, at);
	frdma_unlock(&qp->sq.lock);
	if (frdma_ring_watched(&qp->sq.ring))
		return 0;

	return ring_doorbell(&qp->vqp.qp);
}

/* Until RTS a queue pair takes no sends (10.3.1), the target of XRC never. */
static int check_send_state(const struct ibv_qp *ibvqp)
{
	if (ibvqp->qp_type == IBV_QPT_XRC_RECV)
		return EINVAL;

	switch (ibvqp->state) {
	case IBV_QPS_RESET:
	case IBV_QPS_INIT:
	case IBV_QPS_RTR:
		return EINVAL;
	default:
		return 0;
	}
}

static int append_inline(const struct frdma_sq *sq, struct frdma_send_wqe *wqe,
			 const void *addr, size_t len)
{
	if (len > sq->max_inline - wqe->inline_len)
		return EINVAL;

	if (len)
		memcpy((char *)(wqe + 1) + wqe->inline_len, addr, len);
	wqe->inline_len += len;
	return 0;
}

static int fill_inline(const struct frdma_sq *sq, struct frdma_send_wqe *wqe,
		       const struct ibv_sge *sge, int num_sge)
{
	int err;

	for (; num_sge; sge++, num_sge--) {
		err = append_inline(sq, wqe, (void *)(uintptr_t)sge->addr,
				    sge->length);
		if (err)
			return err;
	}

	return 0;
}

static void fill_sges(struct frdma_send_wqe *wqe, const struct ibv_sge *sge,
		      uint32_t num_sge)
{
	wqe->num_sge = num_sge;
	if (num_sge)
		memcpy(wqe + 1, sge, num_sge * sizeof(*sge));
}

static void fill_ud(struct frdma_send_wqe *wqe, struct ibv_ah *ah,
		    uint32_t dqpn, uint32_t qkey)
{
	wqe->ud.ah = to_frdma_ah(ah)->number;
	wqe->ud.dqpn = dqpn;
	wqe->ud.qkey = qkey;
}

/*
 * The number in a key is the window's; the rest is the consumer's choice of
 * type 2 windows, and for type 1 the next one (10.6.7.2).
 */
static int check_bind_key(const struct ibv_mw *mw, uint32_t key)
{
	if (mw->type == IBV_MW_TYPE_1)
		return key == ibv_inc_rkey(mw->rkey) ? 0 : EINVAL;

	return (key ^ mw->rkey) & ~0xffU ? EINVAL : 0;
}

static int fill_bind(struct frdma_send_wqe *wqe, const struct ibv_mw *mw,
		     uint32_t key, const struct ibv_mw_bind_info *info)
{
	if (info->length && !info->mr)
		return EINVAL;

	wqe->bind.addr = info->addr;
	wqe->bind.length = info->length;
	wqe->bind.key = key;
	wqe->bind.mr_key = info->mr ? info->mr->lkey : 0;
	wqe->bind.access = info->mw_access_flags;
	return check_bind_key(mw, key);
}

/* May leave the slot half filled on error: it is not published then. */
static int fill_send(const struct frdma_qp *qp, struct frdma_send_wqe *wqe,
		     const struct ibv_send_wr *wr)
{
	enum ibv_qp_type type = qp->vqp.qp.qp_type;
	const struct wr_kind *kind = find_wr_kind(type, wr->opcode);

	if (!kind || kind->built || wr->send_flags & ~SEND_FLAGS)
		return EINVAL;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;

	*wqe = (struct frdma_send_wqe) {
		.wr_id	= wr->wr_id,
		.opcode	= wr->opcode,
		.flags	= wr->send_flags,
	};

	if (kind->ex)
		wqe->ex = wr->invalidate_rkey;
	if (kind->atomic) {
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->atomic.compare_add = wr->wr.atomic.compare_add;
		wqe->atomic.swap = wr->wr.atomic.swap;
	} else if (kind->remote) {
		wqe->rkey = wr->wr.rdma.rkey;
		wqe->remote_addr = wr->wr.rdma.remote_addr;
	}
	if (kind->bind && !(wr->send_flags & IBV_SEND_INLINE))
		return fill_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				 &wr->bind_mw.bind_info);
	if (type == IBV_QPT_UD)
		fill_ud(wqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
			wr->wr.ud.remote_qkey);
	if (type == IBV_QPT_XRC_SEND)
		wqe->xrc.srqn = wr->qp_type.xrc.remote_srqn;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		fill_sges(wqe, wr->sg_list, wr->num_sge);
		return 0;
	}
	if (!kind->sends)
		return EINVAL;

	return fill_inline(&qp->sq, wqe, wr->sg_list, wr->num_sge);
}

int frdma_post_send(struct ibv_qp *ibvqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	struct frdma_qp *qp = to_frdma_qp(ibvqp);
	struct frdma_ring *ring = &qp->sq.ring;
	struct ibv_send_wr *first = wr;
	int err, doorbell_err;
	uint32_t at;

	*bad_wr = wr;
	err = check_send_state(ibvqp);
	if (err)
		return err;

	frdma_lock(&qp->sq.lock);
	for (at = ring->index; wr; wr = wr->next, at++) {
		err = frdma_ring_room(ring, at);
		if (!err)
			err = fill_send(qp, frdma_ring_slot(ring, at), wr);
		if (err)
			break;
	}
	*bad_wr = wr;
	if (at == ring->index) {
		frdma_unlock(&qp->sq.lock);
		return err;
	}

	doorbell_err = hand_over_sends(qp, at);
	if (doorbell_err) {
		*bad_wr = first;
		err = doorbell_err;
	}

	return err;
}

int frdma_bind_mw(struct ibv_qp *ibvqp, struct ibv_mw *ibvmw,
		  struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id		= bind->wr_id,
		.opcode		= IBV_WR_BIND_MW,
		.send_flags	= bind->send_flags,
		.bind_mw	= {
			.mw		= ibvmw,
			.rkey		= ibv_inc_rkey(ibvmw->rkey),
			.bind_info	= bind->bind_info,
		},
	};
	struct ibv_send_wr *bad_wr;
	int err;

	err = frdma_post_send(ibvqp, &wr, &bad_wr);
	if (!err)
		ibvmw->rkey = wr.bind_mw.rkey;

	return err;
}

static int fill_recv(const struct frdma_rq *rq, struct frdma_recv_wqe *wqe,
		     const struct ibv_recv_wr *wr)
{
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;

	*wqe = (struct frdma_recv_wqe) {
		.wr_id		= wr->wr_id,
		.num_sge	= wr->num_sge,
	};
	if (wr->num_sge)
		memcpy(wqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(*wr->sg_list));

	return 0;
}

/* Fills and publishes up to the first that cannot be posted. */
static int post_recvs(struct frdma_rq *rq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr)
{
	struct frdma_ring *ring = &rq->ring;
	int err = 0;
	uint32_t at;

	for (at = ring->index; wr; wr = wr->next, at++) {
		err = frdma_ring_room(ring, at);
		if (!err)
			err = fill_recv(rq, frdma_ring_slot(ring, at), wr);
		if (err)
			break;
	}
	*bad_wr = wr;

	if (at != ring->index)
		frdma_ring_publish(ring, at);
	return err;
}

int frdma_post_recv(struct ibv_qp *ibvqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct frdma_qp *qp = to_frdma_qp(ibvqp);
	struct frdma_ring *ring = &qp->rq.ring;
	int err, doorbell_err;
	uint32_t before;
	bool posted;

	*bad_wr = wr;
	if (!ring->entries || ibvqp->state == IBV_QPS_RESET)
		return EINVAL;

	frdma_lock(&qp->rq.lock);
	before = ring->index;
	err = post_recvs(&qp->rq, wr, bad_wr);
	posted = ring->index != before;
	frdma_unlock(&qp->rq.lock);
	if (!posted || !frdma_ring_asleep(ring))
		return err;

	doorbell_err = ring_doorbell(ibvqp);
	if (doorbell_err) {
		*bad_wr = wr;
		err = doorbell_err;
	}

	return err;
}

/* Whoever takes from it looks when a message needs a request: no doorbell. */
int frdma_post_srq_recv(struct ibv_srq *ibvsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct frdma_rq *rq = &to_frdma_srq(ibvsrq)->rq;
	int err;

	frdma_lock(&rq->lock);
	err = post_recvs(rq, wr, bad_wr);
	frdma_unlock(&rq->lock);

	return err;
}

/*
 * The work request builder: wr_start(), then for each request one function
 * that begins it and one or more that add to it, then wr_complete(). The first
 * error is kept, makes the rest do nothing, and nothing at all is posted.
 */

static struct frdma_qp *ex_to_qp(struct ibv_qp_ex *ex)
{
	return container_of(ex, struct frdma_qp, vqp.qp_ex);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	frdma_lock(&sq->lock);
	sq->at = sq->ring.index;
	sq->err = check_send_state(&ex->qp_base);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct frdma_qp *qp = ex_to_qp(ex);
	struct frdma_sq *sq = &qp->sq;
	int err = sq->err;

	if (!err && sq->at != sq->ring.index)
		return hand_over_sends(qp, sq->at);

	frdma_unlock(&sq->lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	frdma_unlock(&ex_to_qp(ex)->sq.lock);
}

/* Take the next slot for a request with the flags and id set in @ex. */
static struct frdma_send_wqe *begin_wr(struct ibv_qp_ex *ex,
				       enum ibv_wr_opcode opcode)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	if (!sq->err)
		sq->err = frdma_ring_room(&sq->ring, sq->at);
	if (!sq->err && ex->wr_flags & ~SEND_FLAGS)
		sq->err = EINVAL;
	if (sq->err)
		return NULL;

	sq->wqe = frdma_ring_slot(&sq->ring, sq->at++);
	*sq->wqe = (struct frdma_send_wqe) {
		.wr_id	= ex->wr_id,
		.opcode	= opcode,
		/* Where data are inline is known when they come. */
		.flags	= ex->wr_flags & ~IBV_SEND_INLINE,
	};
	return sq->wqe;
}

static void begin_plain(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode,
			uint32_t invalidate_or_imm)
{
	struct frdma_send_wqe *wqe = begin_wr(ex, opcode);

	if (wqe)
		wqe->ex = invalidate_or_imm;
}

static void begin_remote(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode,
			 uint32_t rkey, uint64_t remote_addr, uint32_t imm)
{
	struct frdma_send_wqe *wqe = begin_wr(ex, opcode);

	if (!wqe)
		return;

	wqe->rkey = rkey;
	wqe->remote_addr = remote_addr;
	wqe->ex = imm;
}

static void begin_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode,
			 uint32_t rkey, uint64_t remote_addr,
			 uint64_t compare_add, uint64_t swap)
{
	struct frdma_send_wqe *wqe = begin_wr(ex, opcode);

	if (!wqe)
		return;

	wqe->rkey = rkey;
	wqe->remote_addr = remote_addr;
	wqe->atomic.compare_add = compare_add;
	wqe->atomic.swap = swap;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin_plain(ex, IBV_WR_SEND, 0);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	begin_plain(ex, IBV_WR_SEND_WITH_IMM, (__force uint32_t)imm);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_plain(ex, IBV_WR_SEND_WITH_INV, rkey);
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin_plain(ex, IBV_WR_LOCAL_INV, rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *ibvmw,
		       uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct frdma_send_wqe *wqe = begin_wr(ex, IBV_WR_BIND_MW);

	if (wqe)
		ex_to_qp(ex)->sq.err = fill_bind(wqe, ibvmw, rkey, info);
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey,
			  uint64_t remote_addr)
{
	begin_remote(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm)
{
	begin_remote(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr,
		     (__force uint32_t)imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey,
			 uint64_t remote_addr)
{
	begin_remote(ex, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	begin_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr,
		     compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	begin_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr,
		     add, 0);
}

/* The data are an argument of the call, so they are inline in the slot. */
static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey,
			    uint64_t remote_addr, const void *value)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	begin_remote(ex, IBV_WR_ATOMIC_WRITE, rkey, remote_addr, 0);
	if (sq->err)
		return;

	sq->wqe->flags |= IBV_SEND_INLINE;
	sq->err = append_inline(sq, sq->wqe, value, sizeof(uint64_t));
}

#if FRDMA_WR_FLUSH
static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
		     size_t len, uint8_t placement, uint8_t select)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	begin_remote(ex, IBV_WR_FLUSH, rkey, remote_addr, 0);
	if (sq->err)
		return;

	sq->wqe->flush.length = len;
	sq->wqe->flush.placement = placement;
	sq->wqe->flush.select = select;
}

static void set_flush(struct ibv_qp_ex *ex, uint64_t ops)
{
	if (ops & IBV_QP_EX_WITH_FLUSH)
		ex->wr_flush = wr_flush;
}
#else
static void set_flush(struct ibv_qp_ex *ex, uint64_t ops)
{
	(void)ex, (void)ops;
}
#endif

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge,
			    const struct ibv_sge *sge)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	if (sq->err)
		return;
	if (num_sge > sq->max_sge) {
		sq->err = EINVAL;
		return;
	}

	fill_sges(sq->wqe, sge, num_sge);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *buf)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	if (sq->err)
		return;
	if (!wr_kinds[sq->wqe->opcode].sends) {
		sq->err = EINVAL;
		return;
	}

	sq->wqe->flags |= IBV_SEND_INLINE;
	for (; num_buf && !sq->err; buf++, num_buf--)
		sq->err = append_inline(sq, sq->wqe, buf->addr, buf->length);
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	if (!sq->err)
		fill_ud(sq->wqe, ah, remote_qpn, remote_qkey);
}

/* Where a window is bound nothing is sent, and the slot holds its key. */
static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t remote_srqn)
{
	struct frdma_sq *sq = &ex_to_qp(ex)->sq;

	if (!sq->err && !wr_kinds[sq->wqe->opcode].bind)
		sq->wqe->xrc.srqn = remote_srqn;
}

uint64_t frdma_qp_send_ops(enum ibv_qp_type type)
{
	uint64_t ops = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wr_kinds); i++)
		if (wr_kinds[i].qp_types & 1U << type)
			ops |= wr_kinds[i].ops;

	return ops;
}

void frdma_qp_set_send_ops(struct ibv_qp_ex *ex, uint64_t ops)
{
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (ex->qp_base.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (ex->qp_base.qp_type == IBV_QPT_XRC_SEND)
		ex->wr_set_xrc_srqn = wr_set_xrc_srqn;

	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (ops & IBV_QP_EX_WITH_ATOMIC_WRITE)
		ex->wr_atomic_write = wr_atomic_write;
	set_flush(ex, ops);
}
