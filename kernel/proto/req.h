/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requester: which packet of which work request goes out next.
 *
 * The send queue is a window over free-running indices:
 *
 *	wr_una <= wr_next <= wr_prod
 *	   |         |          first work request not fetched yet
 *	   |         the one being sent (or sent again)
 *	   oldest one that is not complete
 *
 *	wr_una <= wr_acked <= wr_prod
 *	           oldest one that may not be answered yet
 *
 * and the packet sequence numbers are one over the circle of PSNs:
 *
 *	una_psn <= psn <= end_psn
 *	   |        |        one beyond the newest ever sent
 *	   |        next to be sent
 *	   oldest one that is not acknowledged
 *
 * A work request gets its PSNs when it is fetched, so that going back is
 * arithmetic.
 *
 * READs are asked for in pieces, which bounds what a peer sends us at once.
 * Pieces end on a grid of @read_grid packets, or, while the congestion window
 * is smaller than that and when they are asked for again, on a finer one of
 * FRDMA_READ_STEP. What was once asked for in fine pieces stays so: the
 * responder repeats only what lies within a request that it remembers.
 *
 * Of one that was asked for in several parts rdma_rxe remembers the last only, and
 * is silent to those before, for ever. So the first time that a READ is asked for
 * again, it is so up to the end of its piece, or, while the window is a packet or two,
 * in parts one after the other. A responder that begins its answer as
 * that to a new request, as it should, can be asked for fine pieces from then on, if it
 * has room for them beside those that may be late.
 */
#ifndef FRDMA_PROTO_REQ_H
#define FRDMA_PROTO_REQ_H

#include "cc.h"
#include "env.h"
#include "hdr.h"
#include "kept.h"
#include "op.h"
#include "pace.h"
#include "psn.h"
#include "resend.h"
#include "retry.h"
#include "wqe.h"
#include "../uapi/frdma-abi.h"

/* What a peer may be sent beyond a window while it misses one: so many bytes. */
#define FRDMA_BEYOND_BYTES_MAX	(512U << 10)

/*
 * Local operations are executed only if so few work requests before them are not
 * complete: they have no packets, which a window would bound, and who looks for
 * what a packet is about goes through all of them.
 */
#define FRDMA_LOCAL_MAX		512

/* Packets of a fine piece of a READ. */
#define FRDMA_READ_STEP		4

/**
 * struct frdma_swr - a work request of the send queue, private to the kernel
 * @first_psn: PSN of its first packet
 * @npkts: PSNs that it spans; 0 for what never leaves the host
 * @len: bytes of its message
 * @kind: enum frdma_kind; NONE: executed here, sends nothing
 * @done: a local operation was executed
 * @status: enum frdma_wc_status that it is to complete with, if not success
 * @vendor_err: the verdict behind @status
 * @wqe: the snapshot
 * @sge: what it carries: its SGEs, or its inline data
 *
 * Written by the owner of the send side only.
 */
struct frdma_swr {
	u32 first_psn;
	u32 npkts;
	u32 len;
	u8 kind;
	bool done;
	u8 status;
	u8 vendor_err;
	struct frdma_send_wqe wqe;
	struct frdma_sge sge[];
};

/**
 * struct frdma_req - the send side of a queue pair
 * @slots: ring of struct frdma_swr
 * @stride: bytes from one to the next
 * @mask: number of slots - 1
 * @wr_una: oldest work request that is not complete
 * @wr_acked: those before it are answered, or need no answer, if they are not yet
 *	complete for the user
 * @wr_next: the one being sent
 * @wr_prod: first one not fetched
 * @pkt: packets of @wr_next sent since it became current
 * @una_psn: oldest PSN not acknowledged
 * @psn: next PSN to send
 * @end_psn: one beyond the newest PSN ever sent
 * @fetch_psn: first PSN of the next work request to be fetched
 * @restart_psn: where sending was last taken up again: a READ may be asked
 *	for from there, off the grid
 * @fine_psn: READ packets before it are asked for in fine pieces
 * @ask: the next packet asks for an acknowledgement in any case
 * @asked: packets that ask for an answer have left for the first time since
 *	frdma_req_watch()
 * @transport: enum frdma_transport
 * @asked_psn: one beyond the last packet that @asked speaks of
 * @pace: where in time packets are that leave at the pace
 * @rd_out: READ pieces and atomics without a complete response
 * @rd_old: those that were so when sending was taken up again, may still be
 *	on their way, and are asked for in finer pieces now, if they are not more
 *	than half of @rd_max; 0: they are not
 * @rd_max: bound of @rd_out (max_rd_atomic); it may change in SQD, where what
 *	was begun is finished one by one if it becomes 0
 * @since_ack_req: packets since one asked for an acknowledgement
 * @cc: bounds psn - una_psn
 * @read_grid: packets of one READ request
 * @mtu: path MTU, bytes
 * @dqpn: destination queue pair (connected)
 * @pkey: goes into every packet
 * @resend: what is sent again
 * @retry: deadlines and counters
 *
 * Everything is written by the owner of the send side only, and by modify
 * and reset, which own it too.
 */
