// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of provider/ring.h, with its other end played here as the contract
 * in frdma-abi.h has it.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring.h"
#include "tap.h"

/* Not a power of two, as a slot with an odd number of SGEs. */
#define STRIDE	48

static void ring_open(struct frdma_ring *ring, uint32_t entries,
		      uint32_t index)
{
	*ring = (struct frdma_ring) {
		.size		= FRDMA_RING_SLOTS + entries * STRIDE,
		.entries	= entries,
		.stride		= STRIDE,
		.index		= index,
		.end		= index,
	};
	ring->head = calloc(1, ring->size);
	if (!ring->head)
		abort();
	ring->head->prod = index;
	ring->head->cons = index;
}

static void ring_close(struct frdma_ring *ring)
{
	free(ring->head);
}

/* Writes all of a slot, so that a wrong address is noticed. */
static void slot_fill(struct frdma_ring *ring, uint32_t at)
{
	uint32_t *slot = frdma_ring_slot(ring, at);
	size_t i;

	for (i = 0; i < STRIDE / sizeof(*slot); i++)
		slot[i] = at;
}

static int slot_holds(struct frdma_ring *ring, uint32_t at)
{
	uint32_t *slot = frdma_ring_slot(ring, at);
	size_t i;

	for (i = 0; i < STRIDE / sizeof(*slot); i++)
		if (slot[i] != at)
			return 0;
	return 1;
}

TEST(room__none_without_a_ring)
{
	struct frdma_ring ring = {};

	EXPECT_EQ(frdma_ring_room(&ring, 0), ENOMEM);
}

TEST(room__until_full)
{
	struct frdma_ring ring;
	uint32_t at;

	ring_open(&ring, 8, 0);
	for (at = 0; at < 8; at++) {
		EXPECT_EQ(frdma_ring_room(&ring, at), 0);
		slot_fill(&ring, at);
	}
	EXPECT_EQ(frdma_ring_room(&ring, at), ENOMEM);
	frdma_ring_publish(&ring, at);
	EXPECT_EQ(frdma_ring_room(&ring, at), ENOMEM);
	EXPECT_EQ(ring.head->prod, 8);
	ring_close(&ring);
}

TEST(room__as_much_as_was_consumed)
{
	struct frdma_ring ring;

	ring_open(&ring, 4, 0);
	EXPECT_EQ(frdma_ring_room(&ring, 0), 0);
	frdma_ring_publish(&ring, 4);
	ring.head->cons = 1;
	EXPECT_EQ(frdma_ring_room(&ring, 4), 0);
	frdma_ring_publish(&ring, 5);
	EXPECT_EQ(frdma_ring_room(&ring, 5), ENOMEM);
	ring.head->cons = 3;
	EXPECT_EQ(frdma_ring_room(&ring, 5), 0);
	EXPECT_EQ(frdma_ring_room(&ring, 6), 0);
	EXPECT_EQ(frdma_ring_room(&ring, 7), ENOMEM);
	ring_close(&ring);
}

/* A batch that is not published counts as used. */
TEST(room__counts_unpublished)
{
	struct frdma_ring ring;
	uint32_t at;

	ring_open(&ring, 4, 10);
	for (at = 10; at < 14; at++)
		EXPECT_EQ(frdma_ring_room(&ring, at), 0);
	EXPECT_EQ(frdma_ring_room(&ring, 14), ENOMEM);
	EXPECT_EQ(ring.head->prod, 10);
	ring_close(&ring);
}

TEST(room__index_wraps)
{
	uint32_t at = UINT32_MAX - 2, i;
	struct frdma_ring ring;

	ring_open(&ring, 4, at);
	for (i = 0; i < 8; i++, at++) {
		EXPECT_EQ(frdma_ring_room(&ring, at), 0);
		slot_fill(&ring, at);
		frdma_ring_publish(&ring, at + 1);
		EXPECT(slot_holds(&ring, at));
		if (i >= 3)
			ring.head->cons++;
	}
	ring_close(&ring);
}

TEST(room__eio_when_unplugged)
{
	struct frdma_ring ring;

	ring_open(&ring, 4, 100);
	EXPECT_EQ(frdma_ring_room(&ring, 100), 0);
	frdma_ring_publish(&ring, 104);
	memset(ring.head, 0, ring.size);
	EXPECT_EQ(frdma_ring_room(&ring, 104), EIO);
	EXPECT_EQ(frdma_ring_room(&ring, 104), EIO);
	ring_close(&ring);
}

