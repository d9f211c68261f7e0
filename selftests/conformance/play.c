// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "names.h"
#include "play.h"
#include "value.h"

/* What every script has: memory to receive into, and to send from. */
#define OWN_LEN		65536
#define PEER_QPN	0x777

static bool wrong(struct play *play, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool wrong(struct play *play, const char *fmt, ...)
{
	size_t used = strlen(play->why);
	va_list args;

	va_start(args, fmt);
	vsnprintf(play->why + used, sizeof(play->why) - used, fmt, args);
	va_end(args);
	return false;
}

/*
 * What the end tells.
 */

void play_sent(struct play *play, const struct packet *packet)
{
	if (play->nr_sent < PLAY_PACKETS)
		play->sent[play->nr_sent++] = *packet;
	else
		wrong(play, "more than %u packets; ", PLAY_PACKETS);
}

void play_done(struct play *play, const struct done *done)
{
	if (play->nr_dones < PLAY_DONES)
		play->dones[play->nr_dones++] = *done;
	else
		wrong(play, "more than %u completions; ", PLAY_DONES);
}

void play_event(struct play *play, int event)
{
	if (play->nr_events < PLAY_EVENTS)
		play->events[play->nr_events++] = event;
	else
		wrong(play, "more than %u events; ", PLAY_EVENTS);
}

/*
 * Names.
 */

static struct region *find_region(struct play *play, const char *name)
{
	size_t i;

	for (i = 0; i < play->nr_regions; i++)
		if (!strcmp(play->regions[i].name, name))
			return &play->regions[i];
	return NULL;
}

static struct queue_pair *find_qp(struct play *play, const char *name)
{
	size_t i;

	for (i = 0; i < play->nr_qps; i++)
		if (!strcmp(play->qps[i].name, name))
			return &play->qps[i];
	return NULL;
}

static struct shared_queue *find_srq(struct play *play, const char *name)
{
	size_t i;

	for (i = 0; i < play->nr_srqs; i++)
		if (!strcmp(play->srqs[i].name, name))
			return &play->srqs[i];
	return NULL;
}

static bool find_name(void *arg, const char *name, enum meaning meaning,
		      uint64_t *value)
{
	struct play *play = arg;
	struct shared_queue *srq;
	struct queue_pair *qp;
	struct region *region;

	if (!strcmp(name, "P") && play->nr_qps) {
		*value = play->qps[0].mtu;
		return true;
	}
	if (meaning == MEANS_HOST && !strcmp(name, "host")) {
		*value = play->peer.host;
		return true;
	}
	if (meaning == MEANS_HOST && !strcmp(name, "peer")) {
		*value = play->peer.peer;
		return true;
	}
	qp = find_qp(play, name);
	if (meaning == MEANS_QPN && qp) {
		*value = qp->qpn;
		return true;
	}
	srq = find_srq(play, name);
	if (meaning == MEANS_SRQN && srq) {
		*value = srq->srqn;
		return true;
	}
	region = find_region(play, name);
	if (!region)
		return false;
	switch (meaning) {
	case MEANS_ADDRESS:	*value = region->va; return true;
	case MEANS_LKEY:	*value = region->lkey; return true;
	case MEANS_RKEY:	*value = region->rkey; return true;
	default:		return false;
	}
}

static struct names names_of(struct play *play)
{
	return (struct names) { find_name, play };
}

/* A value that the line may have; @value keeps what it is if it has none. */
static bool take(struct play *play, struct line *line, const char *name,
		 enum meaning meaning, uint64_t *value)
{
	struct names names = names_of(play);
	const char *text = line_value(line, name);

	if (!text || value_of(text, meaning, &names, value))
		return true;
	return wrong(play, "cannot read %s=%s", name, text);
}

static bool take32(struct play *play, struct line *line, const char *name,
		   enum meaning meaning, uint32_t *value)
{
	uint64_t wide = *value;

	if (!take(play, line, name, meaning, &wide))
		return false;
	*value = wide;
	return true;
}

static bool take_rights(struct play *play, struct line *line, uint32_t *rights)
{
	const char *text = line_value(line, "rights");

	if (!text || name_to_rights(text, rights))
		return true;
	return wrong(play, "rights=%s?", text);
}

/* The queue pair that a line is about: the first, if it names none. */
static struct queue_pair *qp_of(struct play *play, struct line *line)
{
	const char *name = line_value(line, "qp");

	if (name)
		return find_qp(play, name);
	return play->nr_qps ? &play->qps[0] : NULL;
}

/* Where packets go from and to that say nothing else. */
static struct packet_peer peer_of(struct play *play, struct line *line)
{
	struct packet_peer peer = play->peer;
	struct queue_pair *qp = qp_of(play, line);

	if (qp) {
		peer.qpn = qp->qpn;
		peer.peer_qpn = qp->peer_qpn;
	}
	peer.ipv6 = line_flag(line, "ipv6") || (qp && qp->ipv6);
	return peer;
}

/*
 * What is done.
 */

static bool add_region(struct play *play, const char *name, uint32_t len,
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

/*
 * What is expected.
 */

/* An optional expectation need not come; then the next line has its turn. */
static bool is_optional(const struct play *play, const struct line *line)
{
	return line->where && !play->end->is_frdma &&
	       (!strcmp(line->where, "choice") || !strcmp(line->where, "may"));
}

static uint64_t latest(const struct play *play, const struct line *line)
{
	if (is_optional(play, line))
		return play->last_ns + line->max_ns + 10 * play->end->quiet_ns;
	if (line->timed)
		return play->last_ns + line->max_ns + play->end->slack_ns;
	return play->last_ns + play->end->prompt_ns;
}

static bool came_too_early(struct play *play, const struct line *line,
			   uint64_t at_ns)
{
	if (!line->timed || at_ns >= play->last_ns + line->min_ns)
		return false;
	wrong(play, "after %.3f ms", (at_ns - play->last_ns) / 1e6);
	return true;
}

static bool came_too_late(struct play *play, const struct line *line,
			  uint64_t at_ns)
{
	if (is_optional(play, line) || at_ns <= latest(play, line))
		return false;
	wrong(play, "after %.3f ms", (at_ns - play->last_ns) / 1e6);
	return true;
}

static bool expect_packet(struct play *play, struct line *line)
{
	struct packet_peer peer = peer_of(play, line);
	struct names names = names_of(play);
	const struct packet *packet;
	char why[128], text[256];

	while (play->seen_sent == play->nr_sent &&
	       play->end->now() < latest(play, line))
		play->end->wait(latest(play, line));
	if (play->seen_sent == play->nr_sent)
		return is_optional(play, line) ||
		       wrong(play, "no packet comes");

	packet = &play->sent[play->seen_sent];
	if (!packet_matches(packet, line, &peer, &names,
			    !play->end->is_frdma, why, sizeof(why))) {
		if (is_optional(play, line))
			return true;
		packet_print(packet, text, sizeof(text));
		return wrong(play, "%s: %s", why, text);
	}
	if (came_too_early(play, line, packet->at_ns) ||
	    came_too_late(play, line, packet->at_ns))
		return false;
	play->seen_sent++;
	if (packet->at_ns > play->last_ns)
		play->last_ns = packet->at_ns;
	return true;
}

/* "until ACK psn=102": what was sent before that says less. */
static bool expect_last_packet(struct play *play, struct line *line)
{
	struct names names = names_of(play);
	char why[128];

	for (;;) {
		struct packet_peer peer;

		line_forget(line);
		peer = peer_of(play, line);
		while (play->seen_sent == play->nr_sent &&
		       play->end->now() < latest(play, line))
			play->end->wait(latest(play, line));
		if (play->seen_sent == play->nr_sent)
			return wrong(play, "it does not come");
		if (packet_matches(&play->sent[play->seen_sent++], line, &peer,
				   &names, !play->end->is_frdma, why,
				   sizeof(why)))
			return true;
	}
}

/* The next one, of that queue pair if there is one. */
static size_t next_done(const struct play *play, bool recv,
			const struct queue_pair *qp)
{
	size_t i;

	for (i = 0; i < play->nr_dones; i++)
		if (!play->seen_dones[i] && play->dones[i].recv == recv &&
		    (!qp || play->dones[i].qp == qp))
			break;
	return i;
}

static bool done_fits(struct play *play, struct line *line,
		      const struct done *done)
{
	struct names names = names_of(play);
	bool any = !play->end->is_frdma;
	const struct {
		const char *name;
		uint64_t got;
		enum meaning meaning;
	} values[] = {
		{ "id", done->id }, { "len", done->len },
		{ "imm", done->ex }, { "inv", done->ex, MEANS_RKEY },
		{ "src_qp", done->src_qp },
	};
	const char *status = line_next(line);
	char one[64], *rest = NULL, *name;
	bool fits = false;
	int want;
	size_t i;

	if (!status || strlen(status) >= sizeof(one))
		return wrong(play, "with which status?");
	strcpy(one, status);
	for (name = strtok_r(one, "|", &rest); name && !fits;
	     name = any ? strtok_r(NULL, "|", &rest) : NULL) {
		if (!name_to_status(name, &want))
			return wrong(play, "no such status: %s", name);
		fits = want == done->status;
	}
	if (!fits)
		return wrong(play, "id %llu, %s", (unsigned long long)done->id,
			     status_name(done->status));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *text = line_value(line, values[i].name);

		if (text && !value_is(text, values[i].meaning, &names,
				      values[i].got, any))
			return wrong(play, "%s is 0x%llx, not %s",
				     values[i].name,
				     (unsigned long long)values[i].got, text);
	}
	/* Flags are those of receives. */
	if (!done->recv || done->status)
		return true;
	if (done->imm != !!line_value(line, "imm"))
		return wrong(play, "immediate data: %u", done->imm);
	if (done->inv != !!line_value(line, "inv"))
		return wrong(play, "invalidated key: %u", done->inv);
	if (done->write != line_flag(line, "write"))
		return wrong(play, "of a WRITE: %u", done->write);
	/* rdma_rxe says so of every message, and has nothing in front. */
	if (done->grh != line_flag(line, "grh") && !any)
		return wrong(play, "GRH: %u", done->grh);
	return true;
}

static bool expect_done(struct play *play, struct line *line)
{
	const char *name = line_value(line, "qp");
	const struct queue_pair *qp = name ? find_qp(play, name) : NULL;
	const char *side = line_next(line);
	bool recv = side && !strcmp(side, "recv");
	size_t i;

	if (!side || (!recv && strcmp(side, "send")))
		return wrong(play, "wc send or wc recv");
	while ((i = next_done(play, recv, qp)) == play->nr_dones &&
	       play->end->now() < latest(play, line))
		play->end->wait(latest(play, line));
	if (i == play->nr_dones) {
		while (line_next(line))
			;
		return is_optional(play, line) ||
		       wrong(play, "no completion comes");
	}

	if (!done_fits(play, line, &play->dones[i]) ||
	    came_too_early(play, line, play->dones[i].at_ns) ||
	    came_too_late(play, line, play->dones[i].at_ns))
		return false;
	play->seen_dones[i] = true;
	if (play->dones[i].at_ns > play->last_ns)
		play->last_ns = play->dones[i].at_ns;
	return true;
}

/* "QP_REQ_ERR|QP_FATAL": the first is frdma's. */
static bool event_fits(struct play *play, const char *names, int event)
{
	char copy[64], *rest = NULL, *one;
	int want;

	snprintf(copy, sizeof(copy), "%s", names);
	for (one = strtok_r(copy, "|", &rest); one;
	     one = play->end->is_frdma ? NULL : strtok_r(NULL, "|", &rest))
		if (name_to_event(one, &want) && want == event)
			return true;
	return false;
}

/*
 * rdma_rxe raises none of these at all. That is said once; what else happens in
 * such a case is of interest.
 */
static bool may_be_missing(const struct play *play, const char *names)
{
	return !play->end->is_frdma && (!strncmp(names, "QP_REQ_ERR", 10) ||
					!strncmp(names, "QP_ACCESS_ERR", 13));
}

static bool expect_event(struct play *play, struct line *line)
{
	const char *names = line_next(line);

	if (!names)
		return wrong(play, "which event?");
	if (may_be_missing(play, names)) {
		play->end->wait(play->end->now() + play->end->quiet_ns);
		if (play->seen_events == play->nr_events ||
		    !event_fits(play, names, play->events[play->seen_events]))
			return true;
	}
	while (play->seen_events == play->nr_events &&
	       play->end->now() < latest(play, line))
		play->end->wait(latest(play, line));
	if (play->seen_events == play->nr_events)
		return is_optional(play, line) || wrong(play, "none comes");
	if (!event_fits(play, names, play->events[play->seen_events]))
		return is_optional(play, line) ||
		       wrong(play, "%s comes",
			     event_name(play->events[play->seen_events]));
	play->seen_events++;
	return true;
}

/* A state may be reached a little later than the packet that says so. */
static bool expect_state(struct play *play, struct line *line)
{
	struct queue_pair *qp = qp_of(play, line);
	int want, got;

	if (!qp || !name_to_state(line_next(line), &want))
		return wrong(play, "whose, which?");
	while ((got = play->end->state(qp)) != want &&
	       play->end->now() < latest(play, line))
		play->end->wait(play->end->now() + play->end->quiet_ns / 4 + 1);
	return got == want || wrong(play, "it is %s", state_name(got));
}

/* Nothing is sent, completed or raised that was not expected yet. */
static bool nothing_else(struct play *play)
{
	char text[256];
	size_t i;

	if (play->seen_sent < play->nr_sent) {
		packet_print(&play->sent[play->seen_sent], text, sizeof(text));
		return wrong(play, "it sends %s", text);
	}
	for (i = 0; i < play->nr_dones; i++)
		if (!play->seen_dones[i])
			return wrong(play, "it completes a %s, id %llu, %s",
				     play->dones[i].recv ? "receive" : "send",
				     (unsigned long long)play->dones[i].id,
				     status_name(play->dones[i].status));
	if (play->seen_events < play->nr_events)
		return wrong(play, "it raises %s",
			     event_name(play->events[play->seen_events]));
	return true;
}

static bool stays_quiet(struct play *play, uint64_t ns)
{
	uint64_t until = play->end->now() + ns;

	while (play->end->now() < until) {
		if (!nothing_else(play))
			return false;
		play->end->wait(until);
	}
	return nothing_else(play);
}

/* "+10ms silence" or "silence" */
static bool expect_silence(struct play *play, struct line *line)
{
	uint64_t ns = play->end->quiet_ns;

	if (line->timed && line->max_ns > ns)
		ns = line->max_ns;
	if (!stays_quiet(play, ns))
		return false;
	play->last_ns = play->end->now();
	return true;
}

/* "memory mr+8 len=16 payload=0", "memory mr+8 len=16 zero" */
static bool expect_memory(struct play *play, struct line *line)
{
	struct names names = names_of(play);
	const char *where = line_next(line);
	uint64_t at, from = 0, len = 8, value = 0, got;
	bool zero = line_flag(line, "zero");
	const char *text = line_value(line, "value");
	const uint8_t *mem;
	uint64_t i;

	if (!where || !value_of(where, MEANS_ADDRESS, &names, &at))
		return wrong(play, "where?");
	mem = (const uint8_t *)(uintptr_t)at;
	if (text) {
		if (!value_of(text, MEANS_NUMBER, &names, &value))
			return wrong(play, "value=%s?", text);
		memcpy(&got, mem, sizeof(got));
		return got == value ||
		       wrong(play, "it is 0x%llx", (unsigned long long)got);
	}
	if (!take(play, line, "len", MEANS_NUMBER, &len) ||
	    !take(play, line, "payload", MEANS_NUMBER, &from))
		return false;
	for (i = 0; i < len; i++)
		if (mem[i] != (zero ? 0 : pattern(from + i)))
			return wrong(play, "byte %llu is 0x%02x, not 0x%02x",
				     (unsigned long long)i, mem[i],
				     zero ? 0 : pattern(from + i));
	return true;
}

/* "sum mr 7": what was added by this host's processor is there, and 7. */
static bool expect_sum(struct play *play, struct line *line)
{
	const char *where = line_next(line), *text = line_next(line);
	struct names names = names_of(play);
	uint64_t at, others, own, got;

	if (!where || !text || !value_of(where, MEANS_ADDRESS, &names, &at) ||
	    !value_of(text, MEANS_NUMBER, &names, &others))
		return wrong(play, "sum ADDRESS NUMBER");
	if (!adder_end(&own))
		return wrong(play, "nothing is added");
	memcpy(&got, (void *)(uintptr_t)at, sizeof(got));
	return (got == own + others && own) ||
	       wrong(play, "it is 0x%llx, and 0x%llx was added here",
		     (unsigned long long)got, (unsigned long long)own);
}

/* "count drop_bad_icrc 1": only where there are such counters. */
static bool expect_count(struct play *play, struct line *line)
{
	const char *name = line_next(line), *text = line_next(line);
	struct names names = names_of(play);
	uint64_t want, got;

	if (!name || !text || !value_of(text, MEANS_NUMBER, &names, &want))
		return wrong(play, "count COUNTER NUMBER");
	if (!play->end->count || !play->end->is_frdma)
		return true;
	if (!play->end->count(name, &got))
		return wrong(play, "no such counter");
	return got == want ||
	       wrong(play, "it has counted %llu", (unsigned long long)got);
}

static const struct {
	const char *keyword;
	bool (*play)(struct play *play, struct line *line);
	bool expects;
} statements[] = {
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
	{ ">", expect_packet, true },
	{ "until", expect_last_packet, true },
	{ "wc", expect_done, true },
	{ "event", expect_event, true },
	{ "state", expect_state, true },
	{ "silence", expect_silence, true },
	{ "memory", expect_memory, true },
	{ "sum", expect_sum, true },
	{ "count", expect_count, true },
};

/* "refused: qp mtu=4096": the call must fail. */
static bool is_to_fail(const struct line *line)
{
	return line->where && !strcmp(line->where, "refused");
}

/* Is the line for this end? */
static bool concerns(const struct play *play, const struct line *line)
{
	if (!line->where || !strcmp(line->where, "choice") ||
	    is_to_fail(line))
		return true;
	if (!strcmp(line->where, "frdma"))
		return play->end->is_frdma;
	if (!strcmp(line->where, "may"))
		return !play->end->is_frdma;
	/* What has a kernel around it. */
	if (!strcmp(line->where, "device"))
		return strcmp(play->end->name, "engine");
	return !strcmp(line->where, play->end->name);
}

static void let_time_pass(struct play *play, uint64_t until_ns)
{
	while (play->end->now() < until_ns)
		play->end->wait(until_ns);
}

static bool play_line(struct play *play, struct line *line)
{
	const struct word *unused;
	size_t i;

	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (strcmp(statements[i].keyword, line_keyword(line)))
			continue;
		if (!statements[i].expects) {
			let_time_pass(play, play->last_ns + line->min_ns);
			play->last_ns = play->end->now();
		}
		if (is_to_fail(line)) {
			if (statements[i].play(play, line))
				return wrong(play, "it is not refused");
			play->why[0] = '\0';
			return true;
		}
		if (!statements[i].play(play, line))
			return false;
		if (is_optional(play, line))
			return true;
		unused = line_unused(line);
		return !unused || wrong(play, "'%s' means nothing here",
					unused->name);
	}
	return wrong(play, "no such statement");
}

