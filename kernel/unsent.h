/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trains that the stack refused because a queue of this host was full. A side
 * keeps them in order, pauses, and gives them to the stack again. What the peer
 * must ask for again otherwise (READ responses, ACKs, NAKs), or never sees
 * (datagrams, unreliable connections), is then not lost inside the host.
 *
 * A requester on a reliable connection keeps its work requests and needs none
 * of this: see frdma_resend_refuse().
 */
#ifndef FRDMA_UNSENT_H
#define FRDMA_UNSENT_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct frdma_qp;
struct sock;

/*
 * Most memory of a side: one train, and answers without payload that follow it
 * until the requests stop. More is dropped, and the peer asks again.
 */
#define FRDMA_UNSENT_BYTES_MAX	(256 << 10)

/*
 * A train that the stack refuses so often after the longest pause, 12.8 ms, is
 * dropped: a filter, or a queue that is shorter than the train, never takes it.
 * The half second is longer than other connections keep a queue full.
 */
#define FRDMA_UNSENT_TRIES	40

/**
 * struct frdma_unsent - trains that one side has still to send
 * @trains: in order, each at its IP header and with its route; the lock of the
 *	list is not used
 * @bytes: truesize of @trains, also charged to @ahead_bytes of the device and to
 *	the user's share of it
 * @retry_ns: nothing is sent before, ktime_get_ns(); 0: the side may send
 * @refusals: consecutive pauses, bounds the next one
 * @tries: consecutive refusals after the longest pause
 *
 * Written by the owner of the side.
 */
struct frdma_unsent {
	struct sk_buff_head trains;
	u32 bytes;
	u64 retry_ns;
	u8 refusals;
	u8 tries;
};

/** frdma_unsent_waits - must the side send nothing else now */
static inline bool frdma_unsent_waits(const struct frdma_unsent *unsent)
{
	return unsent->retry_ns;
}

/** frdma_unsent_next_ns - when to call frdma_unsent_send(); U64_MAX: never */
static inline u64 frdma_unsent_next_ns(const struct frdma_unsent *unsent)
{
	return unsent->retry_ns ?: U64_MAX;
}

void frdma_unsent_init(struct frdma_unsent *unsent);
void frdma_unsent_pause(struct frdma_unsent *unsent);
bool frdma_unsent_keep(struct frdma_unsent *unsent, const struct frdma_qp *qp,
		       struct sk_buff *skb);
bool frdma_unsent_send(struct frdma_unsent *unsent, const struct frdma_qp *qp,
		       struct sock *sk);
void frdma_unsent_forget(struct frdma_unsent *unsent,
			 const struct frdma_qp *qp);

#endif /* FRDMA_UNSENT_H */
