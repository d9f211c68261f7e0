/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that came before others which are missing. What is missing is asked
 * for, once (IBTA 9.7.4.1.1). The others could be dropped, and would be sent
 * again: a whole window for each packet that was lost. Kept, and executed in
 * their turn, they are acknowledged as soon as what was missing has come. On
 * the wire nothing else differs.
 *
 * And answers that came before others: a requester that keeps them asks for no more
 * than the others.
 */
#ifndef FRDMA_PROTO_KEPT_H
#define FRDMA_PROTO_KEPT_H

#include "env.h"
#include "psn.h"

/*
 * How far ahead of what is expected a packet may be: two windows. One beyond is
 * not of this connection, or of a peer that nothing helps. Whoever guesses PSNs
 * gains by each that is taken.
 */
#define FRDMA_KEPT_SPAN \
	(FRDMA_PSN_HALF < 512 ? (s32)FRDMA_PSN_HALF : 512)

/**
 * struct frdma_kept - a packet that waits for its turn, or a run of them
 * @next: the one behind it, further ahead
 * @psn: of the first packet
 * @nr: packets
 * @round: of an answer: frdma_resend's when it came
 */
struct frdma_kept {
	struct frdma_kept *next;
	u32 psn;
	u32 nr;
	u32 round;
};

/**
 * struct frdma_kept_list - those of a side, in the order of their PSNs
 * @first: the one that is due first; NULL: there is none
 * @last: the one that is furthest ahead, unless @first is NULL
 * @seen_psn: what was expected at the last frdma_kept_is_stuck()
 *
 * Written by the owner of the side only.
 */
struct frdma_kept_list {
	struct frdma_kept *first;
	struct frdma_kept *last;
	u32 seen_psn;
};

struct frdma_kept **frdma_kept_find(struct frdma_kept_list *list, u32 psn,
				    u32 epsn);
void frdma_kept_add(struct frdma_kept_list *list, struct frdma_kept **at,
		    struct frdma_kept *item);
struct frdma_kept *frdma_kept_due(struct frdma_kept_list *list, u32 epsn);
struct frdma_kept *frdma_kept_any(struct frdma_kept_list *list);
bool frdma_kept_is_stuck(struct frdma_kept_list *list, u32 epsn);

/** frdma_kept_is_due - would frdma_kept_due() take one */
static inline bool frdma_kept_is_due(const struct frdma_kept_list *list,
				     u32 epsn)
{
	return list->first && frdma_psn_diff(list->first->psn, epsn) <= 0;
}

/** frdma_kept_is_stale - was all of it executed meanwhile */
static inline bool frdma_kept_is_stale(const struct frdma_kept *item, u32 epsn)
{
	return frdma_psn_diff(frdma_psn_add(item->psn, item->nr), epsn) <= 0;
}

#endif /* FRDMA_PROTO_KEPT_H */
