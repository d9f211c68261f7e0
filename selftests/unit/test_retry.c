// SPDX-License-Identifier: GPL-2.0
#include "retry.h"
#include "tap.h"

#define NOW	1000000ULL
#define TIMEOUT	5000ULL

static struct frdma_retry fresh(void)
{
	struct frdma_retry rt = {
		.timeout_ns = TIMEOUT, .retry_cnt = 7, .rnr_retry = 3,
	};

	frdma_retry_init(&rt);
	return rt;
}

TEST(frdma_ack_timeout_ns__every_code)
{
	u32 code;

	EXPECT_EQ(frdma_ack_timeout_ns(0), 0);
	EXPECT_EQ(frdma_ack_timeout_ns(14), 67108864);
	for (code = 1; code <= FRDMA_TIMEOUT_CODE_MIN; code++)
		EXPECT_EQ(frdma_ack_timeout_ns(code), 16777216);
	for (; code < 32; code++)
		EXPECT_EQ(frdma_ack_timeout_ns(code),
			  2 * frdma_ack_timeout_ns(code - 1));
}

TEST(frdma_rnr_longer__every_pair)
{
	u32 a, b, longer;

	for (a = 0; a < 32; a++)
		for (b = 0; b < 32; b++) {
			longer = frdma_rnr_longer(a, b);
			EXPECT(longer == a || longer == b);
			EXPECT(frdma_rnr_delay_ns(longer) >=
			       frdma_rnr_delay_ns(a));
			EXPECT(frdma_rnr_delay_ns(longer) >=
			       frdma_rnr_delay_ns(b));
		}
}

TEST(frdma_rnr_delay_ns__every_code)
{
	static const u32 hundredths_of_ms[32] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
		192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
		8192, 12288, 16384, 24576, 32768, 49152,
	};
	u32 code;

	for (code = 0; code < 32; code++)
		EXPECT_EQ(frdma_rnr_delay_ns(code),
			  hundredths_of_ms[code] * 10000ULL);
	/* Where it doubles every second step, the table cannot be mistyped. */
	for (code = 4; code < 30; code++)
		EXPECT_EQ(frdma_rnr_delay_ns(code + 2),
			  2 * frdma_rnr_delay_ns(code));
}

TEST(frdma_retry_watch__belongs_to_the_oldest_packet)
{
	struct frdma_retry rt = fresh();

	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(rt.wait, FRDMA_WAIT_ACK);
	EXPECT_EQ(rt.deadline_ns, NOW + TIMEOUT);
	frdma_retry_watch(&rt, true, NOW + 100);
	EXPECT_EQ(rt.deadline_ns, NOW + TIMEOUT);
}

TEST(frdma_retry_watch__nothing_in_flight)
{
	struct frdma_retry rt = fresh();

	frdma_retry_watch(&rt, false, NOW);
	EXPECT_EQ(rt.wait, FRDMA_WAIT_NONE);
}

/* As a queue pair that is drained, whose host had refused what it had to send. */
TEST(frdma_retry_rest__nobody_answers_what_never_left)
{
	struct frdma_retry rt = fresh();

	frdma_retry_local(&rt, NOW);
	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_rest(&rt);
	EXPECT_EQ(rt.wait, FRDMA_WAIT_NONE);
	EXPECT_EQ(frdma_retry_expire(&rt, rt.local_ns), FRDMA_EXPIRY_RESUME);
	EXPECT_EQ(frdma_retry_next_ns(&rt), U64_MAX);
}

/* The peer has asked for silence, and what it refused is acknowledged after all. */
TEST(frdma_retry_rest__stays_silent)
{
	struct frdma_retry rt = fresh();

	EXPECT(frdma_retry_rnr(&rt, 1, NOW));
	frdma_retry_rest(&rt);
	EXPECT(frdma_retry_paused(&rt));
}

TEST(frdma_retry_watch__timeout_zero_is_never)
{
	struct frdma_retry rt = fresh();

	rt.timeout_ns = 0;
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, U64_MAX), FRDMA_EXPIRY_NOT_YET);
}

