// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "lookup.h"
#include "names.h"
#include "statement.h"

#define PEER_QPN	0x777

/** add_region - register memory: @len bytes, of a pattern from @fill, or zero */
bool add_region(struct play *play, const char *name, uint32_t len,
		       uint32_t rights, uint32_t pd, int64_t fill)
{
	struct region *region = &play->regions[play->nr_regions];
	uint32_t i;

	if (play->nr_regions == PLAY_REGIONS)
		return wrong(play, "too many regions");
	*region = (struct region) { .len = len, .rights = rights, .pd = pd };
	snprintf(region->name, sizeof(region->name), "%s", name);
	region->mem = aligned_alloc(4096, (len + 4095) & ~4095U);
	memset(region->mem, 0, (len + 4095) & ~4095U);
	for (i = 0; fill >= 0 && i < len; i++)
		region->mem[i] = pattern(fill + i);
	region->va = (uintptr_t)region->mem;
	play->nr_regions++;
	return play->end->make_region(region) ||
	       wrong(play, "cannot register it");
}

static bool do_region(struct play *play, struct line *line)
{
	uint32_t rights = RIGHT_LOCAL | RIGHT_WRITE | RIGHT_READ | RIGHT_ATOMIC;
	const char *name = line_next(line);
	uint64_t fill = ~0ULL;
	uint32_t len = 4096, pd = 0;

	if (!name)
		return wrong(play, "it has no name");
	return take_rights(play, line, &rights) &&
	       take32(play, line, "len", MEANS_NUMBER, &len) &&
	       take32(play, line, "pd", MEANS_NUMBER, &pd) &&
	       take(play, line, "fill", MEANS_NUMBER, &fill) &&
	       add_region(play, name, len, rights, pd, fill);
}

/* A window has no memory of its own: where it lies is said when it is bound. */
static bool do_window(struct play *play, struct line *line)
{
	struct region *region = &play->regions[play->nr_regions];
	const char *name = line_next(line);
	uint32_t type = 2;

	if (!name || play->nr_regions == PLAY_REGIONS || !play->end->make_window)
		return wrong(play, "no window");
	*region = (struct region) { };
	snprintf(region->name, sizeof(region->name), "%s", name);
	play->nr_regions++;
	return take32(play, line, "type", MEANS_NUMBER, &type) &&
	       (play->end->make_window(region, type) ||
		wrong(play, "cannot make it"));
}

/* "post send BIND mw=w mr=mr addr=mr+8 len=8 rights=write" */
static bool take_window(struct play *play, struct line *line,
			struct request *rq)
{
	const char *window = line_value(line, "mw");
	const char *of = line_value(line, "mr");

	if (!window)
		return rq->op != DO_BIND || wrong(play, "bind what?");
	rq->window = find_region(play, window);
	rq->bound = of ? find_region(play, of) : NULL;
	if (!rq->window || !rq->bound)
		return wrong(play, "bind what to what?");
	return take_rights(play, line, &rq->rights);
}

static bool do_dereg(struct play *play, struct line *line)
{
	const char *name = line_next(line);
	struct region *region = name ? find_region(play, name) : NULL;

	if (!region)
		return wrong(play, "no such region");
	region->gone = true;
	return play->end->drop_region(region) ||
	       wrong(play, "cannot deregister it");
}

/* "srq s", "srq s xrcd=1 pd=1" */
static bool do_srq(struct play *play, struct line *line)
{
	struct shared_queue *srq = &play->srqs[play->nr_srqs];
	const char *name = line_next(line);

	if (!name || play->nr_srqs == PLAY_SRQS || !play->end->make_srq)
		return wrong(play, "no shared receive queue");
	*srq = (struct shared_queue) { .max = 16 };
	snprintf(srq->name, sizeof(srq->name), "%s", name);
	play->nr_srqs++;
	return take32(play, line, "max", MEANS_NUMBER, &srq->max) &&
	       take32(play, line, "pd", MEANS_NUMBER, &srq->pd) &&
	       take32(play, line, "xrcd", MEANS_NUMBER, &srq->xrcd) &&
	       (play->end->make_srq(srq) || wrong(play, "cannot make it"));
}

