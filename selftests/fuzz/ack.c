// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that answers what it likes, while work is posted, packets are lost
 * and clocks run out. Work completes in order, once, and with success only if
 * all of it was acknowledged and all that it asked for came.
 */
#include "ack.h"
#include "fuzz.h"
#include "sendq.h"

#define POSTED_MAX	1024

static struct sendq q;
static u64 now_ns;
static u32 completed;

/* Bytes that came for each work request; the oldest is in the next slot. */
static u32 came[SENDQ_SLOTS];

static void connect(struct fuzz *fuzz)
{
	u8 how = fuzz_u8(fuzz);

	sendq_init(&q);
	q.rq.transport = how & 1 ? FRDMA_XRC : FRDMA_RC;
	q.rq.rd_max = 1 + (how >> 1 & 3);
	q.rq.read_grid = 1 + (how >> 3 & 15);
	q.rq.retry.rnr_retry = how >> 7 ? 7 : 2;
	q.rq.retry.retry_cnt = 3;
	frdma_retry_refill(&q.rq.retry);
	frdma_cc_init(&q.rq.cc, 1 + fuzz_below(fuzz, 64));
	completed = 0;
	memset(came, 0, sizeof(came));
}

static void post(struct fuzz *fuzz)
{
	static const u8 opcodes[] = {
		IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND_WITH_INV,
		IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
		IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_RDMA_READ,
		IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
		IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, FRDMA_WR_FLUSH,
		FRDMA_WR_ATOMIC_WRITE, IB_UVERBS_WR_LOCAL_INV, FRDMA_WR_REG_MR,
	};
	u8 opcode = opcodes[fuzz_below(fuzz, ARRAY_SIZE(opcodes))];
	u8 how = fuzz_u8(fuzz), kind = frdma_wr(opcode)->kind;
	u32 len = fuzz_take(fuzz, 2) % (40 * SENDQ_MTU);
	struct frdma_swr *wr;

	if (q.rq.wr_prod - q.rq.wr_una == SENDQ_SLOTS)
		return;
	if (kind == FRDMA_KIND_ATOMIC || kind == FRDMA_KIND_ATOMIC_WRITE)
		len = sizeof(u64);
	else if (kind == FRDMA_KIND_FLUSH || kind == FRDMA_KIND_NONE)
		len = 0;
	came[q.rq.wr_prod % SENDQ_SLOTS] = 0;
	wr = sendq_post(&q, opcode, len);
	if (how & 1)
		wr->wqe.flags = FRDMA_WQE_FENCE;
	/* One that the shell has found bad: it sends nothing. */
	if (how > 0xf0) {
		wr->status = FRDMA_WC_LOC_QP_OP_ERR;
		wr->len = 0;
		frdma_req_make_local(&q.rq);
	}
}

/* All is over: what is left completes as flushed, and the next one begins. */
static void flush(struct fuzz *fuzz)
{
	q.rq.wr_una = q.rq.wr_prod;
	frdma_req_forget(&q.rq);
	FUZZ_CHECK(!frdma_req_in_flight(&q.rq), "0x%x", q.rq.end_psn);
	FUZZ_CHECK(frdma_retry_next_ns(&q.rq.retry) == U64_MAX, "timer");
	FUZZ_CHECK(frdma_req_judge(&q.rq) == FRDMA_REQ_EMPTY, "judge");
	connect(fuzz);
}

static void check_success(const struct frdma_swr *wr)
{
	s32 beyond = frdma_psn_diff(q.rq.una_psn,
				    frdma_psn_add(wr->first_psn, wr->npkts));

	if (wr->npkts)
		FUZZ_CHECK(beyond >= 0, "wr %llu: %d", wr->wqe.wr_id, beyond);
	else
		FUZZ_CHECK(wr->done, "wr %llu", wr->wqe.wr_id);
	if (frdma_kind_brings_data(wr->kind))
		FUZZ_CHECK(came[wr->wqe.wr_id % SENDQ_SLOTS] == wr->len,
			   "wr %llu: %u of %u", wr->wqe.wr_id,
			   came[wr->wqe.wr_id % SENDQ_SLOTS], wr->len);
}

static void reap(struct fuzz *fuzz)
{
	struct frdma_swr *wr;

	while ((wr = frdma_req_reap(&q.rq))) {
		FUZZ_CHECK(wr->wqe.wr_id == completed, "wr %llu, not %u",
			   wr->wqe.wr_id, completed);
		completed++;
		if (wr->status) {
			flush(fuzz);
			return;
		}
		check_success(wr);
	}
}

