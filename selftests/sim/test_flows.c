// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections that begin at the same time and share one drop-tail queue: WRITEs
 * without end, and receivers that keep what is ahead of its turn, or drop it. The answers
 * have a way of their own, which loses nothing.
 *
 * No time is measured: the same code gives the same figures everywhere.
 */
#include <stdlib.h>

#include "ack.h"
#include "kept.h"
#include "req.h"
#include "resp.h"
#include "rnd.h"
#include "tap.h"

#define FLOWS_MAX	32
#define SLOTS		16
#define MTU		1024
#define MESSAGE		(16 * MTU)
#define WINDOW		256U
#define OVERHEAD	82
#define END_NS		500000000ULL
#define BEGIN_NS	1000000		/* so close together they begin */

/**
 * struct bottleneck - what all connections share
 * @flows: connections
 * @queue: packets that have room before the wire
 * @byte_ns: how long the wire takes for a byte
 * @delay_ns: each way
 * @drops: the receivers drop what is ahead of its turn
 */
struct bottleneck {
	u32 flows;
	u32 queue;
	u64 byte_ns;
	u64 delay_ns;
	bool drops;
};

/** struct parcel - a packet on its way */
struct parcel {
	struct parcel *next;
	u64 due_ns;
	u32 flow;
	struct frdma_hdr hdr;
};

/**
 * struct flow - both ends of a connection
 * @acked: packets that were acknowledged
 * @begin_ns: when it begins
 * @answer_ns: when the last answer arrives: they do not overtake each other
 * @timeouts: so often nothing was heard until the timeout
 */
struct flow {
	struct frdma_req req;
	struct frdma_resp resp;
	struct frdma_swr slots[SLOTS];
	struct frdma_kept_list kept;
	u64 begin_ns;
	u64 answer_ns;
	u32 acked;
	u32 timeouts;
};

struct kept_request {
	struct frdma_kept item;
	struct frdma_hdr hdr;
};

static const struct bottleneck *path;
static struct flow flows[FLOWS_MAX];
/* Packets in the order in which they arrive. */
static struct parcel *there, *back;
static u64 now_ns, free_ns;
static struct rnd rnd;

static void fly(struct parcel **lane, const struct flow *flow,
		const struct frdma_hdr *hdr, u64 due_ns)
{
	struct parcel *parcel = malloc(sizeof(*parcel));

	while (*lane && (*lane)->due_ns <= due_ns)
		lane = &(*lane)->next;
	*parcel = (struct parcel) {
		.next = *lane, .due_ns = due_ns, .flow = flow - flows,
		.hdr = *hdr,
	};
	*lane = parcel;
}

static void request(const struct flow *flow, const struct frdma_hdr *hdr)
{
	u64 wire_ns = (MTU + OVERHEAD) * path->byte_ns;
	u64 queued_ns = free_ns - min(free_ns, now_ns);

	if (queued_ns > path->queue * wire_ns)
		return;
	free_ns = max(free_ns, now_ns) + wire_ns;
	fly(&there, flow, hdr, free_ns + path->delay_ns);
}

/* Processors take their time; or else the same few would always meet the full queue. */
#define JITTER_NS	20000

static void answer(struct flow *flow,
		   void (*plan)(const struct frdma_resp *rs,
				struct frdma_hdr *hdr))
{
	u64 due_ns = now_ns + path->delay_ns + rnd_below(&rnd, JITTER_NS);
	struct frdma_hdr hdr;

	plan(&flow->resp, &hdr);
	flow->answer_ns = max(flow->answer_ns, due_ns);
	fly(&back, flow, &hdr, flow->answer_ns);
}

/*
 * The send side.
 */

static void look_at_clock(struct flow *flow)
{
	struct frdma_req *rq = &flow->req;

	switch (frdma_retry_expire(&rq->retry, now_ns)) {
	case FRDMA_EXPIRY_PROBE:
		frdma_resend_probe(rq);
		break;
	case FRDMA_EXPIRY_RESEND:
		flow->timeouts++;
		frdma_resend_timeout(rq);
		break;
	case FRDMA_EXPIRY_EXHAUSTED:
		tap_fail(__FILE__, __LINE__, "gave up");
		break;
	default:
		break;
	}
}

static void post(struct frdma_req *rq)
{
	while (frdma_req_reap(rq))
		;
	while (rq->wr_prod - rq->wr_una < SLOTS) {
		*frdma_req_wr(rq, rq->wr_prod) = (struct frdma_swr) {
			.wqe.opcode = IB_UVERBS_WR_RDMA_WRITE,
		};
		frdma_req_fetched(rq, MESSAGE);
	}
}

