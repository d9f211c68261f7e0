/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The completer: what an acknowledgement or a response means for the window.
 */
#ifndef FRDMA_PROTO_ACK_H
#define FRDMA_PROTO_ACK_H

#include "req.h"

/**
 * enum frdma_ack_verdict - what to do with a packet of the responder
 * @FRDMA_ACK_PROGRESS: acknowledges all up to its PSN
 * @FRDMA_ACK_DATA: the next packet of a READ response: store, then commit
 * @FRDMA_ACK_ATOMIC: the answer to an atomic: store, then commit
 * @FRDMA_ACK_CONGESTED: packets were marked on their way (frdma_cc_notified())
 * @FRDMA_ACK_STALE: says nothing new
 * @FRDMA_ACK_GHOST: speaks of a PSN that was never sent
 * @FRDMA_ACK_LOST: shows that a response to a READ or atomic got lost; see
 *	frdma_ack_is_ahead()
 * @FRDMA_ACK_SEQ_NAK: the peer misses packets
 * @FRDMA_ACK_RNR_NAK: the peer has no receive request
 * @FRDMA_ACK_REM_INV_REQ: the peer refuses the request as invalid
 * @FRDMA_ACK_REM_ACCESS: the peer refuses access
 * @FRDMA_ACK_REM_OP: the peer could not complete the request
 * @FRDMA_ACK_BAD_RESP: not an answer to what was asked
 */
enum frdma_ack_verdict {
	FRDMA_ACK_PROGRESS,
	FRDMA_ACK_DATA,
	FRDMA_ACK_ATOMIC,
	FRDMA_ACK_CONGESTED,
	FRDMA_ACK_STALE,
	FRDMA_ACK_GHOST,
	FRDMA_ACK_LOST,
	FRDMA_ACK_SEQ_NAK,
	FRDMA_ACK_RNR_NAK,
	FRDMA_ACK_REM_INV_REQ,
	FRDMA_ACK_REM_ACCESS,
	FRDMA_ACK_REM_OP,
	FRDMA_ACK_BAD_RESP,
};

/**
 * struct frdma_ack_data - where the payload of a response belongs
 * @wr: the work request that it answers
 * @off: offset in its message
 */
struct frdma_ack_data {
	struct frdma_swr *wr;
	u32 off;
};

enum frdma_ack_verdict frdma_ack_judge(const struct frdma_req *rq,
				       const struct frdma_hdr *hdr);
u32 frdma_ack_count_run(const struct frdma_req *rq,
			const struct frdma_hdr *hdr, u32 nr);
void frdma_ack_note(struct frdma_req *rq, const struct frdma_hdr *hdr);
struct frdma_ack_data frdma_ack_locate(const struct frdma_req *rq, u32 psn);
void frdma_ack_commit(struct frdma_req *rq, u32 psn, u64 now_ns);
void frdma_ack_commit_run(struct frdma_req *rq, u32 psn, u32 nr, u64 now_ns);
bool frdma_ack_implied(struct frdma_req *rq, u32 psn, u64 now_ns);
bool frdma_ack_is_ahead(const struct frdma_req *rq,
			const struct frdma_hdr *hdr);
bool frdma_ack_is_old(const struct frdma_req *rq, const struct frdma_kept *kept,
		      const struct frdma_hdr *hdr);
bool frdma_ack_wait(struct frdma_req *rq, const struct frdma_hdr *hdr,
		    u64 now_ns);

#endif /* FRDMA_PROTO_ACK_H */