static void send(u32 max)
{
	while (max-- && frdma_req_judge(&q.rq) == FRDMA_REQ_SEND)
		sendq_send(&q);
	if (frdma_req_judge(&q.rq) == FRDMA_REQ_LOCAL)
		frdma_req_local_done(&q.rq);
	else if (frdma_req_judge(&q.rq) == FRDMA_REQ_FAILED &&
		 frdma_req_ask(&q.rq))
		sendq_send(&q);
}

/* Mostly an answer to something, or nothing would get far. */
static struct frdma_hdr take_answer(struct fuzz *fuzz)
{
	static const u8 operations[] = {
		FRDMA_ACKNOWLEDGE, FRDMA_ACKNOWLEDGE, FRDMA_ATOMIC_ACK,
		FRDMA_READ_RESP_FIRST, FRDMA_READ_RESP_MIDDLE,
		FRDMA_READ_RESP_LAST, FRDMA_READ_RESP_ONLY,
		FRDMA_READ_RESP_ONLY,
	};
	u8 how = fuzz_u8(fuzz);
	struct frdma_hdr hdr = {
		.opcode = q.rq.transport | operations[how & 7],
		.psn = frdma_psn_add(q.rq.una_psn, (s8)fuzz_u8(fuzz) >> 1),
		.syndrome = how & 8 ? fuzz_u8(fuzz) : FRDMA_AETH_NO_CREDITS,
		.payload_len = how & 16 ? fuzz_take(fuzz, 2) : 0,
	};
	u32 i;

	if (how >= 192)
		hdr.opcode = FRDMA_CNP;
	if (!(how & 32) || !frdma_op(hdr.opcode)->payload)
		return hdr;
	/* The length that fits, if there is one. */
	for (i = q.rq.wr_una; i != q.rq.wr_prod; i++) {
		const struct frdma_swr *wr = frdma_req_wr(&q.rq, i);
		u32 pkt = (hdr.psn - wr->first_psn) & FRDMA_PSN_MASK;

		if (wr->kind == FRDMA_KIND_READ && pkt < wr->npkts)
			hdr.payload_len = min(wr->len - pkt * SENDQ_MTU,
					      (u32)SENDQ_MTU);
	}
	return hdr;
}

static void store(const struct frdma_hdr *hdr, u32 len)
{
	struct frdma_ack_data to = frdma_ack_locate(&q.rq, hdr->psn);
	u32 *have = &came[to.wr->wqe.wr_id % SENDQ_SLOTS];

	if (!frdma_kind_brings_data(to.wr->kind)) {
		FUZZ_CHECK(!len, "%u", len);
		return;
	}
	FUZZ_CHECK(to.off + len <= to.wr->len, "%u + %u", to.off, len);
	FUZZ_CHECK(to.off == *have, "%u, not %u", to.off, *have);
	*have += len;
}

/* Only what is missing before it is asked for, as if it were kept, where it might be. */
static enum frdma_recovery recover(const struct frdma_hdr *hdr,
				   enum frdma_ack_verdict verdict)
{
	if (verdict == FRDMA_ACK_LOST && frdma_ack_is_ahead(&q.rq, hdr)) {
		frdma_resend_note_ahead(&q.rq, hdr->psn, 1);
		return frdma_resend_hole(&q.rq, hdr->psn);
	}
	return frdma_resend_recover(&q.rq, true);
}