TEST(frdma_retry_progress__gives_all_retries_back)
{
	struct frdma_retry rt = fresh();

	frdma_retry_spend(&rt);
	frdma_retry_rnr(&rt, 1, NOW);
	frdma_retry_progress(&rt, true, NOW);
	EXPECT_EQ(rt.retry_left, 7);
	EXPECT_EQ(rt.rnr_left, 3);
}

TEST(frdma_retry_progress__starts_the_clock_again)
{
	struct frdma_retry rt = fresh();

	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_progress(&rt, true, NOW + 1000);
	EXPECT_EQ(rt.deadline_ns, NOW + 1000 + TIMEOUT);
	frdma_retry_progress(&rt, false, NOW + 2000);
	EXPECT_EQ(rt.wait, FRDMA_WAIT_NONE);
}

TEST(frdma_retry_progress__does_not_end_a_wait_that_the_peer_asked_for)
{
	struct frdma_retry rt = fresh();

	frdma_retry_rnr(&rt, 20, NOW);
	frdma_retry_progress(&rt, true, NOW + 1);
	EXPECT(frdma_retry_paused(&rt));
	EXPECT_EQ(rt.deadline_ns, NOW + frdma_rnr_delay_ns(20));
}

TEST(frdma_retry_spend__as_often_as_the_user_allows)
{
	u32 allowed, n;

	for (allowed = 0; allowed < 8; allowed++) {
		struct frdma_retry rt = { .retry_cnt = allowed };

		frdma_retry_refill(&rt);
		for (n = 0; n < allowed; n++)
			EXPECT(frdma_retry_spend(&rt));
		EXPECT(!frdma_retry_spend(&rt));
		EXPECT(!frdma_retry_spend(&rt));
	}
}

TEST(frdma_retry_rnr__as_often_as_the_user_allows)
{
	u32 allowed, n;

	for (allowed = 0; allowed < FRDMA_RNR_RETRY_FOREVER; allowed++) {
		struct frdma_retry rt = { .rnr_retry = allowed };

		frdma_retry_refill(&rt);
		for (n = 0; n < allowed; n++)
			EXPECT(frdma_retry_rnr(&rt, 1, NOW));
		EXPECT(!frdma_retry_rnr(&rt, 1, NOW));
	}
}

TEST(frdma_retry_rnr__seven_is_for_ever)
{
	struct frdma_retry rt = { .rnr_retry = FRDMA_RNR_RETRY_FOREVER };
	u32 n;

	frdma_retry_refill(&rt);
	for (n = 0; n < 1000; n++)
		EXPECT(frdma_retry_rnr(&rt, 1, NOW));
}

TEST(frdma_retry_rnr__waits_as_long_as_the_peer_says)
{
	u32 code;

	for (code = 0; code < 32; code++) {
		struct frdma_retry rt = fresh();
		u64 end = NOW + frdma_rnr_delay_ns(code);

		frdma_retry_rnr(&rt, code, NOW);
		EXPECT_EQ(frdma_retry_expire(&rt, end - 1),
			  FRDMA_EXPIRY_NOT_YET);
		EXPECT(frdma_retry_paused(&rt));
		EXPECT_EQ(frdma_retry_expire(&rt, end), FRDMA_EXPIRY_READY);
		EXPECT(!frdma_retry_paused(&rt));
	}
}

TEST(frdma_retry_local__spends_nothing)
{
	struct frdma_retry rt = fresh();

	frdma_retry_local(&rt, NOW);
	EXPECT(frdma_retry_paused(&rt));
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + FRDMA_LOCAL_BACKOFF_NS),
		  FRDMA_EXPIRY_RESUME);
	EXPECT_EQ(rt.retry_left, 7);
}

TEST(frdma_retry_local__waits_longer_each_time)
{
	struct frdma_retry rt = fresh();
	u64 wait_ns = FRDMA_LOCAL_BACKOFF_NS;
	u32 n;

	for (n = 0; n < FRDMA_REFUSALS_MAX + 3; n++) {
		frdma_retry_local(&rt, NOW);
		EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + wait_ns);
		EXPECT_EQ(frdma_retry_expire(&rt, NOW + wait_ns),
			  FRDMA_EXPIRY_RESUME);
		if (n < FRDMA_REFUSALS_MAX)
			wait_ns *= 2;
	}
	frdma_retry_taken(&rt);
	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + FRDMA_LOCAL_BACKOFF_NS);
}

