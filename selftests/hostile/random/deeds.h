/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a process does beside single calls: it connects, posts and polls.
 */
#ifndef FRDMA_TEST_DEEDS_H
#define FRDMA_TEST_DEEDS_H

#include <poll.h>

#include "../../lib/doorbell.h"
#include "fit.h"

/* A queue pair of one end, brought to a state. */
static bool bring_to(const struct object *qp, uint32_t state, uint32_t peer)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_qp modify;
	} command = {
		.hdr = { IB_USER_VERBS_CMD_MODIFY_QP, sizeof(command) / 4, 0 },
		.modify.qp_handle = qp->handle,
	};

	modify_to(&command.modify, qp->type, state, peer);
	return write(ctx->cmd_fd, &command, sizeof(command)) > 0;
}

/* From wherever it is to where it can send. */
static bool bring_up(struct thread *me, struct object qp, uint32_t peer)
{
	const struct call modify = { .in = 0 };
	uint32_t state;
	struct ib_uverbs_modify_qp now = {
		.qp_handle = qp.handle, .attr_mask = IBV_QP_STATE,
	};
	struct sent sent = { .call = &modify, .body = &now };

	bring_to(&qp, IBV_QPS_RESET, peer);
	for (state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		if (!bring_to(&qp, state, peer))
			return false;
		now.qp_state = state;
		taken_modify_qp(me, &sent);
	}
	return true;
}

/* Two of a type, or one with itself. */
static void do_connect(struct thread *me)
{
	struct object near, far;
	bool both;

	pick(me, QP);
	near = me->picked[QP];
	if (me->slot[QP] < 0)
		return;
	pick(me, QP);
	far = me->picked[QP].type == near.type ? me->picked[QP] : near;
	both = bring_up(me, near, far.number) &&
	       bring_up(me, far, near.number);
	count_deed(CONNECT, both);
}

/* Somewhere in a region, mostly. */
static struct frdma_sge any_sge(struct thread *me)
{
	const struct object *mr = &me->picked[MR];
	uint32_t most = once_in(me, 8) ? 70000 : 600;

	pick(me, MR);
	if (once_in(me, 20))
		return (struct frdma_sge) {
			rubbish(me), rubbish(me), rubbish(me),
		};
	return (struct frdma_sge) {
		.addr = mr->addr + (mr->len > most ? below(me, mr->len - most) :
						     0),
		.length = below(me, mr->len < most ? mr->len + 1 : most),
		.lkey = mr->number,
	};
}

static struct frdma_send_wqe any_wqe(struct thread *me)
{
	struct frdma_send_wqe wqe = {
		.wr_id = any(me), .opcode = below(me, 16),
		.flags = once_in(me, 2) ? IBV_SEND_SIGNALED : below(me, 32),
		.num_sge = below(me, 3), .inline_len = below(me, 65),
	};

	if (once_in(me, 2))
		wqe.opcode = below(me, IB_UVERBS_WR_LOCAL_INV);
	pick(me, once_in(me, 4) ? MW : MR);
	pick(me, MR);
	wqe.rkey = me->picked[MR].rkey;
	wqe.remote_addr = me->picked[MR].addr & ~7ULL;
	wqe.ex = once_in(me, 2) ? me->picked[MR].rkey : me->picked[MW].rkey;
	pick(me, MW);
	pick(me, AH);
	switch (me->picked[QP].type) {
	case IBV_QPT_UD:
		wqe.opcode = IB_UVERBS_WR_SEND;
		wqe.ud.ah = me->picked[AH].number;
		wqe.ud.dqpn = me->picked[QP].number;
		wqe.ud.qkey = QKEY;
		break;
	case IBV_QPT_XRC_SEND:
		pick(me, SRQ);
		wqe.xrc.srqn = me->picked[SRQ].number;
		break;
	}
	if (wqe.opcode == IB_UVERBS_WR_BIND_MW) {
		wqe.num_sge = 0;
		wqe.bind.addr = me->picked[MR].addr;
		wqe.bind.length = 1 + below(me, 200);
		wqe.bind.key = me->picked[MW].rkey + below(me, 3);
		wqe.bind.mr_key = me->picked[MR].number;
		wqe.bind.access = IBV_ACCESS_REMOTE_WRITE |
				  IBV_ACCESS_REMOTE_READ;
	}
	if (once_in(me, 20))
		spoil(me, &wqe, sizeof(wqe));
	return wqe;
}

static void publish(struct thread *me, struct frdma_ring_head *head)
{
	uint32_t more = once_in(me, 64) ? below(me, 5) : 1;

	__atomic_store_n(&head->prod, head->prod + more, __ATOMIC_RELEASE);
}

static unsigned char *next_slot(const struct ring *ring)
{
	struct frdma_ring_head *head = (void *)ring->at;

	return ring->at + FRDMA_RING_SLOTS +
	       (head->prod & (ring->entries - 1)) * ring->stride;
}

static bool is_full(const struct ring *ring)
{
	const struct frdma_ring_head *head = (void *)ring->at;

	return head->prod - head->cons >= ring->entries;
}

/* The head may be anything: some other thread scribbles. */
static bool put_wqe(struct thread *me, struct ring *ring,
		    const void *wqe, size_t len, const struct frdma_sge *sges)
{
	unsigned char *slot;
	size_t room;

	if (!ring->at || !ring->entries || (is_full(ring) && !once_in(me, 64)))
		return false;
	slot = next_slot(ring);
	room = ring->stride - len;
	memcpy(slot, wqe, len);
	memcpy(slot + len, sges, room < 2 * sizeof(*sges) ? room :
				 2 * sizeof(*sges));
	publish(me, (void *)ring->at);
	return true;
}

