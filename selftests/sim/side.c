// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "side.h"

/* Ten and twenty microseconds: short beside the timeout. */
#define RNR_TIMER_CODE		1
#define TIMEOUT_NS		1000000

u8 sim_payload(const struct sim_wr *wr, u32 at)
{
	return wr->seed * 31 + at * 7 + (at >> 4);
}

u8 sim_rom(u32 at)
{
	return at * 13 + (at >> 5);
}

void side_init(struct sim_side *side, u32 psn, u32 peer_psn)
{
	const struct sim_shape *shape = side->world->shape;

	side->req = (struct frdma_req) {
		.slots		= side->slots,
		.stride		= sizeof(side->slots[0]),
		.mask		= SIM_SQ - 1,
		.transport	= FRDMA_RC,
		.rd_max		= shape->rd_max,
		.read_grid	= shape->read_grid,
		.mtu		= SIM_MTU,
		.dqpn		= 0x11,
		.pkey		= 0xffff,
		.retry = {
			.timeout_ns	= TIMEOUT_NS,
			.retry_cnt	= 7,
			.rnr_retry	= FRDMA_RNR_RETRY_FOREVER,
		},
	};
	side->resp = (struct frdma_resp) {
		.mtu	= SIM_MTU,
		.access	= FRDMA_ACC_REMOTE | FRDMA_ACC_FLUSH,
		.res	= side->res,
		.nr_res	= shape->rd_max,
	};
	frdma_req_init(&side->req, psn);
	frdma_cc_init(&side->req.cc, shape->window);
	frdma_resp_init(&side->resp, peer_psn);
}

static void send_pkt(struct sim_side *side, struct frdma_hdr *hdr,
		     const u8 *payload)
{
	struct sim_world *world = side->world;
	const struct frdma_req *asker;
	struct wire_pkt pkt = {
		.to = !side->id,
		.response = frdma_op(hdr->opcode)->response,
	};

	asker = pkt.response ? &side->peer->req : &side->req;
	pkt.abs_psn = pkt.response ?
		side->abs_epsn + frdma_psn_diff(hdr->psn, side->resp.epsn) :
		side->abs_una + frdma_psn_diff(hdr->psn, side->req.una_psn);
	pkt.len = wire_pack(pkt.bytes, hdr, payload);
	wire_send(&world->wire, &pkt, world->now_ns,
		  asker->retry.retry_left <= 3);
}

/*
 * The send side: requester.
 */

/* Put one more work request into the send queue, if there is room. */
void side_post(struct sim_side *side)
{
	struct frdma_req *rq = &side->req;
	struct frdma_swr *slot = frdma_req_wr(rq, rq->wr_prod);
	struct sim_wr *wr = &side->wrs[side->posted];

	if (side->posted == SIM_WRS || rq->wr_prod - rq->wr_una == SIM_SQ)
		return;

	*slot = (struct frdma_swr) {
		.wqe = {
			.wr_id	= side->posted,
			.opcode	= wr->opcode,
			.flags	= wr->flags,
			.ex	= wr->ex,
			.remote_addr = SIM_MEM_VA + wr->off,
		},
	};
	switch (frdma_wr(wr->opcode)->kind) {
	case FRDMA_KIND_READ:
		slot->wqe.remote_addr = SIM_ROM_VA + wr->off;
		break;
	case FRDMA_KIND_ATOMIC:
		slot->wqe.remote_addr = SIM_COUNTER_VA;
		slot->wqe.atomic.compare_add = wr->seed;
		slot->wqe.atomic.swap = wr->off;
		break;
	case FRDMA_KIND_FLUSH:
		slot->wqe.flush.placement = FRDMA_FLUSH_GLOBAL;
		break;
	}

	frdma_req_fetched(rq, wr->len);
	side->abs_fetch += slot->npkts;
	wr->abs_end = side->abs_fetch;
	side->posted++;
}

static void execute_local(struct sim_side *side)
{
	struct frdma_req *rq = &side->req;
	const struct frdma_swr *slot = frdma_req_wr(rq, rq->wr_next);
	struct sim_wr *wr = &side->wrs[slot->wqe.wr_id];

	wr->executed++;
	SIM_CHECK(side->world, wr->executed == 1, "wr %llu",
		  slot->wqe.wr_id);
	if (wr->opcode == IB_UVERBS_WR_LOCAL_INV)
		SIM_CHECK(side->world, side->completed == slot->wqe.wr_id,
			  "wr %llu before %u", slot->wqe.wr_id,
			  side->completed);
	frdma_req_local_done(rq);
}