TEST(frdma_retry_local__does_not_shorten_a_wait_that_the_peer_asked_for)
{
	struct frdma_retry rt = fresh();

	frdma_retry_rnr(&rt, 0, NOW);
	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(rt.wait, FRDMA_WAIT_RNR);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + frdma_rnr_delay_ns(0));
}

TEST(frdma_retry_hold__sends_nothing_again)
{
	struct frdma_retry rt = fresh();
	u64 end_ns = NOW + FRDMA_LOCAL_BACKOFF_NS;

	frdma_retry_hold(&rt, NOW);
	EXPECT(frdma_retry_paused(&rt));
	EXPECT_EQ(frdma_retry_next_ns(&rt), end_ns);
	EXPECT_EQ(frdma_retry_expire(&rt, end_ns - 1), FRDMA_EXPIRY_NOT_YET);
	EXPECT(frdma_retry_paused(&rt));
	EXPECT_EQ(frdma_retry_expire(&rt, end_ns), FRDMA_EXPIRY_NOT_YET);
	EXPECT(!frdma_retry_paused(&rt));
	EXPECT_EQ(frdma_retry_next_ns(&rt), U64_MAX);
}

/* Of what was sent before, the peer has. */
TEST(frdma_retry_hold__the_peer_has_its_time)
{
	struct frdma_retry rt = fresh();

	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_hold(&rt, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + TIMEOUT);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + TIMEOUT),
		  FRDMA_EXPIRY_RESEND);
	EXPECT(!frdma_retry_paused(&rt));
}

/* Its packet was sent, and refused: it has to be sent again. */
TEST(frdma_retry_local__ends_a_hold)
{
	struct frdma_retry rt = fresh();

	frdma_retry_hold(&rt, NOW);
	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, rt.local_ns), FRDMA_EXPIRY_RESUME);
}

/* For longer than a host that has no room, which is asked by less. */
TEST(frdma_retry_hold__waits_longer_each_time)
{
	struct frdma_retry rt = fresh();
	u64 wait_ns = FRDMA_LOCAL_BACKOFF_NS;
	u32 n;

	for (n = 0; n < FRDMA_HOLDS_MAX + 3; n++) {
		frdma_retry_hold(&rt, NOW);
		EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + wait_ns);
		if (n < FRDMA_HOLDS_MAX)
			wait_ns *= 2;
	}
	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt),
		  NOW + (FRDMA_LOCAL_BACKOFF_NS << FRDMA_REFUSALS_MAX));
}

TEST(frdma_retry_go_on__ends_a_hold)
{
	struct frdma_retry rt = fresh();

	frdma_retry_hold(&rt, NOW);
	frdma_retry_go_on(&rt);
	EXPECT(!rt.held && !frdma_retry_paused(&rt));
	frdma_retry_hold(&rt, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt),
		  NOW + 2 * FRDMA_LOCAL_BACKOFF_NS);
}

/* The host is as full as it was. */
TEST(frdma_retry_go_on__not_a_refusal)
{
	struct frdma_retry rt = fresh();

	frdma_retry_local(&rt, NOW);
	frdma_retry_go_on(&rt);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + FRDMA_LOCAL_BACKOFF_NS);
}

/* However often it is in vain. */
TEST(frdma_retry_hold__for_ever)
{
	struct frdma_retry rt = fresh();
	u64 now_ns = NOW;
	u32 n;

	for (n = 0; n < 1000; n++) {
		frdma_retry_hold(&rt, now_ns);
		now_ns = frdma_retry_next_ns(&rt);
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns),
			  FRDMA_EXPIRY_NOT_YET);
	}
	EXPECT_EQ(rt.retry_left, 7);
}