static void transmit(struct flow *flow)
{
	struct frdma_req *rq = &flow->req;
	struct frdma_req_pkt pkt;

	look_at_clock(flow);
	post(rq);
	while (frdma_req_judge(rq) == FRDMA_REQ_SEND &&
	       frdma_req_credit(rq, now_ns)) {
		frdma_req_plan(rq, &pkt);
		pkt.hdr.payload_len = pkt.len;
		request(flow, &pkt.hdr);
		frdma_req_sent(rq, &pkt);
		frdma_req_spend(rq, 1, now_ns);
		frdma_req_watch(rq, now_ns);
	}
}

static void take_answer(struct flow *flow, const struct frdma_hdr *hdr)
{
	struct frdma_req *rq = &flow->req;
	u32 una_psn = rq->una_psn;

	switch (frdma_ack_judge(rq, hdr)) {
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(rq, hdr->psn, now_ns);
		break;
	case FRDMA_ACK_SEQ_NAK:
		frdma_ack_implied(rq, hdr->psn, now_ns);
		if (frdma_resend_recover(rq, true) == FRDMA_RECOVERY_EXHAUSTED)
			tap_fail(__FILE__, __LINE__, "gave up");
		break;
	case FRDMA_ACK_STALE:
		break;
	default:
		tap_fail(__FILE__, __LINE__, "syndrome 0x%x", hdr->syndrome);
		break;
	}
	flow->acked += (rq->una_psn - una_psn) & FRDMA_PSN_MASK;
	transmit(flow);
}

/*
 * The receive side.
 */

static void ask_for_missing(struct flow *flow)
{
	frdma_resp_put_off(&flow->resp, FRDMA_RESP_GAP);
	answer(flow, frdma_resp_gap_plan);
}

static void keep(struct flow *flow, const struct frdma_hdr *hdr)
{
	struct kept_request *kept;
	struct frdma_kept **at;

	if (path->drops || !frdma_resp_may_keep(&flow->resp, hdr))
		return;
	at = frdma_kept_find(&flow->kept, hdr->psn, flow->resp.epsn);
	if (!at)
		return;
	kept = malloc(sizeof(*kept));
	kept->item = (struct frdma_kept) { .psn = hdr->psn, .nr = 1 };
	kept->hdr = *hdr;
	frdma_kept_add(&flow->kept, at, &kept->item);
}

static void judge_request(struct flow *flow, const struct frdma_hdr *hdr)
{
	struct frdma_resp *rs = &flow->resp;

	switch (frdma_resp_judge(rs, hdr, (struct frdma_resp_recv) { })) {
	case FRDMA_RESP_ACCEPT:
		frdma_resp_commit(rs, hdr, 0);
		break;
	case FRDMA_RESP_DUPLICATE:
		frdma_resp_commit_dup(rs, hdr, frdma_resp_judge_dup(rs, hdr));
		break;
	case FRDMA_RESP_GAP:
		ask_for_missing(flow);
		keep(flow, hdr);
		break;
	case FRDMA_RESP_WAITING:
		keep(flow, hdr);
		break;
	default:
		tap_fail(__FILE__, __LINE__, "psn 0x%x", hdr->psn);
		break;
	}
}

static bool take_kept(struct flow *flow)
{
	struct frdma_kept *item;
	bool taken = false;

	while ((item = frdma_kept_due(&flow->kept, flow->resp.epsn))) {
		if (!frdma_kept_is_stale(item, flow->resp.epsn)) {
			judge_request(flow, &((struct kept_request *)item)->hdr);
			taken = true;
		}
		free(item);
	}
	return taken;
}

static void take_request(struct flow *flow, const struct frdma_hdr *hdr)
{
	struct frdma_resp *rs = &flow->resp;

	judge_request(flow, hdr);
	if (take_kept(flow) && flow->kept.first && frdma_resp_is_content(rs)) {
		rs->ack_due = false;
		ask_for_missing(flow);
	}
	if (rs->ack_due) {
		rs->ack_due = false;
		answer(flow, frdma_resp_ack_plan);
	}
}

/*
 * All of them.
 */

static u64 deadline_ns(const struct flow *flow)
{
	if (!flow->req.wr_prod)
		return flow->begin_ns;
	return min(frdma_retry_next_ns(&flow->req.retry),
		   frdma_req_next_ns(&flow->req));
}

