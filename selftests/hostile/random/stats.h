/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has been called and what came of it, in all processes.
 */
#ifndef FRDMA_TEST_STATS_H
#define FRDMA_TEST_STATS_H

#include <stdio.h>
#include <string.h>

#include "calls.h"

/* What is done beside single calls. */
enum deed { SEND, RECEIVE, POLL, CONNECT, READ_FILE, CLOSE_FILE, SCRIBBLE,
	    RUBBISH_COMMAND, RUBBISH_METHOD, NR_DEEDS };

static const char * const deeds[] = {
	[SEND] = "send", [RECEIVE] = "receive", [POLL] = "poll",
	[CONNECT] = "connect", [READ_FILE] = "read of a file",
	[CLOSE_FILE] = "close of a file", [SCRIBBLE] = "scribble",
	[RUBBISH_COMMAND] = "a command of rubbish",
	[RUBBISH_METHOD] = "a method of rubbish",
};

#define NR_STATS	(NR_COMMANDS + NR_METHODS + NR_DEEDS)

#define MAX_ERRNO	140

/* Of all lives: shared. */
static struct stats {
	unsigned long calls, tried[NR_STATS], taken[NR_STATS];
	unsigned long errors[MAX_ERRNO];
	int last_error[NR_STATS];
	unsigned long completions, successes;
	bool no_dmabuf;		/* this kernel exports none to a process */
	bool unknown[NR_METHODS];	/* nor has this kernel that method */
} *stats;

static void count(int stat, bool taken, int err)
{
	__atomic_fetch_add(&stats->tried[stat], 1, __ATOMIC_RELAXED);
	if (taken)
		__atomic_fetch_add(&stats->taken[stat], 1, __ATOMIC_RELAXED);
	else if (err > 0 && err < MAX_ERRNO)
		__atomic_fetch_add(&stats->errors[err], 1, __ATOMIC_RELAXED);
	if (!taken)
		stats->last_error[stat] = err;
	__atomic_fetch_add(&stats->calls, 1, __ATOMIC_RELAXED);
}

static void count_deed(enum deed deed, bool taken)
{
	count(NR_COMMANDS + NR_METHODS + deed, taken, taken ? 0 : errno);
}

static const char *name_of(unsigned int stat)
{
	if (stat < NR_COMMANDS)
		return commands[stat].name;
	stat -= NR_COMMANDS;
	return stat < NR_METHODS ? methods[stat].name :
				   deeds[stat - NR_METHODS];
}

static bool wants_dmabuf(const struct call *call)
{
	const struct field *field;

	for (field = call->fields; field->how; field++)
		if (field->how == DMABUF)
			return true;
	return false;
}

static bool may_succeed(unsigned int stat)
{
	if (stat < NR_COMMANDS)
		return !commands[stat].never;
	stat -= NR_COMMANDS;
	if (stat >= NR_METHODS)
		return true;
	return !methods[stat].never && !stats->unknown[stat] &&
	       !(stats->no_dmabuf && wants_dmabuf(&methods[stat]));
}

/* Chance finds something that is right, or does not. */
static bool may_fail(unsigned int stat)
{
	return stat >= NR_COMMANDS + NR_METHODS + RUBBISH_COMMAND;
}

static void report_calls(void)
{
	unsigned int i;

	for (i = 0; i < NR_STATS; i++)
		printf("%s: %lu of %lu, last error: %s\n", name_of(i),
		       stats->taken[i], stats->tried[i],
		       strerror(stats->last_error[i]));
}

static void report(void)
{
	unsigned long taken = 0;
	unsigned int i;

	for (i = 0; i < NR_STATS; i++)
		taken += stats->taken[i];
	printf("taken: %lu", taken);
	for (i = 0; i < MAX_ERRNO; i++)
		if (stats->errors[i])
			printf(", %s: %lu", strerrorname_np(i) ?: "?",
			       stats->errors[i]);
	printf("\ncompletions: %lu, %lu of success\n", stats->completions,
	       stats->successes);
}

/* Whatever there is has been done, and nothing else. */
static int judge(void)
{
	int bad = !stats->successes;
	unsigned int i;

	for (i = 0; i < NR_STATS; i++) {
		if (may_fail(i) || may_succeed(i) == !!stats->taken[i])
			continue;
		printf("%s should have been taken%s: %s\n", name_of(i),
		       may_succeed(i) ? "" : " never",
		       strerror(stats->last_error[i]));
		bad = 1;
	}
	return bad;
}

#endif /* FRDMA_TEST_STATS_H */
