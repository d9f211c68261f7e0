/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a reliable connection: the engine with the least around it that
 * makes it work, as the kernel's requester, completer and responder do.
 */
#ifndef FRDMA_SIM_SIDE_H
#define FRDMA_SIM_SIDE_H

#include "ack.h"
#include "kept.h"
#include "req.h"
#include "resp.h"
#include "wire.h"

#define SIM_WRS		60	/* most work requests of a run, per side */
#define SIM_MTU		16	/* bytes: messages of few bytes have many packets */
#define SIM_MTU_MAX	64
#define SIM_MSG_MAX	256
#define SIM_PSNS	(SIM_WRS * SIM_MSG_MAX / SIM_MTU)
#define SIM_SQ		8	/* slots of the send queue */
#define SIM_RES_MAX	8
#define SIM_MEM		512	/* bytes that the peer may write */
#define SIM_MEM_VA	0x10000000ULL
#define SIM_ROM_VA	0x20000000ULL	/* what it may read; never written */
#define SIM_COUNTER_VA	0x30000000ULL	/* what it adds to */
#define SIM_SRQN	0x4321		/* what all requests name (XRC) */
#define SIM_RETRIES	7
#define SIM_TRAIN	16	/* packets that are taken at once, at most */

/**
 * enum sim_state - states of a queue pair that differ here
 * @SIM_ERR: it has ended, or was not connected yet: ERR, RESET, INIT
 * @SIM_RTR: it only receives
 * @SIM_RTS: it does all
 * @SIM_SQD: it begins nothing of its own
 */
enum sim_state {
	SIM_ERR,
	SIM_RTR,
	SIM_RTS,
	SIM_SQD,
};

/**
 * struct sim_shape - what differs between runs
 * @transport: FRDMA_RC or FRDMA_XRC
 * @wrs: work requests, per side
 * @mood: of the wire
 * @window: packets in flight
 * @read_grid: packets of one READ request
 * @rd_max: READs and atomics in flight
 * @msg_pkts: packets of the longest message
 * @scarce_recvs: receive requests come late
 * @no_room: of a thousand packets the host takes this many not
 * @refuse: of a thousand requests the memory of this many is gone
 * @absent: of a thousand runs of a READ response the memory of this many is not there
 *	yet
 * @forgets: of a READ that was asked for again, both ends know the part that was asked
 *	for last only, as rdma_rxe does, and say nothing to an earlier one
 * @dead_ns: from then on the wire brings nothing; 0: it always does
 * @drains: queue pairs go to SQD and back, and change their attributes there
 * @resets: connections end and are made again
 */
struct sim_shape {
	u8 transport;
	u32 wrs;
	struct wire_mood mood;
	u32 window;
	u32 read_grid;
	u32 rd_max;
	u32 msg_pkts;
	bool scarce_recvs;
	u32 no_room;
	u32 refuse;
	u32 absent;
	bool forgets;
	u64 dead_ns;
	bool drains;
	bool resets;
};

/**
 * struct sim_wr - a work request and what is to come of it
 * @opcode: IB_UVERBS_WR_*, or FRDMA_WR_REG_MR
 * @flags: FRDMA_WQE_*
 * @len: bytes
 * @off: where in the memory that it reads or writes
 * @ex: immediate data or key
 * @seed: of its payload
 * @orig: what an atomic must find
 * @abs_begin: its first PSN, without the wrap-around; once fetched
 * @abs_end: one beyond its last
 * @got: what a READ or atomic brought
 * @executed: a local operation was, so often
 */
struct sim_wr {
	u8 opcode;
	u8 flags;
	u32 len;
	u32 off;
	u32 ex;
	u64 seed;
	u64 orig;
	s64 abs_begin;
	s64 abs_end;
	u8 got[SIM_MSG_MAX];
	u32 executed;
};

/**
 * struct sim_read - a READ or atomic that the peer may be answering
 * @end: one beyond its last PSN
 * @past: a response with this PSN, or a later one, shows that the peer is past it
 * @hole: it asks again for responses that are missing
 */
struct sim_read {
	s64 end;
	s64 past;
	bool hole;
};

/**
 * struct sim_reads - all of them, since sending was last taken up again
 * @out: those
 * @nr: how many
 * @heard: PSN of the furthest response that came ahead of its turn
 * @heard_before: that at the last probe, or when a hole was last asked for
 * @again: one beyond the newest PSN that was sent before
 * @round: req.resend.round when that was
 * @probed: the next request is sent because of a probe
 */
struct sim_reads {
	struct sim_read out[SIM_RES_MAX];
	u32 nr;
	s64 heard;
	s64 heard_before;
	s64 again;
	u32 round;
	bool probed;
};

