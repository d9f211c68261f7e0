// SPDX-License-Identifier: GPL-2.0
#include "retry.h"

/* IBTA table 45, units of 10 microseconds. */
static const u32 rnr_delay_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

/**
 * frdma_ack_timeout_ns - the time that a timeout attribute stands for
 * @code: 0..31; 0 means never
 *
 * IBTA 9.7.6.1.3: 4.096 microseconds times two to the power of @code, and not less than
 * FRDMA_TIMEOUT_CODE_MIN stands for.
 */
u64 frdma_ack_timeout_ns(u8 code)
{
	return code ? 4096ULL << max(code & 31, FRDMA_TIMEOUT_CODE_MIN) : 0;
}

/**
 * frdma_rnr_delay_ns - the wait that a receiver-not-ready NAK asks for
 * @code: the five bits of its syndrome
 */
u32 frdma_rnr_delay_ns(u8 code)
{
	return rnr_delay_10us[code & 31] * 10000U;
}

/**
 * frdma_rnr_longer - the code of the longer of two waits
 * @a: one code
 * @b: the other
 *
 * Codes are not in the order of their delays.
 */
u8 frdma_rnr_longer(u8 a, u8 b)
{
	return frdma_rnr_delay_ns(a) < frdma_rnr_delay_ns(b) ? b : a;
}

/**
 * frdma_retry_init - no wait, and nothing known of the peer
 * @rt: state; its limits are set
 */
void frdma_retry_init(struct frdma_retry *rt)
{
	rt->wait = FRDMA_WAIT_NONE;
	rt->local_ns = 0;
	rt->held = false;
	rt->probe_ns = 0;
	rt->probes = 0;
	rt->refusals = 0;
	frdma_retry_new_way(rt);
	frdma_retry_refill(rt);
}

/**
 * frdma_retry_new_way - what was known of the way to the peer is of another one
 * @rt: state
 */
void frdma_retry_new_way(struct frdma_retry *rt)
{
	rt->slowest_ns = 0;
	rt->patience = 0;
	frdma_rtt_init(&rt->rtt);
}

/**
 * frdma_retry_refill - start over with all retries
 * @rt: state; its limits are set
 */
void frdma_retry_refill(struct frdma_retry *rt)
{
	rt->retry_left = rt->retry_cnt;
	rt->rnr_left = rt->rnr_retry;
}

static void plan_probe(struct frdma_retry *rt, u64 now_ns)
{
	u64 rtt_ns = rt->rtt.smooth_ns ? rt->rtt.smooth_ns :
					 FRDMA_PROBE_RTT_NS;
	u64 wait_ns = rtt_ns + rtt_ns / 2 + FRDMA_PROBE_MIN_NS;

	rt->probe_ns = rt->probes < FRDMA_PROBES_MAX ?
		       now_ns + (wait_ns << (rt->rtt.distrust + rt->probes)) : 0;
}

/**
 * frdma_retry_watch - something was sent
 * @rt: state
 * @in_flight: an answer is awaited
 * @now_ns: monotonic time
 *
 * The deadline belongs to the oldest unanswered packet: later ones leave it
 * where it is. But what the host refused when it was first sent has left only
 * when the host takes it.
 */
void frdma_retry_watch(struct frdma_retry *rt, bool in_flight, u64 now_ns)
{
	if (rt->wait == FRDMA_WAIT_ACK && rt->unsent && !rt->refusals)
		rt->wait = FRDMA_WAIT_NONE;
	if (rt->wait != FRDMA_WAIT_NONE || !in_flight || !rt->timeout_ns)
		return;
	rt->wait = FRDMA_WAIT_ACK;
	rt->unsent = rt->refusals;
	rt->armed_ns = now_ns;
	rt->deadline_ns = now_ns + (rt->timeout_ns << rt->patience);
	rt->probes = 0;
	plan_probe(rt, now_ns);
}

/**
 * frdma_retry_rest - the wait for an answer ends without one
 * @rt: state
 *
 * Nobody answers what never left (SQD, IBTA 10.3.1), or what cannot be sent again
 * now; what is, has a wait of its own. frdma_retry_watch() begins the next.
 */
void frdma_retry_rest(struct frdma_retry *rt)
{
	if (rt->wait == FRDMA_WAIT_ACK)
		rt->wait = FRDMA_WAIT_NONE;
}

/* Be patient enough for twice the longest wait of late. */
static void learn_patience(struct frdma_retry *rt, u64 waited_ns)
{
	rt->slowest_ns = max(waited_ns, rt->slowest_ns - rt->slowest_ns / 8);
	rt->patience = 0;
	while (rt->patience < FRDMA_PATIENCE_MAX &&
	       rt->timeout_ns << rt->patience < 2 * rt->slowest_ns)
		rt->patience++;
}

/**
 * frdma_retry_was_late - the answer for which all was sent again was only late
 * @rt: state; frdma_retry_progress() follows
 *
 * The wait for it began before that, so it took more than the timeout.
 */
void frdma_retry_was_late(struct frdma_retry *rt)
{
	rt->slowest_ns = max(rt->slowest_ns, rt->timeout_ns << rt->patience);
}

/**
 * frdma_retry_learn - what was sent again alone is acknowledged
 * @rt: state; the wait began when it was sent, if the peer had asked for it
 * @missed: the peer had asked for it
 * @now_ns: monotonic time
 *
 * Return: what that says of the way to the peer.
 */