/* "limit s 2": fewer than these raise an event, once. */
static bool do_limit(struct play *play, struct line *line)
{
	const char *name = line_next(line), *text = line_next(line);
	struct shared_queue *srq = name ? find_srq(play, name) : NULL;
	struct names names = names_of(play);
	uint64_t limit;

	if (!srq || !text || !play->end->limit ||
	    !value_of(text, MEANS_NUMBER, &names, &limit))
		return wrong(play, "limit QUEUE NUMBER");
	return play->end->limit(srq, limit) || wrong(play, "refused");
}

/* "destroy a": a queue pair, or a shared receive queue */
static bool do_destroy(struct play *play, struct line *line)
{
	const char *name = line_next(line);
	struct queue_pair *qp = name ? find_qp(play, name) : NULL;
	struct shared_queue *srq = name ? find_srq(play, name) : NULL;

	if ((!qp || !play->end->drop_qp) && (!srq || !play->end->drop_srq))
		return wrong(play, "destroy what?");
	return (qp ? play->end->drop_qp(qp) : play->end->drop_srq(srq)) ||
	       wrong(play, "refused");
}

/* "srq=s": from which it takes */
static bool take_srq(struct play *play, struct line *line,
		     struct shared_queue **srq)
{
	const char *name = line_value(line, "srq");

	if (!name)
		return true;
	*srq = find_srq(play, name);
	return *srq || wrong(play, "no such queue: %s", name);
}

static bool do_qp(struct play *play, struct line *line)
{
	struct queue_pair *qp = &play->qps[play->nr_qps];
	const char *name;
	int type = IS_RC, state = STATE_RTS;

	if (play->nr_qps == PLAY_QPS)
		return wrong(play, "too many queue pairs");
	*qp = (struct queue_pair) {
		.mtu = 1024, .rq_psn = 100, .sq_psn = 1000,
		.peer_qpn = PEER_QPN + play->nr_qps, .rd = 4, .dest_rd = 4,
		.rnr_timer = 12, .rnr_retry = 7, .retry = 7,
		.rights = RIGHT_WRITE | RIGHT_READ | RIGHT_ATOMIC,
		.qkey = 0x11111111,
	};
	play->nr_qps++;
	qp->ipv6 = line_flag(line, "ipv6");
	name = line_next(line);
	if (name && !name_to_type(name, &type)) {
		snprintf(qp->name, sizeof(qp->name), "%s", name);
		name = line_next(line);
		if (name && !name_to_type(name, &type))
			return wrong(play, "no such type: %s", name);
	}
	if (!qp->name[0])
		snprintf(qp->name, sizeof(qp->name), "qp");
	name = line_value(line, "state");
	if (name && !name_to_state(name, &state))
		return wrong(play, "no such state: %s", name);
	qp->type = type;
	qp->state = state;

	return take32(play, line, "mtu", MEANS_NUMBER, &qp->mtu) &&
	       take32(play, line, "rq_psn", MEANS_NUMBER, &qp->rq_psn) &&
	       take32(play, line, "sq_psn", MEANS_NUMBER, &qp->sq_psn) &&
	       take32(play, line, "rd", MEANS_NUMBER, &qp->rd) &&
	       take32(play, line, "dest_rd", MEANS_NUMBER, &qp->dest_rd) &&
	       take32(play, line, "rnr_timer", MEANS_NUMBER, &qp->rnr_timer) &&
	       take32(play, line, "rnr_retry", MEANS_NUMBER, &qp->rnr_retry) &&
	       take32(play, line, "retry", MEANS_NUMBER, &qp->retry) &&
	       take32(play, line, "timeout", MEANS_NUMBER, &qp->timeout) &&
	       take32(play, line, "qkey", MEANS_NUMBER, &qp->qkey) &&
	       take32(play, line, "tclass", MEANS_NUMBER, &qp->tclass) &&
	       take_rights(play, line, &qp->rights) &&
	       take_srq(play, line, &qp->srq) &&
	       (play->end->make_qp(qp) || wrong(play, "cannot make it"));
}

static bool do_modify(struct play *play, struct line *line)
{
	struct queue_pair *qp = qp_of(play, line);
	int state;

	if (!qp || !name_to_state(line_next(line), &state))
		return wrong(play, "what, to which state?");
	return play->end->modify(qp, state) || wrong(play, "refused");
}

