// SPDX-License-Identifier: GPL-2.0
#include "gather.h"
#include "tap.h"

#define NOW		1000000000ULL	/* a second */
#define INTERVAL	16000U
#define RINGS_NS	3000U		/* from one doorbell to the next */

/* A queue, how far it was posted to and is complete, and its time. */
struct queue {
	struct frdma_gather gather;
	u32 prod;
	u32 done;
	u64 now_ns;
};

static struct queue make_queue(void)
{
	struct queue queue = { .prod = 7, .done = 7, .now_ns = NOW };

	frdma_gather_init(&queue.gather, queue.prod);
	return queue;
}

/* So many more are posted, after a time, and the queue is looked at. */
static enum frdma_gather_verdict post(struct queue *queue, u32 requests,
				      u64 after_ns)
{
	queue->prod += requests;
	queue->now_ns += after_ns;
	return frdma_gather_look(&queue->gather, queue->prod, queue->done,
				 INTERVAL, queue->now_ns);
}

static void wait_for_next(struct queue *queue)
{
	frdma_gather_wait(&queue->gather, queue->done, INTERVAL,
			  queue->now_ns);
}

/* One, with a doorbell, in which all before it was completed. */
static enum frdma_gather_verdict ring(struct queue *queue, u64 after_ns)
{
	queue->done = queue->prod;
	return post(queue, 1, after_ns);
}

/* One by one, until something changes. */
static u32 rings_before_trial(struct queue *queue)
{
	u32 rings = 1;

	while (ring(queue, RINGS_NS) == FRDMA_GATHER_KEEP)
		if (++rings > 100000)
			break;
	return rings;
}

/* The queue is looked at when it is due, with so many more in it. */
static enum frdma_gather_verdict next_interval(struct queue *queue,
					       u32 requests)
{
	wait_for_next(queue);
	return post(queue, requests,
		    frdma_gather_next_ns(&queue->gather) - queue->now_ns);
}

static struct queue proven_queue(void)
{
	struct queue queue = make_queue();

	rings_before_trial(&queue);
	EXPECT_EQ(next_interval(&queue, 40), FRDMA_GATHER_KEEP);
	return queue;
}

/* What was rung for is not to be gathered, and was found before the ring was heard. */
TEST(frdma_gather_look__not_wanted_and_found_by_others)
{
	struct queue queue = make_queue();
	u32 i;

	for (i = 0; i < 4 * FRDMA_GATHER_PATIENCE_MIN; i++) {
		EXPECT_EQ(ring(&queue, RINGS_NS), FRDMA_GATHER_KEEP);
		EXPECT_EQ(frdma_gather_look(&queue.gather, queue.prod,
					    queue.done, 0, ++queue.now_ns),
			  FRDMA_GATHER_KEEP);
	}
}

TEST(frdma_gather_look__tries_who_posts_one_by_one)
{
	struct queue queue = make_queue();

	EXPECT_EQ(frdma_gather_next_ns(&queue.gather), U64_MAX);
	EXPECT_EQ(rings_before_trial(&queue), FRDMA_GATHER_PATIENCE_MIN);
	EXPECT(queue.gather.on);
	wait_for_next(&queue);
	EXPECT_EQ(frdma_gather_next_ns(&queue.gather),
		  queue.now_ns + 2 * INTERVAL);
}

/* A note, an answer: the side runs, and nothing was posted. */
TEST(frdma_gather_look__nothing_posted_tells_nothing)
{
	struct queue queue = make_queue();
	u32 n;

	for (n = 0; n < 2 * FRDMA_GATHER_PATIENCE_MIN; n++)
		EXPECT_EQ(post(&queue, 0, RINGS_NS), FRDMA_GATHER_KEEP);
	EXPECT_EQ(rings_before_trial(&queue), FRDMA_GATHER_PATIENCE_MIN);
}

/* They leave in trains as it is. */
TEST(frdma_gather_look__lists_are_let_alone)
{
	struct queue queue = make_queue();
	u32 n;

	for (n = 0; n < 100; n++)
		EXPECT_EQ(post(&queue, n % 10 ? 1 : FRDMA_GATHER_LEAST + 1,
			       RINGS_NS), FRDMA_GATHER_KEEP);
}

