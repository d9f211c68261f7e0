/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FRDMA_PROTO_RETRY_H
#define FRDMA_PROTO_RETRY_H

#include "rtt.h"

/* rnr_retry of 7 means for ever (IBTA 9.7.5.2.8). */
#define FRDMA_RNR_RETRY_FOREVER	7

/*
 * The least timeout code that is honoured, 16.8 ms. A processor that is busy answers later
 * than the microseconds that smaller codes stand for: each request would be sent twice, and
 * the retries would be spent on a peer that lives. Adapters have such a floor as well.
 */
#define FRDMA_TIMEOUT_CODE_MIN	12

/*
 * The wait for an answer may be stretched to four times the timeout (IBTA
 * 9.7.6.1.3). That is used where peer and network are slow for their load:
 * resending what only waits in a queue makes the queue longer.
 */
#define FRDMA_PATIENCE_MAX	2

/*
 * If no answer comes for one and a half round trips and this, the oldest packet asks the
 * peer whether it was lost: a tail loss probe (RFC 8985). The constant covers the time
 * that processors take.
 */
#define FRDMA_PROBE_MIN_NS	(500 * 1000ULL)

/*
 * The round trip of a way of which none was timed. RFC 8985 assumes a second: a data
 * centre needs less than a millisecond, and each probe waits twice as long as the last.
 */
#define FRDMA_PROBE_RTT_NS	(1000 * 1000ULL)

/* Each probe waits twice as long as the one before, so often. */
#define FRDMA_PROBES_MAX	5

/*
 * Where all has to be sent again for that, as the peer drops what is behind a hole,
 * or owes an answer, the first probes are left out.
 */
#define FRDMA_PROBES_ALONE	2

/*
 * How long to wait after the host itself could not take a packet, or give one what
 * it needs; twice as long each time that it still cannot, so often.
 */
#define FRDMA_LOCAL_BACKOFF_NS	(200 * 1000ULL)
#define FRDMA_REFUSALS_MAX	6

/*
 * The same for what a packet needs, of which others of its user may hold back all for
 * ever: however many queue pairs ask for it, they must not keep a processor busy.
 */
#define FRDMA_HOLDS_MAX		12

/**
 * enum frdma_retry_wait - what the deadline of a queue pair means
 * @FRDMA_WAIT_NONE: there is none
 * @FRDMA_WAIT_ACK: resend if no answer came by then
 * @FRDMA_WAIT_RNR: the peer asked for silence until then
 */
enum frdma_retry_wait {
	FRDMA_WAIT_NONE,
	FRDMA_WAIT_ACK,
	FRDMA_WAIT_RNR,
};

/**
 * struct frdma_retry - deadlines and retries of a send side
 * @deadline_ns: monotonic time, meaningful unless @wait is NONE
 * @local_ns: the host had no room: be silent until then, 0: it has. The wait
 *	for an answer goes on meanwhile, so that a host that never has room
 *	ends like a peer that never answers; see @unsent, and @held
 * @timeout_ns: acknowledgement timeout; 0: never
 * @armed_ns: when the wait for an answer began
 * @unsent: the host had no room then. It begins anew, once, when the host has
 *	taken all that was to be sent
 * @held: @local_ns is when to ask anew for what the next packet needs: no packet was
 *	refused. A wait for an answer goes on to what was sent before, if any was
 * @slowest_ns: longest such wait that ended well, forgotten slowly
 * @rtt: how long the way to the peer is
 * @probe_ns: when to send a probe, while @wait is ACK; 0: never
 * @probed_ns: when the last one was due, if there was one
 * @probes: due since @armed_ns; not all are sent, see frdma_resend_probe()
 * @refusals: so often, one after the other, the host could not take a packet
 * @patience: 0..FRDMA_PATIENCE_MAX: each step doubles the timeout
 * @wait: meaning of @deadline_ns
 * @retry_cnt: transport retries that the user allows, 0..7
 * @retry_left: how many remain; refilled by progress
 * @rnr_retry: receiver-not-ready retries, 7: for ever
 * @rnr_left: how many remain; refilled by progress
 */