/* Memory of a work request: "mr=NAME", or what every script has. */
static bool take_memory(struct play *play, struct line *line,
			const char *otherwise, struct request *rq)
{
	const char *name = line_value(line, "mr") ?: otherwise;
	struct region *region = find_region(play, name);

	if (!region)
		return wrong(play, "no region %s", name);
	rq->addr = region->va;
	rq->lkey = region->lkey;
	return take(play, line, "addr", MEANS_ADDRESS, &rq->addr) &&
	       take32(play, line, "lkey", MEANS_LKEY, &rq->lkey) &&
	       take32(play, line, "len", MEANS_NUMBER, &rq->len);
}

/* To a queue pair, or to the shared receive queue that it names. */
static bool post_recv(struct play *play, struct line *line)
{
	struct queue_pair *qp = qp_of(play, line);
	struct request rq = { .len = 4096 };
	struct shared_queue *srq = NULL;

	if (!take_srq(play, line, &srq))
		return false;
	if (srq ? !play->end->post_srq : !qp)
		return wrong(play, "to whom?");
	return take(play, line, "id", MEANS_NUMBER, &rq.id) &&
	       take_memory(play, line, "in", &rq) &&
	       ((srq ? play->end->post_srq(srq, &rq) :
		       play->end->post_recv(qp, &rq)) ||
		wrong(play, "refused"));
}

static bool post_send(struct play *play, struct line *line,
		      struct queue_pair *qp)
{
	struct request rq = {
		.qkey = qp->qkey, .dqpn = qp->peer_qpn, .placement = 1,
		.fence = line_flag(line, "fence"),
		.solicited = line_flag(line, "solicited"),
		.inline_data = line_flag(line, "inline"),
	};
	bool brings;

	if (!name_to_op(line_next(line), &rq.op))
		return wrong(play, "to do what?");
	brings = rq.op == DO_READ || rq.op == DO_COMPARE_SWAP ||
		 rq.op == DO_FETCH_ADD;
	if (rq.op == DO_COMPARE_SWAP || rq.op == DO_FETCH_ADD ||
	    rq.op == DO_ATOMIC_WRITE)
		rq.len = 8;
	return take(play, line, "id", MEANS_NUMBER, &rq.id) &&
	       take_window(play, line, &rq) &&
	       take_memory(play, line, brings ? "in" : "out", &rq) &&
	       take(play, line, "va", MEANS_ADDRESS, &rq.va) &&
	       take32(play, line, "rkey", MEANS_RKEY, &rq.rkey) &&
	       take32(play, line, "inv", MEANS_RKEY, &rq.rkey) &&
	       take32(play, line, "imm", MEANS_NUMBER, &rq.imm) &&
	       take(play, line, "compare", MEANS_NUMBER, &rq.compare) &&
	       take(play, line, "swap", MEANS_NUMBER, &rq.swap) &&
	       take(play, line, "add", MEANS_NUMBER, &rq.swap) &&
	       take32(play, line, "placement", MEANS_NUMBER, &rq.placement) &&
	       take32(play, line, "select", MEANS_NUMBER, &rq.select) &&
	       take32(play, line, "dqpn", MEANS_QPN, &rq.dqpn) &&
	       take32(play, line, "qkey", MEANS_NUMBER, &rq.qkey) &&
	       take32(play, line, "srqn", MEANS_SRQN, &rq.srqn) &&
	       (play->end->post_send(qp, &rq) || wrong(play, "refused"));
}

static bool do_post(struct play *play, struct line *line)
{
	struct queue_pair *qp = qp_of(play, line);

	if (line_flag(line, "recv"))
		return post_recv(play, line);
	if (!line_flag(line, "send"))
		return wrong(play, "post send or post recv");
	return qp ? post_send(play, line, qp) : wrong(play, "no queue pair");
}

/* One after the other, if the end knows no trains. */
static bool deliver_train(struct play *play, uint32_t linear)
{
	size_t i, nr = play->nr_train;

	play->nr_train = 0;
	if (play->end->deliver_train)
		return play->end->deliver_train(play->train, nr, linear) ||
		       wrong(play, "this kernel sends no trains");
	for (i = 0; i < nr; i++)
		play->end->deliver(&play->train[i]);
	return true;
}

