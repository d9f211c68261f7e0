// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "access.h"
#include "aside.h"
#include "receiver.h"

/* Ten microseconds: short beside the timeout. */
#define RNR_TIMER_CODE		1

/* 320 microseconds: not so short. */
#define PAGES_TIMER_CODE	10

void receiver_post(struct sim_side *side)
{
	side->recvs++;
	side->posted_recvs++;
}

static void note_refusal(struct sim_side *side, u32 psn)
{
	side->refused = true;
	side->abs_refused = side->abs_epsn +
			    frdma_psn_diff(psn, side->resp.epsn);
}

void receiver_flush_ack(struct sim_side *side)
{
	struct frdma_hdr hdr;

	side->next_ack_ns = U64_MAX;
	if (!side->resp.ack_due || side->resp.read.active ||
	    side_is_broken(side))
		return;
	side->resp.ack_due = false;
	frdma_resp_ack_plan(&side->resp, &hdr);
	side_send(side, &hdr, NULL, 1);
}

static void acknowledge_again(struct sim_side *side, u32 psn)
{
	struct frdma_hdr hdr;

	frdma_resp_again_plan(&side->resp, psn, &hdr);
	side_send(side, &hdr, NULL, 1);
}

static void send_atomic_ack(struct sim_side *side, u32 psn, u64 orig)
{
	struct frdma_hdr hdr;

	frdma_resp_atomic_plan(&side->resp, psn, orig, &hdr);
	side_send(side, &hdr, NULL, 1);
}

static void send_empty_response(struct sim_side *side, u32 psn)
{
	struct frdma_hdr hdr;

	frdma_resp_empty_plan(&side->resp, psn, &hdr);
	side_send(side, &hdr, NULL, 1);
}

static void send_response_packet(struct sim_side *side,
				 const struct frdma_hdr *hdr, u64 va)
{
	u8 payload[SIM_MTU_MAX];
	u32 i;

	for (i = 0; i < hdr->payload_len; i++)
		payload[i] = sim_rom(va - SIM_ROM_VA + i);
	side_send(side, hdr, payload, 1);
}

/* What is sent at once must be what would be sent one by one. */
static void send_response_run(struct sim_side *side)
{
	struct frdma_resp *rs = &side->resp;
	struct frdma_resp one = *rs;
	struct frdma_hdr hdr, next;
	u32 nr, n;

	frdma_resp_read_plan(rs, &hdr);
	nr = frdma_resp_read_run(rs, &hdr, 1 + rnd_below(&side->world->rnd, 8));
	for (n = 0; n < nr; n++) {
		frdma_resp_read_plan(&one, &next);
		SIM_CHECK(side->world, next.opcode == hdr.opcode &&
			  next.psn == frdma_psn_add(hdr.psn, n) &&
			  next.payload_len == hdr.payload_len,
			  "psn 0x%x is not what was planned", next.psn);
		send_response_packet(side, &next, one.read.va);
		frdma_resp_read_sent(&one, &next, 1);
	}
	frdma_resp_read_sent(rs, &hdr, nr);
	SIM_CHECK(side->world, !memcmp(rs, &one, sizeof(one)),
		  "%u packets before psn 0x%x count otherwise together", nr,
		  one.read.psn);
}

/* So long, and longer than a peer has retries, pages are on their way. */
#define PAGES_NS_MAX		40000000

/* Sometimes that is short beside the timeout. */
static bool is_absent(struct sim_side *side)
{
	struct sim_world *world = side->world;
	struct rnd *rnd = &world->rnd;

	if (side->next_pages_ns != U64_MAX)
		return true;
	if (!world->shape->absent || rnd_below(rnd, 1000) >= world->shape->absent)
		return false;
	side->next_pages_ns = world->now_ns +
		rnd_below(rnd, rnd_below(rnd, 4) ? 100000 : PAGES_NS_MAX);
	return true;
}

