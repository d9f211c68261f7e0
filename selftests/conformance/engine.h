/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine with the least around it that makes it answer: what the kernel's
 * requester, completer and responder do, without their locks and buffers.
 */
#ifndef CONFORM_ENGINE_H
#define CONFORM_ENGINE_H

#include "access.h"
#include "ack.h"
#include "kept.h"
#include "req.h"
#include "resp.h"

#include "play.h"

#define ENGINE_DEPTH	64	/* work requests in each queue */
#define ENGINE_RES	16	/* READs and atomics kept for repetition */

/**
 * struct engine_rq - receive requests
 * @recvs: those, a ring
 * @prod: posted so far
 * @cons: taken so far
 */
struct engine_rq {
	struct request recvs[ENGINE_DEPTH];
	u32 prod;
	u32 cons;
};

/**
 * struct engine_qp - a queue pair
 * @spec: what the script says of it
 * @req: send side
 * @resp: receive side
 * @res: of that
 * @kept: requests that are ahead of their turn, struct early
 * @ahead: answers, likewise
 * @slots: of @req
 * @sges: the memory of each; one piece is enough
 * @posted: send requests, a ring
 * @post_prod: posted so far; those from req.wr_prod on are not fetched
 * @own: receive requests
 * @rq: where it takes from: @own, or the queue that a request has named
 * @srqn: number of that queue
 * @pd: protection domain of peer and receives: 0, or that of the queue
 * @have_cur: one is in use
 * @cur: that
 * @state: enum state
 */
struct engine_qp {
	struct queue_pair *spec;
	struct frdma_req req;
	struct frdma_resp resp;
	struct frdma_cc_echo echo;
	struct frdma_resp_res res[ENGINE_RES];
	struct frdma_kept_list kept;
	struct frdma_kept_list ahead;
	struct frdma_swr slots[ENGINE_DEPTH];
	struct frdma_sge sges[ENGINE_DEPTH];
	struct request posted[ENGINE_DEPTH];
	u32 post_prod;
	struct engine_rq own;
	struct engine_rq *rq;
	u32 srqn;
	u32 pd;
	bool have_cur;
	struct request cur;
	enum state state;
};

/* Of the case that is being played. */
extern struct play *engine_play;
extern u64 engine_now_ns;

/* engine.c */
void engine_send(struct engine_qp *qp, struct frdma_hdr *hdr,
		 const void *payload);
void engine_error(struct engine_qp *qp, enum state state);
void engine_step(struct engine_qp *qp);
bool engine_aim(struct engine_qp *qp, u32 srqn);
bool engine_aim_read(struct engine_qp *qp, u32 srqn);

/* engine_memory.c */
void *engine_remote(u32 pd, u32 rkey, u64 va, u64 len, u32 right);
void *engine_local(u32 pd, u32 lkey, u64 va, u64 len, u32 right);

/* engine_requester.c */
void engine_requester_init(struct engine_qp *qp);
void engine_requester_step(struct engine_qp *qp);
void engine_requester_answer(struct engine_qp *qp, const struct frdma_hdr *hdr,
			     const u8 *payload);

/* engine_early.c */

/**
 * struct early - a packet that is ahead of its turn
 * @item: where in the order
 * @hdr: its headers
 * @payload: as long as they say
 */
struct early {
	struct frdma_kept item;
	struct frdma_hdr hdr;
	u8 payload[];
};

void engine_keep(struct frdma_kept_list *list, u32 psn,
		 const struct frdma_hdr *hdr, const u8 *payload, u32 round);
void engine_forget(struct frdma_kept_list *list);

/* engine_responder.c */
void engine_responder_init(struct engine_qp *qp);
void engine_responder_step(struct engine_qp *qp);
void engine_responder_request(struct engine_qp *qp,
			      const struct frdma_hdr *hdr, const u8 *payload);

#endif /* CONFORM_ENGINE_H */