/* A peer that was sent something before may ask for silence meanwhile. */
TEST(frdma_retry_hold__ends_in_the_silence_of_a_peer)
{
	struct frdma_retry rt = fresh();
	u64 end_ns = NOW + frdma_rnr_delay_ns(0);

	frdma_retry_hold(&rt, NOW);
	EXPECT(frdma_retry_rnr(&rt, 0, NOW));
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + FRDMA_LOCAL_BACKOFF_NS),
		  FRDMA_EXPIRY_NOT_YET);
	EXPECT(frdma_retry_paused(&rt));
	frdma_retry_hold(&rt, NOW);
	EXPECT(!rt.held);
	EXPECT_EQ(frdma_retry_expire(&rt, end_ns), FRDMA_EXPIRY_READY);
	EXPECT(!frdma_retry_paused(&rt));

	frdma_retry_hold(&rt, NOW);
	EXPECT(frdma_retry_rnr(&rt, 1, NOW));
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + frdma_rnr_delay_ns(1)),
		  FRDMA_EXPIRY_READY);
	EXPECT(!frdma_retry_paused(&rt) && !rt.held);
}

TEST(frdma_retry_expire__resends_and_then_gives_up)
{
	struct frdma_retry rt = fresh();
	u64 now_ns = NOW;
	u32 n;

	for (n = 0; n < 7; n++) {
		frdma_retry_watch(&rt, true, now_ns);
		/* From the timeout to four times that (9.7.6.1.3). */
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns + TIMEOUT - 1),
			  FRDMA_EXPIRY_NOT_YET);
		EXPECT(rt.deadline_ns <= now_ns + 4 * TIMEOUT);
		now_ns = rt.deadline_ns;
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns - 1),
			  FRDMA_EXPIRY_NOT_YET);
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns),
			  FRDMA_EXPIRY_RESEND);
		EXPECT_EQ(rt.wait, FRDMA_WAIT_NONE);
	}
	frdma_retry_watch(&rt, true, now_ns);
	EXPECT_EQ(frdma_retry_expire(&rt, rt.deadline_ns),
		  FRDMA_EXPIRY_EXHAUSTED);
}

TEST(frdma_retry_expire__more_patient_after_each_timeout)
{
	struct frdma_retry rt = fresh();
	static const u32 times[] = { 1, 2, 4, 4 };
	u32 n;

	for (n = 0; n < ARRAY_SIZE(times); n++) {
		frdma_retry_watch(&rt, true, NOW);
		EXPECT_EQ(rt.deadline_ns, NOW + times[n] * TIMEOUT);
		frdma_retry_expire(&rt, rt.deadline_ns);
	}
	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_progress(&rt, true, NOW);
	EXPECT_EQ(rt.deadline_ns, NOW + TIMEOUT);
}

/* One wait for an answer that came after a while. */
static void answered_after(struct frdma_retry *rt, u64 waited_ns)
{
	rt->wait = FRDMA_WAIT_NONE;
	frdma_retry_watch(rt, true, NOW);
	frdma_retry_progress(rt, true, NOW + waited_ns);
}

TEST(frdma_retry_progress__learns_patience_from_slow_answers)
{
	struct frdma_retry rt = fresh();

	answered_after(&rt, TIMEOUT / 2);
	EXPECT_EQ(rt.deadline_ns, NOW + TIMEOUT / 2 + TIMEOUT);
	answered_after(&rt, TIMEOUT / 2 + 1);
	EXPECT_EQ(rt.deadline_ns, NOW + TIMEOUT / 2 + 1 + 2 * TIMEOUT);
	/* Four times the timeout is the most (9.7.6.1.3). */
	answered_after(&rt, 100 * TIMEOUT);
	EXPECT_EQ(rt.deadline_ns, NOW + 100 * TIMEOUT + 4 * TIMEOUT);
}

TEST(frdma_retry_progress__forgets_patience_when_answers_are_quick)
{
	struct frdma_retry rt = fresh();
	u32 n;

	answered_after(&rt, 2 * TIMEOUT);
	for (n = 0; n < 30; n++)
		answered_after(&rt, 1);
	EXPECT_EQ(rt.deadline_ns, NOW + 1 + TIMEOUT);
}

TEST(frdma_retry_expire__room_may_come_later)
{
	struct frdma_retry rt = fresh();

	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + FRDMA_LOCAL_BACKOFF_NS - 1),
		  FRDMA_EXPIRY_NOT_YET);
	EXPECT(frdma_retry_paused(&rt));
}

