// SPDX-License-Identifier: GPL-2.0
#include "access.h"
#include "receiver.h"
#include "sender.h"
#include "side.h"

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
		.transport	= shape->transport,
		.rd_max		= shape->rd_max,
		.read_grid	= shape->read_grid,
		.mtu		= SIM_MTU,
		.dqpn		= 0x11,
		.pkey		= 0xffff,
		.retry = {
			.timeout_ns	= TIMEOUT_NS,
			.retry_cnt	= SIM_RETRIES,
			.rnr_retry	= FRDMA_RNR_RETRY_FOREVER,
		},
	};
	side->resp = (struct frdma_resp) {
		.mtu	= SIM_MTU,
		.transport = shape->transport,
		.access	= FRDMA_ACC_REMOTE | FRDMA_ACC_FLUSH,
		.res	= side->res,
		.nr_res	= shape->rd_max,
	};
	frdma_req_init(&side->req, psn);
	frdma_cc_init(&side->req.cc, shape->window);
	frdma_resp_init(&side->resp, peer_psn);
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

/* Only what was executed is acknowledged, only what was not is refused. */
static void check_answer(struct sim_side *side, const struct frdma_hdr *hdr,
			 const struct wire_pkt *pkt)
{
	struct sim_world *world = side->world;

	if (frdma_hdr_is_nak(hdr))
		SIM_CHECK(world, pkt->abs_psn == side->abs_epsn,
			  "syndrome 0x%02x for %lld, not %lld", hdr->syndrome,
			  pkt->abs_psn, side->abs_epsn);
	else
		SIM_CHECK(world, pkt->abs_psn < side->abs_epsn,
			  "%lld acknowledged, %lld executed", pkt->abs_psn,
			  side->abs_epsn);
	if (frdma_hdr_is_nak(hdr))
		side->abs_put_off = pkt->abs_psn + 1;
	/* What is missing is asked for once (9.7.4.1.1). */
	if (frdma_op(hdr->opcode)->kind == FRDMA_KIND_ACK &&
	    hdr->syndrome == FRDMA_NAK_PSN) {
		SIM_CHECK(world, side->abs_asked <= pkt->abs_psn,
			  "%lld asked for again", pkt->abs_psn);
		side->abs_asked = pkt->abs_psn + 1;
	}
	SIM_CHECK(world, hdr->msn == (side->messages & FRDMA_MSN_MASK),
		  "msn %u, not %u", hdr->msn, side->messages);
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
		.response = frdma_op(hdr->opcode)->response,
	};

	asker = pkt.response ? &side->peer->req : &side->req;
	pkt.abs_psn = pkt.response ?
		side->abs_epsn + frdma_psn_diff(hdr->psn, side->resp.epsn) :
		side->abs_una + frdma_psn_diff(hdr->psn, side->req.una_psn);
	pkt.len = wire_pack(pkt.bytes, hdr, payload);
	SIM_CHECK(world, frdma_opcode_is_on(hdr->opcode,
					    world->shape->transport),
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
	side->broken = true;
	side->req.wr_una = side->req.wr_prod;
	frdma_req_forget(&side->req);
	side->completed = side->posted;
	side->next_post_ns = U64_MAX;
	side->next_recv_ns = U64_MAX;
	side->next_ack_ns = U64_MAX;
	side->next_run_ns = U64_MAX;
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
		sender_run(side);
	else if (side->next_run_ns == U64_MAX)
		side->next_run_ns = world->now_ns +
				    rnd_below(&world->rnd, 10000);
}

void side_take(struct sim_side *side, const struct wire_pkt *pkt)
{
	struct sim_world *world = side->world;
	struct frdma_hdr hdr;
	const u8 *payload;

	if (side->broken || outlived(side, pkt) ||
	    !wire_unpack(pkt, &hdr, &payload))
		return;

	if (pkt->response) {
		sender_take(side, &hdr, payload);
		run_soon(side);
		return;
	}

	receiver_take(side, &hdr, payload);
	/* Some acknowledgements wait for more to acknowledge. */
	if (!side->resp.ack_due || side->broken)
		return;
	if (rnd_below(&world->rnd, 2))
		receiver_flush_ack(side);
	else if (side->next_ack_ns == U64_MAX)
		side->next_ack_ns = world->now_ns +
				    rnd_below(&world->rnd, 50000);
}