static void do_send(struct thread *me)
{
	struct frdma_sge sges[2] = { any_sge(me), any_sge(me) };
	struct frdma_send_wqe wqe;
	struct object *qp;
	uint32_t handle;
	bool posted;

	handle = pick(me, QP);
	if (me->slot[QP] < 0)
		return;
	wqe = any_wqe(me);
	qp = lock_picked(me, QP);
	posted = qp && put_wqe(me, &qp->ring[0], &wqe, sizeof(wqe), sges);
	unlock(QP);
	if (posted)
		count_deed(SEND, !ring_doorbell_of(ctx->cmd_fd, handle));
}

static void do_receive(struct thread *me)
{
	enum kind kind = once_in(me, 2) ? SRQ : QP;
	struct frdma_sge sges[2] = { any_sge(me), any_sge(me) };
	struct frdma_recv_wqe wqe = {
		.wr_id = any(me), .num_sge = 1 + below(me, 2),
	};
	struct object *object;
	uint32_t handle;
	bool posted;

	handle = pick(me, kind);
	object = lock_picked(me, kind);
	posted = object && put_wqe(me, &object->ring[kind == QP], &wqe,
				   sizeof(wqe), sges);
	unlock(kind);
	if (!posted)
		return;
	if (kind == QP && once_in(me, 4))
		posted = !ring_doorbell_of(ctx->cmd_fd, handle);
	count_deed(RECEIVE, posted);
}

static void take_completions(struct ring *ring)
{
	struct frdma_ring_head *head = (void *)ring->at;
	uint32_t prod = __atomic_load_n(&head->prod, __ATOMIC_ACQUIRE);
	const struct frdma_cqe *cqe;
	uint32_t n;

	for (n = 0; n < ring->entries && head->cons != prod; n++) {
		cqe = (void *)(ring->at + FRDMA_RING_SLOTS +
			       (head->cons & (ring->entries - 1)) *
			       ring->stride);
		__atomic_fetch_add(&stats->completions, 1, __ATOMIC_RELAXED);
		if (!cqe->status)
			__atomic_fetch_add(&stats->successes, 1,
					   __ATOMIC_RELAXED);
		__atomic_store_n(&head->cons, head->cons + 1,
				 __ATOMIC_RELEASE);
	}
}

static void do_poll(struct thread *me)
{
	struct object *cq;
	bool there;

	pick(me, CQ);
	cq = lock_picked(me, CQ);
	there = cq && cq->ring[0].at && cq->ring[0].entries;
	if (there)
		take_completions(&cq->ring[0]);
	unlock(CQ);
	if (there)
		count_deed(POLL, true);
}

static void do_scribble(struct thread *me)
{
	enum kind kind = CQ + below(me, DM);
	int which = below(me, 2);
	struct object *object;
	unsigned char *at;

	pick(me, kind);
	object = lock_picked(me, kind);
	at = object ? object->ring[which].at : NULL;
	if (at) {
		const uint64_t word = rubbish(me);

		memcpy(at + below(me, once_in(me, 2) ? 256 : PAGE - 8), &word,
		       4);
	}
	unlock(kind);
	if (at)
		count_deed(SCRIBBLE, true);
}

static int any_file(struct thread *me)
{
	enum kind kind = once_in(me, 2) ? CHANNEL : EVENTS;
	int fd = pick(me, kind);

	return me->slot[kind] < 0 ? -1 : fd;
}

/* Files do not wait. */
static void do_read_file(struct thread *me)
{
	int fd = once_in(me, 4) ? ctx->async_fd : any_file(me);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	if (poll(&poll_fd, 1, 0) == 1)
		count_deed(READ_FILE, read(fd, me->answers,
					   once_in(me, 4) ? 3 : 64) > 0);
}

static void do_close_file(struct thread *me)
{
	enum kind kind = once_in(me, 2) ? CHANNEL : EVENTS;
	int fd = pick(me, kind);

	if (me->slot[kind] < 0)
		return;
	count_deed(CLOSE_FILE, !close(fd));
	forget(me, kind);
}

static void (* const do_deed[])(struct thread *me) = {
	[SEND] = do_send, [RECEIVE] = do_receive, [POLL] = do_poll,
	[CONNECT] = do_connect, [READ_FILE] = do_read_file,
	[CLOSE_FILE] = do_close_file, [SCRIBBLE] = do_scribble,
	[RUBBISH_COMMAND] = do_rubbish_command,
	[RUBBISH_METHOD] = do_rubbish_method,
};

/* How many times in a hundred. */
static const unsigned char weights[] = {
	[SEND] = 14, [RECEIVE] = 8, [POLL] = 5, [CONNECT] = 4,
	[READ_FILE] = 3, [CLOSE_FILE] = 1, [SCRIBBLE] = 1,
	[RUBBISH_COMMAND] = 4, [RUBBISH_METHOD] = 4,
};

static void do_something(struct thread *me)
{
	unsigned int chance = below(me, 100), deed;

	for (deed = 0; deed < NR_DEEDS; deed++) {
		if (chance < weights[deed]) {
			do_deed[deed](me);
			return;
		}
		chance -= weights[deed];
	}
	if (once_in(me, 2))
		do_command(me, below(me, NR_COMMANDS));
	else
		do_method(me, below(me, NR_METHODS));
}

#endif /* FRDMA_TEST_DEEDS_H */
