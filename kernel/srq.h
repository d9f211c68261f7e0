/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared receive queues: one ring of receive requests from which the receive
 * sides of many queue pairs take, each on whatever CPU it runs. What is taken
 * belongs to its queue pair; what is not stays when a queue pair ends.
 *
 * Those of extended reliable connections (xrc.h) have a number, by which
 * requests name them.
 */
#ifndef FRDMA_SRQ_H
#define FRDMA_SRQ_H

#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "account.h"
#include "ring.h"

/* Advertised: shared receive queues of a device; requests, SGEs of one. */
#define FRDMA_MAX_SRQ		(1 << 20)
#define FRDMA_MAX_SRQ_WR	(1 << 20)
#define FRDMA_MAX_SRQ_SGE	32

struct frdma_dev;
struct frdma_rwr;

/**
 * struct frdma_srq - a shared receive queue
 * @ib: what ib_core knows of it; queue pairs pin it there, but not those that
 *	find it by its number
 * @user: a process posts to it
 * @max_sge: elements that a receive request may have
 * @modify: one modify at a time
 * @take_lock: makes one consumer of many receive sides. Taken with bottom
 *	halves off, never with interrupts off
 * @ring: where receive requests are posted; a resize replaces it under
 *	@modify and @take_lock, which is why only processes, who post by
 *	themselves, have one
 * @cons: next slot to be taken; under @take_lock
 * @limit: fewer requests than this raise SRQ_LIMIT_REACHED, once; 0: not
 *	armed. Under @take_lock
 * @broken: its process scribbled over the indices: nothing is taken any more;
 *	written under @take_lock
 * @post_lock: makes one producer of @ring of many posters in the kernel
 * @prod: next slot of @ring to be posted by the kernel; under @post_lock
 * @events: bit n: IB_EVENT n is to be raised
 * @event_tasklet: raises them, away from the locks of who takes
 * @charge: of the queue, without its ring
 */
struct frdma_srq {
	struct ib_srq ib;
	bool user;
	u32 max_sge;
	struct mutex modify;
	spinlock_t take_lock;	/* receive sides */
	struct frdma_ring ring;
	u32 cons;
	u32 limit;
	bool broken;
	spinlock_t post_lock ____cacheline_aligned_in_smp; /* posters */
	u32 prod;
	unsigned long events;
	struct tasklet_struct event_tasklet;
	struct frdma_charge charge;
};

static inline struct frdma_srq *to_frdma_srq(struct ib_srq *ib)
{
	return container_of(ib, struct frdma_srq, ib);
}

/**
 * frdma_srq_take() - take the next receive request
 * @srq: pinned by the caller's queue pair
 * @rwr: set to a copy of it; has room for @srq->max_sge elements
 *
 * The slot is the process's again on return.
 *
 * Context: bottom halves off, no interrupt handler. Return: false if there is
 * none, or the queue is broken.
 */
bool frdma_srq_take(struct frdma_srq *srq, struct frdma_rwr *rwr);

/**
 * frdma_srq_find() - the queue of a number
 * @dev: its device
 * @srqn: any value
 *
 * Context: RCU read section, which is all that keeps the result alive, with
 * its protection domain, completion queue and XRC domain. Return: NULL if
 * there is none; only queues of extended reliable connections have numbers.
 */
struct frdma_srq *frdma_srq_find(struct frdma_dev *dev, u32 srqn);

/** frdma_srq_is_broken() - will nothing ever be taken any more */
static inline bool frdma_srq_is_broken(const struct frdma_srq *srq)
{
	return READ_ONCE(srq->broken);
}

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int frdma_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int frdma_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
int frdma_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);

#endif /* FRDMA_SRQ_H */
