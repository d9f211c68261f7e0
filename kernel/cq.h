/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues. The data path pushes completions and, once per batch,
 * asks for the event that they cause. User processes poll their ring
 * themselves; consumers in the kernel poll through poll_cq().
 *
 * Arming is a handshake without a lock:
 *
 *	frdma_cq_push()			req_notify_cq()
 *	---------------			---------------
 *	release prod			set armed
 *	smp_mb()	<---- (A) ---->	smp_mb()
 *	read armed			read prod (REPORT_MISSED_EVENTS)
 *
 * so that either the push sees the request, or the consumer, arming first
 * and polling afterwards, sees the completion. Both words are in the ring: a
 * process arms without a call. Whoever is told may arm at once:
 *
 *	cq_raise()			cq_deliver()
 *	----------			------------
 *	clear armed			take the event
 *	full barrier	<---- (B) ---->	full barrier
 *	the event is due		call the handler, which arms
 */
#ifndef FRDMA_CQ_H
#define FRDMA_CQ_H

#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "account.h"
#include "moderate.h"
#include "ring.h"

/* Advertised: completion queues of a device, entries of a queue. */
#define FRDMA_MAX_CQ		(1 << 20)
#define FRDMA_MAX_CQE		(1 << 20)

/**
 * struct frdma_cq - a completion queue
 * @ib: what ib_core knows of it; queue pairs pin it there
 * @resize: one change of @ring at a time: a resize, or the end
 * @push_lock: makes one producer of many queue pairs. Taken with bottom
 *             halves off, never with interrupts off
 * @ring: the completions; a resize replaces it under @resize and @push_lock,
 *        which is why only processes, who poll by themselves, have one
 * @prod: next slot to be filled, the truth behind @ring.head->prod;
 *        under @push_lock
 * @dead: it overflowed or its process scribbled over the indices; nothing is
 *        pushed any more; written under @push_lock
 * @user: a process polls it
 * @timestamps: completions carry the time
 * @poll_lock: makes one consumer of many pollers in the kernel; any context
 * @cons: next slot to be polled, the truth behind @ring.head->cons for
 *        consumers in the kernel; under @poll_lock
 * @moderation: what events wait for
 * @events: bits CQ_EVENT_* (cq.c) that are due and not yet delivered
 * @cpu: where a consumer in the kernel is called, while that CPU is online
 * @csd: takes @tasklet to @cpu
 * @csd_queued: bit 0: @csd is on its way
 * @csd_users: calls of @csd not yet finished; 0 lets destroy go on
 * @tasklet: delivers events, one at a time
 * @charge: of the queue, without its ring
 */
struct frdma_cq {
	struct ib_cq ib;
	struct mutex resize;
	spinlock_t push_lock;	/* producers */
	struct frdma_ring ring;
	u32 prod;
	bool dead;
	bool user;
	bool timestamps;
	struct frdma_moderation moderation;
	spinlock_t poll_lock ____cacheline_aligned_in_smp; /* consumers */
	u32 cons;
	unsigned long events;
	int cpu;
	call_single_data_t csd;
	unsigned long csd_queued;
	atomic_t csd_users;
	struct tasklet_struct tasklet;
	struct frdma_charge charge;
};

static inline struct frdma_cq *to_frdma_cq(struct ib_cq *ib)
{
	return container_of(ib, struct frdma_cq, ib);
}

/**
 * frdma_cq_push() - append a completion
 * @cq: pinned by the caller's queue pair
 * @cqe: the completion; its timestamp is put in here, and its kernel_qp is
 *       kept from processes
 * @solicited: the peer asked for a solicited event; a completion in error is
 *             one anyway
 *
 * Visible to the consumer on return. The event it causes is due from then
 * on; frdma_cq_notify() delivers it.
 *
 * Context: bottom halves off, no interrupt handler. Return: false if the
 * queue is dead or has just died of this completion, which is lost: the
 * caller breaks its queue pair.
 */
bool frdma_cq_push(struct frdma_cq *cq, const struct frdma_cqe *cqe,
		   bool solicited);

/**
 * frdma_cq_notify() - deliver the events that pushes caused
 * @cq: pinned by the caller's queue pair
 *
 * Called once after a batch of pushes. A consumer in the kernel is called
 * from a tasklet on the CPU of the completion vector, never from here; a
 * process is woken from here, whatever its vector is.
 *
 * Context: bottom halves off, no interrupt handler.
 */
void frdma_cq_notify(struct frdma_cq *cq);

/**
 * frdma_cq_forget() - remove a queue pair's completions that nobody polled
 * @cq: pinned by the queue pair
 * @qpn: of the queue pair, which pushes nothing any more
 *
 * For consumers in the kernel, whose completions point to the queue pair; a
 * process's provider does this by itself, because the ring's consumer alone
 * can.
 *
 * Context: any.
 */
void frdma_cq_forget(struct frdma_cq *cq, u32 qpn);

/* Verbs; contexts and returns as ib_core defines them. */
int frdma_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int frdma_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int frdma_resize_cq(struct ib_cq *ib, unsigned int cqe,
		    struct ib_udata *udata);
int frdma_modify_cq(struct ib_cq *ib, u16 count, u16 period_us);
int frdma_poll_cq(struct ib_cq *ib, int num_entries, struct ib_wc *wc);
int frdma_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);

#endif /* FRDMA_CQ_H */
