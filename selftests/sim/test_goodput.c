// SPDX-License-Identifier: GPL-2.0
/*
 * How much gets through a wire that has a rate, a delay and a queue of its own:
 * WRITEs of 64 KiB one way, 64 under way, or READs, for a few seconds of virtual time.
 * The engine, and a receiver that keeps what is ahead of its turn, or does not.
 *
 * No time is measured: the same code gives the same figures everywhere. What is
 * expected is well below what is there, as each change of the dice gives others.
 */
#include <stdlib.h>

#include "ack.h"
#include "kept.h"
#include "req.h"
#include "resp.h"
#include "rnd.h"
#include "tap.h"

#define MTU		1024
#define MESSAGE		65536
#define UNDER_WAY	64
#define WINDOW		256U
#define READS_MAX	16
#define OVERHEAD	82	/* bytes of a packet around its payload */
#define ANSWER		62	/* bytes of one that acknowledges */
#define SECONDS		2
#define END_NS		(SECONDS * 1000000000ULL)

/**
 * struct path - 1 Gbit/s, 1 ms each way, and what else
 * @lost: of a million packets, and answers
 * @queue: packets that have room before the wire; 0: all
 * @swap_ns: most that a packet is late by, so that others overtake it
 * @drops: the receiver drops what is ahead of its turn
 * @one: one message at a time
 * @room: answers that can be put aside; 0: all
 * @reads: READs instead of WRITEs, of which the peer remembers so many; 0: WRITEs
 * @stall_ns: for a while in each quarter of a second answers take so much longer
 * @longer_ns: in the second half each way takes so much longer, nothing is lost any
 *	more, and only that is measured; one message at a time
 */
struct path {
	u32 lost;
	u32 queue;
	u32 swap_ns;
	bool drops;
	bool one;
	u32 room;
	u32 reads;
	u64 stall_ns;
	u64 longer_ns;
};

#define RATE_NS(bytes)	((bytes) * 8ULL)	/* at 1 Gbit/s */
#define DELAY_NS	1000000ULL
#define STALL_EVERY_NS	250000000ULL
#define STALL_NS	20000000ULL

/** struct flying - a packet on its way */
struct flying {
	struct flying *next;
	u64 due_ns;
	struct frdma_hdr hdr;
};

/** struct early - a request that is kept */
struct early {
	struct frdma_kept item;
	struct frdma_hdr hdr;
};

/**
 * struct way - one direction of the wire
 * @first: next packet to arrive
 * @last: behind the latest
 * @late_ns: when the latest arrives
 * @free_ns: when it has sent all that it was given
 */
struct way {
	struct flying *first;
	struct flying **last;
	u64 late_ns;
	u64 free_ns;
};

static const struct path *path;
static struct rnd rnd;
static u64 now_ns;
static struct way there, back;
static struct frdma_swr slots[UNDER_WAY];
static struct frdma_req req;
static struct frdma_resp resp;
static struct frdma_resp_res res[READS_MAX];
static struct frdma_kept_list kept, ahead;
static u32 ahead_nr;
static u64 messages, repeated;

static bool is_later(void)
{
	return path->longer_ns && now_ns >= END_NS / 2;
}

static void fly(struct way *way, const struct frdma_hdr *hdr, u32 bytes)
{
	u64 queued_ns = way->free_ns - min(way->free_ns, now_ns);
	struct flying **at, *pkt;

	if (rnd_below(&rnd, 1000000) < path->lost && !is_later())
		return;
	if (path->queue && queued_ns > RATE_NS(path->queue * (MTU + OVERHEAD)))
		return;
	way->free_ns = max(way->free_ns, now_ns) + RATE_NS(bytes);
	pkt = malloc(sizeof(*pkt));
	pkt->hdr = *hdr;
	pkt->due_ns = way->free_ns + DELAY_NS;
	if (is_later())
		pkt->due_ns += path->longer_ns;
	if (way == &back && now_ns % STALL_EVERY_NS < STALL_NS)
		pkt->due_ns += path->stall_ns;
	at = way->last;
	if (path->stall_ns && way->first)
		pkt->due_ns = max(pkt->due_ns, way->late_ns);
	way->late_ns = pkt->due_ns;
	if (path->swap_ns) {
		pkt->due_ns += rnd_below(&rnd, path->swap_ns);
		at = &way->first;
	}
	while (*at && (*at)->due_ns <= pkt->due_ns)
		at = &(*at)->next;
	pkt->next = *at;
	*at = pkt;
	if (!pkt->next)
		way->last = &pkt->next;
}