static void send_next(struct sim_side *side)
{
	struct frdma_req *rq = &side->req;
	const struct frdma_swr *slot = frdma_req_wr(rq, rq->wr_next);
	const struct sim_wr *wr = &side->wrs[slot->wqe.wr_id];
	u8 payload[SIM_MTU];
	struct frdma_req_pkt pkt;
	u32 i;

	frdma_req_plan(rq, &pkt);
	for (i = 0; i < pkt.len; i++)
		payload[i] = sim_payload(wr, pkt.off + i);
	pkt.hdr.payload_len = pkt.len;
	SIM_CHECK(side->world, !frdma_retry_paused(&rq->retry),
		  "psn 0x%x sent into a wait", rq->psn);
	side->resent += rq->psn != rq->end_psn;
	send_pkt(side, &pkt.hdr, payload);
	frdma_req_sent(rq, &pkt);
}

static bool host_has_no_room(struct sim_side *side)
{
	return rnd_below(&side->world->rnd, 1000) <
	       side->world->shape->no_room;
}

static void transmit(struct sim_side *side)
{
	struct sim_world *world = side->world;
	struct frdma_req *rq = &side->req;

	while (!world->failed) {
		switch (frdma_req_judge(rq)) {
		case FRDMA_REQ_SEND:
			if (host_has_no_room(side)) {
				frdma_cc_lost(&rq->cc);
				frdma_retry_local(&rq->retry, world->now_ns);
				return;
			}
			send_next(side);
			frdma_retry_watch(&rq->retry, frdma_req_in_flight(rq),
					  world->now_ns);
			break;
		case FRDMA_REQ_LOCAL:
			execute_local(side);
			break;
		case FRDMA_REQ_FAILED:
			sim_fail(world, "a good work request failed");
			return;
		default:
			return;
		}
	}
}

static void check_read(struct sim_side *side, const struct sim_wr *wr)
{
	u32 i;

	for (i = 0; i < wr->len; i++)
		SIM_CHECK(side->world, wr->got[i] == sim_rom(wr->off + i),
			  "wr %u, byte %u", (u32)(wr - side->wrs), i);
}

static void check_atomic(struct sim_side *side, const struct sim_wr *wr)
{
	u64 orig;

	memcpy(&orig, wr->got, sizeof(orig));
	SIM_CHECK(side->world, orig == wr->orig, "wr %u: 0x%llx, not 0x%llx",
		  (u32)(wr - side->wrs), orig, wr->orig);
}

static void check_completion(struct sim_side *side, const struct frdma_swr *slot)
{
	const struct sim_wr *wr = &side->wrs[side->completed];

	SIM_CHECK(side->world, slot->wqe.wr_id == side->completed,
		  "completed %llu, not %u", slot->wqe.wr_id, side->completed);
	SIM_CHECK(side->world, !slot->status, "wr %llu: status %u",
		  slot->wqe.wr_id, slot->status);
	SIM_CHECK(side->world, wr->abs_end <= side->peer->abs_epsn,
		  "wr %llu: the peer has not executed it", slot->wqe.wr_id);

	switch (frdma_wr(wr->opcode)->kind) {
	case FRDMA_KIND_NONE:
		SIM_CHECK(side->world, wr->executed == 1, "wr %llu",
			  slot->wqe.wr_id);
		break;
	case FRDMA_KIND_READ:
		check_read(side, wr);
		break;
	case FRDMA_KIND_ATOMIC:
		check_atomic(side, wr);
		break;
	}
}

static void reap(struct sim_side *side)
{
	const struct frdma_swr *slot;

	while ((slot = frdma_req_reap(&side->req)) && !side->world->failed) {
		check_completion(side, slot);
		side->completed++;
	}
}

static void look_at_clock(struct sim_side *side)
{
	struct frdma_req *rq = &side->req;

	switch (frdma_retry_expire(&rq->retry, side->world->now_ns)) {
	case FRDMA_EXPIRY_NOT_YET:
		break;
	case FRDMA_EXPIRY_RESEND:
		frdma_cc_silent(&rq->cc);
		fallthrough;
	case FRDMA_EXPIRY_RESUME:
		frdma_req_restart(rq);
		break;
	case FRDMA_EXPIRY_EXHAUSTED:
		sim_fail(side->world, "gave up waiting for an answer");
		break;
	}
}

