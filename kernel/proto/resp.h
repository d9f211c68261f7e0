/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder: what a request of the peer may do here, and what it changes.
 *
 * On a reliable connection requests are executed one after the other, in the
 * order of their PSNs. A READ is answered completely before the next request
 * is looked at, so an acknowledgement can never overtake a response (IBTA
 * 9.7.5.1.2). Only what is before it, and is asked for again, may come before what of
 * it was not sent yet.
 *
 * On an unreliable one nothing is answered. A message of which a packet is
 * missing, or refused, is abandoned, and what begins the next one is taken
 * whatever its PSN (IBTA 9.8.2.2).
 */
#ifndef FRDMA_PROTO_RESP_H
#define FRDMA_PROTO_RESP_H

#include "access.h"
#include "env.h"
#include "hdr.h"
#include "op.h"
#include "psn.h"
#include "wc.h"

/* Most READs and atomics that can be kept for repetition. */
#define FRDMA_RESP_RES_MAX	128

/**
 * struct frdma_resp_res - a READ or atomic that may be asked for again
 * @psn: first PSN of its response
 * @npkts: PSNs of the response
 * @kind: FRDMA_KIND_READ or FRDMA_KIND_ATOMIC; NONE: unused
 * @rkey: remote key (READ)
 * @srqn: shared receive queue that it named (READ, XRC)
 * @len: bytes (READ)
 * @va: remote address (READ)
 * @orig: value to return again (atomic)
 */
struct frdma_resp_res {
	u32 psn;
	u32 npkts;
	u8 kind;
	u32 rkey;
	u32 srqn;
	u32 len;
	u64 va;
	u64 orig;
};

/**
 * enum frdma_resp_nak - what the peer was told and has not mended
 * @FRDMA_RESP_NAK_NONE: nothing
 * @FRDMA_RESP_NAK_SEQ: packets are missing
 * @FRDMA_RESP_NAK_RNR: there is no receive request
 */
enum frdma_resp_nak {
	FRDMA_RESP_NAK_NONE,
	FRDMA_RESP_NAK_SEQ,
	FRDMA_RESP_NAK_RNR,
};

/**
 * struct frdma_resp_read - a READ response that is being sent
 * @active: there is one
 * @fresh: its next packet is its first
 * @asked: the peer has asked for it more than once, or for a part of it
 * @told: since the peer has asked for it, it was told to ask again later
 * @obeyed: it was told so before, and has asked for it again
 * @first: PSN of the packet that it was begun with, or resumed with; one that is
 *	resumed has another than the one that was at its end
 * @psn: PSN of the next packet
 * @rkey: remote key
 * @srqn: shared receive queue that the request named (XRC)
 * @left: bytes still to be sent
 * @va: address of the next byte
 */
struct frdma_resp_read {
	bool active;
	bool fresh;
	bool asked;
	bool told;
	bool obeyed;
	u32 first;
	u32 psn;
	u32 rkey;
	u32 srqn;
	u32 left;
	u64 va;
};

/**
 * struct frdma_resp - the receive side of a queue pair
 * @epsn: PSN that is expected next
 * @msn: messages completed, 24 bits
 * @mtu: path MTU, bytes
 * @transport: enum frdma_transport, of what is answered
 * @access: FRDMA_ACC_* that the queue pair allows its peer
 * @kind: of the open message
 * @srqn: shared receive queue that the open message names (XRC)
 * @in_msg: a message of several packets is open
 * @nak: what was asked of the peer
 * @ack_due: an acknowledgement of all before @epsn is to be sent
 * @dup_psn: one beyond the last SEND or WRITE that came again
 * @dup_epsn: @epsn at that time
 * @missed: what is expected, or something behind it, came behind a READ response and was
 *	dropped, of which the peer knows nothing; @nak is none then
 * @missed_psn: the last such packet, if @missed
 * @va: where the next byte of an open WRITE goes
 * @rkey: key of an open WRITE
 * @left: bytes that an open WRITE still has to bring
 * @got: bytes of the open message that have come
 * @read: READ response in progress
 * @last_read: the last READ that was executed
 * @unsent: packets of it, right before @epsn, that were never sent; 0 unless @read
 *	is active
 * @res: the last READs and atomics, a ring; NULL if @nr_res is 0
 * @nr_res: its size (max_dest_rd_atomic)
 * @res_next: where the next one goes
 *
 * Everything is written by the owner of the receive side only, and by modify
 * and reset, which own it too.
 */
struct frdma_resp {
	u32 epsn;
	u32 msn;
	u32 mtu;
	u8 transport;
	u16 access;
	u8 kind;
	bool in_msg;
	u32 srqn;
	enum frdma_resp_nak nak;
	bool ack_due;
	bool missed;
	u32 dup_psn;
	u32 dup_epsn;
	u32 missed_psn;

	u64 va;
	u32 rkey;
	u32 left;
	u32 got;

	struct frdma_resp_read read;
	struct frdma_resp_res last_read;
	u32 unsent;