static void post(void)
{
	u32 most = path->one || path->longer_ns ? 1 : UNDER_WAY;

	while (req.wr_prod - req.wr_una < most) {
		*frdma_req_wr(&req, req.wr_prod) = (struct frdma_swr) {
			.wqe.opcode = path->reads ? IB_UVERBS_WR_RDMA_READ :
						    IB_UVERBS_WR_RDMA_WRITE,
		};
		frdma_req_fetched(&req, MESSAGE);
	}
}

static void look_at_clock(void)
{
	switch (frdma_retry_expire(&req.retry, now_ns)) {
	case FRDMA_EXPIRY_PROBE:
		frdma_resend_probe(&req);
		break;
	case FRDMA_EXPIRY_RESEND:
		frdma_resend_timeout(&req);
		break;
	case FRDMA_EXPIRY_EXHAUSTED:
		tap_fail(__FILE__, __LINE__, "gave up");
		break;
	default:
		break;
	}
}

static void send_burst(u32 most)
{
	struct frdma_req_pkt run, pkt;
	u32 sent = 0, n;

	while (sent < most && frdma_req_judge(&req) == FRDMA_REQ_SEND) {
		frdma_req_plan(&req, &run);
		frdma_req_plan_run(&req, &run, most - sent);
		for (n = 0; n < run.nr; n++) {
			pkt = frdma_req_run_nth(&run, n);
			pkt.hdr.payload_len = pkt.len;
			repeated += frdma_req_repeats(&req);
			fly(&there, &pkt.hdr, pkt.len + OVERHEAD);
		}
		frdma_req_sent(&req, &run);
		sent += run.nr;
	}
	frdma_req_spend(&req, sent, now_ns);
	frdma_req_watch(&req, now_ns);
}

/* As the kernel's: what may leave is asked before each burst. */
static void transmit(void)
{
	u32 credit;

	look_at_clock();
	do {
		while (frdma_req_reap(&req))
			messages++;
		post();
		credit = frdma_req_judge(&req) == FRDMA_REQ_SEND ?
			 frdma_req_credit(&req, now_ns) : 0;
		if (credit)
			send_burst(min(credit, WINDOW));
	} while (credit);
}

static void answer(void (*plan)(const struct frdma_resp *rs,
				struct frdma_hdr *hdr))
{
	struct frdma_hdr hdr;

	plan(&resp, &hdr);
	fly(&back, &hdr, ANSWER);
}

static void ask_for_missing(void)
{
	frdma_resp_put_off(&resp, FRDMA_RESP_GAP);
	answer(frdma_resp_gap_plan);
}

static void respond(void)
{
	struct frdma_hdr hdr;

	while (resp.read.active) {
		frdma_resp_read_plan(&resp, &hdr);
		fly(&back, &hdr, hdr.payload_len + OVERHEAD);
		frdma_resp_read_sent(&resp, &hdr, 1);
	}
}

static void keep(const struct frdma_hdr *hdr)
{
	struct frdma_kept **at;
	struct early *early;

	if (path->drops || !frdma_resp_may_keep(&resp, hdr))
		return;
	at = frdma_kept_find(&kept, hdr->psn, resp.epsn);
	if (!at)
		return;
	early = malloc(sizeof(*early));
	early->item.psn = hdr->psn;
	early->item.nr = 1;
	early->hdr = *hdr;
	frdma_kept_add(&kept, at, &early->item);
}