static void take(struct fuzz *fuzz)
{
	struct frdma_hdr hdr = take_answer(fuzz);
	u32 una = q.rq.una_psn, end = q.rq.end_psn;
	struct frdma_req before = q.rq;
	enum frdma_ack_verdict verdict = frdma_ack_judge(&q.rq, &hdr);

	fuzz_packets++;
	FUZZ_CHECK(!memcmp(&before, &q.rq, sizeof(before)), "judged");
	switch (verdict) {
	case FRDMA_ACK_DATA:
		frdma_ack_note(&q.rq, &hdr);
		store(&hdr, hdr.payload_len);
		frdma_ack_commit(&q.rq, hdr.psn, now_ns);
		break;
	case FRDMA_ACK_ATOMIC:
		store(&hdr, sizeof(u64));
		frdma_ack_commit(&q.rq, hdr.psn, now_ns);
		break;
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(&q.rq, hdr.psn, now_ns);
		break;
	case FRDMA_ACK_CONGESTED:
		frdma_cc_notified(&q.rq.cc, frdma_req_outstanding(&q.rq),
				  now_ns);
		FUZZ_CHECK(q.rq.cc.window, "window");
		return;
	case FRDMA_ACK_STALE:
	case FRDMA_ACK_GHOST:
		return;
	default:
		frdma_ack_implied(&q.rq, hdr.psn, now_ns);
		break;
	}
	FUZZ_CHECK(((q.rq.una_psn - una) & FRDMA_PSN_MASK) <=
		   ((end - una) & FRDMA_PSN_MASK), "una 0x%x", q.rq.una_psn);

	switch (verdict) {
	case FRDMA_ACK_DATA:
	case FRDMA_ACK_ATOMIC:
	case FRDMA_ACK_PROGRESS:
		break;
	case FRDMA_ACK_LOST:
	case FRDMA_ACK_SEQ_NAK:
		if (recover(&hdr, verdict) == FRDMA_RECOVERY_EXHAUSTED)
			frdma_req_fail(&q.rq, FRDMA_WC_RETRY_EXC_ERR, verdict);
		break;
	case FRDMA_ACK_RNR_NAK:
		if (!frdma_ack_wait(&q.rq, &hdr, now_ns))
			frdma_req_fail(&q.rq, FRDMA_WC_RNR_RETRY_EXC_ERR,
				       verdict);
		break;
	default:
		frdma_req_fail(&q.rq, FRDMA_WC_GENERAL_ERR, verdict);
		break;
	}
}

static void let_time_pass(struct fuzz *fuzz)
{
	now_ns += (u64)fuzz_u8(fuzz) << fuzz_below(fuzz, 24);
	switch (frdma_retry_expire(&q.rq.retry, now_ns)) {
	case FRDMA_EXPIRY_NOT_YET:
		return;
	case FRDMA_EXPIRY_EXHAUSTED:
		frdma_req_fail(&q.rq, FRDMA_WC_RETRY_EXC_ERR, 0);
		return;
	case FRDMA_EXPIRY_PROBE:
		frdma_resend_probe(&q.rq);
		return;
	case FRDMA_EXPIRY_RESEND:
		frdma_resend_timeout(&q.rq);
		break;
	case FRDMA_EXPIRY_RESUME:
		frdma_resend_refused(&q.rq);
		break;
	case FRDMA_EXPIRY_READY:
		frdma_resend_awaited(&q.rq);
		break;
	}
}

static void check_window(void)
{
	s32 sent = frdma_psn_diff(q.rq.psn, q.rq.una_psn);
	s32 ever = frdma_psn_diff(q.rq.end_psn, q.rq.una_psn);

	FUZZ_CHECK(0 <= sent && sent <= ever, "%d, %d", sent, ever);
	FUZZ_CHECK(ever < (s32)(2 * q.rq.cc.max + q.rq.read_grid), "%d", ever);
	FUZZ_CHECK(q.rq.rd_out <= q.rq.rd_max, "%u", q.rq.rd_out);
	FUZZ_CHECK(q.rq.cc.window >= 1 && q.rq.cc.window <= q.rq.cc.max, "%u",
		   q.rq.cc.window);
	FUZZ_CHECK(q.rq.wr_next - q.rq.wr_una <= q.rq.wr_prod - q.rq.wr_una,
		   "%u", q.rq.wr_next);
	FUZZ_CHECK(q.rq.retry.retry_left <= q.rq.retry.retry_cnt, "%u",
		   q.rq.retry.retry_left);
}

FUZZ_TARGET(ack)(const u8 *data, size_t size)
{
	struct fuzz fuzz = { data, size };

	now_ns = SENDQ_NOW;
	connect(&fuzz);
	while (fuzz.left && completed < POSTED_MAX) {
		switch (fuzz_below(&fuzz, 8)) {
		case 0:
		case 1:
			post(&fuzz);
			break;
		case 2:
			send(1);
			break;
		case 3:
			send(U32_MAX);
			break;
		case 4:
			let_time_pass(&fuzz);
			break;
		case 5:
			/* The host had no room for the last ones. */
			frdma_resend_refuse(&q.rq, q.rq.una_psn,
				fuzz_below(&fuzz,
					   frdma_req_outstanding(&q.rq) + 1));
			frdma_retry_local(&q.rq.retry, now_ns);
			break;
		default:
			take(&fuzz);
			break;
		}
		reap(&fuzz);
		check_window();
	}
	return 0;
}