/* Whatever ends first: nothing of the other wait is left behind. */
TEST(frdma_retry_expire__the_deadline_ends_the_wait_for_room)
{
	struct frdma_retry rt = fresh();

	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + TIMEOUT), FRDMA_EXPIRY_RESEND);
	EXPECT(!frdma_retry_paused(&rt));
}

/* What leaves at last has all of its time. */
TEST(frdma_retry_watch__begins_anew_when_the_host_has_room)
{
	const u64 late_ns = NOW + TIMEOUT - 1;
	struct frdma_retry rt = fresh();

	frdma_retry_local(&rt, NOW);
	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_taken(&rt);
	frdma_retry_watch(&rt, true, late_ns);
	EXPECT_EQ(rt.deadline_ns, late_ns + TIMEOUT);

	/* But only once: room for some again and again is no answer. */
	frdma_retry_local(&rt, late_ns + 1);
	frdma_retry_watch(&rt, true, late_ns + 1);
	frdma_retry_taken(&rt);
	frdma_retry_watch(&rt, true, late_ns + 2);
	EXPECT_EQ(rt.deadline_ns, late_ns + TIMEOUT);
}

TEST(frdma_retry_watch__the_host_never_has_room)
{
	struct frdma_retry rt = fresh();
	u64 now_ns;

	for (now_ns = NOW; now_ns < NOW + TIMEOUT; now_ns += TIMEOUT / 10) {
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns), FRDMA_EXPIRY_NOT_YET);
		frdma_retry_local(&rt, now_ns);
		frdma_retry_watch(&rt, true, now_ns);
	}
	EXPECT_EQ(frdma_retry_expire(&rt, now_ns), FRDMA_EXPIRY_RESEND);
}

/* The host has room: the peer still wants silence. */
TEST(frdma_retry_watch__does_not_end_a_wait_that_the_peer_asked_for)
{
	struct frdma_retry rt = fresh();

	frdma_retry_local(&rt, NOW);
	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_rnr(&rt, 20, NOW);
	frdma_retry_taken(&rt);
	frdma_retry_watch(&rt, true, NOW + 1);
	EXPECT_EQ(rt.wait, FRDMA_WAIT_RNR);
	EXPECT_EQ(rt.deadline_ns, NOW + frdma_rnr_delay_ns(20));
}

TEST(frdma_retry_init__forgets_how_slow_the_peer_was)
{
	struct frdma_retry rt = fresh();

	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_progress(&rt, false, NOW + 2 * TIMEOUT);
	EXPECT(rt.patience);
	frdma_retry_init(&rt);
	EXPECT_EQ(rt.patience, 0);
	EXPECT_EQ(rt.slowest_ns, 0);
}

TEST(frdma_retry_spend__does_not_end_a_wait_that_the_peer_asked_for)
{
	struct frdma_retry rt = fresh();

	frdma_retry_rnr(&rt, 1, NOW);
	EXPECT(frdma_retry_spend(&rt));
	EXPECT(frdma_retry_paused(&rt));
}

TEST(frdma_retry_next_ns__the_first_of_both)
{
	struct frdma_retry rt = fresh();

	EXPECT_EQ(frdma_retry_next_ns(&rt), U64_MAX);
	frdma_retry_local(&rt, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + FRDMA_LOCAL_BACKOFF_NS);
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + TIMEOUT);
	frdma_retry_taken(&rt);
	frdma_retry_local(&rt, NOW - FRDMA_LOCAL_BACKOFF_NS + 1);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + 1);
	frdma_retry_init(&rt);
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + TIMEOUT);
}

#define RTT	1000000ULL
#define LONG	(1000 * RTT)

/* In which something was sent again at NOW, and answered a round trip later. */
static struct frdma_retry experienced(void)
{
	struct frdma_retry rt = fresh();

	rt.timeout_ns = LONG;
	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_learn(&rt, true, NOW + RTT);
	frdma_retry_progress(&rt, false, NOW + RTT);
	return rt;
}

TEST(frdma_retry_learn__how_long_the_answer_took)
{
	struct frdma_retry rt = experienced();

	EXPECT_EQ(rt.rtt.smooth_ns, RTT);
	rt.rtt.best_ns = RTT;
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_learn(&rt, true, NOW + RTT / 2),
		  FRDMA_MENDED_NEEDLESSLY);
	EXPECT_EQ(frdma_retry_learn(&rt, true, NOW + 9 * RTT), FRDMA_MENDED_SLOWLY);
}