/* A packet that is not late is on its way for less. */
#define WAY_NS			50000

static void read_is_wanted(struct sim_side *side, u64 in_ns)
{
	side->read_wanted_until = side->world->now_ns + in_ns + WAY_NS;
}

static void hold_read(struct sim_side *side)
{
	struct frdma_resp_read *read = &side->resp.read;
	struct frdma_hdr nak;

	side->read_waits = true;
	if (!read->fresh || read->told || !read->asked)
		return;
	read->told = true;
	read_is_wanted(side, frdma_rnr_delay_ns(PAGES_TIMER_CODE));
	frdma_resp_rnr_plan(&side->resp, read->psn, PAGES_TIMER_CODE, &nak);
	side_send(side, &nak, NULL, 1);
}

/* Now and then something else comes first. */
static bool pauses(struct sim_side *side)
{
	struct sim_world *world = side->world;

	if (!world->shape->absent || rnd_below(&world->rnd, 8))
		return false;
	side->next_read_ns = world->now_ns + rnd_below(&world->rnd, 3000);
	return true;
}

/* Until another has its turn, it waits, or pauses. */
static void go_on_with_one(struct sim_side *side)
{
	const struct frdma_resp_read *read = &side->resp.read;
	u32 first = read->first, left = read->left;

	while (read->active && read->first == first && !pauses(side)) {
		if (is_absent(side)) {
			if (read->left != left)
				read_is_wanted(side, 0);
			hold_read(side);
			return;
		}
		send_response_run(side);
	}
}

static void send_read_response(struct sim_side *side)
{
	side->next_read_ns = U64_MAX;
	while (side->resp.read.active && !side->read_waits &&
	       side->next_read_ns == U64_MAX)
		go_on_with_one(side);
}

void receiver_go_on_with_read(struct sim_side *side)
{
	side->next_read_ns = U64_MAX;
	if (!side->read_waits)
		send_read_response(side);
}

/* As the kernel's, where the memory that a response waited for has gone. */
static void give_up_read(struct sim_side *side)
{
	struct frdma_resp *rs = &side->resp;
	bool ends = !frdma_resp_read_was_sent(rs);
	struct frdma_hdr nak;

	side->given_up++;
	side->read_waits = false;
	if (ends || ((rs->read.told || rs->read.obeyed) && !rs->unsent)) {
		frdma_resp_refusal_plan(rs, rs->read.psn, FRDMA_RESP_BAD_KEY,
					&nak);
		side_send(side, &nak, NULL, 1);
		note_refusal(side, rs->read.psn);
	}
	if (ends)
		side_break(side);
	else
		frdma_resp_read_end(rs);
}

void receiver_find_pages(struct sim_side *side)
{
	struct sim_world *world = side->world;

	side->next_pages_ns = U64_MAX;
	if (side->read_waits && world->shape->refuse &&
	    !rnd_below(&world->rnd, 4))
		give_up_read(side);
	side->read_waits = false;
	send_read_response(side);
}

/* What comes next was sent before, and the peer goes on without it. */
static void reconsider_read(struct sim_side *side)
{
	if (!frdma_resp_read_is_repeated(&side->resp) ||
	    side->world->now_ns <= side->read_wanted_until)
		return;
	frdma_resp_read_end(&side->resp);
	side->read_waits = false;
}

/* Is this the turn of the request, or that of a response before it? */
static bool may_come_now(struct sim_side *side, const struct frdma_hdr *hdr)
{
	struct frdma_resp *rs = &side->resp;

	if (side->read_waits && !frdma_resp_read_yields(rs, hdr))
		reconsider_read(side);
	if (rs->read.active && !side->read_waits)
		send_read_response(side);
	if (!rs->read.active)
		return true;
	if (!side->read_waits && frdma_resp_read_is_begun(rs))
		return false;
	if (!frdma_resp_read_yields(rs, hdr))
		return false;
	side->yielded++;
	return true;
}