/**
 * struct sim_side - one end
 * @id: 0 or 1
 * @world: what it lives in
 * @peer: the other end
 * @req: the send side of the engine
 * @resp: the receive side
 * @res: for @resp, and for what it changes to
 * @kept: requests that are ahead of their turn, struct sim_kept
 * @ahead: likewise, answers
 * @slots: for @req
 * @wrs: all that is to be done
 * @first_wr: of those, the first of this connection
 * @posted: of those, in the send queue or through it
 * @completed: of those, done
 * @resent: packets sent more than once
 * @asked: of those, to have the rest acknowledged
 * @runs: packets of the peer that were taken as one, more than one at a time
 * @retries: repetitions that it has
 * @tries: repetitions since something was acknowledged
 * @state: of the queue pair
 * @rd_max: READs and atomics that both ends have agreed upon
 * @reads: those that the peer may be answering, see reads.h
 * @rd_bound: those that it may have out: until they are answered, those that it
 *	had out when less was agreed upon
 * @waited: requests that were kept, and taken in their turn
 * @aside: likewise, answers
 * @holes: so often answers that were missing were asked for alone
 * @read_waits: the response to a READ waits for its memory
 * @abs_refused: the PSN for which a request was refused that ended it, or its peer
 * @read_wanted_until: until when the peer may not have gone on without it
 * @yielded: requests that came before a response that waits
 * @read_first: of a READ of the peer that was executed, by each PSN: its first
 * @read_from: by its first: from where on it is remembered
 * @given_up: READs whose memory went while their responses waited
 * @paced: so often packets had to wait for their time
 * @probes: packets sent again to ask whether they were lost
 * @stops: it was in SQD, so often
 * @drained: in SQD, and all that was begun is answered
 * @abs_begun: one beyond the last PSN of what was begun before SQD
 * @refused: a request was refused, which ended it
 * @messages: of the peer, executed
 * @abs_put_off: one beyond the PSN that was refused last
 * @abs_asked: one beyond the newest PSN that was asked for again
 * @abs_una: req.una_psn without the wrap-around
 * @abs_fetch: req.fetch_psn without it
 * @abs_epsn: resp.epsn without it
 * @abs_sent: one beyond the newest PSN that was ever sent
 * @sum: of each packet that was sent, by its PSN; 0: none, or of a READ
 * @mem: what the peer writes
 * @counter: what the peer adds to
 * @mem_before: @mem when this connection began
 * @counter_before: @counter then
 * @recv_buf: of the receive request in use
 * @recvs: receive requests that were posted and are not in use
 * @posted_recvs: receive requests posted at all
 * @received: receive requests completed
 * @next_post_ns: when more is posted
 * @next_recv_ns: when a receive request is posted
 * @next_ack_ns: when an acknowledgement that is due goes out
 * @next_pages_ns: when the memory of a READ is there
 * @next_read_ns: when a response goes on that does not wait for memory
 * @next_run_ns: when the send side digests what was answered
 * @next_modify_ns: when its state or its attributes change
 */
struct sim_side {
	u32 id;
	struct sim_world *world;
	struct sim_side *peer;

	struct frdma_req req;
	struct frdma_resp resp;
	struct frdma_resp_res res[2][SIM_RES_MAX];
	struct frdma_kept_list kept;
	struct frdma_kept_list ahead;
	struct frdma_swr slots[SIM_SQ];

	struct sim_wr wrs[SIM_WRS];
	u32 first_wr;
	u32 posted;
	u32 completed;
	u32 resent;
	u32 asked;
	u32 runs;
	u32 retries;
	u32 tries;
	enum sim_state state;
	u32 rd_max;
	u32 rd_bound;
	struct sim_reads reads;
	u32 waited;
	u32 aside;
	u32 holes;
	bool read_waits;
	s64 abs_refused;
	u64 read_wanted_until;
	u32 yielded;
	s64 read_first[SIM_PSNS];
	s64 read_from[SIM_PSNS];
	u32 given_up;
	u32 paced;
	u32 probes;
	u32 stops;
	bool drained;
	s64 abs_begun;
	bool refused;
	u32 messages;
	s64 abs_put_off;
	s64 abs_asked;
	s64 abs_una;
	s64 abs_fetch;
	s64 abs_epsn;
	s64 abs_sent;
	u32 sum[SIM_PSNS];

	u8 mem[SIM_MEM];
	u64 counter;
	u8 mem_before[SIM_MEM];
	u64 counter_before;
	u8 recv_buf[SIM_MSG_MAX];
	u32 recvs;
	u32 posted_recvs;
	u32 received;

	u64 next_post_ns;
	u64 next_recv_ns;
	u64 next_ack_ns;
	u64 next_pages_ns;
	u64 next_read_ns;
	u64 next_run_ns;
	u64 next_modify_ns;
};

/**
 * struct sim_world - two ends and the wire between them
 * @shape: what differs between runs
 * @rnd: all that is random
 * @now_ns: virtual time
 * @wire: both directions
 * @side: both ends
 * @life: connections before this one
 * @mtu: path MTU of this one
 * @psn: first PSN of each side
 * @next_reset_ns: when it ends, at one side more
 * @failed: something is wrong
 * @what: that
 */
struct sim_world {
	const struct sim_shape *shape;
	struct rnd rnd;
	u64 now_ns;
	struct wire wire;
	struct sim_side side[2];
	u32 life;
	u32 mtu;
	u32 psn[2];
	u64 next_reset_ns;
	bool failed;
	char what[256];
};

void sim_fail(struct sim_world *world, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The first thing that is wrong ends the run. */
#define SIM_CHECK(world, cond, fmt, ...) do {				\
	if (!(cond))							\
		sim_fail(world, "%s:%d: %s: " fmt, __FILE__, __LINE__,	\
			 #cond, ##__VA_ARGS__);				\
} while (0)

u8 sim_payload(const struct sim_wr *wr, u32 at);
u8 sim_rom(u32 at);

/** side_is_broken - the connection has ended here, or did not begin */
static inline bool side_is_broken(const struct sim_side *side)
{
	return side->state == SIM_ERR;
}

/** side_can_send - it may ask for something, and be answered */
static inline bool side_can_send(const struct sim_side *side)
{
	return side->state == SIM_RTS || side->state == SIM_SQD;
}

void side_init(struct sim_side *side);
void side_send(struct sim_side *side, const struct frdma_hdr *hdr,
	       const u8 *payload, u32 span);
void side_break(struct sim_side *side);
void side_take(struct sim_side *side, struct wire_pkt *const *train, u32 nr);
void side_find_pages(struct sim_side *side);
void side_go_on_with_read(struct sim_side *side);

#endif /* FRDMA_SIM_SIDE_H */