TEST(frdma_gather_look__no_interval_no_trial)
{
	struct queue queue = make_queue();
	u32 n;

	for (n = 0; n < 100; n++)
		EXPECT_EQ(frdma_gather_look(&queue.gather, ++queue.prod,
					    queue.done, 0, ++queue.now_ns),
			  FRDMA_GATHER_KEEP);
}

TEST(frdma_gather_look__goes_on_while_it_is_worth_it)
{
	struct queue queue = proven_queue();
	u32 n;

	for (n = 0; n < 1000; n++)
		EXPECT_EQ(next_interval(&queue, 20), FRDMA_GATHER_KEEP);
	EXPECT_EQ(post(&queue, 0, 0), FRDMA_GATHER_KEEP);
	wait_for_next(&queue);
	EXPECT_EQ(post(&queue, 1, INTERVAL - 1), FRDMA_GATHER_KEEP);
	EXPECT_EQ(post(&queue, 0, 1), FRDMA_GATHER_KEEP);
}

/* Who waits for each one posts one in an interval. */
TEST(frdma_gather_look__who_waits_is_tried_less_and_less)
{
	struct queue queue = make_queue();
	u32 rings = FRDMA_GATHER_PATIENCE_MIN, n;

	for (n = 0; n < 12; n++) {
		EXPECT_EQ(rings_before_trial(&queue), rings);
		EXPECT_EQ(next_interval(&queue, 1), FRDMA_GATHER_END);
		EXPECT_EQ(frdma_gather_next_ns(&queue.gather), U64_MAX);
		rings = min(2 * rings, FRDMA_GATHER_PATIENCE_MAX);
	}
	EXPECT_EQ(rings, FRDMA_GATHER_PATIENCE_MAX);
}

/* Eight in 32 us are fewer than doorbells would have brought. */
TEST(frdma_gather_look__fewer_than_with_doorbells)
{
	struct queue queue = make_queue();

	rings_before_trial(&queue);
	EXPECT_EQ(next_interval(&queue, 8), FRDMA_GATHER_END);
}

/* The receiver may have the process's only processor. */
TEST(frdma_gather_look__one_poor_interval_is_forgiven)
{
	struct queue queue = proven_queue();

	EXPECT_EQ(next_interval(&queue, 2), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next_interval(&queue, 20), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next_interval(&queue, 2), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next_interval(&queue, 2), FRDMA_GATHER_END);
	EXPECT_EQ(rings_before_trial(&queue), FRDMA_GATHER_PATIENCE_MIN);
}

/* Nothing waits meanwhile, so that costs a timer, and no more. */
TEST(frdma_gather_look__some_idle_intervals_are_forgiven)
{
	struct queue queue = proven_queue();
	u32 n;

	for (n = 1; n < FRDMA_GATHER_IDLE; n++)
		EXPECT_EQ(next_interval(&queue, 0), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next_interval(&queue, 100), FRDMA_GATHER_KEEP);
	for (n = 1; n < 2 * FRDMA_GATHER_IDLE; n++)
		EXPECT_EQ(next_interval(&queue, 0), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next_interval(&queue, 0), FRDMA_GATHER_END);
}

/* The attribute was set to 0. */
TEST(frdma_gather_look__ends_when_it_is_not_wanted)
{
	struct queue queue = proven_queue();

	EXPECT_EQ(frdma_gather_look(&queue.gather, queue.prod, queue.done, 0,
				    queue.now_ns), FRDMA_GATHER_END);
	EXPECT_EQ(frdma_gather_look(&queue.gather, queue.prod, queue.done, 0,
				    queue.now_ns), FRDMA_GATHER_KEEP);
}

/* What was complete meanwhile had the process's processor. */
TEST(frdma_gather_wait__begins_again_where_more_is_complete)
{
	struct queue queue = proven_queue();
	u64 due_ns;

	wait_for_next(&queue);
	due_ns = frdma_gather_next_ns(&queue.gather);
	EXPECT_EQ(due_ns, queue.now_ns + INTERVAL);

	queue.now_ns += 10000;
	wait_for_next(&queue);
	EXPECT_EQ(frdma_gather_next_ns(&queue.gather), due_ns);
	queue.done++;
	wait_for_next(&queue);
	EXPECT_EQ(frdma_gather_next_ns(&queue.gather), due_ns + 10000);
}

