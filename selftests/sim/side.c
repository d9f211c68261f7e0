// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "receiver.h"
#include "sender.h"
#include "side.h"

u8 sim_payload(const struct sim_wr *wr, u32 at)
{
	return wr->seed * 31 + at * 7 + (at >> 4);
}

u8 sim_rom(u32 at)
{
	return at * 13 + (at >> 5);
}

/**
 * side_init - what stays as it is for ever
 * @side: of a new world
 *
 * It is not connected: see side_connect().
 */
void side_init(struct sim_side *side)
{
	u8 transport = side->world->shape->transport;

	side->req = (struct frdma_req) {
		.slots		= side->slots,
		.stride		= sizeof(side->slots[0]),
		.mask		= SIM_SQ - 1,
		.transport	= transport,
		.read_grid	= side->world->shape->read_grid,
		.dqpn		= 0x11,
		.pkey		= 0xffff,
	};
	side->resp = (struct frdma_resp) {
		.transport	= transport,
		.access		= FRDMA_ACC_REMOTE | FRDMA_ACC_FLUSH,
		.res		= side->res[0],
	};
	side->next_recv_ns = U64_MAX;
	side->next_post_ns = U64_MAX;
	side->next_ack_ns = U64_MAX;
	side->next_pages_ns = U64_MAX;
	side->next_read_ns = U64_MAX;
	side->next_run_ns = U64_MAX;
	side->next_modify_ns = U64_MAX;
}

/* A packet but for what may differ when it is sent again; never 0. */
static u32 sum_of(const struct wire_pkt *pkt)
{
	u8 bytes[WIRE_PKT_MAX];

	memcpy(bytes, pkt->bytes, pkt->len);
	bytes[offsetof(struct frdma_bth, apsn)] = 0;
	return frdma_crc32(1, bytes, pkt->len - FRDMA_ICRC_LEN) | 1;
}

/* A PSN always means the same packet, and none is left out. */
static void check_request(struct sim_side *side, const struct frdma_hdr *hdr,
			  const struct wire_pkt *pkt, u32 span)
{
	struct sim_world *world = side->world;
	u32 *sum = &side->sum[pkt->abs_psn];

	SIM_CHECK(world, pkt->abs_psn <= side->abs_sent, "%lld > %lld",
		  pkt->abs_psn, side->abs_sent);
	SIM_CHECK(world, pkt->abs_psn + span <= SIM_PSNS, "%lld + %u",
		  pkt->abs_psn, span);
	SIM_CHECK(world, !side->drained, "%lld, and it was drained",
		  pkt->abs_psn);
	if (side->state == SIM_SQD)
		SIM_CHECK(world, pkt->abs_psn + span <= side->abs_begun,
			  "%lld + %u begun in SQD", pkt->abs_psn, span);
	if (world->failed)
		return;
	if (pkt->abs_psn + span > side->abs_sent)
		side->abs_sent = pkt->abs_psn + span;
	/* A READ may be asked for again in other pieces. */
	if (frdma_op(hdr->opcode)->kind == FRDMA_KIND_READ)
		return;
	SIM_CHECK(world, !*sum || *sum == sum_of(pkt), "psn 0x%x was another",
		  hdr->psn);
	*sum = sum_of(pkt);
}

/*
 * It is about the READ at hand, which was executed: the peer has to wait for it, or the
 * memory is gone.
 */
static bool is_about_read(const struct sim_side *side,
			  const struct frdma_hdr *hdr)
{
	return side->resp.read.active && hdr->psn == side->resp.read.psn &&
	       frdma_hdr_is_nak(hdr) && hdr->syndrome != FRDMA_NAK_PSN;
}

/* What the peer cannot have had: what is to be sent next, or was not executed. */
static s64 abs_unanswered(const struct sim_side *side)
{
	const struct frdma_resp *rs = &side->resp;

	if (!rs->read.active)
		return side->abs_epsn;
	return side->abs_epsn + frdma_psn_diff(rs->read.psn, rs->epsn);
}

/* A packet of the READ at hand, of what was not sent yet. */
static bool goes_on_with_read(const struct sim_side *side,
			      const struct frdma_hdr *hdr)
{
	const struct frdma_resp_read *read = &side->resp.read;
	s32 ahead = frdma_psn_diff(hdr->psn, read->psn);

	return read->active &&
	       frdma_op(hdr->opcode)->kind == FRDMA_KIND_READ_RESP &&
	       (!ahead || (ahead > 0 &&
			   (u32)ahead * side->resp.mtu < read->left));
}

/*
 * Only what was executed is answered, and nothing behind a READ whose response was not
 * sent; and only what was not is refused.
 */
