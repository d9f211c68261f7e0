/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs: what they consist of, how they are found, how long they live.
 *
 * ib_core frees its struct ib_qp as soon as destroy returns, while a packet
 * may just have found the queue pair by its number. So the index points to
 * struct frdma_qp, which is freed after an RCU grace period; its struct
 * ib_qp is touched under ownership of a side only, and destroy ends by
 * owning both sides for ever.
 */
#ifndef FRDMA_QP_H
#define FRDMA_QP_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "account.h"
#include "ah.h"
#include "ahead.h"
#include "cq.h"
#include "flush.h"
#include "mr.h"
#include "number.h"
#include "poller.h"
#include "proto/gather.h"
#include "proto/icrc.h"
#include "proto/req.h"
#include "proto/resp.h"
#include "queued.h"
#include "ring.h"
#include "route.h"
#include "run.h"
#include "rwr.h"
#include "srq.h"
#include "unsent.h"

struct frdma_answers;
struct frdma_dev;
struct frdma_net;
struct frdma_stats;

/**
 * struct frdma_ib_qp - what ib_core allocates
 * @ib: what it knows
 * @change: one modify or destroy at a time, for as long as it has to wait
 * @mutex: guards @qp for listings of any process; the holder never waits. It lies
 *	here because ib_core lists the queue pair until destroy has returned
 * @qp: everything else, NULL until created and once destroyed; under @mutex
 *	where the core does not keep destroy away (query, netlink)
 */
struct frdma_ib_qp {
	struct ib_qp ib;
	struct mutex change;
	struct mutex mutex;
	struct frdma_qp *qp;
};

/* Most packets in flight: what a receiving host's queues may take at once. */
#define FRDMA_WINDOW		256

/*
 * Most copies of work requests of a send queue. Two windows of packets are in
 * flight (FRDMA_KEPT_SPAN), with up to as many local operations between them
 * (FRDMA_LOCAL_MAX). The requester fetches ahead into free copies.
 */
#define FRDMA_SLOTS_MAX		1024

/**
 * struct frdma_path - the way to the peer of a connected queue pair
 * @av: addresses and what goes into their headers
 * @sport: UDP source port, constant for the connection (A17.9.2)
 * @ours: the peer's address was one of this device's own when it was set
 *
 * Written by modify, which owns both sides.
 */
struct frdma_path {
	struct frdma_av av;
	u16 sport;
	bool ours;
};

/**
 * struct frdma_lane - what the packets of a side have in common
 * @sender: the CPU by which an interface chooses a transmit queue, as skbs have
 *	it: that CPU and one; 0: none was chosen yet
 * @pseudo: their IP and UDP headers, and what was summed of the last; its length
 *	is 0 where the way to the peer is another one since
 * @used_at: when a packet was last sent that way, in jiffies
 */
struct frdma_lane {
	u32 sender;
	struct frdma_icrc_pseudo pseudo;
	unsigned long used_at;
};

/**
 * struct frdma_sq - a send queue
 * @side: ownership; it protects all of this
 * @req: the requester's and completer's state; its slots are private copies
 * @ring: where work requests are posted
 * @post_lock: makes one producer of @ring of many posters in the kernel
 * @prod: next slot of @ring to be posted by the kernel; under @post_lock
 * @cq: where send completions go
 * @timer: wakes the side when @req.retry, the pacing of @req or @gather wants it
 * @timer_ns: when @timer fires; 0: not armed. Written by the owner
 * @max_sge: elements that a work request may have
 * @max_inline: bytes of inline data that it may have
 * @has_av: slots end with a struct frdma_av (datagrams of kernel consumers,
 *	whose address handles are copied as they post)
 * @signal_all: every work request completes visibly
 * @mr_waiter: waits for a region that is being invalidated
 * @draining: it was woken, or is still waiting: the work request at the head
 *	has begun
 * @page_in: waits for pages of regions that are not pinned; nothing is sent
 *	meanwhile
 * @windows: windows of type 2 that are bound on this queue pair
 * @windows_lock: guards @windows, which whoever unbinds one changes
 * @lane: of its packets
 * @route: of its packets; of datagrams, those of the last
 * @abroad: packets went by the network stack, and may still be on their way
 * @abroad_at: when the last of them was sent, in jiffies
 * @queued: what it has in queues of this host
 * @unsent: trains of what is unreliable that the host had no room for
 * @ahead: answers that came before others which are missing
 * @drained: in this SQD state, all that was begun is complete
 * @drain_event: SQ_DRAINED is to be raised then
 * @notify: a completion was pushed and the event is not yet delivered
 * @gather: are requests of a process looked for, or rung for
 * @real_time: who rang last has a real-time priority; written by who rings
 * @watch: the poller's; see there, not protected by @side
 * @slots_charge: of the slots of @req
 */