TEST(ready__what_was_produced)
{
	struct frdma_ring ring;

	ring_open(&ring, 4, 0);
	EXPECT_EQ(frdma_ring_ready(&ring, 0), ENOENT);
	ring.head->prod = 2;
	EXPECT_EQ(frdma_ring_ready(&ring, 0), 0);
	EXPECT_EQ(frdma_ring_ready(&ring, 1), 0);
	EXPECT_EQ(frdma_ring_ready(&ring, 2), ENOENT);
	frdma_ring_release(&ring, 2);
	EXPECT_EQ(ring.head->cons, 2);
	ring_close(&ring);
}

TEST(ready__index_wraps)
{
	uint32_t at = UINT32_MAX, i;
	struct frdma_ring ring;

	ring_open(&ring, 2, at);
	for (i = 0; i < 4; i++, at++) {
		EXPECT_EQ(frdma_ring_ready(&ring, at), ENOENT);
		slot_fill(&ring, at);
		ring.head->prod++;
		EXPECT_EQ(frdma_ring_ready(&ring, at), 0);
		EXPECT(slot_holds(&ring, at));
		frdma_ring_release(&ring, at + 1);
	}
	ring_close(&ring);
}

TEST(ready__eio_when_unplugged)
{
	struct frdma_ring ring;

	ring_open(&ring, 4, 57);
	EXPECT_EQ(frdma_ring_ready(&ring, 57), ENOENT);
	memset(ring.head, 0, ring.size);
	EXPECT_EQ(frdma_ring_ready(&ring, 57), EIO);
	ring_close(&ring);
}

TEST(asleep__shows_the_flag)
{
	struct frdma_ring ring;

	ring_open(&ring, 4, 0);
	EXPECT(!frdma_ring_asleep(&ring));
	ring.head->flags = FRDMA_RING_NEED_DOORBELL;
	EXPECT(frdma_ring_asleep(&ring));
	ring.head->flags = ~FRDMA_RING_NEED_DOORBELL;
	EXPECT(!frdma_ring_asleep(&ring));
	ring_close(&ring);
}

TEST(watched__shows_the_flag)
{
	struct frdma_ring ring;

	ring_open(&ring, 4, 0);
	EXPECT(!frdma_ring_watched(&ring));
	ring.head->flags = FRDMA_RING_WATCHED;
	EXPECT(frdma_ring_watched(&ring));
	EXPECT(!frdma_ring_asleep(&ring));
	ring.head->flags = ~FRDMA_RING_WATCHED;
	EXPECT(!frdma_ring_watched(&ring));
	ring_close(&ring);
}

/*
 * Two threads. The kernel's end of a ring is a second struct frdma_ring over
 * the same memory; only its flag is handled by hand.
 */

#define MANY	200000

struct pair {
	struct frdma_ring ours;
	struct frdma_ring theirs;
	sem_t doorbell;
	unsigned long rung;
	int bad;
	int lost;
};

static void *kernel_consumes(void *arg)
{
	struct pair *pair = arg;
	uint32_t at;

	for (at = 0; at < MANY; at++) {
		while (frdma_ring_ready(&pair->theirs, at))
			sched_yield();
		pair->bad += !slot_holds(&pair->theirs, at);
		frdma_ring_release(&pair->theirs, at + 1);
	}
	return NULL;
}

static void *kernel_produces(void *arg)
{
	struct pair *pair = arg;
	uint32_t at;

	for (at = 0; at < MANY; at++) {
		while (frdma_ring_room(&pair->theirs, at))
			sched_yield();
		slot_fill(&pair->theirs, at);
		frdma_ring_publish(&pair->theirs, at + 1);
	}
	return NULL;
}

static void pair_open(struct pair *pair)
{
	*pair = (struct pair) {};
	ring_open(&pair->ours, 16, 0);
	pair->theirs = pair->ours;
	sem_init(&pair->doorbell, 0, 0);
}

static void pair_close(struct pair *pair)
{
	sem_destroy(&pair->doorbell);
	ring_close(&pair->ours);
}

TEST(threads__all_that_is_posted_arrives_whole)
{
	struct pair pair;
	pthread_t kernel;
	uint32_t at;

	pair_open(&pair);
	pthread_create(&kernel, NULL, kernel_consumes, &pair);
	for (at = 0; at < MANY; at++) {
		while (frdma_ring_room(&pair.ours, at))
			sched_yield();
		slot_fill(&pair.ours, at);
		frdma_ring_publish(&pair.ours, at + 1);
	}
	pthread_join(kernel, NULL);
	EXPECT_EQ(pair.bad, 0);
	pair_close(&pair);
}