static void check_answer(struct sim_side *side, const struct frdma_hdr *hdr,
			 const struct wire_pkt *pkt)
{
	s64 unanswered = abs_unanswered(side);
	struct sim_world *world = side->world;

	SIM_CHECK(world, hdr->msn == (side->messages & FRDMA_MSN_MASK),
		  "msn %u, not %u", hdr->msn, side->messages);
	if (is_about_read(side, hdr))
		return;
	if (frdma_hdr_is_nak(hdr))
		SIM_CHECK(world, pkt->abs_psn == side->abs_epsn,
			  "syndrome 0x%02x for %lld, not %lld", hdr->syndrome,
			  pkt->abs_psn, side->abs_epsn);
	else if (!goes_on_with_read(side, hdr))
		SIM_CHECK(world, pkt->abs_psn < unanswered,
			  "%lld answered, %lld executed and answered",
			  pkt->abs_psn, unanswered);
	if (frdma_hdr_is_nak(hdr))
		side->abs_put_off = pkt->abs_psn + 1;
	/* What is missing is asked for once (9.7.4.1.1). */
	if (frdma_op(hdr->opcode)->kind == FRDMA_KIND_ACK &&
	    hdr->syndrome == FRDMA_NAK_PSN) {
		SIM_CHECK(world, side->abs_asked <= pkt->abs_psn,
			  "%lld asked for again", pkt->abs_psn);
		side->abs_asked = pkt->abs_psn + 1;
	}
}

/**
 * side_send - let a packet go, if what it says may be said
 * @side: from where
 * @hdr: its headers
 * @payload: as long as they say
 * @span: PSNs that it uses up
 */
void side_send(struct sim_side *side, const struct frdma_hdr *hdr,
	       const u8 *payload, u32 span)
{
	struct sim_world *world = side->world;
	u64 dead_ns = world->shape->dead_ns;
	bool dead = dead_ns && world->now_ns >= dead_ns;
	const struct frdma_req *asker;
	struct wire_pkt pkt = {
		.to = !side->id,
		.life = world->life,
		.response = frdma_op(hdr->opcode)->response,
	};

	asker = pkt.response ? &side->peer->req : &side->req;
	pkt.abs_psn = pkt.response ?
		side->abs_epsn + frdma_psn_diff(hdr->psn, side->resp.epsn) :
		side->abs_una + frdma_psn_diff(hdr->psn, side->req.una_psn);
	pkt.len = wire_pack(pkt.bytes, hdr, payload);
	SIM_CHECK(world, frdma_opcode_transport(hdr->opcode) ==
			 world->shape->transport,
		  "opcode 0x%02x", hdr->opcode);
	if (pkt.response)
		check_answer(side, hdr, &pkt);
	else
		check_request(side, hdr, &pkt, span);
	if (!dead)
		wire_send(&world->wire, &pkt, world->now_ns,
			  asker->retry.retry_left <= 3);
}

/**
 * side_break - the connection ends
 * @side: where
 *
 * What was posted completes as flushed, and nothing is sent, taken or waited
 * for any more.
 */
void side_break(struct sim_side *side)
{
	side->state = SIM_ERR;
	side->drained = false;
	side->req.wr_una = side->req.wr_prod;
	frdma_req_forget(&side->req);
	frdma_resp_forget_reads(&side->resp);
	side->read_waits = false;
	side->completed = side->posted;
	side->next_post_ns = U64_MAX;
	side->next_recv_ns = U64_MAX;
	side->next_ack_ns = U64_MAX;
	side->next_pages_ns = U64_MAX;
	side->next_read_ns = U64_MAX;
	side->next_run_ns = U64_MAX;
	side->next_modify_ns = U64_MAX;
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

/*
 * Of the connection before: it says nothing to this one, if its number is far
 * from those in use. Were it not, it would be taken for another: so long must
 * nobody use the numbers of a path again (12.9.8.4).
 */
static void take_old(struct sim_side *side, const struct frdma_hdr *hdr,
		     const u8 *payload, bool response)
{
	u32 here = response ? side->req.una_psn : side->resp.epsn;
	s32 ahead = frdma_psn_diff(hdr->psn, here);
	enum frdma_ack_verdict verdict;

	if (ahead > -SIM_PSNS && ahead < SIM_PSNS)
		return;
	if (!response) {
		receiver_take(side, hdr, payload);
		return;
	}
	verdict = frdma_ack_judge(&side->req, hdr);
	SIM_CHECK(side->world, verdict == FRDMA_ACK_STALE ||
		  verdict == FRDMA_ACK_GHOST, "%u", verdict);
}

/* At once, or after some more packets have been taken. */
static void run_soon(struct sim_side *side)
{
	struct sim_world *world = side->world;

	if (rnd_below(&world->rnd, 2))
		sender_run(side);
	else if (side->next_run_ns == U64_MAX)
		side->next_run_ns = world->now_ns +
				    rnd_below(&world->rnd, 10000);
}

/*
 * Good packets at the beginning of a train that differ in their PSN only, as
 * the kernel's rx.c finds them. Their payload goes to @bytes.
 */
static u32 gather_run(struct wire_pkt *const *train, u32 nr, u8 *bytes)
{
	const struct wire_pkt *first = train[0];
	struct frdma_bth next;
	struct frdma_hdr hdr;
	const u8 *payload;
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct wire_pkt *pkt = train[i];

		if (pkt->life != first->life || pkt->len != first->len ||
		    pkt->abs_psn != first->abs_psn + i ||
		    !wire_unpack(pkt, &hdr, &payload) ||
		    hdr.hdr_len != sizeof(struct frdma_bth) ||
		    !frdma_hdr_may_run(&hdr))
			break;
		if (i && memcmp(pkt->bytes, &next, sizeof(next)))
			break;
		memcpy(&next, pkt->bytes, sizeof(next));
		frdma_hdr_next_bth(&next);
		memcpy(bytes + i * hdr.payload_len, payload, hdr.payload_len);
	}
	return i;
}

