// SPDX-License-Identifier: GPL-2.0
#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <net/sock.h>

#include "txmem.h"

#include "compat/shrinker.h"

/* Pages of 32 KiB: three messages of 64 KiB. A power of two. */
#define RING_PAGES	8

/**
 * struct txmem_ring - the pages of a CPU
 * @frag: no page: taken by a burst, given back, or not needed so far. Only this
 *	CPU puts a page there; any may take it, by xchg(). The rest is this CPU's
 * @next: whose turn it is
 */
struct txmem_ring {
	struct page_frag frag[RING_PAGES];
	unsigned int next;
};

static DEFINE_PER_CPU(struct txmem_ring, txmem_ring);

static struct shrinker *txmem_shrinker;
static int txmem_hotplug_state;

/* The next page, out of the ring. */
static void take(struct frdma_txmem *mem)
{
	struct txmem_ring *ring;

	preempt_disable();
	ring = this_cpu_ptr(&txmem_ring);
	mem->slot = ring->next++ % RING_PAGES;
	mem->frag = ring->frag[mem->slot];
	mem->frag.page = xchg(&ring->frag[mem->slot].page, NULL);
	preempt_enable();
}

/*
 * Worth to be kept: a small page, all that there was at some moment, would never
 * be replaced, and no train of large packets be built of it. What was given out of
 * the reserves, to write to swap over the network say, goes back to them.
 */
static bool may_stay(const struct page_frag *frag)
{
	return !frag->page ||
	       (frag->size >= SZ_32K && !page_is_pfmemalloc(frag->page));
}

/*
 * Back into the ring, as the next in turn if @again. One page is enough for a
 * slot: a burst that came between may have left one.
 */
static void put(struct frdma_txmem *mem, bool again)
{
	struct page_frag *slot;
	struct txmem_ring *ring;

	preempt_disable();
	ring = this_cpu_ptr(&txmem_ring);
	slot = &ring->frag[mem->slot];
	if (!READ_ONCE(slot->page) && may_stay(&mem->frag)) {
		slot->offset = mem->frag.offset;
		slot->size = mem->frag.size;
		WRITE_ONCE(slot->page, mem->frag.page);
		mem->frag.page = NULL;
		if (again)
			ring->next = mem->slot;
	}
	preempt_enable();

	if (mem->frag.page)
		put_page(mem->frag.page);
	mem->frag.page = NULL;
}

/**
 * frdma_txmem_begin - start a burst
 * @mem: to be set up
 *
 * Context: bottom halves off until frdma_txmem_end().
 */
void frdma_txmem_begin(struct frdma_txmem *mem)
{
	take(mem);
	/* All of it has come back: the processor's caches still have it. */
	if (mem->frag.page && page_ref_count(mem->frag.page) == 1)
		mem->frag.offset = 0;
}

/**
 * frdma_txmem_room - have room for a packet
 * @mem: its page changes if the rest is too short
 * @len: bytes that must follow each other
 *
 * Short of large pages, the refill answers true with a small one, which may be
 * too small for @len.
 *
 * Return: true if @mem->frag has the room; false if there is no memory for it.
 */
bool frdma_txmem_room(struct frdma_txmem *mem, unsigned int len)
{
	if (likely(frdma_txmem_left(mem) >= len))
		return true;
	if (mem->frag.page) {
		put(mem, false);
		take(mem);
	}
	if (!skb_page_frag_refill(len, &mem->frag, GFP_ATOMIC))
		return false;
	if (frdma_txmem_left(mem) >= len)
		return true;
	put_page(mem->frag.page);
	mem->frag.page = NULL;
	return false;
}

/**
 * frdma_txmem_end - give back the page
 * @mem: burst
 */
void frdma_txmem_end(struct frdma_txmem *mem)
{
	put(mem, true);
}

/*
 * Pages are given back
 */

/* Returns how many small pages that were. */
static unsigned long give_back(struct page_frag *slot)
{
	struct page *page = xchg(&slot->page, NULL);
	unsigned long pages;

	if (!page)
		return 0;
	pages = compound_nr(page);
	put_page(page);
	return pages;
}

/* Those of a CPU, up to @most small pages or a little more. */
static unsigned long give_back_some(unsigned int cpu, unsigned long most)
{
	struct txmem_ring *ring = per_cpu_ptr(&txmem_ring, cpu);
	unsigned long given = 0;
	int i;

	for (i = 0; i < RING_PAGES && given < most; i++)
		given += give_back(&ring->frag[i]);
	return given;
}

/* How many there are: a large one counts as what it has for packets. */
static unsigned long txmem_count(struct shrinker *shrinker,
				 struct shrink_control *sc)
{
	unsigned long pages = 0;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct txmem_ring *ring = per_cpu_ptr(&txmem_ring, cpu);

		for (i = 0; i < RING_PAGES; i++)
			if (READ_ONCE(ring->frag[i].page))
				pages += max(SZ_32K >> PAGE_SHIFT, 1);
	}
	return pages ?: SHRINK_EMPTY;
}

static unsigned long txmem_scan(struct shrinker *shrinker,
				struct shrink_control *sc)
{
	unsigned long given = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (given >= sc->nr_to_scan)
			break;
		given += give_back_some(cpu, sc->nr_to_scan - given);
	}
	return given ?: SHRINK_STOP;
}

/* The CPU is offline: nothing is sent there any more. */
static int txmem_cpu_dead(unsigned int cpu)
{
	give_back_some(cpu, ULONG_MAX);
	return 0;
}

/**
 * frdma_txmem_init - be ready to give pages back
 *
 * Context: module init. Return: 0 or a negative errno.
 */
int __init frdma_txmem_init(void)
{
	int err;

	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "net/frdma:dead",
					NULL, txmem_cpu_dead);
	if (err < 0)
		return err;
	txmem_hotplug_state = err;

	txmem_shrinker = shrinker_alloc(0, "frdma-txmem");
	if (!txmem_shrinker) {
		cpuhp_remove_state_nocalls(txmem_hotplug_state);
		return -ENOMEM;
	}
	txmem_shrinker->count_objects = txmem_count;
	txmem_shrinker->scan_objects = txmem_scan;
	shrinker_register(txmem_shrinker);
	return 0;
}

/** frdma_txmem_exit - give back all pages; module exit, nothing is sent */
void frdma_txmem_exit(void)
{
	int cpu;

	shrinker_free(txmem_shrinker);
	cpuhp_remove_state_nocalls(txmem_hotplug_state);
	for_each_possible_cpu(cpu)
		give_back_some(cpu, ULONG_MAX);
}