/* All that the send side can do now. */
void side_run(struct sim_side *side)
{
	u32 before;

	side->next_run_ns = U64_MAX;
	do {
		before = side->completed;
		look_at_clock(side);
		reap(side);
		transmit(side);
		reap(side);
	} while (side->completed != before);
}

u64 side_deadline_ns(const struct sim_side *side)
{
	return frdma_retry_next_ns(&side->req.retry);
}

/*
 * The send side: completer.
 */

static void store_answer(struct sim_side *side, const struct frdma_hdr *hdr,
			 const void *data, u32 len)
{
	struct frdma_ack_data to = frdma_ack_locate(&side->req, hdr->psn);
	struct sim_wr *wr = &side->wrs[to.wr->wqe.wr_id];

	SIM_CHECK(side->world, to.off + len <= sizeof(wr->got), "%u + %u",
		  to.off, len);
	if (!side->world->failed)
		memcpy(wr->got + to.off, data, len);
	frdma_ack_commit(&side->req, hdr->psn, side->world->now_ns);
}

static void recover(struct sim_side *side)
{
	if (frdma_ack_recover(&side->req) == FRDMA_RECOVERY_EXHAUSTED)
		sim_fail(side->world, "gave up sending again");
}

static void wait_for_receiver(struct sim_side *side, u8 syndrome)
{
	struct frdma_req *rq = &side->req;

	frdma_req_restart(rq);
	if (!frdma_retry_rnr(&rq->retry, syndrome & FRDMA_AETH_VALUE,
			     side->world->now_ns))
		sim_fail(side->world, "gave up on the receiver");
}

static void take_bad_news(struct sim_side *side, const struct frdma_hdr *hdr,
			  enum frdma_ack_verdict verdict)
{
	frdma_ack_implied(&side->req, hdr->psn, side->world->now_ns);
	if (verdict == FRDMA_ACK_RNR_NAK)
		wait_for_receiver(side, hdr->syndrome);
	else if (verdict == FRDMA_ACK_SEQ_NAK || verdict == FRDMA_ACK_LOST)
		recover(side);
	else
		sim_fail(side->world, "verdict %u on opcode 0x%02x, psn 0x%x",
			 verdict, hdr->opcode, hdr->psn);
}

static void take_response(struct sim_side *side, const struct frdma_hdr *hdr,
			  const u8 *payload)
{
	enum frdma_ack_verdict verdict = frdma_ack_judge(&side->req, hdr);

	switch (verdict) {
	case FRDMA_ACK_DATA:
		store_answer(side, hdr, payload, hdr->payload_len);
		break;
	case FRDMA_ACK_ATOMIC:
		store_answer(side, hdr, &hdr->atomic_orig,
			     sizeof(hdr->atomic_orig));
		break;
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(&side->req, hdr->psn, side->world->now_ns);
		break;
	case FRDMA_ACK_STALE:
		break;
	default:
		take_bad_news(side, hdr, verdict);
		break;
	}
}

/*
 * The receive side: responder.
 */

void side_post_recv(struct sim_side *side)
{
	side->recvs++;
	side->posted_recvs++;
}

static void send_ack(struct sim_side *side, u32 psn, u8 syndrome)
{
	struct frdma_hdr hdr = {
		.opcode		= FRDMA_ACKNOWLEDGE,
		.psn		= psn,
		.syndrome	= syndrome,
		.msn		= side->resp.msn,
	};

	send_pkt(side, &hdr, NULL);
}

void side_flush_ack(struct sim_side *side)
{
	side->next_ack_ns = U64_MAX;
	if (!side->resp.ack_due)
		return;
	side->resp.ack_due = false;
	send_ack(side, frdma_psn_add(side->resp.epsn, -1),
		 FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS);
}

static void send_atomic_ack(struct sim_side *side, u32 psn, u64 orig)
{
	struct frdma_hdr hdr = {
		.opcode		= FRDMA_ATOMIC_ACK,
		.psn		= psn,
		.syndrome	= FRDMA_AETH_ACK | FRDMA_AETH_NO_CREDITS,
		.msn		= side->resp.msn,
		.atomic_orig	= orig,
	};

	send_pkt(side, &hdr, NULL);
}

