// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "aside.h"
#include "reads.h"
#include "sender.h"

/* Put one more work request into the send queue, if there is room. */
void sender_post(struct sim_side *side)
{
	struct frdma_req *rq = &side->req;
	struct frdma_swr *slot = frdma_req_wr(rq, rq->wr_prod);
	struct sim_wr *wr = &side->wrs[side->posted];

	if (side->posted == side->world->shape->wrs ||
	    rq->wr_prod - rq->wr_una == SIM_SQ)
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

	if (rq->transport == FRDMA_XRC)
		slot->wqe.xrc.srqn = SIM_SRQN;

	frdma_req_fetched(rq, wr->len);
	wr->abs_begin = side->abs_fetch;
	side->abs_fetch += slot->npkts;
	wr->abs_end = side->abs_fetch;
	side->posted++;
}

static void execute_local(struct sim_side *side)
{
	struct frdma_req *rq = &side->req;
	const struct frdma_swr *slot = frdma_req_wr(rq, rq->wr_next);
	struct sim_wr *wr = &side->wrs[slot->wqe.wr_id];

	SIM_CHECK(side->world, side->state == SIM_RTS, "wr %llu",
		  slot->wqe.wr_id);
	wr->executed++;
	SIM_CHECK(side->world, wr->executed == 1, "wr %llu",
		  slot->wqe.wr_id);
	if (wr->opcode == IB_UVERBS_WR_LOCAL_INV)
		SIM_CHECK(side->world, side->completed == slot->wqe.wr_id,
			  "wr %llu before %u", slot->wqe.wr_id,
			  side->completed);
	frdma_req_local_done(rq);
}

/* All that a fence waits for has been answered. */
static void check_fence(struct sim_side *side, u64 wr_id)
{
	u32 i;

	for (i = side->first_wr; i < wr_id; i++) {
		const struct sim_wr *wr = &side->wrs[i];

		if (frdma_wr_wants_response(frdma_wr(wr->opcode)))
			SIM_CHECK(side->world, wr->abs_end <= side->abs_una,
				  "wr %llu begins, wr %u is not done", wr_id,
				  i);
	}
}

/* What is sent at once must be what would be sent one by one. */
static void check_run(struct sim_side *side, const struct frdma_req_pkt *run)
{
	bool repeats = frdma_req_repeats(&side->req);
	struct frdma_req one = side->req;
	struct frdma_req_pkt pkt, plan;
	u32 n;

	for (n = 0; n < run->nr; n++) {
		pkt = frdma_req_run_nth(run, n);
		SIM_CHECK(side->world, !n || frdma_req_judge(&one) ==
			  FRDMA_REQ_SEND,
			  "psn 0x%x would be sent, and must not", pkt.hdr.psn);
		SIM_CHECK(side->world, frdma_req_repeats(&one) == repeats,
			  "psn 0x%x is %sa repetition", pkt.hdr.psn,
			  repeats ? "not " : "");
		frdma_req_plan(&one, &plan);
		SIM_CHECK(side->world, pkt.hdr.opcode == plan.hdr.opcode &&
			  pkt.hdr.psn == plan.hdr.psn &&
			  pkt.off == plan.off && pkt.len == plan.len &&
			  pkt.span == plan.span &&
			  pkt.hdr.ack_req == plan.hdr.ack_req,
			  "psn 0x%x is not what was planned", pkt.hdr.psn);
		frdma_req_sent(&one, &plan);
	}
	frdma_req_sent(&side->req, run);
	SIM_CHECK(side->world, !memcmp(&side->req, &one, sizeof(one)),
		  "%u packets before psn 0x%x count otherwise together",
		  run->nr, one.psn);
}