TEST(frdma_retry_new_way__nothing_is_known_of_it)
{
	struct frdma_retry rt = experienced();

	answered_after(&rt, 2 * LONG);
	frdma_retry_progress(&rt, false, NOW);
	frdma_retry_new_way(&rt);
	EXPECT_EQ(rt.rtt.smooth_ns, 0);
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(rt.deadline_ns, NOW + LONG);
}

TEST(frdma_retry_learn__nothing_from_what_was_not_timed)
{
	struct frdma_retry rt = experienced();

	EXPECT_EQ(frdma_retry_learn(&rt, true, NOW + 9 * RTT), FRDMA_MENDED_WELL);
	EXPECT_EQ(rt.rtt.smooth_ns, RTT);
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + 4 * RTT), FRDMA_EXPIRY_PROBE);
	EXPECT_EQ(frdma_retry_learn(&rt, true, NOW + 9 * RTT), FRDMA_MENDED_WELL);
	EXPECT_EQ(rt.rtt.smooth_ns, RTT);
}

/* By the first probe; only by the second it was sent more than once. */
TEST(frdma_retry_learn__what_the_peer_had_not_asked_for)
{
	struct frdma_retry rt = experienced();
	u32 n;

	rt.rtt.best_ns = RTT;
	for (n = 0; n < 3; n++) {
		frdma_retry_progress(&rt, true, NOW);
		EXPECT_EQ(frdma_retry_expire(&rt, NOW + 4 * RTT),
			  FRDMA_EXPIRY_PROBE);
		EXPECT_EQ(frdma_retry_learn(&rt, false, NOW + 5 * RTT),
			  FRDMA_MENDED_WELL);
	}
	EXPECT_EQ(rt.rtt.smooth_ns, RTT);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + 40 * RTT), FRDMA_EXPIRY_PROBE);
	EXPECT_EQ(frdma_retry_learn(&rt, false, NOW + 41 * RTT),
		  FRDMA_MENDED_WELL);
	EXPECT_EQ(frdma_retry_learn(&rt, false, NOW + 41 * RTT),
		  FRDMA_MENDED_SLOWLY);
}

/* Sooner after the probe than any answer to it: it was none. */
TEST(frdma_retry_learn__the_probe_was_not_needed)
{
	struct frdma_retry rt = experienced();

	rt.rtt.best_ns = RTT;
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + 4 * RTT), FRDMA_EXPIRY_PROBE);
	EXPECT_EQ(frdma_retry_learn(&rt, false, NOW + 4 * RTT + RTT / 2),
		  FRDMA_MENDED_NEEDLESSLY);
	EXPECT_EQ(frdma_retry_learn(&rt, false, NOW + 5 * RTT - RTT / 4),
		  FRDMA_MENDED_WELL);
	EXPECT_EQ(rt.rtt.smooth_ns, RTT);
}

/* The first packets of a connection may be lost, before any round trip was timed. */
TEST(frdma_retry_watch__a_round_trip_is_assumed_until_one_is_known)
{
	struct frdma_retry rt = fresh();

	rt.timeout_ns = LONG;
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + FRDMA_PROBE_RTT_NS +
		  FRDMA_PROBE_RTT_NS / 2 + FRDMA_PROBE_MIN_NS);
}

/* Nothing needs to be lost before. */
TEST(frdma_retry_watch__a_known_round_trip_is_enough_for_probes)
{
	struct frdma_retry rt = fresh();

	rt.timeout_ns = LONG;
	frdma_rtt_begin(&rt.rtt, 1, NOW);
	frdma_rtt_end(&rt.rtt, 1, NOW + RTT);
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt),
		  NOW + RTT + RTT / 2 + FRDMA_PROBE_MIN_NS);
}

