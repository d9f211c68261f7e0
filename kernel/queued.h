/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a side of a queue pair has in transmit queues of this host: qdiscs and
 * rings of drivers.
 *
 * The window of a connection is made for the network. All of it in the queue of
 * a slow interface is a standing queue there, which CoDel (RFC 8289) shortens by
 * drops. So a side queues about a millisecond's worth of what the host sends for
 * it, and continues when packets are freed, as TCP does (tcp_output.c, TCP small
 * queues).
 *
 * A struct sock per side owns the packets: qdiscs and segmentation keep the owner
 * of a packet they divide, and the kernel's destructor outlives this module.
 */
#ifndef FRDMA_QUEUED_H
#define FRDMA_QUEUED_H

#include <linux/types.h>
#include <net/sock.h>

struct frdma_side;

/* Before anything is known of the host's queue: one train. */
#define FRDMA_QUEUED_INITIAL	(64 << 10)

/* A few packets: an interface that is shared by many connections. */
#define FRDMA_QUEUED_MIN	(4 << 10)

/* More than a window: as if there was no limit. */
#define FRDMA_QUEUED_MAX	(8 << 20)

/* How long a side's packets may stand in the queue. CoDel tolerates 5 ms. */
#define FRDMA_QUEUED_NS		NSEC_PER_MSEC

/* A driver that has freed nothing for so long gets another packet. */
#define FRDMA_QUEUED_PATIENCE_NS	(20 * NSEC_PER_MSEC)

/* Bits of @flags: the side waits for packets to be freed. */
#define FRDMA_QUEUED_WAITS	0

/**
 * struct frdma_queued - packets of a side in queues of this host
 * @sk: their owner, which counts their truesize; NULL: they have none
 * @side: to be kicked when they are freed
 * @limit: bytes that the side may have there
 * @full_ns: when that was reached, ktime_get_ns(); 0: not since it was last
 *	computed
 * @full_bytes: bytes there at that time
 * @wake_bytes: the side continues when no more than that is left
 * @overdue: nothing was freed for FRDMA_QUEUED_PATIENCE_NS: one packet may go
 * @flags: FRDMA_QUEUED_WAITS; set by the owner of the side, cleared by whoever
 *	frees packets
 * @write_space: @sk's own callback, put back when the side ends
 *
 * Written by the owner of the side, @flags apart.
 */
struct frdma_queued {
	struct sock *sk;
	struct frdma_side *side;
	u32 limit;
	u64 full_ns;
	u32 full_bytes;
	u32 wake_bytes;
	bool overdue;
	unsigned long flags;
	void (*write_space)(struct sock *sk);
};

/** frdma_queued_waits - must the side wait until packets are freed */
static inline bool frdma_queued_waits(const struct frdma_queued *queued)
{
	return test_bit(FRDMA_QUEUED_WAITS, &queued->flags);
}

/** frdma_queued_next_ns - when to call frdma_queued_look(); U64_MAX: never */
static inline u64 frdma_queued_next_ns(const struct frdma_queued *queued)
{
	return frdma_queued_waits(queued) ?
	       queued->full_ns + FRDMA_QUEUED_PATIENCE_NS : U64_MAX;
}

int frdma_queued_init(struct frdma_queued *queued, struct frdma_side *side,
		      const struct sock *like);
void frdma_queued_end(struct frdma_queued *queued);
void frdma_queued_exit(void);
void frdma_queued_refused(struct frdma_queued *queued);
u32 frdma_queued_room(struct frdma_queued *queued, u32 packet_bytes);
void frdma_queued_look(struct frdma_queued *queued, u64 now_ns);

#endif /* FRDMA_QUEUED_H */
