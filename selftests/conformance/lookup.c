// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lookup.h"
#include "names.h"
#include "value.h"

/** wrong - say what is wrong with the line: printf() to @why; returns false */
bool wrong(struct play *play, const char *fmt, ...)
{
	size_t used = strlen(play->why);
	va_list args;

	va_start(args, fmt);
	vsnprintf(play->why + used, sizeof(play->why) - used, fmt, args);
	va_end(args);
	return false;
}

/** find_region - a region or a window by its name, or NULL */
struct region *find_region(struct play *play, const char *name)
{
	size_t i;

	for (i = 0; i < play->nr_regions; i++)
		if (!strcmp(play->regions[i].name, name))
			return &play->regions[i];
	return NULL;
}

/** find_qp - a queue pair by its name, or NULL */
struct queue_pair *find_qp(struct play *play, const char *name)
{
	size_t i;

	for (i = 0; i < play->nr_qps; i++)
		if (!strcmp(play->qps[i].name, name))
			return &play->qps[i];
	return NULL;
}

/** find_srq - a shared receive queue by its name, or NULL */
struct shared_queue *find_srq(struct play *play, const char *name)
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

/** names_of - what the names in values stand for */
struct names names_of(struct play *play)
{
	return (struct names) { find_name, play };
}

/** take - a value that the line may have; @value keeps what it is without */
bool take(struct play *play, struct line *line, const char *name,
		 enum meaning meaning, uint64_t *value)
{
	struct names names = names_of(play);
	const char *text = line_value(line, name);

	if (!text || value_of(text, meaning, &names, value))
		return true;
	return wrong(play, "cannot read %s=%s", name, text);
}

/** take32 - take() of 32 bits */
bool take32(struct play *play, struct line *line, const char *name,
		   enum meaning meaning, uint32_t *value)
{
	uint64_t wide = *value;

	if (!take(play, line, name, meaning, &wide))
		return false;
	*value = wide;
	return true;
}

/** take_rights - "rights=write,read"; @rights keeps what it is without */
bool take_rights(struct play *play, struct line *line, uint32_t *rights)
{
	const char *text = line_value(line, "rights");

	if (!text || name_to_rights(text, rights))
		return true;
	return wrong(play, "rights=%s?", text);
}

/** qp_of - the queue pair that a line is about: the first, if it names none */
struct queue_pair *qp_of(struct play *play, struct line *line)
{
	const char *name = line_value(line, "qp");

	if (name)
		return find_qp(play, name);
	return play->nr_qps ? &play->qps[0] : NULL;
}

/** peer_of - where packets go from and to that say nothing else */
struct packet_peer peer_of(struct play *play, struct line *line)
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
