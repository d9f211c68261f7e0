/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tested end, as the one who plays a script sees it: verbs, packets to it,
 * and a clock. engine.c is the engine alone in virtual time, device.c a device
 * of the kernel with a raw socket opposite.
 */
#ifndef CONFORM_END_H
#define CONFORM_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packet.h"

#define NAME_LEN	32

/** enum right - of regions and queue pairs; the bits are those of the verbs */
enum right {
	RIGHT_LOCAL	= 1 << 0,
	RIGHT_WRITE	= 1 << 1,
	RIGHT_READ	= 1 << 2,
	RIGHT_ATOMIC	= 1 << 3,
	RIGHT_BIND	= 1 << 4,
	RIGHT_FLUSH	= 1 << 8,
	RIGHT_PERSIST	= 1 << 9,
};

/** enum transport - types of queue pairs */
enum transport {
	IS_RC,
	IS_UC,
	IS_UD,
	IS_XRC_INI,
	IS_XRC_TGT,
};

/** enum state - of queue pairs; the numbers are those of the verbs */
enum state {
	STATE_RESET,
	STATE_INIT,
	STATE_RTR,
	STATE_RTS,
	STATE_SQD,
	STATE_SQE,
	STATE_ERR,
};

/**
 * struct region - registered memory, or a window to such
 * @name: in the script
 * @mem: where it is
 * @va: address by which it is known
 * @len: bytes
 * @rights: enum right
 * @pd: protection domain: 0, that of all queue pairs, or 1
 * @lkey: key of this end
 * @rkey: key for the other
 * @window: it is a window: there is no memory, and @handle is its own
 * @gone: it was deregistered
 * @handle: of the end
 */
struct region {
	char name[NAME_LEN];
	uint8_t *mem;
	uint64_t va;
	uint32_t len;
	uint32_t rights;
	uint32_t pd;
	uint32_t lkey;
	uint32_t rkey;
	bool window;
	bool gone;
	void *handle;
};

/**
 * struct shared_queue - a shared receive queue
 * @name: in the script
 * @max: receive requests that it holds
 * @pd: protection domain, as that of a region
 * @xrcd: XRC domain, 1 or 2; 0: it is none for XRC. Targets are of 1
 * @srqn: its number, set by the end; XRC
 * @handle: of the end
 */
struct shared_queue {
	char name[NAME_LEN];
	uint32_t max;
	uint32_t pd;
	uint32_t xrcd;
	uint32_t srqn;
	void *handle;
};

/**
 * struct queue_pair - what a script says of one
 * @name: in the script
 * @type: enum transport
 * @state: enum state that it is to have
 * @mtu: path MTU, bytes
 * @rq_psn: that the peer begins with
 * @sq_psn: that it begins with
 * @peer_qpn: queue pair of the peer
 * @rd: READs and atomics that it may have out
 * @dest_rd: those that the peer may have
 * @rnr_timer: code that it asks the peer to wait by
 * @rnr_retry: 7: for ever
 * @retry: transport retries
 * @timeout: code; 0: never
 * @rights: enum right of the peer
 * @qkey: of datagrams
 * @tclass: traffic class of its path
 * @ipv6: its path is one of IPv6
 * @srq: shared receive queue that it takes from, or NULL
 * @qpn: its number, set by the end
 * @handle: of the end
 */
struct queue_pair {
	char name[NAME_LEN];
	enum transport type;
	enum state state;
	uint32_t mtu;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t peer_qpn;
	uint32_t rd;
	uint32_t dest_rd;
	uint32_t rnr_timer;
	uint32_t rnr_retry;
	uint32_t retry;
	uint32_t timeout;
	uint32_t rights;
	uint32_t qkey;
	uint32_t tclass;
	bool ipv6;
	struct shared_queue *srq;
	uint32_t qpn;
	void *handle;
};

/**
 * struct request - a work request, of either queue
 * @id: wr_id
 * @op: enum request_op; no meaning for receives
 * @addr: its memory
 * @len: bytes
 * @lkey: key of its memory
 * @va: remote address
 * @rkey: remote key, or the key to invalidate
 * @imm: immediate data
 * @compare: to compare with
 * @swap: to store, or to add
 * @placement: of a FLUSH
 * @select: of a FLUSH
 * @dqpn: of a datagram
 * @qkey: of a datagram
 * @srqn: shared receive queue of the peer; XRC
 * @fence: wait for READs before it
 * @solicited: raise an event there
 * @inline_data: copy it at once
 * @window: of a bind
 * @bound: the region that it is bound to
 * @rights: enum right of the peer in it
 */