struct frdma_sq {
	struct frdma_side side;
	struct frdma_req req;
	struct frdma_ring ring;
	spinlock_t post_lock;
	u32 prod;
	struct frdma_cq *cq;
	struct hrtimer timer;
	u64 timer_ns;
	u32 max_sge;
	u32 max_inline;
	bool has_av;
	bool signal_all;
	struct frdma_mr_waiter mr_waiter;
	struct frdma_page_in page_in;
	spinlock_t windows_lock;
	struct list_head windows;
	bool draining;
	struct frdma_lane lane;
	struct frdma_route route;
	bool abroad;
	unsigned long abroad_at;
	struct frdma_queued queued;
	struct frdma_unsent unsent;
	struct frdma_ahead ahead;
	bool drained;
	bool drain_event;
	bool notify;
	struct frdma_gather gather;
	bool real_time;
	struct frdma_watch watch;
	struct frdma_charge slots_charge;
};

/**
 * struct frdma_rq - a receive queue
 * @side: ownership; it protects all of this
 * @resp: the responder's state
 * @echo: notifications of congestion that requests have met
 * @srq: where receive requests come from; NULL: from @ring. Of an XRC target,
 *	the queue that the request at hand names, NULL between steps; so are
 *	@pd, @cq and @max_sge (xrc.h)
 * @srqn: of an XRC target: number of the last such queue, from which @cur is
 * @pd: protection domain of receive requests, that of @srq if there is one
 * @ring: where receive requests are posted; all zero with @srq, and without
 *	receives (XRC)
 * @post_lock: makes one producer of @ring of many posters in the kernel
 * @prod: next slot of @ring to be posted by the kernel; under @post_lock
 * @cons: next slot to be taken
 * @cq: where receive completions go
 * @cur: the receive request in use, if @have_cur
 * @have_cur: one was taken off the ring and is not complete
 * @last_wqe: the LAST_WQE_REACHED event was raised
 * @max_sge: elements that a receive request may have
 * @lane: of acknowledgements and READ responses, which must not overtake each
 *	other either
 * @route: of these
 * @read_budget: READ response packets that may still be sent in this step
 * @read_free: of these, packets that do not wait for queues of this host, because
 *	the rest of a train follows the READ request and would be dropped
 * @read_waits: there is a READ response, and it waits for pages
 * @read_refused: it waits until something comes of the peer
 * @read_wanted_until: until when anything else that comes of the peer may have been on
 *	its way before it asked again for the READ that waits, ktime_get_ns()
 * @flush_spent: bytes written back to persistent memory in it
 * @flush: writes back what is more
 * @page_in: waits for pages of regions that are not pinned
 * @ahead: requests that came before others which are missing
 * @ahead_timer: its timer
 * @queued: what it has in queues of this host
 * @unsent: answers that the host had no room for; while they wait, nothing is
 *	answered, and no request is taken
 * @unsent_timer: its timer, and that of @queued
 * @answers: what this section of the step answers (answer.h); NULL: there is none
 * @loop: the peer, while it owns this side and its own send side, so that it
 *	takes answers without packets (loopback.h); else NULL
 * @comm_est: the COMM_EST event was raised
 * @res_charge: of the memory of READs and atomics in @resp; under the mutex of
 *	struct frdma_ib_qp
 * @notify: a completion was pushed and the event is not yet delivered
 */
