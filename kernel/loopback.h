/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer on the same device. Nothing has to be built, summed, routed and taken
 * apart again: whoever owns the requester's send side also owns the responder's
 * receive side for the length of a burst, and each engine is called with what
 * the other one plans. So both judge what they would judge of packets, PSN by
 * PSN, and the payload moves once, from memory to memory.
 *
 *	requester		frdma_loopback_begin(&loop, qp)
 *				frdma_loopback_send(&loop, &run, &lent) ...
 *	  responder		frdma_loopback_answer(qp, &hdr, ...) ...
 *	    completer		takes it, and the requester goes on
 *	requester		frdma_loopback_end(&loop)
 *
 * Packets are made all the same where this is switched off (attribute
 * "loopback"), while somebody else owns the responder's side, while earlier
 * packets are on their way, which must not be overtaken, where a request's
 * memory can not be lent, as that of regions whose readers are counted, and
 * while their protection domains have regions that are not pinned (of XRC, any
 * of the device). Datagrams are always
 * packets. So is all that is not for exactly this peer: the receiver's checks
 * are those of rx.c.
 */
#ifndef FRDMA_LOOPBACK_H
#define FRDMA_LOOPBACK_H

#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/types.h>

struct frdma_hdr;
struct frdma_lent;
struct frdma_qp;
struct frdma_req_pkt;

/**
 * struct frdma_loop - a burst to a peer on the same device
 * @qp: requester, whose send side the caller owns
 * @peer: responder, whose receive side is owned, too
 * @used: something was sent
 */
struct frdma_loop {
	struct frdma_qp *qp;
	struct frdma_qp *peer;
	bool used;
};

/** frdma_loopback_run_max - packets of a run: what is copied in one section */
static inline u32 frdma_loopback_run_max(u32 payload_len)
{
	return max(SZ_64K / payload_len, 1U);
}

bool frdma_loopback_begin(struct frdma_loop *loop, struct frdma_qp *qp);
void frdma_loopback_send(struct frdma_loop *loop,
			 const struct frdma_req_pkt *run,
			 const struct frdma_lent *lent);
void frdma_loopback_end(struct frdma_loop *loop);
void frdma_loopback_answer(struct frdma_qp *qp, const struct frdma_hdr *hdr,
			   u32 len, u32 nr, const struct frdma_lent *lent);

#endif /* FRDMA_LOOPBACK_H */