struct frdma_retry {
	u64 deadline_ns;
	u64 local_ns;
	u64 timeout_ns;
	u64 armed_ns;
	u64 slowest_ns;
	struct frdma_rtt rtt;
	u64 probe_ns;
	u64 probed_ns;
	bool unsent;
	bool held;
	u8 probes;
	u8 refusals;
	u8 patience;
	enum frdma_retry_wait wait;
	u8 retry_cnt;
	u8 retry_left;
	u8 rnr_retry;
	u8 rnr_left;
};

/**
 * enum frdma_expiry - what a deadline calls for
 * @FRDMA_EXPIRY_NOT_YET: it has not come, or there is none
 * @FRDMA_EXPIRY_RESUME: a wait of this end is over, go on sending
 * @FRDMA_EXPIRY_READY: the peer has had its time to be ready, send again
 * @FRDMA_EXPIRY_PROBE: no answer came yet, see frdma_resend_probe()
 * @FRDMA_EXPIRY_RESEND: no answer came, send again
 * @FRDMA_EXPIRY_EXHAUSTED: no answer came and no retry is left
 */
enum frdma_expiry {
	FRDMA_EXPIRY_NOT_YET,
	FRDMA_EXPIRY_RESUME,
	FRDMA_EXPIRY_READY,
	FRDMA_EXPIRY_PROBE,
	FRDMA_EXPIRY_RESEND,
	FRDMA_EXPIRY_EXHAUSTED,
};

/** frdma_retry_paused - must the requester be silent */
static inline bool frdma_retry_paused(const struct frdma_retry *rt)
{
	return rt->wait == FRDMA_WAIT_RNR || rt->local_ns;
}

/** frdma_retry_next_ns - when to look at the clock again, U64_MAX: never */
static inline u64 frdma_retry_next_ns(const struct frdma_retry *rt)
{
	u64 next_ns = rt->wait == FRDMA_WAIT_NONE ? U64_MAX : rt->deadline_ns;

	if (rt->wait == FRDMA_WAIT_ACK && rt->probe_ns)
		next_ns = min(next_ns, rt->probe_ns);
	return rt->local_ns ? min(next_ns, rt->local_ns) : next_ns;
}

u64 frdma_ack_timeout_ns(u8 code);
u32 frdma_rnr_delay_ns(u8 code);
u8 frdma_rnr_longer(u8 a, u8 b);
void frdma_retry_init(struct frdma_retry *rt);
void frdma_retry_new_way(struct frdma_retry *rt);
void frdma_retry_refill(struct frdma_retry *rt);
void frdma_retry_watch(struct frdma_retry *rt, bool in_flight, u64 now_ns);
void frdma_retry_rest(struct frdma_retry *rt);
void frdma_retry_progress(struct frdma_retry *rt, bool in_flight, u64 now_ns);
enum frdma_mended frdma_retry_learn(struct frdma_retry *rt, bool missed,
				    u64 now_ns);
bool frdma_retry_spend(struct frdma_retry *rt);
bool frdma_retry_rnr(struct frdma_retry *rt, u8 code, u64 now_ns);
void frdma_retry_local(struct frdma_retry *rt, u64 now_ns);
void frdma_retry_hold(struct frdma_retry *rt, u64 now_ns);
void frdma_retry_go_on(struct frdma_retry *rt);
void frdma_retry_was_late(struct frdma_retry *rt);

/** frdma_retry_taken - the host has taken all packets of a burst */
static inline void frdma_retry_taken(struct frdma_retry *rt)
{
	rt->refusals = 0;
}

enum frdma_expiry frdma_retry_expire(struct frdma_retry *rt, u64 now_ns);

#endif /* FRDMA_PROTO_RETRY_H */