static void take_request(const struct frdma_hdr *hdr)
{
	const struct frdma_resp_recv none = { };

	switch (frdma_resp_judge(&resp, hdr, none)) {
	case FRDMA_RESP_ACCEPT:
		frdma_resp_commit(&resp, hdr, 0);
		respond();
		break;
	case FRDMA_RESP_DUPLICATE:
		frdma_resp_commit_dup(&resp, hdr,
				      frdma_resp_judge_dup(&resp, hdr));
		respond();
		break;
	case FRDMA_RESP_GAP:
		ask_for_missing();
		keep(hdr);
		break;
	case FRDMA_RESP_WAITING:
		keep(hdr);
		break;
	default:
		tap_fail(__FILE__, __LINE__, "psn 0x%x", hdr->psn);
		break;
	}
}

/* What was kept, and then one answer to all of it. */
static void end_of_batch(void)
{
	struct frdma_kept *item;
	bool taken = false;

	while ((item = frdma_kept_due(&kept, resp.epsn))) {
		if (!frdma_kept_is_stale(item, resp.epsn)) {
			take_request(&((struct early *)item)->hdr);
			taken = true;
		}
		free(item);
	}
	if (taken && kept.first && frdma_resp_is_content(&resp)) {
		resp.ack_due = false;
		ask_for_missing();
	}
	if (resp.ack_due) {
		resp.ack_due = false;
		answer(frdma_resp_ack_plan);
	}
}

static void recover(enum frdma_recovery recovery)
{
	if (recovery == FRDMA_RECOVERY_EXHAUSTED)
		tap_fail(__FILE__, __LINE__, "gave up");
}

static void forget(struct frdma_kept_list *list)
{
	struct frdma_kept *item;

	while ((item = frdma_kept_any(list)))
		free(item);
}

/* If it is ahead. Returns false if there is no room. */
static bool put_aside(const struct frdma_hdr *hdr)
{
	struct frdma_kept **at = frdma_kept_find(&ahead, hdr->psn, req.una_psn);
	struct early *early;

	if (!frdma_ack_is_ahead(&req, hdr))
		return true;
	frdma_resend_note_ahead(&req, hdr->psn, 1);
	if (path->room && ahead_nr >= path->room)
		return false;
	if (!at)
		return true;
	ahead_nr++;
	early = malloc(sizeof(*early));
	early->item.psn = hdr->psn;
	early->item.nr = 1;
	early->item.round = req.resend.round;
	early->hdr = *hdr;
	frdma_kept_add(&ahead, at, &early->item);
	return true;
}

static void take_answer(const struct frdma_hdr *hdr)
{
	enum frdma_ack_verdict verdict = frdma_ack_judge(&req, hdr);

	switch (verdict) {
	case FRDMA_ACK_PROGRESS:
		frdma_ack_commit(&req, hdr->psn, now_ns);
		break;
	case FRDMA_ACK_DATA:
		frdma_ack_note(&req, hdr);
		frdma_ack_commit(&req, hdr->psn, now_ns);
		break;
	case FRDMA_ACK_SEQ_NAK:
		frdma_ack_implied(&req, hdr->psn, now_ns);
		recover(frdma_resend_recover(&req, true));
		break;
	case FRDMA_ACK_LOST:
		frdma_ack_implied(&req, hdr->psn, now_ns);
		if (!put_aside(hdr)) {
			frdma_resend_let_go(&req);
			recover(frdma_resend_lacking(&req));
		} else if (ahead.first) {
			recover(frdma_resend_hole(&req, ahead.first->psn));
		} else {
			recover(frdma_resend_recover(&req, false));
		}
		break;
	case FRDMA_ACK_STALE:
		break;
	default:
		tap_fail(__FILE__, __LINE__, "syndrome 0x%x", hdr->syndrome);
		break;
	}
}

/* All that arrives now. Returns false if nothing does. */
static bool land(struct way *way, void (*take)(const struct frdma_hdr *hdr))
{
	bool any = false;

	while (way->first && way->first->due_ns <= now_ns) {
		struct flying *pkt = way->first;

		way->first = pkt->next;
		if (!way->first)
			way->last = &way->first;
		take(&pkt->hdr);
		free(pkt);
		any = true;
	}
	return any;
}