enum frdma_mended frdma_retry_learn(struct frdma_retry *rt, bool missed,
				    u64 now_ns)
{
	if (rt->wait != FRDMA_WAIT_ACK)
		return FRDMA_MENDED_WELL;
	/* A tail that was lost, or late: the probe has sent it again, once. */
	if (!missed && rt->probes == 1) {
		if (frdma_rtt_is_too_soon(&rt->rtt, now_ns - rt->probed_ns))
			return FRDMA_MENDED_NEEDLESSLY;
		frdma_rtt_was_asked(&rt->rtt);
		return FRDMA_MENDED_WELL;
	}
	return frdma_rtt_mended(&rt->rtt, now_ns - rt->armed_ns, rt->probes);
}

/**
 * frdma_retry_progress - the peer acknowledged something new
 * @rt: state
 * @in_flight: more is awaited
 * @now_ns: monotonic time
 */
void frdma_retry_progress(struct frdma_retry *rt, bool in_flight, u64 now_ns)
{
	frdma_retry_refill(rt);
	if (rt->wait == FRDMA_WAIT_ACK) {
		learn_patience(rt, now_ns - rt->armed_ns);
		rt->wait = FRDMA_WAIT_NONE;
	}
	frdma_retry_watch(rt, in_flight, now_ns);
}

/**
 * frdma_retry_spend - use up one transport retry
 * @rt: state
 *
 * Return: false if none is left.
 */
bool frdma_retry_spend(struct frdma_retry *rt)
{
	if (!rt->retry_left)
		return false;
	rt->retry_left--;
	if (rt->wait == FRDMA_WAIT_ACK)
		rt->wait = FRDMA_WAIT_NONE;
	return true;
}

/**
 * frdma_retry_rnr - the peer is not ready to receive
 * @rt: state
 * @code: timer field of the NAK
 * @now_ns: monotonic time
 *
 * Return: false if no such retry is left.
 */
bool frdma_retry_rnr(struct frdma_retry *rt, u8 code, u64 now_ns)
{
	if (!rt->rnr_left)
		return false;
	if (rt->rnr_retry != FRDMA_RNR_RETRY_FOREVER)
		rt->rnr_left--;
	rt->wait = FRDMA_WAIT_RNR;
	rt->deadline_ns = now_ns + frdma_rnr_delay_ns(code);
	return true;
}

static void be_silent(struct frdma_retry *rt, u32 most, u64 now_ns)
{
	u32 times = min_t(u32, rt->refusals, most);

	rt->local_ns = now_ns + (FRDMA_LOCAL_BACKOFF_NS << times);
	rt->refusals = min(times + 1, most);
}

/**
 * frdma_retry_local - the host had no room for a packet
 * @rt: state
 * @now_ns: monotonic time
 *
 * That is nobody's fault, so no retry is spent.
 */
void frdma_retry_local(struct frdma_retry *rt, u64 now_ns)
{
	if (rt->wait == FRDMA_WAIT_RNR)
		return;
	be_silent(rt, FRDMA_REFUSALS_MAX, now_ns);
	rt->held = false;
}

/**
 * frdma_retry_hold - the host cannot give the next packet what it needs
 * @rt: state
 * @now_ns: monotonic time
 *
 * It is to ask again. What was sent before is not sent anew for that.
 */
void frdma_retry_hold(struct frdma_retry *rt, u64 now_ns)
{
	if (rt->wait == FRDMA_WAIT_RNR)
		return;
	be_silent(rt, FRDMA_HOLDS_MAX, now_ns);
	rt->held = true;
}

static void end_hold(struct frdma_retry *rt)
{
	rt->held = false;
	rt->local_ns = 0;
}

/**
 * frdma_retry_go_on - the next packet is another one now
 * @rt: state
 *
 * What the one held lacked says nothing of that. If it comes to that one again, it
 * is held for no less than before.
 */
void frdma_retry_go_on(struct frdma_retry *rt)
{
	if (rt->held)
		end_hold(rt);
}

/**
 * frdma_retry_expire - look at the clock
 * @rt: state
 * @now_ns: monotonic time
 *
 * Commits what it returns: a wait that is over is gone, a retry is spent.
 */
enum frdma_expiry frdma_retry_expire(struct frdma_retry *rt, u64 now_ns)
{
	enum frdma_retry_wait was = rt->wait;

	if (rt->held && now_ns >= rt->local_ns)
		end_hold(rt);
	if (was == FRDMA_WAIT_ACK && rt->probe_ns && now_ns >= rt->probe_ns &&
	    now_ns < rt->deadline_ns) {
		/* It would be refused, too. */
		bool refused = rt->local_ns && !rt->held;

		rt->probes += !refused;
		plan_probe(rt, now_ns);
		if (!refused) {
			rt->probed_ns = now_ns;
			return FRDMA_EXPIRY_PROBE;
		}
	}
	if (was == FRDMA_WAIT_NONE || now_ns < rt->deadline_ns) {
		if (!rt->local_ns || now_ns < rt->local_ns)
			return FRDMA_EXPIRY_NOT_YET;
		rt->local_ns = 0;
		return FRDMA_EXPIRY_RESUME;
	}

	end_hold(rt);
	rt->wait = FRDMA_WAIT_NONE;
	if (was == FRDMA_WAIT_RNR)
		return FRDMA_EXPIRY_READY;
	rt->patience = min(rt->patience + 1, FRDMA_PATIENCE_MAX);
	return frdma_retry_spend(rt) ? FRDMA_EXPIRY_RESEND :
				       FRDMA_EXPIRY_EXHAUSTED;
}