static void send_empty_response(struct sim_side *side, u32 psn)
{
	struct frdma_hdr hdr;

	frdma_resp_empty_plan(&side->resp, psn, &hdr);
	send_pkt(side, &hdr, NULL);
}

static void send_read_response(struct sim_side *side)
{
	struct frdma_resp *rs = &side->resp;
	u8 payload[SIM_MTU];
	struct frdma_hdr hdr;
	u32 i;

	while (rs->read.active) {
		frdma_resp_read_plan(rs, &hdr);
		for (i = 0; i < hdr.payload_len; i++)
			payload[i] = sim_rom(rs->read.va - SIM_ROM_VA + i);
		send_pkt(side, &hdr, payload);
		frdma_resp_read_sent(rs, &hdr);
	}
}

static u64 execute_atomic(struct sim_side *side, const struct frdma_hdr *hdr)
{
	u64 orig = side->counter;

	if (hdr->opcode == FRDMA_FETCH_ADD)
		side->counter += hdr->swap_add;
	else if (orig == hdr->compare)
		side->counter = hdr->swap_add;
	return orig;
}

static void execute_write(struct sim_side *side, const struct frdma_hdr *hdr,
			  const u8 *payload)
{
	bool starts = frdma_op(hdr->opcode)->starts;
	u64 va = starts ? hdr->va : side->resp.va;
	bool fits = frdma_range_in(va, hdr->payload_len, SIM_MEM_VA, SIM_MEM);

	SIM_CHECK(side->world, fits, "va 0x%llx", va);
	if (fits)
		memcpy(side->mem + (va - SIM_MEM_VA), payload,
		       hdr->payload_len);
}

static void execute_send(struct sim_side *side, const struct frdma_hdr *hdr,
			 const u8 *payload)
{
	bool fits = side->resp.got + hdr->payload_len <= SIM_MSG_MAX;

	SIM_CHECK(side->world, fits, "%u", side->resp.got);
	if (fits)
		memcpy(side->recv_buf + side->resp.got, payload,
		       hdr->payload_len);
}

static bool wr_uses_recv(const struct sim_wr *wr)
{
	const struct frdma_wr *row = frdma_wr(wr->opcode);

	return row->kind == FRDMA_KIND_SEND ||
	       (row->kind == FRDMA_KIND_WRITE && row->imm);
}

/* The n-th work request of the peer that takes a receive request. */
static const struct sim_wr *find_sent(const struct sim_side *side, u32 n)
{
	const struct sim_wr *wr;

	for (wr = side->wrs; wr < side->wrs + SIM_WRS; wr++) {
		if (wr_uses_recv(wr) && !n--)
			return wr;
	}
	return NULL;
}

static void complete_recv(struct sim_side *side, const struct frdma_hdr *hdr)
{
	const struct sim_wr *wr = find_sent(side->peer, side->received++);
	u32 len = side->resp.got + hdr->payload_len, i;

	SIM_CHECK(side->world, wr, "received more than was sent");
	if (!wr)
		return;

	SIM_CHECK(side->world, len == wr->len, "%u bytes, not %u", len,
		  wr->len);
	if (frdma_wr(wr->opcode)->imm)
		SIM_CHECK(side->world, hdr->imm_data == wr->ex, "0x%x",
			  hdr->imm_data);
	if (frdma_wr(wr->opcode)->inv)
		SIM_CHECK(side->world, hdr->inv_rkey == wr->ex, "0x%x",
			  hdr->inv_rkey);
	SIM_CHECK(side->world,
		  hdr->solicited == !!(wr->flags & FRDMA_WQE_SOLICITED),
		  "wr %u", (u32)(wr - side->peer->wrs));
	if (frdma_wr(wr->opcode)->kind != FRDMA_KIND_SEND)
		return;
	for (i = 0; i < len; i++)
		SIM_CHECK(side->world, side->recv_buf[i] == sim_payload(wr, i),
			  "message %u, byte %u", side->received - 1, i);
}