struct frdma_req {
	void *slots;
	u32 stride;
	u32 mask;

	u32 wr_una;
	u32 wr_acked;
	u32 wr_next;
	u32 wr_prod;
	u32 pkt;

	u32 una_psn;
	u32 psn;
	u32 end_psn;
	u32 fetch_psn;
	u32 restart_psn;
	u32 fine_psn;
	bool ask;
	bool asked;
	u8 transport;
	u32 asked_psn;
	struct frdma_pace pace;

	u32 rd_out;
	u32 rd_old;
	u32 rd_max;
	u32 since_ack_req;
	u32 read_grid;
	u32 mtu;
	u32 dqpn;
	u16 pkey;

	struct frdma_cc cc;
	struct frdma_resend resend;
	struct frdma_retry retry;
};

/**
 * enum frdma_req_verdict - may something be sent, and if not, why
 * @FRDMA_REQ_SEND: a packet, see frdma_req_plan()
 * @FRDMA_REQ_LOCAL: execute the local operation, then frdma_req_local_done()
 * @FRDMA_REQ_EMPTY: all is sent
 * @FRDMA_REQ_PAUSED: a receiver-not-ready wait runs
 * @FRDMA_REQ_FAILED: the work request is bad; it completes at its turn
 * @FRDMA_REQ_FENCED: waits for READs, atomics or all work before it
 * @FRDMA_REQ_WINDOW: waits for acknowledgements
 * @FRDMA_REQ_READS: waits for a READ or atomic to be answered
 * @FRDMA_REQ_NO_READS: a READ or atomic, and there may be none: it fails
 */
enum frdma_req_verdict {
	FRDMA_REQ_SEND,
	FRDMA_REQ_LOCAL,
	FRDMA_REQ_EMPTY,
	FRDMA_REQ_PAUSED,
	FRDMA_REQ_FAILED,
	FRDMA_REQ_FENCED,
	FRDMA_REQ_WINDOW,
	FRDMA_REQ_READS,
	FRDMA_REQ_NO_READS,
};

/**
 * struct frdma_req_pkt - a packet that the requester wants to be sent, or a run
 * @hdr: its headers; of a run, those of the first packet, but @ack_req is the
 *	last one's, as only that may ask for an acknowledgement
 * @off: where its payload begins in the message
 * @len: bytes of payload, of each packet
 * @span: PSNs that it uses up; more than one for a READ request
 * @nr: packets of the run; more than one inside of a message only
 */
struct frdma_req_pkt {
	struct frdma_hdr hdr;
	u32 off;
	u32 len;
	u32 span;
	u32 nr;
};

/** frdma_req_wr - the work request at index @i, which the caller knows valid */
static inline struct frdma_swr *frdma_req_wr(const struct frdma_req *rq, u32 i)
{
	return rq->slots + (size_t)(i & rq->mask) * rq->stride;
}

/** frdma_req_reads_max - READs and atomics that may be outstanding (9.4.4) */
static inline u32 frdma_req_reads_max(const struct frdma_req *rq)
{
	return max(rq->rd_max, 1U);
}

/** frdma_swr_wants_response - is it answered by more than an acknowledgement */
static inline bool frdma_swr_wants_response(const struct frdma_swr *wr)
{
	return frdma_kind_wants_response(wr->kind);
}

/**
 * frdma_req_make_local - the work request fetched last sends nothing
 * @rq: state
 *
 * Its PSNs are those of the next one.
 */
static inline void frdma_req_make_local(struct frdma_req *rq)
{
	struct frdma_swr *wr = frdma_req_wr(rq, rq->wr_prod - 1);

	wr->kind = FRDMA_KIND_NONE;
	wr->npkts = 0;
	rq->fetch_psn = wr->first_psn;
}

/**
 * frdma_req_read_left - packets from one to the end of its piece of a READ
 * @rq: state
 * @pkt: packet of the READ, counted from 0
 * @fine: it is asked for in fine pieces
 *
 * The last piece may end before that, with the READ.
 */