	struct frdma_resp_res *res;
	u32 nr_res;
	u32 res_next;
};

/**
 * struct frdma_resp_recv - the receive request that a packet would use
 * @astray: XRC: the packet, of whatever kind, names no shared receive queue
 *	that its queue pair may use
 * @ready: there is one
 * @len: bytes of its buffers
 */
struct frdma_resp_recv {
	bool astray;
	bool ready;
	u64 len;
};

/**
 * enum frdma_resp_verdict - what to do with a request
 * @FRDMA_RESP_ACCEPT: execute, then commit
 * @FRDMA_RESP_DUPLICATE: it was executed already, see frdma_resp_judge_dup()
 * @FRDMA_RESP_GAP: packets before it are missing: NAK
 * @FRDMA_RESP_WAITING: it follows one that was refused for now: drop
 * @FRDMA_RESP_NO_RECV: no receive request: RNR NAK
 * @FRDMA_RESP_BAD_ORDER: does not continue the open message, or none is open
 * @FRDMA_RESP_ASTRAY: XRC: names a shared receive queue that does not exist in
 *	the domain of the queue pair
 * @FRDMA_RESP_BAD_LENGTH: lengths contradict each other or the path MTU
 * @FRDMA_RESP_BAD_ALIGN: an atomic, or an ATOMIC WRITE, that is not on eight
 *	bytes
 * @FRDMA_RESP_TOO_LONG: longer than the receive request
 * @FRDMA_RESP_BAD_OPCODE: the operation does not exist; a FLUSH to nowhere
 * @FRDMA_RESP_NO_ACCESS: the queue pair does not allow it
 * @FRDMA_RESP_NO_RESOURCES: READ or atomic, and none is allowed
 * @FRDMA_RESP_BAD_KEY: the key, its range or its rights refuse it
 * @FRDMA_RESP_BAD_INV: the key may not be invalidated by the peer
 * @FRDMA_RESP_RECV_FAULT: the receive request's own memory is not usable
 * @FRDMA_RESP_NR: number of verdicts
 */
enum frdma_resp_verdict {
	FRDMA_RESP_ACCEPT,
	FRDMA_RESP_DUPLICATE,
	FRDMA_RESP_GAP,
	FRDMA_RESP_WAITING,
	FRDMA_RESP_NO_RECV,
	FRDMA_RESP_BAD_ORDER,
	FRDMA_RESP_ASTRAY,
	FRDMA_RESP_BAD_LENGTH,
	FRDMA_RESP_BAD_ALIGN,
	FRDMA_RESP_TOO_LONG,
	FRDMA_RESP_BAD_OPCODE,
	FRDMA_RESP_NO_ACCESS,
	FRDMA_RESP_NO_RESOURCES,
	FRDMA_RESP_BAD_KEY,
	FRDMA_RESP_BAD_INV,
	FRDMA_RESP_RECV_FAULT,
	FRDMA_RESP_NR,
};

/**
 * enum frdma_resp_event - asynchronous event that an error raises
 * @FRDMA_RESP_EVENT_NONE: none
 * @FRDMA_RESP_EVENT_REQ: invalid request (QP_REQ_ERR)
 * @FRDMA_RESP_EVENT_ACCESS: access violation (QP_ACCESS_ERR)
 * @FRDMA_RESP_EVENT_FATAL: the queue pair could not go on (QP_FATAL)
 */
enum frdma_resp_event {
	FRDMA_RESP_EVENT_NONE,
	FRDMA_RESP_EVENT_REQ,
	FRDMA_RESP_EVENT_ACCESS,
	FRDMA_RESP_EVENT_FATAL,
};

/**
 * struct frdma_resp_fault - how a refused request ends the queue pair
 * @nak: syndrome to send; 0: the verdict is not an error
 * @recv_status: status of the open receive request, if there is one
 * @event: what the owner of the queue pair is told
 */
struct frdma_resp_fault {
	u8 nak;
	u8 recv_status;
	u8 event;
};

/**
 * enum frdma_dup_verdict - what to do with a request seen before
 * @FRDMA_DUP_ACK: acknowledge again
 * @FRDMA_DUP_QUIET: the duplicate right before it was acknowledged again
 * @FRDMA_DUP_READ: answer again from memory
 * @FRDMA_DUP_ATOMIC: return the saved value again
 * @FRDMA_DUP_EMPTY: answer again, without data
 * @FRDMA_DUP_DROP: too old, or not the request that it was
 */
enum frdma_dup_verdict {
	FRDMA_DUP_ACK,
	FRDMA_DUP_QUIET,
	FRDMA_DUP_READ,
	FRDMA_DUP_ATOMIC,
	FRDMA_DUP_EMPTY,
	FRDMA_DUP_DROP,
};

/** frdma_resp_expects - is it the request that is to be executed next */
static inline bool frdma_resp_expects(const struct frdma_resp *rs,
				      const struct frdma_hdr *hdr)
{
	return hdr->psn == rs->epsn;
}

