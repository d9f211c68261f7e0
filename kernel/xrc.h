/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Extended reliable connections (annex A14): one connection carries what one
 * host has to say to many processes of another, each of which takes its
 * messages from shared receive queues of its own. Every request names one.
 *
 *	initiator (IB_QPT_XRC_INI)	has a send side only, to which a
 *					process posts as to any other
 *	target (IB_QPT_XRC_TGT)		has a receive side only. It belongs to
 *					a domain and to all processes in it,
 *					and has no ring, no completion queue
 *					and no protection domain
 *	queue (IB_SRQT_XRC)		lends the target all of these, for the
 *					request that names it; it belongs to
 *					the same domain
 *
 * A target does not hold a queue. It looks for the one that a request names,
 * and lets go of it before its step ends, and with that its RCU read section,
 * for which the end of a queue waits.
 */
#ifndef FRDMA_XRC_H
#define FRDMA_XRC_H

#include <rdma/ib_verbs.h>

#include "account.h"
#include "run.h"

/* Domains of a device. */
#define FRDMA_MAX_XRCD		(1 << 20)

struct frdma_qp;

/**
 * struct frdma_xrcd - a domain
 * @ib: what ib_core knows of it: targets and queues hold it, and compare its
 *	address
 * @charge: of the domain
 */
struct frdma_xrcd {
	struct ib_xrcd ib;
	struct frdma_charge charge;
};

bool frdma_xrc_aim(struct frdma_qp *qp, u32 srqn);
bool frdma_xrc_aim_read(struct frdma_qp *qp, u32 srqn);

bool frdma_xrc_target_step(struct frdma_side *side);
void frdma_xrc_stray_request(struct frdma_side *side, struct sk_buff *skb);
void frdma_xrc_stray_answer(struct frdma_side *side, struct sk_buff *skb);

int frdma_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata);
int frdma_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata);

#endif /* FRDMA_XRC_H */
