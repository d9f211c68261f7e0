// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <config.h>

#include <errno.h>
#include <string.h>

#include "frdma.h"
#include "cq.h"

static_assert((int)FRDMA_WC_RECV == (int)IBV_WC_RECV, "opcode");
static_assert((int)FRDMA_WC_RECV_RDMA_WITH_IMM ==
	      (int)IBV_WC_RECV_RDMA_WITH_IMM, "opcode");
static_assert((int)FRDMA_WC_GRH == (int)IBV_WC_GRH, "flag");
static_assert((int)FRDMA_WC_WITH_IMM == (int)IBV_WC_WITH_IMM, "flag");

static unsigned int cqe_wc_flags(const struct frdma_cqe *cqe)
{
	unsigned int flags;

	flags = cqe->wc_flags & (FRDMA_WC_GRH | FRDMA_WC_WITH_IMM);
	if (cqe->wc_flags & FRDMA_WC_WITH_INV)
		flags |= IBV_WC_WITH_INV;

	return flags;
}

static void cqe_to_wc(const struct frdma_cqe *cqe, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc) {
		.wr_id		= cqe->wr_id,
		.status		= cqe->status,
		.opcode		= cqe->opcode,
		.vendor_err	= cqe->vendor_err,
		.byte_len	= cqe->byte_len,
		.invalidated_rkey = cqe->ex,
		.qp_num		= cqe->qp_num,
		.src_qp		= cqe->src_qp,
		.wc_flags	= cqe_wc_flags(cqe),
		.pkey_index	= cqe->pkey_index,
		.sl		= cqe->sl,
	};
}

static void release(struct frdma_cq *cq, uint32_t at)
{
	cq->at = at;
	frdma_ring_release(&cq->ring, at);
}

int frdma_poll_cq(struct ibv_cq *ibvcq, int num, struct ibv_wc *wc)
{
	struct frdma_cq *cq = to_frdma_cq(ibvcq);
	struct frdma_ring *ring = &cq->ring;
	int polled = 0;
	int err = 0;
	uint32_t at;

	frdma_lock(&cq->lock);
	for (at = cq->at; polled < num; at++) {
		err = frdma_ring_ready(ring, at);
		if (err)
			break;
		cqe_to_wc(frdma_ring_slot(ring, at), &wc[polled++]);
	}
	if (polled)
		release(cq, at);
	frdma_unlock(&cq->lock);

	return !polled && err == EIO ? -EIO : polled;
}

/* Moves what is to stay to the end of what was not read, which begins at @first, in order. */
static uint32_t squeeze(struct frdma_ring *ring, uint32_t first, uint32_t qp_num)
{
	const struct frdma_cqe *cqe;
	uint32_t at, kept;

	for (at = first; !frdma_ring_ready(ring, at); at = ring->end)
		;

	for (kept = at; at != first; ) {
		cqe = frdma_ring_slot(ring, --at);
		if (cqe->qp_num != qp_num)
			memmove(frdma_ring_slot(ring, --kept), cqe,
				sizeof(*cqe));
	}

	return kept;
}

void frdma_cq_forget(struct ibv_cq *ibvcq, uint32_t qp_num)
{
	struct frdma_cq *cq = to_frdma_cq(ibvcq);
	bool reading;

	frdma_lock(&cq->lock);
	/* A lone thread may destroy queue pairs between start_poll() and end_poll(). */
	reading = cq->at != cq->ring.index;
	cq->at = squeeze(&cq->ring, cq->at, qp_num);
	if (!reading)
		release(cq, cq->at);
	frdma_unlock(&cq->lock);
}

static struct frdma_cq *ex_to_cq(struct ibv_cq_ex *ex)
{
	return container_of(ex, struct frdma_cq, vcq.cq_ex);
}

static int cq_next_poll(struct ibv_cq_ex *ex)
{
	struct frdma_cq *cq = ex_to_cq(ex);
	int err;

	err = frdma_ring_ready(&cq->ring, cq->at);
	if (err)
		return err;

	cq->cqe = frdma_ring_slot(&cq->ring, cq->at++);
	ex->wr_id = cq->cqe->wr_id;
	ex->status = cq->cqe->status;
	return 0;
}

static int cq_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct frdma_cq *cq = ex_to_cq(ex);
	int err;

	if (attr->comp_mask)
		return EINVAL;

	frdma_lock(&cq->lock);
	err = cq_next_poll(ex);
	if (err)
		frdma_unlock(&cq->lock);

	return err;
}

static void cq_end_poll(struct ibv_cq_ex *ex)
{
	struct frdma_cq *cq = ex_to_cq(ex);

	release(cq, cq->at);
	frdma_unlock(&cq->lock);
}

static enum ibv_wc_opcode cq_read_opcode(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->opcode;
}

static uint32_t cq_read_vendor_err(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->vendor_err;
}

static unsigned int cq_read_wc_flags(struct ibv_cq_ex *ex)
{
	return cqe_wc_flags(ex_to_cq(ex)->cqe);
}

static uint32_t cq_read_byte_len(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->byte_len;
}

/* An invalidated key is read through this, too. */
static __be32 cq_read_imm_data(struct ibv_cq_ex *ex)
{
	return (__force __be32)ex_to_cq(ex)->cqe->ex;
}

static uint32_t cq_read_qp_num(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->qp_num;
}

static uint32_t cq_read_src_qp(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->src_qp;
}

static uint8_t cq_read_sl(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->sl;
}

static uint64_t cq_read_completion_ts(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cqe->timestamp;
}

/* Ethernet has no LIDs. */
static uint32_t cq_read_slid(struct ibv_cq_ex *ex __attribute__((unused)))
{
	return 0;
}

static uint8_t
cq_read_dlid_path_bits(struct ibv_cq_ex *ex __attribute__((unused)))
{
	return 0;
}

void frdma_cq_set_readers(struct ibv_cq_ex *ex, uint64_t wc_flags)
{
	ex->start_poll = cq_start_poll;
	ex->next_poll = cq_next_poll;
	ex->end_poll = cq_end_poll;
	ex->read_opcode = cq_read_opcode;
	ex->read_vendor_err = cq_read_vendor_err;
	ex->read_wc_flags = cq_read_wc_flags;

	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = cq_read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = cq_read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = cq_read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = cq_read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = cq_read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = cq_read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = cq_read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = cq_read_completion_ts;
}