static bool play_lines(struct play *play)
{
	char why[sizeof(play->why)];
	size_t i;

	for (i = 0; i < play->script->nr; i++) {
		struct line *line = &play->script->lines[i];

		if (!concerns(play, line))
			continue;
		if (play_line(play, line) && !play->why[0])
			continue;
		snprintf(why, sizeof(why), "line %u: %.200s: %.700s", line->number,
			 line->text, play->why);
		strcpy(play->why, why);
		return false;
	}
	return stays_quiet(play, play->end->quiet_ns);
}

static void free_regions(struct play *play)
{
	size_t i;

	for (i = 0; i < play->nr_regions; i++)
		free(play->regions[i].mem);
}

/**
 * play_script - play a script
 * @play: set; @why says what went wrong
 * @script: which
 * @end: against whom
 */
bool play_script(struct play *play, struct script *script,
		 const struct end *end)
{
	uint64_t added;
	bool good;

	memset(play, 0, sizeof(*play));
	play->script = script;
	play->end = end;
	if (!end->begin(play))
		return wrong(play, "cannot begin");
	play->begin_ns = end->now();
	play->last_ns = play->begin_ns;
	good = add_region(play, "in", OWN_LEN, RIGHT_LOCAL, 0, -1) &&
	       add_region(play, "out", OWN_LEN, RIGHT_LOCAL, 0, 0) &&
	       play_lines(play);
	adder_end(&added);
	end->finish(play);
	free_regions(play);
	return good && !play->why[0];
}
