/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was sent is sent again: all from the oldest packet on that is not
 * acknowledged, as IBTA 9.7.5.1.1 has it; or that one alone, by which the loss is
 * mended where the peer was seen to keep what is ahead of its turn (kept.h).
 * Which of both, the requester learns from what is acknowledged. Of responses, it
 * keeps itself what is ahead of its turn, and asks for the hole before that alone.
 */
#ifndef FRDMA_PROTO_RESEND_H
#define FRDMA_PROTO_RESEND_H

#include "env.h"
#include "psn.h"
#include "retry.h"

struct frdma_req;

/*
 * Whether a peer keeps what is ahead of its turn is tried at the first loss, and
 * after that ever more seldom, every so many losses in the end: 1 << this.
 */
#define FRDMA_DOUBTS_MAX	5

/*
 * A peer that keeps what is ahead of its turn may still miss two packets, one
 * behind the other. If it were more than so many, it would rather not keep any.
 */
#define FRDMA_IN_A_ROW_MAX	3

/*
 * Answers that overtake others are waited for, until so many have come, at most:
 * more than a path with several lanes mixes up.
 */
#define FRDMA_LATE_MAX		128

/* Where they seem to be late, not lost: what is lost goes one by one so long. */
#define FRDMA_LATE_IN_A_ROW_MAX	12

/*
 * After a packet was sent again alone, so many leave at the pace (pace.h). They
 * are as many as can be told from those before: that it ends lets the rest of a
 * window go at once.
 */
#define FRDMA_PACED_PACKETS \
	(FRDMA_PSN_HALF < 4096 ? FRDMA_PSN_HALF - 1 : FRDMA_PSN_HALF - 2048)

/**
 * struct frdma_resend - what is sent again, and what the peer does with it
 * @recovering: the oldest packet, or all from there on, is being sent again;
 *	further signs of the same loss are no news until una_psn moves
 * @forgiven: the next sign of a loss costs no retry
 * @missed: the peer has said that it misses una_psn
 * @by_clock: all was sent again because no answer came in time: it may be late
 * @was_late: an acknowledgement has shown that; another one is to confirm it
 * @keeps: the peer was seen to keep what was ahead of its turn, so that what it
 *	misses can be sent alone
 * @trying: that is being found out: a few packets are sent again first
 * @doubts: so often it was not so, one after the other
 * @spare: losses before it is tried again
 * @parts: a part of a READ that was asked for again it answered as a READ of its
 *	own, so that it can be asked for in several
 * @alone: the next packet, at una_psn, is sent again alone; then it goes on at
 *	@resume_psn
 * @resume_psn: while @alone, and after that to tell what was sent before
 * @alone_psn: one beyond the last packet that was sent so, or one beyond the hole
 *	that was asked for, if nothing else was sent again since
 * @hole: what was sent again so last has asked for a hole among responses
 * @hole_waits: there is a hole, and it is not asked for yet: see @late
 * @hole_psn: where that began
 * @hole_reads: requests for holes that the responder may still be answering
 * @hole_end_psn: one beyond the furthest PSN that they ask for
 * @again_psn: one beyond the newest PSN sent before the last frdma_resend_all(). A
 *	response before it may answer the request that was sent first
 * @heard_psn: @ahead_psn at the last probe that found no place for a hole request
 * @round: so often all was sent again: of answers that were kept before, NAKs may be old
 *	news (frdma_ack_is_old())
 * @hole_gap: packets from the hole before to that one
 * @ahead_psn: the furthest answer that came ahead of its turn since all was sent again;
 *	not ahead of una_psn: none has
 * @later_psn: such an answer, or one behind it, was asked for after the hole
 * @lacks: answers were let go that were ahead of their turn: if none is kept any more,
 *	nothing tells that those are missing
 * @late: so many packets may come before one, and that one yet, as was seen of late
 * @in_a_row: so many packets that were sent again alone were all that was then
 *	acknowledged, one after the other
 * @lost_psn: what was sent before it was under way when the window was last
 *	made smaller
 * @paced_psn: packets before it leave at the pace, if the way is long enough
 * @refused_psn: the first packet that this end had no room for, the last time
 *
 * Part of struct frdma_req, and written by the same.
 */
struct frdma_resend {
	bool recovering;
	bool forgiven;
	bool missed;
	bool by_clock;
	bool was_late;
	bool keeps;
	bool trying;
	u8 doubts;
	u8 spare;
	bool parts;
	bool alone;
	bool hole;
	bool hole_waits;
	bool lacks;
	u8 late;
	u8 in_a_row;
	u32 resume_psn;
	u32 alone_psn;
	u32 hole_psn;
	u32 hole_gap;
	u32 hole_end_psn;
	u32 again_psn;
	u32 heard_psn;
	u8 hole_reads;
	u32 ahead_psn;
	u32 later_psn;
	u32 round;
	u32 lost_psn;
	u32 paced_psn;
	u32 refused_psn;
};

/**
 * enum frdma_recovery - what came of a sign of loss
 * @FRDMA_RECOVERY_RUNS: this loss is being repaired already
 * @FRDMA_RECOVERY_BEGUN: all from the oldest packet on is sent again, or that one
 * @FRDMA_RECOVERY_EXHAUSTED: no retry is left
 */
enum frdma_recovery {
	FRDMA_RECOVERY_RUNS,
	FRDMA_RECOVERY_BEGUN,
	FRDMA_RECOVERY_EXHAUSTED,
};

void frdma_resend_init(struct frdma_resend *re, u32 first_psn);
bool frdma_resend_was_alone(const struct frdma_req *rq);
bool frdma_resend_fills_hole(const struct frdma_req *rq);
bool frdma_resend_asks_for_hole(const struct frdma_req *rq);
bool frdma_resend_has_hole(const struct frdma_req *rq);
u32 frdma_resend_reads(const struct frdma_req *rq);
void frdma_resend_hole_sent(struct frdma_req *rq);
void frdma_resend_all(struct frdma_req *rq);
void frdma_resend_timeout(struct frdma_req *rq);
void frdma_resend_refuse(struct frdma_req *rq, u32 psn, u32 left);
void frdma_resend_refused(struct frdma_req *rq);
void frdma_resend_awaited(struct frdma_req *rq);
bool frdma_resend_oldest(struct frdma_req *rq);
bool frdma_resend_probe(struct frdma_req *rq);
void frdma_resend_go_on(struct frdma_req *rq);
void frdma_resend_shrink_once(struct frdma_req *rq);
enum frdma_recovery frdma_resend_recover(struct frdma_req *rq, bool missed);
void frdma_resend_note_ahead(struct frdma_req *rq, u32 psn, u32 nr);
enum frdma_recovery frdma_resend_hole(struct frdma_req *rq, u32 end_psn);
void frdma_resend_let_go(struct frdma_req *rq);
enum frdma_recovery frdma_resend_lacking(struct frdma_req *rq);
enum frdma_mended frdma_resend_learn(struct frdma_req *rq, u32 una_psn,
				     u64 now_ns);
void frdma_resend_acked(struct frdma_req *rq, u32 una_psn,
			enum frdma_mended mended);

#endif /* FRDMA_PROTO_RESEND_H */