TEST(frdma_retry_expire__probes_each_after_twice_the_time)
{
	struct frdma_retry rt = experienced();
	u64 now_ns = NOW, wait_ns = RTT + RTT / 2 + FRDMA_PROBE_MIN_NS;
	u32 n;

	frdma_retry_watch(&rt, true, NOW);
	for (n = 0; n < FRDMA_PROBES_MAX; n++) {
		EXPECT_EQ(frdma_retry_next_ns(&rt), now_ns + (wait_ns << n));
		now_ns += wait_ns << n;
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns - 1),
			  FRDMA_EXPIRY_NOT_YET);
		EXPECT_EQ(frdma_retry_expire(&rt, now_ns), FRDMA_EXPIRY_PROBE);
		EXPECT_EQ(rt.retry_left, 7);
	}
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + LONG);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + LONG - 1),
		  FRDMA_EXPIRY_NOT_YET);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + LONG), FRDMA_EXPIRY_RESEND);
}

/* Each time that all is sent again for that, nothing is left that could be timed. */
TEST(frdma_retry_expire__probes_wait_longer_while_no_round_trip_is_timed)
{
	struct frdma_retry rt = experienced();
	u64 wait_ns = RTT + RTT / 2 + FRDMA_PROBE_MIN_NS;
	u32 n;

	for (n = 0; n < 2 * FRDMA_RTT_DISTRUST_MAX; n++)
		frdma_rtt_distrust(&rt.rtt);
	EXPECT_EQ(rt.rtt.distrust, FRDMA_RTT_DISTRUST_MAX);
	rt.rtt.distrust = 3;
	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(rt.probe_ns, NOW + 8 * wait_ns);

	/* What waited for others tells nothing. */
	frdma_rtt_begin(&rt.rtt, 1, NOW);
	frdma_rtt_disturb(&rt.rtt);
	frdma_rtt_end(&rt.rtt, 1, NOW + RTT);
	EXPECT_EQ(rt.rtt.distrust, 3);
	frdma_rtt_begin(&rt.rtt, 1, NOW);
	frdma_rtt_end(&rt.rtt, 1, NOW + RTT);
	frdma_retry_progress(&rt, true, NOW + RTT);
	EXPECT_EQ(rt.probe_ns, NOW + RTT + wait_ns);
}

/* It would be refused as well, and there is no need to ask for what has not left. */
TEST(frdma_retry_expire__no_probe_while_the_host_refuses)
{
	struct frdma_retry rt = experienced();
	u64 due_ns;

	frdma_retry_watch(&rt, true, NOW);
	due_ns = rt.probe_ns;
	rt.local_ns = due_ns + 1;
	EXPECT_EQ(frdma_retry_expire(&rt, due_ns), FRDMA_EXPIRY_NOT_YET);
	EXPECT_EQ(rt.probes, 0);
	EXPECT(rt.probe_ns > due_ns);
	EXPECT_EQ(frdma_retry_expire(&rt, due_ns + 1), FRDMA_EXPIRY_RESUME);
	EXPECT_EQ(frdma_retry_expire(&rt, rt.probe_ns), FRDMA_EXPIRY_PROBE);

	/* What it holds is another packet. */
	rt.local_ns = rt.probe_ns + 1;
	rt.held = true;
	EXPECT_EQ(frdma_retry_expire(&rt, rt.probe_ns), FRDMA_EXPIRY_PROBE);
}

TEST(frdma_retry_expire__the_timeout_comes_before_a_probe)
{
	struct frdma_retry rt = experienced();

	frdma_retry_watch(&rt, true, NOW);
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + LONG), FRDMA_EXPIRY_RESEND);
}

TEST(frdma_retry_expire__no_probe_while_the_peer_wants_silence)
{
	struct frdma_retry rt = experienced();

	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_rnr(&rt, 0, NOW);
	EXPECT_EQ(frdma_retry_next_ns(&rt), NOW + frdma_rnr_delay_ns(0));
	EXPECT_EQ(frdma_retry_expire(&rt, NOW + 4 * RTT),
		  FRDMA_EXPIRY_NOT_YET);
}

/* By an eighth with each answer. */
TEST(frdma_retry_progress__the_longest_wait_is_forgotten_slowly)
{
	struct frdma_retry rt = fresh();

	rt.slowest_ns = 72000;
	frdma_retry_watch(&rt, true, NOW);
	frdma_retry_progress(&rt, false, NOW + 1);
	EXPECT_EQ(rt.slowest_ns, 63000);
}