/* What was put aside has its turn. */
static void take_aside(void)
{
	const struct frdma_hdr *hdr;
	struct frdma_kept *item;

	while ((item = frdma_kept_due(&ahead, req.una_psn))) {
		ahead_nr--;
		hdr = &((struct early *)item)->hdr;
		if (!frdma_kept_is_stale(item, req.una_psn) &&
		    !frdma_ack_is_old(&req, item, hdr))
			take_answer(hdr);
		free(item);
	}
	if (ahead.first)
		recover(frdma_resend_hole(&req, ahead.first->psn));
	else
		recover(frdma_resend_lacking(&req));
}

static u64 next_event_ns(void)
{
	u64 next_ns = min(frdma_retry_next_ns(&req.retry),
			  frdma_req_next_ns(&req));

	if (there.first)
		next_ns = min(next_ns, there.first->due_ns);
	if (back.first)
		next_ns = min(next_ns, back.first->due_ns);
	return max(next_ns, now_ns);
}

static void begin(const struct path *how, u64 seed)
{
	path = how;
	rnd = (struct rnd) { .state = seed };
	now_ns = 1;
	messages = 0;
	repeated = 0;
	there = (struct way) { .last = &there.first };
	back = (struct way) { .last = &back.first };
	kept = (struct frdma_kept_list) { };
	ahead = (struct frdma_kept_list) { };
	ahead_nr = 0;
	req = (struct frdma_req) {
		.slots = slots, .stride = sizeof(slots[0]),
		.mask = UNDER_WAY - 1, .transport = FRDMA_RC,
		.rd_max = max(how->reads, 1U), .read_grid = 64, .mtu = MTU,
		.retry = {
			.timeout_ns = frdma_ack_timeout_ns(14),
			.retry_cnt = 7, .rnr_retry = 7,
		},
	};
	frdma_cc_init(&req.cc, WINDOW);
	frdma_req_init(&req, 0);
	resp = (struct frdma_resp) {
		.mtu = MTU, .transport = FRDMA_RC,
		.access = FRDMA_ACC_REMOTE, .res = res, .nr_res = how->reads,
	};
	frdma_resp_init(&resp, 0);
}

static void end(struct way *way)
{
	struct flying *pkt;

	forget(&kept);
	forget(&ahead);
	while ((pkt = way->first)) {
		way->first = pkt->next;
		free(pkt);
	}
}

/* Megabits of messages that are complete, in a second. */
static u32 goodput(struct path how, u64 seed)
{
	u64 early = 0;

	begin(&how, seed);
	transmit();
	while (!tap_failed() && now_ns < END_NS) {
		now_ns = next_event_ns();
		if (land(&there, take_request))
			end_of_batch();
		if (land(&back, take_answer))
			take_aside();
		transmit();
		if (!is_later() && path->longer_ns)
			early = messages;
	}
	end(&there);
	end(&back);
	return (messages - early) * MESSAGE * 8 / SECONDS / 1000000;
}

/* Where much is lost, one throw of the dice differs by a third from another. */
static void expect_goodput(u32 least, struct path how)
{
	u32 seed, seeds = how.lost >= 50000 ? 8 : 1, got = 0;

	if (FRDMA_PSN_BITS < 24) {
		tap_skip("too few numbers");
		return;
	}
	for (seed = 1; seed <= seeds; seed++)
		got += goodput(how, seed);
	got /= seeds;
	printf("# %u Mbit/s\n", got);
	if (got < least)
		tap_fail(__FILE__, __LINE__, "%u, not %u Mbit/s", got, least);
}

TEST(goodput__of_a_wire_that_loses_nothing)
{
	expect_goodput(780, (struct path) { });
}

TEST(goodput__one_packet_of_a_thousand_is_lost)
{
	expect_goodput(800, (struct path) { .lost = 1000 });
}

/* One that is missing in a round trip is 410: the peer asks for one at a time. */
TEST(goodput__one_packet_of_a_hundred_is_lost)
{
	expect_goodput(320, (struct path) { .lost = 10000 });
}

TEST(goodput__one_packet_of_twenty_is_lost)
{
	expect_goodput(50, (struct path) { .lost = 50000 });
}

