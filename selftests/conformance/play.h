/* SPDX-License-Identifier: GPL-2.0 */
/* Plays a script against an end and looks whether that does what it must. */
#ifndef CONFORM_PLAY_H
#define CONFORM_PLAY_H

#include "end.h"
#include "packet.h"
#include "script.h"

#define PLAY_REGIONS	16
#define PLAY_QPS	8
#define PLAY_SRQS	4
#define PLAY_PACKETS	256
#define PLAY_DONES	128
#define PLAY_EVENTS	32
#define PLAY_TRAIN	16

/**
 * struct play - a script that is being played
 * @script: that
 * @end: against whom
 * @peer: both ends' addresses; the end sets them
 * @nr_regions: regions that there are
 * @regions: those
 * @nr_qps: queue pairs
 * @qps: those
 * @nr_srqs: shared receive queues
 * @srqs: those
 * @begin_ns: when it began
 * @last_ns: when the line before was played, or what it expects came
 * @sent: packets that the end has sent
 * @nr_sent: so many
 * @seen_sent: so many of them were expected
 * @dones: completions
 * @nr_dones: so many
 * @seen_dones: a completion was expected
 * @events: asynchronous events, enum ibv_event_type; -1: of a completion queue
 * @nr_events: so many
 * @seen_events: so many of them were expected
 * @train: packets of the peer that wait for the last one of their train
 * @nr_train: so many
 * @why: what is wrong
 */
struct play {
	struct script *script;
	const struct end *end;
	struct packet_peer peer;

	size_t nr_regions;
	struct region regions[PLAY_REGIONS];
	size_t nr_qps;
	struct queue_pair qps[PLAY_QPS];
	size_t nr_srqs;
	struct shared_queue srqs[PLAY_SRQS];

	uint64_t begin_ns;
	uint64_t last_ns;

	struct packet sent[PLAY_PACKETS];
	size_t nr_sent, seen_sent;
	struct done dones[PLAY_DONES];
	bool seen_dones[PLAY_DONES];
	size_t nr_dones;
	int events[PLAY_EVENTS];
	size_t nr_events, seen_events;
	struct packet train[PLAY_TRAIN];
	size_t nr_train;

	char why[1024];
};

#define CQ_EVENT	(-1)

bool play_script(struct play *play, struct script *script,
		 const struct end *end);

void play_sent(struct play *play, const struct packet *packet);
void play_done(struct play *play, const struct done *done);
void play_event(struct play *play, int event);

#endif /* CONFORM_PLAY_H */
