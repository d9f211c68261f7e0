/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The objects of the provider, each around the one that libibverbs sees. */
#ifndef FRDMA_H
#define FRDMA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <infiniband/driver.h>

#include "ring.h"

/**
 * struct frdma_context - an open device
 * @vctx: what libibverbs sees
 */
struct frdma_context {
	struct verbs_context vctx;
};

/**
 * struct frdma_lock - a spin lock, unless one thread alone uses the queue
 * @spin: the lock
 * @needed: several threads may come
 */
struct frdma_lock {
	pthread_spinlock_t spin;
	bool needed;
};

/**
 * struct frdma_td - thread domain: the promise that its queues are not
 *		     used by two threads at a time
 * @ibvtd: what libibverbs sees
 * @users: parent domains that refer to it
 */
struct frdma_td {
	struct ibv_td ibvtd;
	atomic_uint users;
};

/**
 * struct frdma_pd - protection domain or parent domain
 * @ibvpd: what libibverbs sees; a parent domain borrows the handle
 * @parent_of: of a parent domain, the protection domain; else NULL
 * @td: of a parent domain, its thread domain or NULL
 * @alloc: of a parent domain, where objects made in it get their memory; or NULL
 * @free: where they give it back; NULL like @alloc
 * @pd_context: what both are told
 * @users: parent domains that refer to it, and objects with memory of @alloc
 */
struct frdma_pd {
	struct ibv_pd ibvpd;
	struct frdma_pd *parent_of;
	struct frdma_td *td;
	void *(*alloc)(struct ibv_pd *ibvpd, void *pd_context, size_t size,
		       size_t alignment, uint64_t resource_type);
	void (*free)(struct ibv_pd *ibvpd, void *pd_context, void *ptr,
		     uint64_t resource_type);
	void *pd_context;
	atomic_uint users;
};

/**
 * struct frdma_ah - address handle
 * @ibvah: what libibverbs sees
 * @number: what the kernel calls it in a work request
 */
struct frdma_ah {
	struct ibv_ah ibvah;
	uint32_t number;
};

/**
 * struct frdma_cq - completion queue
 * @vcq: what libibverbs sees
 * @lock: guards all that follows; held from start_poll() to end_poll()
 * @arm_lock: guards @ring against being replaced, for who does not hold @lock:
 *	an event may be asked for while the queue is being polled
 * @ring: the completions; this side consumes
 * @at: first entry not read yet: that of @ring, except from start_poll() to
 *	end_poll()
 * @cqe: extended poll: the entry being read
 * @home: whose allocator gave this memory, or NULL; never changes
 */
struct frdma_cq {
	struct verbs_cq vcq;
	struct frdma_lock lock;
	struct frdma_lock arm_lock;
	struct frdma_ring ring;
	uint32_t at;
	const struct frdma_cqe *cqe;
	struct frdma_pd *home;
};

/**
 * struct frdma_sq - the send half of a queue pair
 * @lock: guards all that follows; held from wr_start() to wr_complete()
 * @ring: the work requests; this side produces
 * @max_sge: most scatter/gather entries of a request
 * @max_inline: most bytes of inline data of a request
 * @at: work request builder: first slot not filled yet
 * @wqe: work request builder: the slot being filled
 * @err: work request builder: what went wrong first
 */
struct frdma_sq {
	struct frdma_lock lock;
	struct frdma_ring ring;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t at;
	struct frdma_send_wqe *wqe;
	int err;
};

/**
 * struct frdma_rq - the receive half of a queue pair, or a shared queue
 * @lock: guards all that follows
 * @ring: the work requests; this side produces. No entries with an SRQ, and
 *	without receives (XRC)
 * @max_sge: most scatter/gather entries of a request
 */
struct frdma_rq {
	struct frdma_lock lock;
	struct frdma_ring ring;
	uint32_t max_sge;
};

/**
 * struct frdma_qp - queue pair
 * @vqp: what libibverbs sees
 * @later: the end of it for a libibverbs whose struct ibv_qp_ex has one function
 *	more, under the same private ABI
 * @sq: send half
 * @rq: receive half
 * @home: whose allocator gave this memory, or NULL
 */
struct frdma_qp {
	struct verbs_qp vqp;
	void *later;
	struct frdma_sq sq;
	struct frdma_rq rq;
	struct frdma_pd *home;
};

/**
 * struct frdma_srq - shared receive queue
 * @vsrq: what libibverbs sees
 * @rq: the queue
 * @home: whose allocator gave this memory, or NULL
 */
struct frdma_srq {
	struct verbs_srq vsrq;
	struct frdma_rq rq;
	struct frdma_pd *home;
};

/**
 * frdma_lock_wait() - take a lock that another thread holds
 * @lock: to be taken
 *
 * A few owners hold a lock across a system call (a resize) or across code of
 * the program (an extended poll, a list of the builder). So the caller spins
 * for a moment, then sleeps between attempts: a real-time thread would
 * otherwise keep the owner off its CPU for ever.
 */
void frdma_lock_wait(struct frdma_lock *lock);

static inline void frdma_lock_init(struct frdma_lock *lock, bool needed)
{
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
	lock->needed = needed;
}

static inline void frdma_lock_destroy(struct frdma_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void frdma_lock(struct frdma_lock *lock)
{
	if (lock->needed && pthread_spin_trylock(&lock->spin))
		frdma_lock_wait(lock);
}

static inline void frdma_unlock(struct frdma_lock *lock)
{
	if (lock->needed)
		pthread_spin_unlock(&lock->spin);
}

static inline struct frdma_td *to_frdma_td(struct ibv_td *ibvtd)
{
	return container_of(ibvtd, struct frdma_td, ibvtd);
}

static inline struct frdma_pd *to_frdma_pd(struct ibv_pd *ibvpd)
{
	return container_of(ibvpd, struct frdma_pd, ibvpd);
}

static inline struct frdma_ah *to_frdma_ah(struct ibv_ah *ibvah)
{
	return container_of(ibvah, struct frdma_ah, ibvah);
}

static inline struct frdma_cq *to_frdma_cq(struct ibv_cq *ibvcq)
{
	return container_of(ibvcq, struct frdma_cq, vcq.cq);
}

static inline struct frdma_qp *to_frdma_qp(struct ibv_qp *ibvqp)
{
	return container_of(ibvqp, struct frdma_qp, vqp.qp);
}

static inline struct frdma_srq *to_frdma_srq(struct ibv_srq *ibvsrq)
{
	return container_of(ibvsrq, struct frdma_srq, vsrq.srq);
}

#endif /* FRDMA_H */