/* A quarter of what a window is. */
TEST(goodput__of_a_short_queue)
{
	expect_goodput(600, (struct path) { .queue = 60 });
	expect_goodput(700, (struct path) { .queue = 60, .lost = 1000 });
}

/* Nothing is lost, and little is sent again. */
TEST(goodput__packets_swap_places)
{
	expect_goodput(780, (struct path) { .swap_ns = 10000 });
	expect_goodput(400, (struct path) { .swap_ns = 1000000 });
}

TEST(goodput__packets_swap_places_and_some_are_lost)
{
	expect_goodput(750, (struct path) { .swap_ns = 10000, .lost = 1000 });
}

/* A window for each, in slow start: as others send. */
TEST(goodput__to_a_peer_that_drops)
{
	expect_goodput(320, (struct path) { .drops = true, .lost = 1000 });
	expect_goodput(65, (struct path) { .drops = true, .lost = 10000 });
	expect_goodput(350, (struct path) { .drops = true, .queue = 60 });
}

/*
 * All that is asked for in vain must not keep the new round trip from being learnt. A
 * message in it would be 21 Mbit/s of two seconds.
 */
TEST(goodput__way_becomes_longer)
{
	expect_goodput(18, (struct path) { .lost = 10000, .longer_ns = 5000000 });
}

/* Of answers that are missing, too, one at a time is asked for. */
TEST(goodput__of_reads)
{
	expect_goodput(880, (struct path) { .reads = 16 });
	expect_goodput(780, (struct path) { .reads = 16, .lost = 1000 });
	expect_goodput(300, (struct path) { .reads = 16, .lost = 10000 });
	expect_goodput(30, (struct path) { .reads = 16, .lost = 50000 });
}

/* Less than the wire takes is under way. */
TEST(goodput__of_few_reads)
{
	expect_goodput(190, (struct path) { .reads = 1 });
	expect_goodput(180, (struct path) { .reads = 1, .lost = 1000 });
	expect_goodput(350, (struct path) { .reads = 2, .lost = 1000 });
}

/* So do the requests, which the peer then asks for. */
TEST(goodput__of_reads_that_swap_places)
{
	expect_goodput(380, (struct path) { .reads = 16, .swap_ns = 10000 });
	expect_goodput(400, (struct path) { .reads = 16, .swap_ns = 1000000 });
}

/* Then all behind it is asked for again. */
TEST(goodput__of_reads_with_little_room)
{
	expect_goodput(190, (struct path) { .reads = 16, .room = 1, .lost = 1000 });
	expect_goodput(180, (struct path) { .reads = 16, .room = 16, .lost = 1000 });
	expect_goodput(190, (struct path) { .reads = 16, .room = 128, .lost = 1000 });
	expect_goodput(75, (struct path) { .reads = 16, .room = 64, .lost = 10000 });
}

/* Nothing comes behind them that would tell. */
TEST(goodput__of_one_read_with_little_room)
{
	expect_goodput(35, (struct path) {
		.reads = 16, .one = true, .room = 4, .lost = 10000 });
	expect_goodput(100, (struct path) {
		.reads = 16, .one = true, .lost = 10000 });
}

/*
 * The answers are late, nothing is lost: all that is sent again is in vain. In each stall
 * a probe or the timeout asks, and a few packets tell that the answers were late (F-RTO).
 */
static void expect_repeated(u32 most, u32 least, struct path how)
{
	u32 got;

	if (FRDMA_PSN_BITS < 24) {
		tap_skip("too few numbers");
		return;
	}
	got = goodput(how, 1);
	printf("# %u Mbit/s, %llu packets sent again\n", got, repeated);
	if (repeated > most || got < least)
		tap_fail(__FILE__, __LINE__, "%llu, not %u", repeated, most);
}

TEST(goodput__answers_are_late)
{
	expect_repeated(100, 400, (struct path) { .stall_ns = 30000000 });
	expect_repeated(100, 400, (struct path) { .stall_ns = 100000000 });
	expect_repeated(100, 400, (struct path) {
		.stall_ns = 100000000, .drops = true,
	});
}