static u64 next_event_ns(void)
{
	u64 next_ns = U64_MAX;
	u32 n;

	if (there)
		next_ns = there->due_ns;
	if (back)
		next_ns = min(next_ns, back->due_ns);
	for (n = 0; n < path->flows; n++)
		next_ns = min(next_ns, deadline_ns(&flows[n]));
	return max(next_ns, now_ns);
}

static void land(struct parcel **lane,
		 void (*take)(struct flow *flow, const struct frdma_hdr *hdr))
{
	while (*lane && (*lane)->due_ns <= now_ns) {
		struct parcel *parcel = *lane;

		*lane = parcel->next;
		take(&flows[parcel->flow], &parcel->hdr);
		free(parcel);
	}
}

static void begin(struct flow *flow)
{
	*flow = (struct flow) {
		.req = {
			.slots = flow->slots, .stride = sizeof(flow->slots[0]),
			.mask = SLOTS - 1, .transport = FRDMA_RC,
			.rd_max = 1, .read_grid = 64, .mtu = MTU,
			.retry = {
				.timeout_ns = frdma_ack_timeout_ns(18),
				.retry_cnt = 7, .rnr_retry = 7,
			},
		},
		.resp = {
			.mtu = MTU, .transport = FRDMA_RC,
			.access = FRDMA_ACC_REMOTE,
		},
	};
	frdma_cc_init(&flow->req.cc, WINDOW);
	frdma_req_init(&flow->req, 0);
	frdma_resp_init(&flow->resp, 0);
}

static void drop(struct flow *flow, const struct frdma_hdr *hdr)
{
}

static void forget(void)
{
	struct frdma_kept *item;
	u32 n;

	for (n = 0; n < path->flows; n++)
		while ((item = frdma_kept_any(&flows[n].kept)))
			free(item);
	now_ns = U64_MAX;
	land(&there, drop);
	land(&back, drop);
}

static void run(const struct bottleneck *how)
{
	u32 n;

	path = how;
	now_ns = 1;
	free_ns = 0;
	rnd = (struct rnd) { .state = 1 };
	for (n = 0; n < how->flows; n++)
		begin(&flows[n]);
	for (n = 0; n < how->flows; n++)
		flows[n].begin_ns = 1 + rnd_below(&rnd, BEGIN_NS);
	while (!tap_failed() && now_ns < END_NS) {
		now_ns = next_event_ns();
		land(&there, take_request);
		land(&back, take_answer);
		for (n = 0; n < how->flows; n++)
			if (deadline_ns(&flows[n]) <= now_ns)
				transmit(&flows[n]);
	}
	forget();
}

/* Jain's index of what got through, in thousandths: 1000 if all got the same. */
static u32 fairness(void)
{
	u64 sum = 0, squares = 0;
	u32 n;

	for (n = 0; n < path->flows; n++) {
		sum += flows[n].acked;
		squares += (u64)flows[n].acked * flows[n].acked;
	}
	return squares ? 1000 * sum / path->flows * sum / squares : 0;
}

static void expect_fair(u32 least, struct bottleneck how)
{
	u32 n, starved = 0, timeouts = 0;
	u64 sum = 0;

	if (FRDMA_PSN_BITS < 24) {
		tap_skip("too few numbers");
		return;
	}
	run(&how);
	for (n = 0; n < how.flows; n++) {
		starved += !flows[n].acked;
		timeouts += flows[n].timeouts;
		sum += flows[n].acked;
	}
	printf("# %llu Mbit/s, fairness 0.%03u, %u timeouts, %u starved\n",
	       sum * MTU * 8 * 1000 / END_NS, fairness(), timeouts, starved);
	EXPECT_EQ(starved, 0);
	EXPECT_EQ(timeouts, 0);
	if (fairness() < least)
		tap_fail(__FILE__, __LINE__, "%u, not %u", fairness(), least);
}

/* Most of the first windows is lost, the last packets of them all the more. */
TEST(flows__begin_together_into_a_short_queue)
{
	expect_fair(500, (struct bottleneck) {
		.flows = 32, .queue = 64, .byte_ns = 8, .delay_ns = 50000,
	});
}

TEST(flows__begin_together_to_peers_that_drop)
{
	expect_fair(500, (struct bottleneck) {
		.flows = 32, .queue = 64, .byte_ns = 8, .delay_ns = 50000,
		.drops = true,
	});
}

TEST(flows__begin_together_far_away)
{
	expect_fair(900, (struct bottleneck) {
		.flows = 32, .queue = 256, .byte_ns = 8, .delay_ns = 2000000,
	});
}