/* Returns how many were taken, 0 if the first is to be looked at alone. */
static u32 take_run(struct sim_side *side, struct wire_pkt *const *train,
		    u32 nr, const struct frdma_hdr *hdr)
{
	u8 bytes[SIM_TRAIN * WIRE_PKT_MAX];

	nr = gather_run(train, nr, bytes);
	if (nr < 2)
		return 0;
	nr = train[0]->response ? sender_take_run(side, hdr, bytes, nr) :
				  receiver_take_run(side, hdr, bytes, nr);
	side->runs += nr > 1 ? nr : 0;
	return nr;
}

static void take_one(struct sim_side *side, bool response,
		     const struct frdma_hdr *hdr, const u8 *payload)
{
	if (response)
		sender_take(side, hdr, payload);
	else
		receiver_take(side, hdr, payload);
}

/* The first packet of a train, or as many as are like it. */
static u32 take_some(struct sim_side *side, struct wire_pkt *const *train,
		     u32 nr)
{
	const struct wire_pkt *pkt = train[0];
	bool old = pkt->life != side->world->life;
	struct frdma_hdr hdr;
	const u8 *payload;
	u32 taken;

	if (side_is_broken(side) || (!old && outlived(side, pkt)) ||
	    !wire_unpack(pkt, &hdr, &payload))
		return 1;
	if (pkt->response && !side_can_send(side))
		return 1;

	if (old) {
		take_old(side, &hdr, payload, pkt->response);
		return 1;
	}
	taken = take_run(side, train, nr, &hdr);
	if (!taken)
		take_one(side, pkt->response, &hdr, payload);
	if (pkt->response)
		run_soon(side);
	return max(taken, 1U);
}

/* Some acknowledgements wait for more to acknowledge. */
static void acknowledge_soon(struct sim_side *side)
{
	struct sim_world *world = side->world;

	if (!side->resp.ack_due || side->resp.read.active ||
	    side_is_broken(side) || side->next_ack_ns != U64_MAX)
		return;
	if (rnd_below(&world->rnd, 2))
		receiver_flush_ack(side);
	else
		side->next_ack_ns = world->now_ns +
				    rnd_below(&world->rnd, 50000);
}

/**
 * side_take - take what arrived
 * @side: where
 * @train: packets that came together, in their order
 * @nr: how many
 */
void side_take(struct sim_side *side, struct wire_pkt *const *train, u32 nr)
{
	u32 taken;

	for (; nr; train += taken, nr -= taken)
		taken = take_some(side, train, nr);
	receiver_take_kept(side);
	if (sender_take_aside(side))
		run_soon(side);
	acknowledge_soon(side);
}

/**
 * side_find_pages - what a READ response waits for is there
 * @side: where
 */
void side_find_pages(struct sim_side *side)
{
	receiver_find_pages(side);
	receiver_take_kept(side);
	acknowledge_soon(side);
}

/**
 * side_go_on_with_read - a READ response has its turn again
 * @side: where
 */
void side_go_on_with_read(struct sim_side *side)
{
	receiver_go_on_with_read(side);
	receiver_take_kept(side);
	acknowledge_soon(side);
}