TEST(threads__all_that_completes_is_polled_whole)
{
	struct pair pair;
	pthread_t kernel;
	uint32_t at;
	int bad = 0;

	pair_open(&pair);
	pthread_create(&kernel, NULL, kernel_produces, &pair);
	for (at = 0; at < MANY; at++) {
		while (frdma_ring_ready(&pair.ours, at))
			sched_yield();
		bad += !slot_holds(&pair.ours, at);
		frdma_ring_release(&pair.ours, at + 1);
	}
	pthread_join(kernel, NULL);
	EXPECT_EQ(bad, 0);
	pair_close(&pair);
}

static int wait_for_doorbell(struct pair *pair)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	return sem_timedwait(&pair->doorbell, &until);
}

/* Sleeps whenever the ring is empty, as the contract allows. */
static void *kernel_sleeps(void *arg)
{
	struct pair *pair = arg;
	struct frdma_ring *ring = &pair->theirs;
	uint32_t at;

	for (at = 0; at < MANY; at++) {
		while (frdma_ring_ready(ring, at)) {
			__atomic_store_n(&ring->head->flags,
					 FRDMA_RING_NEED_DOORBELL,
					 __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (frdma_ring_ready(ring, at) &&
			    wait_for_doorbell(pair))
				pair->lost++;
			__atomic_store_n(&ring->head->flags, 0,
					 __ATOMIC_RELAXED);
		}
		frdma_ring_release(ring, at + 1);
		if (pair->lost)
			return NULL;
	}
	return NULL;
}

/*
 * One request at a time: the next one would ring the doorbell that this one
 * failed to ring. Both sides then run into the moment of falling asleep.
 */
TEST(threads__no_wakeup_is_lost)
{
	unsigned int spins = 0;
	struct pair pair;
	pthread_t kernel;
	uint32_t at;

	pair_open(&pair);
	pthread_create(&kernel, NULL, kernel_sleeps, &pair);
	for (at = 0; at < MANY && !pair.lost; at++) {
		slot_fill(&pair.ours, at);
		frdma_ring_publish(&pair.ours, at + 1);
		if (frdma_ring_asleep(&pair.ours)) {
			pair.rung++;
			sem_post(&pair.doorbell);
		}
		while (__atomic_load_n(&pair.ours.head->cons,
				       __ATOMIC_ACQUIRE) != at + 1)
			if (!(++spins % 4096))
				sched_yield();
	}
	pthread_join(kernel, NULL);
	EXPECT_EQ(pair.lost, 0);
	EXPECT(pair.rung > 0);
	pair_close(&pair);
}

/* Looks a few times and gives up, until a doorbell has it look again. */
static void *kernel_watches(void *arg)
{
	struct pair *pair = arg;
	struct frdma_ring *ring = &pair->theirs;
	unsigned int looks = 0;
	uint32_t at;

	for (at = 0; at < MANY; at++) {
		while (frdma_ring_ready(ring, at)) {
			if (++looks % 64)
				continue;
			__atomic_store_n(&ring->head->flags, 0,
					 __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (frdma_ring_ready(ring, at) &&
			    wait_for_doorbell(pair))
				pair->lost++;
			if (pair->lost)
				return NULL;
			__atomic_store_n(&ring->head->flags,
					 FRDMA_RING_WATCHED, __ATOMIC_RELAXED);
		}
		frdma_ring_release(ring, at + 1);
	}
	return NULL;
}

/* The same with a poller, whose flag means the opposite. */
TEST(threads__nothing_is_lost_when_the_poller_gives_up)
{
	unsigned int spins = 0;
	struct pair pair;
	pthread_t kernel;
	uint32_t at;

	pair_open(&pair);
	pair.ours.head->flags = FRDMA_RING_WATCHED;
	pthread_create(&kernel, NULL, kernel_watches, &pair);
	for (at = 0; at < MANY && !pair.lost; at++) {
		slot_fill(&pair.ours, at);
		frdma_ring_publish(&pair.ours, at + 1);
		if (!frdma_ring_watched(&pair.ours)) {
			pair.rung++;
			sem_post(&pair.doorbell);
		}
		while (__atomic_load_n(&pair.ours.head->cons,
				       __ATOMIC_ACQUIRE) != at + 1 &&
		       !__atomic_load_n(&pair.lost, __ATOMIC_RELAXED))
			if (!(++spins % 4096))
				sched_yield();
	}
	pthread_join(kernel, NULL);
	EXPECT_EQ(pair.lost, 0);
	EXPECT(pair.rung > 0);
	pair_close(&pair);
}