static inline u32 frdma_req_read_left(const struct frdma_req *rq, u32 pkt,
				      bool fine)
{
	u32 in_piece = pkt % rq->read_grid;
	u32 left = rq->read_grid - in_piece;

	return fine ? min(left, FRDMA_READ_STEP - in_piece % FRDMA_READ_STEP) :
		      left;
}

/** frdma_req_is_fine - is the packet asked for in fine pieces */
static inline bool frdma_req_is_fine(const struct frdma_req *rq, u32 psn)
{
	return frdma_psn_diff(psn, rq->fine_psn) < 0;
}

/** frdma_req_is_reliable - is there an answer; else sent is done */
static inline bool frdma_req_is_reliable(const struct frdma_req *rq)
{
	return frdma_transport_is_reliable(rq->transport);
}

/** frdma_req_is_datagram - one packet a message, each to a peer of its own */
static inline bool frdma_req_is_datagram(const struct frdma_req *rq)
{
	return rq->transport == FRDMA_UD;
}

/** frdma_req_outstanding - packets sent and not acknowledged */
static inline u32 frdma_req_outstanding(const struct frdma_req *rq)
{
	return (rq->psn - rq->una_psn) & FRDMA_PSN_MASK;
}

/** frdma_req_in_flight - is the peer expected to answer anything */
static inline bool frdma_req_in_flight(const struct frdma_req *rq)
{
	return rq->end_psn != rq->una_psn;
}

/**
 * frdma_req_is_owed - does a peer that is there answer what was sent
 * @rq: state
 *
 * What is held, and what was sent behind it before, is not sent again as yet.
 */
static inline bool frdma_req_is_owed(const struct frdma_req *rq)
{
	return rq->retry.held ? frdma_req_outstanding(rq) :
				frdma_req_in_flight(rq);
}

/** frdma_req_is_watched - does a wait run for what the peer is to answer */
static inline bool frdma_req_is_watched(const struct frdma_req *rq)
{
	return rq->retry.wait != FRDMA_WAIT_NONE || !frdma_req_in_flight(rq);
}

/** frdma_req_is_paced - do packets leave at the pace */
static inline bool frdma_req_is_paced(const struct frdma_req *rq)
{
	return frdma_psn_diff(rq->una_psn, rq->resend.paced_psn) < 0 &&
	       rq->retry.rtt.smooth_ns >= FRDMA_PACE_RTT_MIN_NS;
}

/** frdma_req_repeats - was the next packet sent before */
static inline bool frdma_req_repeats(const struct frdma_req *rq)
{
	return rq->psn != rq->end_psn;
}

/** frdma_req_begins - has the next work request sent nothing yet */
static inline bool frdma_req_begins(const struct frdma_req *rq)
{
	return !rq->pkt && !frdma_req_repeats(rq);
}

/** frdma_req_run_nth - a packet of a run, by itself; they count from 0 */
static inline struct frdma_req_pkt
frdma_req_run_nth(const struct frdma_req_pkt *run, u32 n)
{
	struct frdma_req_pkt pkt = *run;

	pkt.hdr.psn = frdma_psn_add(run->hdr.psn, n);
	pkt.hdr.ack_req = run->hdr.ack_req && n + 1 == run->nr;
	pkt.off += n * run->len;
	pkt.nr = 1;
	return pkt;
}

void frdma_req_init(struct frdma_req *rq, u32 first_psn);
void frdma_req_fetched(struct frdma_req *rq, u32 len);
enum frdma_req_verdict frdma_req_judge(const struct frdma_req *rq);
void frdma_req_plan(const struct frdma_req *rq, struct frdma_req_pkt *pkt);
void frdma_req_plan_run(const struct frdma_req *rq, struct frdma_req_pkt *pkt,
			u32 max);
void frdma_req_sent(struct frdma_req *rq, const struct frdma_req_pkt *pkt);
u32 frdma_req_credit(const struct frdma_req *rq, u64 now_ns);
u64 frdma_req_next_ns(const struct frdma_req *rq);
void frdma_req_spend(struct frdma_req *rq, u32 packets, u64 now_ns);
void frdma_req_hold(struct frdma_req *rq, u64 now_ns);
void frdma_req_watch(struct frdma_req *rq, u64 now_ns);
void frdma_req_new_way(struct frdma_req *rq);
void frdma_req_local_done(struct frdma_req *rq);
void frdma_req_seek(struct frdma_req *rq, u32 psn);
bool frdma_req_ask(struct frdma_req *rq);
void frdma_req_forget(struct frdma_req *rq);
bool frdma_req_fail(struct frdma_req *rq, u8 status, u8 vendor_err);
struct frdma_swr *frdma_req_reap(struct frdma_req *rq);

#endif /* FRDMA_PROTO_REQ_H */