struct frdma_rq {
	struct frdma_side side;
	struct frdma_resp resp;
	struct frdma_cc_echo echo;
	struct frdma_srq *srq;
	u32 srqn;
	struct ib_pd *pd;
	struct frdma_ring ring;
	spinlock_t post_lock;
	u32 prod;
	u32 cons;
	struct frdma_cq *cq;
	struct frdma_rwr *cur;
	bool have_cur;
	bool last_wqe;
	u32 max_sge;
	struct frdma_lane lane;
	struct frdma_route route;
	u32 read_budget;
	u32 read_free;
	bool read_waits;
	bool read_refused;
	u64 read_wanted_until;
	u32 flush_spent;
	struct frdma_flush flush;
	struct frdma_page_in page_in;
	struct frdma_ahead ahead;
	struct hrtimer ahead_timer;
	struct frdma_queued queued;
	struct frdma_unsent unsent;
	struct hrtimer unsent_timer;
	struct frdma_answers *answers;
	struct frdma_qp *loop;
	bool comm_est;
	bool notify;
	struct frdma_charge res_charge;
};

/**
 * struct frdma_qp - a queue pair
 * @dev: its device
 * @ib: what ib_core knows; valid until destroy owns both sides
 * @qpn: its number, unique in the module; 1 for a GSI queue pair
 * @type: IB_QPT_RC, IB_QPT_UC, IB_QPT_XRC_INI, IB_QPT_XRC_TGT, IB_QPT_UD or
 *	IB_QPT_GSI
 * @pd: protection domain, held by ib_core. Of an XRC target, that of the queue
 *	that the request at hand names, NULL between steps
 * @xrcd: domain of an XRC target, held by ib_core
 * @user: posted to by a process; an XRC target by nobody, but the completions
 *	of what it receives must not point to it either: it may go before they
 *	are polled
 * @state: read by everybody. An owner of either side may set it to ERR, that
 *	of the send side RTS or SQD to SQE; all else is set by modify, which
 *	owns both
 * @attr: attributes as last modified; under the mutex of struct frdma_ib_qp
 * @stats: where it counts: the link's counters, or those that it was bound to,
 *	which stay for an RCU grace period after it was not any more
 * @path: the peer (RC, UC, XRC)
 * @qkey: Q_Key (UD, GSI); written by modify, which owns both sides
 * @nr_groups: multicast groups that it is attached to; under the device's
 *	mcast_lock
 * @sq: send side
 * @rq: receive side
 * @events: bit n: IB_EVENT n is to be raised
 * @event_tasklet: raises them, away from the call chain of a post
 * @charge: of the queue pair, without its rings and @sq.slots_charge
 * @refs: the verbs, and those who fault in pages that it waits for
 * @rcu: frees it
 */
struct frdma_qp {
	struct frdma_dev *dev;
	struct ib_qp *ib;
	u32 qpn;
	enum ib_qp_type type;
	struct ib_pd *pd;
	struct ib_xrcd *xrcd;
	bool user;
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct frdma_stats __percpu *stats;
	struct frdma_path path;
	u32 qkey;
	u32 nr_groups;
	struct frdma_sq sq;
	struct frdma_rq rq;
	unsigned long events;
	struct tasklet_struct event_tasklet;
	struct frdma_charge charge;
	struct kref refs;
	struct rcu_head rcu;
};

static inline struct frdma_ib_qp *to_frdma_ib_qp(struct ib_qp *ib)
{
	return container_of(ib, struct frdma_ib_qp, ib);
}

static inline struct frdma_qp *to_frdma_qp(struct ib_qp *ib)
{
	return to_frdma_ib_qp(ib)->qp;
}

/** frdma_qp_stats - where it counts now; good in an RCU read section */
static inline struct frdma_stats __percpu *
frdma_qp_stats(const struct frdma_qp *qp)
{
	return READ_ONCE(qp->stats);
}

/** frdma_qp_is_connected - does it have one peer, and not one a message */
static inline bool frdma_qp_is_connected(const struct frdma_qp *qp)
{
	return qp->type != IB_QPT_UD && qp->type != IB_QPT_GSI;
}

/** frdma_qp_is_reliable - are its packets acknowledged */
static inline bool frdma_qp_is_reliable(const struct frdma_qp *qp)
{
	return frdma_qp_is_connected(qp) && qp->type != IB_QPT_UC;
}