struct request {
	uint64_t id;
	int op;
	uint64_t addr;
	uint32_t len;
	uint32_t lkey;
	uint64_t va;
	uint32_t rkey;
	uint32_t imm;
	uint64_t compare;
	uint64_t swap;
	uint32_t placement;
	uint32_t select;
	uint32_t dqpn;
	uint32_t qkey;
	uint32_t srqn;
	bool fence;
	bool solicited;
	bool inline_data;
	struct region *window;
	struct region *bound;
	uint32_t rights;
};

/** enum request_op - the numbers are those of enum ibv_wr_opcode */
enum request_op {
	DO_WRITE,
	DO_WRITE_IMM,
	DO_SEND,
	DO_SEND_IMM,
	DO_READ,
	DO_COMPARE_SWAP,
	DO_FETCH_ADD,
	DO_LOCAL_INV,
	DO_BIND,
	DO_SEND_INV,
	DO_FLUSH	= 14,
	DO_ATOMIC_WRITE	= 15,
};

/**
 * struct done - a completion
 * @at_ns: when
 * @qp: of whom; NULL: of one that was destroyed
 * @recv: of a receive
 * @id: wr_id
 * @status: enum ibv_wc_status
 * @len: byte_len
 * @imm: it has immediate data
 * @inv: a key was invalidated
 * @grh: 40 bytes are in front
 * @write: of a receive: RECV_RDMA_WITH_IMM
 * @ex: immediate data, or the key
 * @src_qp: of a datagram, or of an initiator
 */
struct done {
	uint64_t at_ns;
	const struct queue_pair *qp;
	bool recv;
	uint64_t id;
	int status;
	uint32_t len;
	bool imm;
	bool inv;
	bool grh;
	bool write;
	uint32_t ex;
	uint32_t src_qp;
};

struct play;

/**
 * struct end - a tested end
 * @name: engine, module, rxe
 * @is_frdma: where one has a choice it must be ours
 * @prompt_ns: what comes "at once" comes within this time
 * @slack_ns: what comes by a deadline comes at most that late
 * @quiet_ns: how long one looks before one says that nothing comes
 * @open: once; arguments of the program behind its options; returns how many
 *	it took, or -1
 * @begin: a case begins
 * @finish: it has ended: let go of all
 * @now: of its clock
 * @wait: let time pass until something is told to @play, or until then
 * @make_region: registers; @mem, @len, @rights, @pd are set
 * @drop_region: deregisters
 * @make_window: makes a memory window of type 1 or 2; may be NULL
 * @make_qp: up to the state that it is to have
 * @modify: to another state
 * @state: its present state, or -1
 * @make_srq: makes a shared receive queue; may be NULL
 * @drop_qp: destroys; may be NULL
 * @drop_srq: likewise
 * @limit: arms the limit of a shared receive queue; may be NULL
 * @post_recv: false: refused
 * @post_srq: likewise, to a shared receive queue; may be NULL
 * @post_send: false: refused
 * @deliver: a packet has come
 * @deliver_train: several have come as one, of which so many bytes lie in one
 *	piece; may be NULL
 * @notify: arm the completion queue; may be NULL
 * @attach: to the multicast group that is this GID, or detach; may be NULL
 * @count: what a counter has counted since the case began; may be NULL
 */
struct end {
	const char *name;
	bool is_frdma;
	uint64_t prompt_ns;
	uint64_t slack_ns;
	uint64_t quiet_ns;

	int (*open)(int argc, char **argv);
	bool (*begin)(struct play *play);
	void (*finish)(struct play *play);
	uint64_t (*now)(void);
	void (*wait)(uint64_t until_ns);

	bool (*make_region)(struct region *region);
	bool (*drop_region)(struct region *region);
	bool (*make_window)(struct region *region, uint32_t type);
	bool (*make_qp)(struct queue_pair *qp);
	bool (*modify)(struct queue_pair *qp, enum state state);
	int (*state)(struct queue_pair *qp);
	bool (*make_srq)(struct shared_queue *srq);
	bool (*drop_qp)(struct queue_pair *qp);
	bool (*drop_srq)(struct shared_queue *srq);
	bool (*limit)(struct shared_queue *srq, uint32_t limit);
	bool (*post_recv)(struct queue_pair *qp, const struct request *rq);
	bool (*post_srq)(struct shared_queue *srq, const struct request *rq);
	bool (*post_send)(struct queue_pair *qp, const struct request *rq);
	void (*deliver)(const struct packet *packet);
	bool (*deliver_train)(const struct packet *packets, size_t nr,
			      uint32_t linear);
	bool (*attach)(struct queue_pair *qp, const uint8_t *group,
		       bool attach);
	bool (*notify)(struct queue_pair *qp, bool solicited);
	bool (*count)(const char *counter, uint64_t *value);
};

extern struct end the_end;

#endif /* CONFORM_END_H */
