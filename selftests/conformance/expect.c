// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "adder.h"
#include "format.h"
#include "lookup.h"
#include "match.h"
#include "names.h"
#include "statement.h"

/** is_optional - it need not come; then the next line has its turn */
bool is_optional(const struct play *play, const struct line *line)
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

/*
 * "again psn=1000..1001 times=2..9": requests that were sent again, by probes or after
 * timeouts. A probe may come at any time, so neither their order nor their time matters.
 */
static bool expect_again(struct play *play, struct line *line)
{
	const char *psns = line_value(line, "psn");
	const char *times = line_value(line, "times");
	struct names names = names_of(play);
	bool any = !play->end->is_frdma;
	size_t n = 0;

	if (!psns || !times)
		return wrong(play, "which, how often?");
	for (; play->seen_sent < play->nr_sent; play->seen_sent++, n++)
		if (!value_is(psns, MEANS_NUMBER, &names,
			      get_field(&play->sent[play->seen_sent], "psn"),
			      any))
			break;
	return value_is(times, MEANS_NUMBER, &names, n, any) ||
	       wrong(play, "%zu of them", n);
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

/** stays_quiet - nothing comes for so long that was not expected */
bool stays_quiet(struct play *play, uint64_t ns)
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

const struct statement expectations[] = {
	{ ">", expect_packet },
	{ "until", expect_last_packet },
	{ "again", expect_again },
	{ "wc", expect_done },
	{ "event", expect_event },
	{ "state", expect_state },
	{ "silence", expect_silence },
	{ "memory", expect_memory },
	{ "sum", expect_sum },
	{ "count", expect_count },
	{ }
};