/* "train": the next packet comes with it. */
static bool add_to_train(struct play *play, const struct packet *packet)
{
	if (play->nr_train == PLAY_TRAIN)
		return wrong(play, "the train is too long");
	play->train[play->nr_train++] = *packet;
	return true;
}

static bool do_packet(struct play *play, struct line *line)
{
	struct packet_peer peer = peer_of(play, line);
	struct names names = names_of(play);
	static struct packet packet, rest;
	uint32_t split = 0, linear = 0, times = 1;
	bool joined = line_flag(line, "train");
	char why[128];

	if (!take32(play, line, "split", MEANS_NUMBER, &split) ||
	    !take32(play, line, "linear", MEANS_NUMBER, &linear) ||
	    !take32(play, line, "times", MEANS_NUMBER, &times))
		return false;
	if (!packet_build(&packet, line, &peer, &names, why, sizeof(why)))
		return wrong(play, "%s", why);
	if (joined || play->nr_train) {
		if (!add_to_train(play, &packet))
			return false;
		return joined || deliver_train(play, linear);
	}
	if (split)
		packet_split(&packet, &rest, split);
	play->end->deliver(&packet);
	if (split)
		play->end->deliver(&rest);
	while (--times) {
		packet_step(&packet);
		play->end->deliver(&packet);
	}
	return true;
}

/* "set mr+8 0x1234": eight bytes of memory. */
static bool do_set(struct play *play, struct line *line)
{
	struct names names = names_of(play);
	const char *where = line_next(line), *what = line_next(line);
	uint64_t at, value;

	if (!where || !what ||
	    !value_of(where, MEANS_ADDRESS, &names, &at) ||
	    !value_of(what, MEANS_NUMBER, &names, &value))
		return wrong(play, "set ADDRESS VALUE");
	memcpy((void *)(uintptr_t)at, &value, sizeof(value));
	return true;
}

/* A group of IPv4 is mapped into the addresses of IPv6 (A17). */
static bool group_of(struct play *play, const char *text, uint8_t *gid)
{
	struct names names = names_of(play);
	uint64_t address;
	int i;

	if (strchr(text, ':'))
		return inet_pton(AF_INET6, text, gid) == 1;
	if (!value_of(text, MEANS_HOST, &names, &address))
		return false;
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	for (i = 0; i < 4; i++)
		gid[12 + i] = address >> 8 * (3 - i);
	return true;
}

/* "add mr": until its sum is asked for. */
static bool do_add(struct play *play, struct line *line)
{
	struct names names = names_of(play);
	const char *where = line_next(line);
	uint64_t at;

	if (!where || !value_of(where, MEANS_ADDRESS, &names, &at))
		return wrong(play, "add ADDRESS");
	return adder_begin((uint64_t *)(uintptr_t)at) ||
	       wrong(play, "one thread is enough");
}

/* "attach 239.1.2.3", "attach ff0e::1" */
static bool do_membership(struct play *play, struct line *line)
{
	struct queue_pair *qp = qp_of(play, line);
	bool attach = !strcmp(line_keyword(line), "attach");
	const char *group = line_next(line);
	uint8_t gid[16];

	if (!qp || !play->end->attach || !group || !group_of(play, group, gid))
		return wrong(play, "whom, to which group?");
	return play->end->attach(qp, gid, attach) || wrong(play, "refused");
}

static bool do_notify(struct play *play, struct line *line)
{
	struct queue_pair *qp = qp_of(play, line);

	if (!qp || !play->end->notify)
		return wrong(play, "cannot");
	return play->end->notify(qp, line_flag(line, "solicited")) ||
	       wrong(play, "refused");
}

const struct statement deeds[] = {
	{ "mr", do_region },
	{ "dereg", do_dereg },
	{ "srq", do_srq },
	{ "limit", do_limit },
	{ "qp", do_qp },
	{ "destroy", do_destroy },
	{ "modify", do_modify },
	{ "post", do_post },
	{ "<", do_packet },
	{ "set", do_set },
	{ "add", do_add },
	{ "mw", do_window },
	{ "notify", do_notify },
	{ "attach", do_membership },
	{ "detach", do_membership },
	{ }
};