static void accept(struct sim_side *side, const struct frdma_hdr *hdr,
		   const u8 *payload)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	struct frdma_resp *rs = &side->resp;
	u32 epsn = rs->epsn;
	u64 orig = 0;

	side->recvs -= op->takes_recv;
	if (op->kind == FRDMA_KIND_SEND)
		execute_send(side, hdr, payload);
	else if (op->kind == FRDMA_KIND_WRITE ||
		 op->kind == FRDMA_KIND_ATOMIC_WRITE)
		execute_write(side, hdr, payload);
	else if (op->kind == FRDMA_KIND_ATOMIC)
		orig = execute_atomic(side, hdr);
	if (op->ends_recv)
		complete_recv(side, hdr);

	frdma_resp_commit(rs, hdr, orig);
	side->abs_epsn += (rs->epsn - epsn) & FRDMA_PSN_MASK;
	if (op->kind == FRDMA_KIND_ATOMIC)
		send_atomic_ack(side, hdr->psn, orig);
	else if (op->kind == FRDMA_KIND_ATOMIC_WRITE ||
		 op->kind == FRDMA_KIND_FLUSH)
		send_empty_response(side, hdr->psn);
	send_read_response(side);
}

static void repeat(struct sim_side *side, const struct frdma_hdr *hdr)
{
	enum frdma_dup_verdict verdict;

	verdict = frdma_resp_judge_dup(&side->resp, hdr);
	frdma_resp_commit_dup(&side->resp, hdr, verdict);
	if (verdict == FRDMA_DUP_ATOMIC)
		send_atomic_ack(side, hdr->psn,
				frdma_resp_saved(&side->resp, hdr->psn));
	else if (verdict == FRDMA_DUP_EMPTY)
		send_empty_response(side, hdr->psn);
	send_read_response(side);
}

static void take_request(struct sim_side *side, const struct frdma_hdr *hdr,
			 const u8 *payload)
{
	struct frdma_resp *rs = &side->resp;
	bool uses_open = rs->in_msg && rs->kind == FRDMA_KIND_SEND;
	struct frdma_resp_recv recv = {
		.ready	= uses_open || side->recvs,
		.len	= SIM_MSG_MAX,
	};
	enum frdma_resp_verdict verdict = frdma_resp_judge(rs, hdr, recv);

	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		accept(side, hdr, payload);
		break;
	case FRDMA_RESP_DUPLICATE:
		repeat(side, hdr);
		break;
	case FRDMA_RESP_GAP:
		frdma_resp_put_off(rs, verdict);
		send_ack(side, rs->epsn, FRDMA_NAK_PSN);
		break;
	case FRDMA_RESP_NO_RECV:
		frdma_resp_put_off(rs, verdict);
		send_ack(side, rs->epsn, FRDMA_AETH_RNR | RNR_TIMER_CODE);
		break;
	case FRDMA_RESP_WAITING:
		break;
	default:
		sim_fail(side->world, "verdict %u on opcode 0x%02x, psn 0x%x",
			 verdict, hdr->opcode, hdr->psn);
		break;
	}
}

/*
 * A network does not keep a packet until the numbers have come round: one
 * whose PSN would be taken for another is dropped on the way.
 */
static bool outlived(const struct sim_side *side, const struct wire_pkt *pkt)
{
	s64 here = pkt->response ? side->abs_una : side->abs_epsn;
	s64 ahead = pkt->abs_psn - here;

	return ahead < -(s64)FRDMA_PSN_HALF || ahead >= (s64)FRDMA_PSN_HALF;
}

/* At once, or after some more packets have been taken. */
static void run_soon(struct sim_side *side)
{
	struct sim_world *world = side->world;

	if (rnd_below(&world->rnd, 2))
		side_run(side);
	else if (side->next_run_ns == U64_MAX)
		side->next_run_ns = world->now_ns +
				    rnd_below(&world->rnd, 10000);
}

void side_take(struct sim_side *side, const struct wire_pkt *pkt)
{
	struct sim_world *world = side->world;
	struct frdma_hdr hdr;
	const u8 *payload;

	if (outlived(side, pkt) || !wire_unpack(pkt, &hdr, &payload))
		return;

	if (pkt->response) {
		u32 una = side->req.una_psn;

		take_response(side, &hdr, payload);
		side->abs_una += frdma_psn_diff(side->req.una_psn, una);
		run_soon(side);
		return;
	}

	take_request(side, &hdr, payload);
	/* Some acknowledgements wait for more to acknowledge. */
	if (!side->resp.ack_due)
		return;
	if (rnd_below(&world->rnd, 2))
		side_flush_ack(side);
	else if (side->next_ack_ns == U64_MAX)
		side->next_ack_ns = world->now_ns +
				    rnd_below(&world->rnd, 50000);
}