/** frdma_qp_transport - what its packets belong to */
static inline enum frdma_transport frdma_qp_transport(const struct frdma_qp *qp)
{
	switch (qp->type) {
	case IB_QPT_RC:
		return FRDMA_RC;
	case IB_QPT_UC:
		return FRDMA_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return FRDMA_XRC;
	default:
		return FRDMA_UD;
	}
}

/** frdma_sq_av - the address vector at the end of a slot, ring's or private */
static inline struct frdma_av *frdma_sq_av(const struct frdma_sq *sq,
					   const struct frdma_sge *sge)
{
	u32 extra = sq->ring.stride - sizeof(struct frdma_send_wqe);

	return (void *)sge + extra - sizeof(struct frdma_av);
}

/** frdma_qp_of_send - the queue pair of a send side */
static inline struct frdma_qp *frdma_qp_of_send(struct frdma_side *side)
{
	return container_of(side, struct frdma_qp, sq.side);
}

/** frdma_qp_of_recv - the queue pair of a receive side */
static inline struct frdma_qp *frdma_qp_of_recv(struct frdma_side *side)
{
	return container_of(side, struct frdma_qp, rq.side);
}

/** frdma_qp_state - the state as an owner may see it change to ERR */
static inline enum ib_qp_state frdma_qp_state(const struct frdma_qp *qp)
{
	return READ_ONCE(qp->state);
}

/** frdma_qp_can_recv - are packets of the peer's requests taken */
static inline bool frdma_qp_can_recv(const struct frdma_qp *qp)
{
	enum ib_qp_state state = frdma_qp_state(qp);

	return state == IB_QPS_RTR || state == IB_QPS_RTS ||
	       state == IB_QPS_SQD || state == IB_QPS_SQE;
}

/** frdma_qp_can_send - are work requests executed (SQD: those begun) */
static inline bool frdma_qp_can_send(const struct frdma_qp *qp)
{
	enum ib_qp_state state = frdma_qp_state(qp);

	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/** frdma_qp_is_flushing_sends - do work requests complete as flushed */
static inline bool frdma_qp_is_flushing_sends(const struct frdma_qp *qp)
{
	enum ib_qp_state state = frdma_qp_state(qp);

	return state == IB_QPS_ERR || state == IB_QPS_SQE;
}

/**
 * frdma_qp_is_held_back - may the next work request not begin
 * @qp: whose send side the caller owns
 *
 * IBTA 10.3.1: in SQD what was begun is finished, and nothing is begun. A local
 * operation that waits for readers has begun.
 */
static inline bool frdma_qp_is_held_back(const struct frdma_qp *qp)
{
	return frdma_qp_state(qp) == IB_QPS_SQD &&
	       frdma_req_begins(&qp->sq.req) && !qp->sq.draining;
}

int frdma_qp_cache_init(void);
void frdma_qp_cache_exit(void);
struct frdma_qp *frdma_qp_alloc(void);
void frdma_qp_free(struct frdma_qp *qp);
int frdma_qp_publish(struct frdma_qp *qp);
void frdma_qp_unpublish(struct frdma_qp *qp);
struct frdma_qp *frdma_qp_find(const struct frdma_net *fnet, u32 qpn);
struct frdma_qp *frdma_qp_find_gsi(struct frdma_dev *dev);
void frdma_qp_init(struct frdma_qp *qp);
void frdma_qp_claim(struct frdma_qp *qp, unsigned int steps);
void frdma_qp_release(struct frdma_qp *qp);
void frdma_qp_forget_pages(struct frdma_qp *qp);
void frdma_qp_put(struct frdma_qp *qp);
void frdma_qp_kill(struct frdma_qp *qp);
void frdma_qp_event(struct frdma_qp *qp, enum ib_event_type type);
void frdma_qp_error(struct frdma_qp *qp);
void frdma_qp_forget_completions(struct frdma_qp *qp);
void frdma_qp_send_error(struct frdma_qp *qp);
void frdma_qp_rq_doorbell(struct frdma_qp *qp, bool needed);

#endif /* FRDMA_QP_H */