/**
 * frdma_resp_may_keep - what to do with a request that is not executed now
 * @rs: state
 * @hdr: headers of a request judged FRDMA_RESP_GAP or FRDMA_RESP_WAITING
 *
 * Return: true if what is missing before it was asked for, so that it may be
 * kept for its turn (kept.h).
 */
static inline bool frdma_resp_may_keep(const struct frdma_resp *rs,
				       const struct frdma_hdr *hdr)
{
	return rs->nak == FRDMA_RESP_NAK_SEQ && !frdma_resp_expects(rs, hdr);
}

/** frdma_resp_read_is_begun - was any of the READ response sent in this turn */
static inline bool frdma_resp_read_is_begun(const struct frdma_resp *rs)
{
	return rs->read.psn != rs->read.first;
}

/** frdma_resp_is_content - was nothing asked of the peer that it still owes */
static inline bool frdma_resp_is_content(const struct frdma_resp *rs)
{
	return rs->nak == FRDMA_RESP_NAK_NONE;
}

void frdma_resp_init(struct frdma_resp *rs, u32 rq_psn);
struct frdma_resp_res *frdma_resp_resize(struct frdma_resp *rs,
					 struct frdma_resp_res *res, u32 nr);
enum frdma_resp_verdict frdma_resp_judge(const struct frdma_resp *rs,
					 const struct frdma_hdr *hdr,
					 struct frdma_resp_recv recv);
bool frdma_resp_breaks(const struct frdma_resp *rs,
		       const struct frdma_hdr *hdr);
enum frdma_resp_verdict frdma_resp_judge_uc(const struct frdma_resp *rs,
					    const struct frdma_hdr *hdr,
					    struct frdma_resp_recv recv);
u32 frdma_resp_count_run(const struct frdma_resp *rs,
			 const struct frdma_hdr *hdr,
			 struct frdma_resp_recv recv, u32 nr);
u16 frdma_resp_flush_access(const struct frdma_hdr *hdr);
enum frdma_dup_verdict frdma_resp_judge_dup(const struct frdma_resp *rs,
					    const struct frdma_hdr *hdr);
const struct frdma_resp_fault *
frdma_resp_fault(enum frdma_resp_verdict verdict);
void frdma_resp_commit(struct frdma_resp *rs, const struct frdma_hdr *hdr,
		       u64 atomic_orig);
void frdma_resp_commit_run(struct frdma_resp *rs, const struct frdma_hdr *hdr,
			   u32 nr);
void frdma_resp_commit_uc(struct frdma_resp *rs, const struct frdma_hdr *hdr);
void frdma_resp_abandon(struct frdma_resp *rs);
void frdma_resp_put_off(struct frdma_resp *rs, enum frdma_resp_verdict verdict);
void frdma_resp_miss(struct frdma_resp *rs, u32 psn);
void frdma_resp_commit_dup(struct frdma_resp *rs, const struct frdma_hdr *hdr,
			   enum frdma_dup_verdict verdict);
bool frdma_resp_read_is_repeated(const struct frdma_resp *rs);
bool frdma_resp_read_was_sent(const struct frdma_resp *rs);
bool frdma_resp_read_yields(const struct frdma_resp *rs,
			    const struct frdma_hdr *hdr);
void frdma_resp_read_end(struct frdma_resp *rs);
void frdma_resp_forget_reads(struct frdma_resp *rs);
u64 frdma_resp_saved(const struct frdma_resp *rs, u32 psn);
void frdma_resp_ack_plan(const struct frdma_resp *rs, struct frdma_hdr *hdr);
void frdma_resp_again_plan(const struct frdma_resp *rs, u32 psn,
			   struct frdma_hdr *hdr);
void frdma_resp_gap_plan(const struct frdma_resp *rs, struct frdma_hdr *hdr);
void frdma_resp_rnr_plan(const struct frdma_resp *rs, u32 psn, u8 code,
			 struct frdma_hdr *hdr);
void frdma_resp_refusal_plan(const struct frdma_resp *rs, u32 psn,
			     enum frdma_resp_verdict verdict,
			     struct frdma_hdr *hdr);
void frdma_resp_atomic_plan(const struct frdma_resp *rs, u32 psn, u64 orig,
			    struct frdma_hdr *hdr);
void frdma_resp_empty_plan(const struct frdma_resp *rs, u32 psn,
			   struct frdma_hdr *hdr);
void frdma_resp_read_plan(const struct frdma_resp *rs, struct frdma_hdr *hdr);
u32 frdma_resp_read_run(const struct frdma_resp *rs,
			const struct frdma_hdr *hdr, u32 max);
void frdma_resp_answered(struct frdma_resp *rs, u32 psn);
void frdma_resp_read_sent(struct frdma_resp *rs, const struct frdma_hdr *hdr,
			  u32 nr);

#endif /* FRDMA_PROTO_RESP_H */
