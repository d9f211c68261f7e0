/* SPDX-License-Identifier: GPL-2.0 */
/* A send queue for the tests of the requester and of the completer. */
#ifndef FRDMA_SENDQ_H
#define FRDMA_SENDQ_H

#include "req.h"

#define SENDQ_SLOTS	16
#define SENDQ_PSN	0xfffffe	/* soon comes round */
#define SENDQ_MTU	256
#define SENDQ_WINDOW	64
#define SENDQ_VA	0x12345000ULL
#define SENDQ_RKEY	0x4711
#define SENDQ_NOW	1000000ULL
#define SENDQ_TIMEOUT	5000ULL

/**
 * struct sendq - an engine's send side with its slots
 * @rq: the engine
 * @slots: its work requests
 */
struct sendq {
	struct frdma_req rq;
	struct frdma_swr slots[SENDQ_SLOTS];
};

static inline void sendq_init(struct sendq *q)
{
	*q = (struct sendq) {
		.rq = {
			.slots		= q->slots,
			.stride		= sizeof(q->slots[0]),
			.mask		= SENDQ_SLOTS - 1,
			.transport	= FRDMA_RC,
			.rd_max		= 4,
			.read_grid	= 4,
			.mtu		= SENDQ_MTU,
			.dqpn		= 0x123456,
			.pkey		= 0xffff,
			.retry = {
				.timeout_ns	= SENDQ_TIMEOUT,
				.retry_cnt	= 7,
				.rnr_retry	= 6,
			},
		},
	};
	frdma_cc_init(&q->rq.cc, SENDQ_WINDOW);
	frdma_req_init(&q->rq, SENDQ_PSN);
}

/* Post a work request; the caller may change it before it is sent. */
static inline struct frdma_swr *sendq_post(struct sendq *q, u8 opcode, u32 len)
{
	struct frdma_swr *wr = frdma_req_wr(&q->rq, q->rq.wr_prod);

	*wr = (struct frdma_swr) {
		.wqe = {
			.wr_id		= q->rq.wr_prod,
			.opcode		= opcode,
			.remote_addr	= SENDQ_VA,
			.rkey		= SENDQ_RKEY,
			.ex		= 0xa1b2c3d4,
			.atomic.compare_add	= 5,
			.atomic.swap		= 6,
		},
	};
	frdma_req_fetched(&q->rq, len);
	return wr;
}

/* Send one packet, which must be possible. */
static inline struct frdma_req_pkt sendq_send(struct sendq *q)
{
	struct frdma_req_pkt pkt = { };

	if (frdma_req_judge(&q->rq) != FRDMA_REQ_SEND)
		return pkt;
	frdma_req_plan(&q->rq, &pkt);
	frdma_req_sent(&q->rq, &pkt);
	frdma_req_watch(&q->rq, SENDQ_NOW);
	return pkt;
}

/* Send all that may be sent; returns how many packets that were. */
static inline u32 sendq_send_all(struct sendq *q)
{
	u32 n = 0;

	while (frdma_req_judge(&q->rq) == FRDMA_REQ_SEND) {
		sendq_send(q);
		n++;
	}
	return n;
}

/* One thing after the other, all sent. */
static inline void sendq_sent(struct sendq *q, u8 opcode, u32 len)
{
	sendq_post(q, opcode, len);
	sendq_send_all(q);
}

/* Take all that is finished; returns how many work requests that were. */
static inline u32 sendq_reap_all(struct sendq *q)
{
	u32 n = 0;

	while (frdma_req_reap(&q->rq))
		n++;
	return n;
}

/* A PSN by its distance from the first one. */
static inline u32 sendq_psn(u32 nth)
{
	return frdma_psn_add(SENDQ_PSN, nth);
}

#endif /* FRDMA_SENDQ_H */
