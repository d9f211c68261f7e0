/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the responder sends: ACKs, NAKs, answers to atomics, READ responses. All
 * that one buffer asks for, and all of one step, is a burst, so that answers to
 * the requests of a train leave as a train, too:
 *
 *	frdma_answers_begin(&answers, qp);
 *	... frdma_answer_ack(qp), frdma_answer_read(qp) ...
 *	frdma_answers_end(&answers, qp);
 *
 * Within such a section another one is part of it. To a peer on the same device,
 * while it owns this side, answers are handed over at once.
 */
#ifndef FRDMA_ANSWER_H
#define FRDMA_ANSWER_H

#include "proto/hdr.h"
#include "tx.h"

struct frdma_qp;

/* READ response packets of one step, some trains' worth; then others get their turn. */
#define FRDMA_READ_BUDGET	256

/**
 * struct frdma_answers - answers that leave together
 * @tx: the burst, if one was begun
 * @begun: one was
 */
struct frdma_answers {
	struct frdma_tx tx;
	bool begun;
};

/**
 * frdma_answers_wait - has the host no room for answers now
 * @qp: whose receive side the caller owns
 *
 * A timer, or whoever frees packets, then runs a step of the side.
 */
static inline bool frdma_answers_wait(const struct frdma_qp *qp)
{
	return frdma_unsent_waits(&qp->rq.unsent) ||
	       frdma_queued_waits(&qp->rq.queued);
}

/**
 * enum frdma_answer_fate - what has become of the response to a READ
 * @FRDMA_ANSWER_SENT: it is on its way, as far as the budget went
 * @FRDMA_ANSWER_ABSENT: memory that is not pinned is not there, and was asked for
 * @FRDMA_ANSWER_GONE: the region is not the peer's any more
 */
enum frdma_answer_fate {
	FRDMA_ANSWER_SENT,
	FRDMA_ANSWER_ABSENT,
	FRDMA_ANSWER_GONE,
};

void frdma_answers_begin(struct frdma_answers *answers, struct frdma_qp *qp);
void frdma_answers_end(struct frdma_answers *answers, struct frdma_qp *qp);
void frdma_answers_wake_later(struct frdma_qp *qp);
void frdma_answers_go_on(struct frdma_qp *qp);
bool frdma_answer(struct frdma_qp *qp, struct frdma_hdr *hdr);
void frdma_answer_ack(struct frdma_qp *qp);
void frdma_answer_again(struct frdma_qp *qp, u32 psn);
void frdma_answer_atomic(struct frdma_qp *qp, u32 psn, u64 orig);
void frdma_answer_empty(struct frdma_qp *qp, u32 psn);
enum frdma_answer_fate frdma_answer_read(struct frdma_qp *qp);

#endif /* FRDMA_ANSWER_H */