/* Whose requests complete one after the other must not escape it. */
TEST(frdma_gather_wait__not_for_ever)
{
	enum frdma_gather_verdict verdict = FRDMA_GATHER_KEEP;
	struct queue queue = make_queue();
	u32 n;

	rings_before_trial(&queue);
	for (n = 0; n < 100 && verdict == FRDMA_GATHER_KEEP; n++) {
		wait_for_next(&queue);
		verdict = post(&queue, 1, INTERVAL - 1);
		queue.done++;
	}
	EXPECT_EQ(verdict, FRDMA_GATHER_END);
	EXPECT_EQ(n, FRDMA_GATHER_LONGEST + 1);
}

TEST(frdma_gather_wait__not_where_everybody_rings)
{
	struct queue queue = make_queue();

	wait_for_next(&queue);
	EXPECT_EQ(frdma_gather_next_ns(&queue.gather), U64_MAX);
}

/* A pause counts as eight intervals, however long it is: 15 us each. */
TEST(frdma_gather_look__pauses_are_no_measure)
{
	struct queue queue = make_queue();
	u32 n;

	for (n = 1; n < FRDMA_GATHER_PATIENCE_MIN; n++)
		EXPECT_EQ(ring(&queue, n % 8 ? RINGS_NS : 1000000000),
			  FRDMA_GATHER_KEEP);
	EXPECT_EQ(ring(&queue, RINGS_NS), FRDMA_GATHER_BEGIN);
	EXPECT_EQ(post(&queue, 15, FRDMA_GATHER_LONGEST * INTERVAL),
		  FRDMA_GATHER_END);
}

/* Another processor runs the engine: who rings does so as fast as he can. */
TEST(frdma_gather_look__what_is_complete_counts)
{
	struct queue queue = make_queue();
	u32 n;

	for (n = 1; n < FRDMA_GATHER_PATIENCE_MIN; n++) {
		queue.done += n % 8 == 0;
		EXPECT_EQ(post(&queue, 1, RINGS_NS), FRDMA_GATHER_KEEP);
	}
	EXPECT_EQ(post(&queue, 1, RINGS_NS), FRDMA_GATHER_BEGIN);
	EXPECT_EQ(post(&queue, 9, FRDMA_GATHER_LONGEST * INTERVAL),
		  FRDMA_GATHER_KEEP);
}

static void ring_until_it_begins(struct queue *queue)
{
	do {
		queue->done = queue->prod;
	} while (post(queue, 1, RINGS_NS) == FRDMA_GATHER_KEEP);
}

static u32 rings(struct queue *queue)
{
	u32 before = queue->prod;

	ring_until_it_begins(queue);
	return queue->prod - before;
}

static enum frdma_gather_verdict next(struct queue *queue, u32 requests)
{
	wait_for_next(queue);
	return post(queue, requests,
		    frdma_gather_next_ns(&queue->gather) - queue->now_ns);
}

/* Each trial has to prove its worth. */
TEST(frdma_gather_look__what_was_proven_before_does_not_count)
{
	struct queue queue = make_queue();

	ring_until_it_begins(&queue);
	EXPECT_EQ(next(&queue, 40), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next(&queue, 1), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next(&queue, 1), FRDMA_GATHER_END);
	ring_until_it_begins(&queue);
	EXPECT_EQ(next(&queue, 1), FRDMA_GATHER_END);
}

TEST(frdma_gather_look__is_not_due_when_it_begins)
{
	struct queue queue = make_queue();

	ring_until_it_begins(&queue);
	EXPECT_EQ(next(&queue, 40), FRDMA_GATHER_KEEP);
	wait_for_next(&queue);
	EXPECT_EQ(frdma_gather_look(&queue.gather, queue.prod, queue.done, 0,
				    queue.now_ns + 1), FRDMA_GATHER_END);
	ring_until_it_begins(&queue);
	EXPECT(queue.gather.on);
	EXPECT_EQ(frdma_gather_next_ns(&queue.gather), 0);
}

TEST(frdma_gather_look__who_proves_it_is_trusted_again)
{
	struct queue queue = make_queue();
	u32 least = rings(&queue);

	EXPECT_EQ(next(&queue, 1), FRDMA_GATHER_END);
	EXPECT_EQ(rings(&queue), 2 * least);
	EXPECT_EQ(next(&queue, 40), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next(&queue, 1), FRDMA_GATHER_KEEP);
	EXPECT_EQ(next(&queue, 1), FRDMA_GATHER_END);
	EXPECT_EQ(rings(&queue), least);
}