static void send_packet(struct sim_side *side, struct frdma_req_pkt pkt)
{
	struct frdma_req *rq = &side->req;
	const struct frdma_swr *slot = frdma_req_wr(rq, rq->wr_next);
	const struct sim_wr *wr = &side->wrs[slot->wqe.wr_id];
	u8 payload[SIM_MTU_MAX];
	u32 i;

	for (i = 0; i < pkt.len; i++)
		payload[i] = sim_payload(wr, pkt.off + i);
	pkt.hdr.payload_len = pkt.len;
	SIM_CHECK(side->world, !frdma_retry_paused(&rq->retry),
		  "psn 0x%x sent into a wait", pkt.hdr.psn);
	if (wr->flags & FRDMA_WQE_FENCE && frdma_req_begins(rq))
		check_fence(side, slot->wqe.wr_id);
	side->resent += frdma_req_repeats(rq);
	reads_sent(side, &pkt);
	side_send(side, &pkt.hdr, payload, pkt.span);
}

static bool host_has_no_room(struct sim_side *side)
{
	return rnd_below(&side->world->rnd, 1000) <
	       side->world->shape->no_room;
}

/* The host has no room for a packet, and those behind it of the same run. */
static void refuse(struct sim_side *side, u32 psn, u32 left)
{
	frdma_resend_refuse(&side->req, psn, left);
	frdma_retry_local(&side->req.retry, side->world->now_ns);
}

/* What was refused when it was to leave counts as sent, all the same. */
static void count_refused(struct sim_side *side, const struct frdma_req_pkt *run)
{
	s64 end = side->abs_una + run->nr * run->span +
		  frdma_psn_diff(run->hdr.psn, side->req.una_psn);

	side->abs_sent = max(side->abs_sent, end);
}

/*
 * As many as the host takes, of which there is one, and the pace. What else was
 * planned was either left for later, or refused when it was to leave. Returns how
 * many were planned.
 */
static u32 send_run(struct sim_side *side, u32 most)
{
	struct frdma_req *rq = &side->req;
	struct frdma_req_pkt run;
	u32 n = 1, i;

	frdma_req_plan(rq, &run);
	frdma_req_plan_run(rq, &run, most);
	while (n < run.nr && !host_has_no_room(side))
		n++;
	if (rnd_below(&side->world->rnd, 2))
		frdma_req_plan_run(rq, &run, n);
	for (i = 0; i < n; i++)
		send_packet(side, frdma_req_run_nth(&run, i));
	check_run(side, &run);
	if (n < run.nr) {
		count_refused(side, &run);
		refuse(side, run.hdr.psn, n * run.span);
	} else {
		frdma_retry_taken(&rq->retry);
	}
	return run.nr;
}

/* In SQD what was begun is finished, and nothing is begun (10.3.1). */
static bool is_held_back(const struct sim_side *side)
{
	return side->state == SIM_SQD && frdma_req_begins(&side->req);
}

/* Returns false if the host has no room, or it is too early. */
static bool send_if_there_is_room(struct sim_side *side)
{
	struct sim_world *world = side->world;
	struct frdma_req *rq = &side->req;
	u32 credit = frdma_req_credit(rq, world->now_ns);

	if (!credit) {
		side->paced++;
		return false;
	}
	if (host_has_no_room(side)) {
		refuse(side, rq->psn, 0);
		frdma_req_watch(rq, world->now_ns);
		return false;
	}
	frdma_req_spend(rq, send_run(side, credit), world->now_ns);
	frdma_req_watch(rq, world->now_ns);
	return true;
}