static u64 execute_atomic(struct sim_side *side, const struct frdma_hdr *hdr)
{
	u64 orig = side->counter;

	if (!frdma_opcode_swaps(hdr->opcode))
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

/* The n-th work request of the connection that takes a receive request. */
static const struct sim_wr *find_sent(const struct sim_side *side, u32 n)
{
	const struct sim_wr *wr;

	for (wr = side->wrs + side->first_wr; wr < side->wrs + side->posted;
	     wr++) {
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

/* The work request of the peer to which a PSN belongs. */
static const struct sim_wr *find_wr(const struct sim_side *side, s64 abs_psn)
{
	const struct sim_wr *wr;

	for (wr = side->wrs + side->first_wr; wr < side->wrs + side->posted;
	     wr++) {
		if (wr->abs_begin <= abs_psn && abs_psn < wr->abs_end)
			return wr;
	}
	return NULL;
}

/* What is about to be executed is what was posted, in its turn. */
static void check_accepted(struct sim_side *side, const struct frdma_hdr *hdr,
			   const u8 *payload)
{
	const struct sim_wr *wr = find_wr(side->peer, side->abs_epsn);
	const struct frdma_op *op = frdma_op(hdr->opcode);
	struct sim_world *world = side->world;
	u32 pkt, off, i;

	SIM_CHECK(world, wr, "nothing was posted for %lld", side->abs_epsn);
	if (!wr)
		return;
	pkt = side->abs_epsn - wr->abs_begin;
	off = pkt * world->mtu;
	SIM_CHECK(world, op->kind == frdma_wr(wr->opcode)->kind,
		  "opcode 0x%02x", hdr->opcode);
	if (world->shape->transport == FRDMA_XRC)
		SIM_CHECK(world, hdr->srqn == SIM_SRQN, "0x%x", hdr->srqn);
	for (i = 0; i < hdr->payload_len; i++)
		SIM_CHECK(world, payload[i] == sim_payload(wr, off + i),
			  "packet %u, byte %u", pkt, i);

	switch (op->kind) {
	case FRDMA_KIND_READ:
		SIM_CHECK(world, hdr->va == SIM_ROM_VA + wr->off + off,
			  "va 0x%llx", hdr->va);
		SIM_CHECK(world, off + hdr->dma_len <= wr->len, "%u + %u",
			  off, hdr->dma_len);
		break;
	case FRDMA_KIND_ATOMIC:
		SIM_CHECK(world, side->counter == wr->orig, "0x%llx",
			  side->counter);
		break;
	case FRDMA_KIND_SEND:
	case FRDMA_KIND_WRITE:
		SIM_CHECK(world, op->starts == !pkt, "opcode 0x%02x",
			  hdr->opcode);
		SIM_CHECK(world, op->ends == (side->abs_epsn + 1 ==
					      wr->abs_end),
			  "opcode 0x%02x", hdr->opcode);
		break;
	}
}

/* The memory that it is about is gone: that is the end. */
static bool refuses(struct sim_side *side, const struct frdma_hdr *hdr)
{
	struct sim_world *world = side->world;
	struct frdma_hdr nak;

	if (!world->shape->refuse ||
	    rnd_below(&world->rnd, 1000) >= world->shape->refuse)
		return false;
	frdma_resp_refusal_plan(&side->resp, hdr->psn, FRDMA_RESP_BAD_KEY,
				&nak);
	side_send(side, &nak, NULL, 1);
	note_refusal(side, hdr->psn);
	side_break(side);
	return true;
}

/* It is the next one, of so many PSNs. */
static void remember_read(struct sim_side *side, u32 nr)
{
	s64 first = side->abs_epsn;
	u32 i;

	SIM_CHECK(side->world, first + nr <= SIM_PSNS, "%lld + %u", first, nr);
	if (side->world->failed)
		return;
	for (i = 0; i < nr; i++)
		side->read_first[first + i] = first;
	side->read_from[first] = first;
}

static bool has_forgotten(struct sim_side *side, const struct frdma_hdr *hdr)
{
	s64 psn = side->abs_epsn + frdma_psn_diff(hdr->psn, side->resp.epsn);
	s64 *from = &side->read_from[side->read_first[psn]];

	if (psn < *from)
		return true;
	*from = psn;
	return false;
}

/* Of a part, the response goes on with that to the whole. */
static void answer_as_part(struct sim_side *side)
{
	const struct frdma_resp_read *read = &side->resp.read;
	s64 psn = side->abs_epsn + frdma_psn_diff(read->psn, side->resp.epsn);

	side->resp.read.fresh = side->read_first[psn] == psn;
}

static void accept(struct sim_side *side, const struct frdma_hdr *hdr,
		   const u8 *payload)
{
	const struct frdma_op *op = frdma_op(hdr->opcode);
	struct frdma_resp *rs = &side->resp;
	u32 epsn = rs->epsn;
	u64 orig = 0;

	if (refuses(side, hdr))
		return;
	check_accepted(side, hdr, payload);
	side->messages += op->ends;
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
	if (op->kind == FRDMA_KIND_READ)
		remember_read(side, (rs->epsn - epsn) & FRDMA_PSN_MASK);
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
	bool forgets = side->world->shape->forgets;
	enum frdma_dup_verdict verdict;

	verdict = frdma_resp_judge_dup(&side->resp, hdr);
	if (verdict == FRDMA_DUP_READ && forgets && has_forgotten(side, hdr))
		return;
	frdma_resp_commit_dup(&side->resp, hdr, verdict);
	switch (verdict) {
	case FRDMA_DUP_ACK:
		if (side->resp.read.active)
			acknowledge_again(side, hdr->psn);
		break;
	case FRDMA_DUP_QUIET:
		break;
	case FRDMA_DUP_READ:
		side->read_waits = false;
		read_is_wanted(side, 0);
		if (forgets)
			answer_as_part(side);
		send_read_response(side);
		break;
	case FRDMA_DUP_ATOMIC:
		send_atomic_ack(side, hdr->psn,
				frdma_resp_saved(&side->resp, hdr->psn));
		break;
	case FRDMA_DUP_EMPTY:
		send_empty_response(side, hdr->psn);
		break;
	case FRDMA_DUP_DROP:
		break;
	}
}

static struct frdma_resp_recv look_for_recv(const struct sim_side *side)
{
	const struct frdma_resp *rs = &side->resp;
	bool uses_open = rs->in_msg && rs->kind == FRDMA_KIND_SEND;

	return (struct frdma_resp_recv) {
		.ready	= uses_open || side->recvs,
		.len	= SIM_MSG_MAX,
	};
}

static void ask_for_missing(struct sim_side *side)
{
	struct frdma_hdr nak;

	frdma_resp_put_off(&side->resp, FRDMA_RESP_GAP);
	frdma_resp_gap_plan(&side->resp, &nak);
	side_send(side, &nak, NULL, 1);
}

static void put_off(struct sim_side *side, const struct frdma_hdr *hdr,
		    const u8 *payload, u32 nr)
{
	if (frdma_resp_may_keep(&side->resp, hdr))
		aside_put(side, &side->kept, side->resp.epsn, hdr, payload, nr);
}

/**
 * receiver_take_kept - take what is no longer ahead of its turn
 * @side: where
 *
 * Then ask for what is missing before the rest.
 */
void receiver_take_kept(struct sim_side *side)
{
	u32 waited = side->waited;
	struct frdma_kept *item;

	while (!side->resp.read.active &&
	       (item = frdma_kept_due(&side->kept, side->resp.epsn))) {
		struct sim_kept *kept = (struct sim_kept *)item;

		if (!side_is_broken(side) &&
		    !frdma_kept_is_stale(item, side->resp.epsn)) {
			aside_take(side, kept, receiver_take, receiver_take_run);
			side->waited += item->nr;
		}
		free(kept);
	}
	if (side_is_broken(side))
		aside_forget(&side->kept);
	else if (!side->resp.read.active &&
		 (side->resp.missed ||
		  (side->waited != waited && side->kept.first &&
		   frdma_resp_is_content(&side->resp))))
		ask_for_missing(side);
}

/**
 * receiver_take_run - packets that differ in their PSN only
 * @side: where
 * @hdr: headers of the first
 * @payload: of all of them, without what is in between
 * @nr: how many
 *
 * Return: how many were taken; 0 if they are to come one by one.
 */
u32 receiver_take_run(struct sim_side *side, const struct frdma_hdr *hdr,
		      const u8 *payload, u32 nr)
{
	struct frdma_resp_recv recv = look_for_recv(side);
	struct frdma_resp *rs = &side->resp;
	struct frdma_hdr whole = *hdr;
	u32 i, len = hdr->payload_len;

	if (rs->read.active)
		return 0;
	switch (frdma_resp_judge(rs, hdr, recv)) {
	case FRDMA_RESP_ACCEPT:
		break;
	case FRDMA_RESP_GAP:
		ask_for_missing(side);
		put_off(side, hdr, payload, nr);
		return nr;
	case FRDMA_RESP_WAITING:
		put_off(side, hdr, payload, nr);
		return nr;
	default:
		return 0;
	}
	nr = frdma_resp_count_run(rs, hdr, recv, nr);
	/* The memory of one of them may be gone. */
	if (side->world->shape->refuse && rnd_below(&side->world->rnd, 2))
		return 0;

	whole.payload_len = nr * len;
	if (rs->kind == FRDMA_KIND_SEND)
		execute_send(side, &whole, payload);
	else
		execute_write(side, &whole, payload);
	frdma_resp_commit_run(rs, hdr, nr);
	for (i = 0; i < nr; i++) {
		check_accepted(side, hdr, payload + i * len);
		side->abs_epsn++;
	}
	return nr;
}

/* What was asked for, and is dropped now, may be asked for once more. */
static void miss(struct sim_side *side, const struct frdma_hdr *hdr)
{
	frdma_resp_miss(&side->resp, hdr->psn);
	if (hdr->psn == side->resp.epsn)
		side->abs_asked = side->abs_epsn;
}

void receiver_take(struct sim_side *side, const struct frdma_hdr *hdr,
		   const u8 *payload)
{
	struct frdma_resp *rs = &side->resp;
	struct frdma_resp_recv recv = look_for_recv(side);
	enum frdma_resp_verdict verdict;
	struct frdma_hdr nak;

	if (!may_come_now(side, hdr)) {
		miss(side, hdr);
		return;
	}
	verdict = frdma_resp_judge(rs, hdr, recv);
	switch (verdict) {
	case FRDMA_RESP_ACCEPT:
		accept(side, hdr, payload);
		break;
	case FRDMA_RESP_DUPLICATE:
		repeat(side, hdr);
		break;
	case FRDMA_RESP_GAP:
		ask_for_missing(side);
		put_off(side, hdr, payload, 1);
		break;
	case FRDMA_RESP_NO_RECV:
		frdma_resp_put_off(rs, verdict);
		frdma_resp_rnr_plan(rs, hdr->psn, RNR_TIMER_CODE, &nak);
		side_send(side, &nak, NULL, 1);
		break;
	case FRDMA_RESP_WAITING:
		SIM_CHECK(side->world, side->abs_put_off == side->abs_epsn + 1,
			  "psn 0x%x dropped, %lld was refused", hdr->psn,
			  side->abs_put_off - 1);
		put_off(side, hdr, payload, 1);
		break;
	default:
		sim_fail(side->world, "verdict %u on opcode 0x%02x, psn 0x%x",
			 verdict, hdr->opcode, hdr->psn);
		break;
	}
}
