// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "lookup.h"
#include "statement.h"

/* What every script has: memory to receive into, and to send from. */
#define OWN_LEN		65536

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
 * Lines, one after the other.
 */

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

static statement_fn *find(const struct statement *among, const char *keyword)
{
	for (; among->keyword; among++)
		if (!strcmp(among->keyword, keyword))
			return among->play;
	return NULL;
}

static bool play_line(struct play *play, struct line *line)
{
	statement_fn *deed = find(deeds, line_keyword(line));
	statement_fn *fn = deed ?: find(expectations, line_keyword(line));
	const struct word *unused;

	if (!fn)
		return wrong(play, "no such statement");
	if (deed) {
		let_time_pass(play, play->last_ns + line->min_ns);
		play->last_ns = play->end->now();
	}
	if (is_to_fail(line)) {
		if (fn(play, line))
			return wrong(play, "it is not refused");
		play->why[0] = '\0';
		return true;
	}
	if (!fn(play, line))
		return false;
	if (is_optional(play, line))
		return true;
	unused = line_unused(line);
	return !unused || wrong(play, "'%s' means nothing here", unused->name);
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