static void transmit(struct sim_side *side)
{
	struct sim_world *world = side->world;
	struct frdma_req *rq = &side->req;

	while (!world->failed && !is_held_back(side)) {
		switch (frdma_req_judge(rq)) {
		case FRDMA_REQ_SEND:
			if (!send_if_there_is_room(side))
				return;
			break;
		case FRDMA_REQ_LOCAL:
			execute_local(side);
			break;
		case FRDMA_REQ_FAILED:
		case FRDMA_REQ_NO_READS:
			sim_fail(world, "a good work request failed");
			return;
		default:
			return;
		}
	}
	if (!world->failed && frdma_req_ask(rq)) {
		side->asked++;
		send_if_there_is_room(side);
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

/* It gives up when it may, and only then; and blames what is to blame. */
static void check_failure(struct sim_side *side, const struct frdma_swr *slot)
{
	const struct sim_side *peer = side->peer;
	const struct sim_wr *wr = &side->wrs[side->completed];
	struct sim_world *world = side->world;

	SIM_CHECK(world, slot->wqe.wr_id == side->completed,
		  "failed %llu, not %u", slot->wqe.wr_id, side->completed);
	switch (slot->status) {
	case FRDMA_WC_REM_ACCESS_ERR:
		SIM_CHECK(world, peer->refused, "wr %u", side->completed);
		SIM_CHECK(world, wr->abs_begin <= peer->abs_refused &&
			  peer->abs_refused < wr->abs_end,
			  "wr %u blamed for %lld", side->completed,
			  peer->abs_refused);
		break;
	case FRDMA_WC_RETRY_EXC_ERR:
		/* Or its own host has refused all, up to the end. */
		SIM_CHECK(world, world->shape->dead_ns ||
			  side_is_broken(peer) || side->req.retry.refusals,
			  "wr %u", side->completed);
		SIM_CHECK(world, side->tries == side->retries, "%u tries",
			  side->tries);
		break;
	default:
		sim_fail(world, "wr %u: status %u", side->completed,
			 slot->status);
		break;
	}
}

static bool oldest_is_held_back(const struct sim_side *side)
{
	return side->req.wr_una == side->req.wr_next && is_held_back(side);
}

static void reap(struct sim_side *side)
{
	const struct frdma_swr *slot;

	while (!oldest_is_held_back(side) &&
	       (slot = frdma_req_reap(&side->req)) && !side->world->failed) {
		if (slot->status) {
			check_failure(side, slot);
			side_break(side);
			return;
		}
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
	case FRDMA_EXPIRY_PROBE:
		side->probes += frdma_resend_probe(rq);
		reads_probe(side);
		break;
	case FRDMA_EXPIRY_RESEND:
		side->tries++;
		frdma_resend_timeout(rq);
		break;
	case FRDMA_EXPIRY_RESUME:
		frdma_resend_refused(rq);
		break;
	case FRDMA_EXPIRY_READY:
		frdma_resend_awaited(rq);
		break;
	case FRDMA_EXPIRY_EXHAUSTED:
		frdma_req_fail(rq, FRDMA_WC_RETRY_EXC_ERR, 0);
		break;
	}
}

/* All that was begun is answered, and nothing else was. */
static void note_drained(struct sim_side *side)
{
	if (!is_held_back(side) || frdma_req_in_flight(&side->req))
		return;
	frdma_retry_rest(&side->req.retry);
	if (side->drained)
		return;
	side->drained = true;
	SIM_CHECK(side->world, side->abs_una == side->abs_begun,
		  "%lld, not %lld", side->abs_una, side->abs_begun);
}

/* All that the send side can do now. */
void sender_run(struct sim_side *side)
{
	u32 before;

	side->next_run_ns = U64_MAX;
	if (!side_can_send(side))
		return;
	do {
		before = side->completed;
		look_at_clock(side);
		reap(side);
		if (side_is_broken(side))
			return;
		transmit(side);
		reap(side);
	} while (side->completed != before && !side_is_broken(side));
	note_drained(side);
}

u64 sender_deadline_ns(const struct sim_side *side)
{
	u64 next_ns = frdma_retry_next_ns(&side->req.retry);

	return is_held_back(side) ? next_ns :
				    min(next_ns, frdma_req_next_ns(&side->req));
}

/* What the engine takes for acknowledged now. */
static void note_progress(struct sim_side *side, u32 una)
{
	side->abs_una += (side->req.una_psn - una) & FRDMA_PSN_MASK;
	if (side->req.una_psn != una)
		side->tries = 0;
}

static void commit(struct sim_side *side, u32 psn)
{
	u32 una = side->req.una_psn;

	frdma_ack_commit(&side->req, psn, side->world->now_ns);
	note_progress(side, una);
}

static void store_data(struct sim_side *side, u32 psn, const void *data,
		       u32 len)
{
	struct frdma_ack_data to = frdma_ack_locate(&side->req, psn);
	struct sim_wr *wr = &side->wrs[to.wr->wqe.wr_id];

	SIM_CHECK(side->world, to.off + len <= sizeof(wr->got), "%u + %u",
		  to.off, len);
	if (!side->world->failed)
		memcpy(wr->got + to.off, data, len);
}

static void store_answer(struct sim_side *side, const struct frdma_hdr *hdr,
			 const void *data, u32 len)
{
	store_data(side, hdr->psn, data, len);
	commit(side, hdr->psn);
}

static void recover(struct sim_side *side, enum frdma_recovery recovery)
{
	switch (recovery) {
	case FRDMA_RECOVERY_RUNS:
		break;
	case FRDMA_RECOVERY_BEGUN:
		side->tries++;
		break;
	case FRDMA_RECOVERY_EXHAUSTED:
		frdma_req_fail(&side->req, FRDMA_WC_RETRY_EXC_ERR, 0);
		break;
	}
}

static void ask_for_hole(struct sim_side *side)
{
	u32 tries = side->tries;

	recover(side, frdma_resend_hole(&side->req, side->ahead.first->psn));
	side->holes += side->tries - tries;
}

/* Answers that are ahead of their turn. */
static void put_aside(struct sim_side *side, const struct frdma_hdr *hdr,
		      const u8 *payload, u32 nr)
{
	u32 una = side->req.una_psn;
	bool room = true;

	frdma_ack_implied(&side->req, hdr->psn, side->world->now_ns);
	note_progress(side, una);
	if (frdma_ack_is_ahead(&side->req, hdr)) {
		frdma_resend_note_ahead(&side->req, hdr->psn, nr);
		reads_heard(side, frdma_psn_add(hdr->psn, nr - 1));
		room = aside_put(side, &side->ahead, side->req.una_psn, hdr,
				 payload, nr);
	}
	if (!room) {
		frdma_resend_let_go(&side->req);
		recover(side, frdma_resend_lacking(&side->req));
	} else if (side->ahead.first) {
		ask_for_hole(side);
	} else {
		recover(side, frdma_resend_recover(&side->req, false));
	}
}

/* That the peer is not ready, by what it executes; or it waits for its own memory. */
static bool may_be_overtaken(const struct sim_shape *shape)
{
	return shape->mood.late || shape->mood.copy || shape->absent;
}

static void take_bad_news(struct sim_side *side, const struct frdma_hdr *hdr,
			  enum frdma_ack_verdict verdict)
{
	u32 una = side->req.una_psn;

	frdma_ack_implied(&side->req, hdr->psn, side->world->now_ns);
	note_progress(side, una);
	switch (verdict) {
	case FRDMA_ACK_RNR_NAK:
		SIM_CHECK(side->world, side->peer->abs_epsn <= side->abs_una ||
			  may_be_overtaken(side->world->shape),
			  "%lld was executed", side->abs_una);
		SIM_CHECK(side->world, frdma_ack_wait(&side->req, hdr,
						      side->world->now_ns),
			  "gave up on the receiver");
		break;
	case FRDMA_ACK_SEQ_NAK:
		recover(side, frdma_resend_recover(&side->req, true));
		break;
	case FRDMA_ACK_REM_ACCESS:
		frdma_req_fail(&side->req, FRDMA_WC_REM_ACCESS_ERR, verdict);
		break;
	default:
		sim_fail(side->world, "verdict %u on opcode 0x%02x, psn 0x%x",
			 verdict, hdr->opcode, hdr->psn);
		break;
	}
}

void sender_take(struct sim_side *side, const struct frdma_hdr *hdr,
		 const u8 *payload)
{
	enum frdma_ack_verdict verdict = frdma_ack_judge(&side->req, hdr);

	/* Notifications do no more than this. */
	if (!rnd_below(&side->world->rnd, 100))
		frdma_cc_notified(&side->req.cc,
				  frdma_req_outstanding(&side->req),
				  side->world->now_ns);

	switch (verdict) {
	case FRDMA_ACK_DATA:
		frdma_ack_note(&side->req, hdr);
		store_answer(side, hdr, payload, hdr->payload_len);
		break;
	case FRDMA_ACK_ATOMIC:
		store_answer(side, hdr, &hdr->atomic_orig,
			     sizeof(hdr->atomic_orig));
		break;
	case FRDMA_ACK_PROGRESS:
		commit(side, hdr->psn);
		break;
	case FRDMA_ACK_STALE:
		break;
	case FRDMA_ACK_LOST:
		put_aside(side, hdr, payload, 1);
		break;
	case FRDMA_ACK_GHOST:
		/* A packet of the connection before looks like a gap. */
		SIM_CHECK(side->world, side->world->life, "psn 0x%x", hdr->psn);
		break;
	default:
		take_bad_news(side, hdr, verdict);
		break;
	}
}

/**
 * sender_take_run - packets of a response that differ in their PSN only
 * @side: where
 * @hdr: headers of the first
 * @payload: of all of them, without what is in between
 * @nr: how many
 *
 * Return: how many were taken; 0 if they are to come one by one.
 */
u32 sender_take_run(struct sim_side *side, const struct frdma_hdr *hdr,
		    const u8 *payload, u32 nr)
{
	u32 una = side->req.una_psn;

	switch (frdma_ack_judge(&side->req, hdr)) {
	case FRDMA_ACK_DATA:
		break;
	case FRDMA_ACK_LOST:
		put_aside(side, hdr, payload, nr);
		return nr;
	default:
		return 0;
	}
	nr = frdma_ack_count_run(&side->req, hdr, nr);
	store_data(side, hdr->psn, payload, nr * hdr->payload_len);
	frdma_ack_commit_run(&side->req, hdr->psn, nr, side->world->now_ns);
	note_progress(side, una);
	return nr;
}

static void take_kept(struct sim_side *side, const struct sim_kept *kept)
{
	if (frdma_ack_is_old(&side->req, &kept->item, &kept->hdr))
		return;
	aside_take(side, kept, sender_take, sender_take_run);
	side->aside += kept->item.nr;
}

static void take_due(struct sim_side *side)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_due(&side->ahead, side->req.una_psn))) {
		struct sim_kept *kept = (struct sim_kept *)item;

		if (side_can_send(side) &&
		    !frdma_kept_is_stale(item, side->req.una_psn))
			take_kept(side, kept);
		free(kept);
	}
}

/* What is kept speaks of what was before it, too. Returns true if that is news. */
static bool take_implied(struct sim_side *side)
{
	u32 una = side->req.una_psn;
	bool news;

	if (!side->ahead.first || !side_can_send(side))
		return false;
	news = frdma_ack_implied(&side->req, side->ahead.first->psn,
				 side->world->now_ns);
	note_progress(side, una);
	return news;
}

/**
 * sender_take_aside - take answers that are no longer ahead of their turn
 * @side: where
 *
 * Then ask for what is missing before the rest.
 *
 * Return: true if the send side is to be run.
 */
bool sender_take_aside(struct sim_side *side)
{
	if (!side->ahead.first && !side->req.resend.lacks)
		return false;
	do {
		take_due(side);
	} while (take_implied(side));
	if (!side_can_send(side))
		aside_forget(&side->ahead);
	else if (side->ahead.first)
		ask_for_hole(side);
	else
		recover(side, frdma_resend_lacking(&side->req));
	return side_can_send(side);
}
